"""Time as the store counts it: never backwards, and ordered between sites."""

HLC_COUNTER_BITS = 16
"""Low bits of a hybrid logical clock: changes inside one millisecond."""


def transaction_time(now_ms: int, last_ms: int) -> int:
    """Return the time of a transaction: *now_ms*, or the last one's when the clock went back."""
    return max(now_ms, last_ms)


def next_hlc(now_ms: int, last_hlc: int) -> int:
    """Return a hybrid logical clock above *last_hlc*, as near to *now_ms* as that allows.

    The upper bits are milliseconds, the lower 16 a counter; a full counter moves on to the
    next millisecond, so that the order holds whatever the rate.
    """
    return max(now_ms << HLC_COUNTER_BITS, last_hlc + 1)
