"""How instants are read from people and written for them: RFC 3339, always with an offset."""

import re
from datetime import UTC, datetime, timedelta, timezone

from graft_client.errors import InputError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_RFC3339 = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"(?:[Tt ](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:\.(?P<fraction>\d{1,18}))?"
    r"(?P<offset>[Zz]|[+-]\d\d:\d\d)?)?",
    re.ASCII,
)
_LEAP_SECOND = 60
_DURATION = re.compile(r"(\d{1,9})([mhdw])", re.ASCII)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 instant; the result is in UTC.

    Raises:
        InputError: *text* has no offset, or is no instant at all.
    """
    match = _RFC3339.fullmatch(text.strip())
    if match is None:
        raise InputError(
            f"{text!r} is no time; write it as 2026-01-31T09:30:00Z or 2026-01-31T09:30:00+09:00"
        )
    day = f"{match['year']}-{match['month']}-{match['day']}"
    if match["hour"] is None:
        raise InputError(
            f"{text!r} is a day, not an instant: a day begins at another instant in every time"
            f" zone; write {day}T00:00:00Z for UTC or give your offset"
        )
    if match["offset"] is None:
        raise InputError(
            f"{text!r} has no offset, so it is another instant in every time zone; write {text}Z"
            f" for UTC or add your offset, such as {text}+09:00"
        )
    try:
        return _instant(match)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{text!r} is no time on the calendar: {error}") from error


def parse_since(text: str, now: datetime) -> datetime:
    """Read a duration before *now* (``30d``, ``12h``, ``45m``, ``2w``), a day or an instant.

    A day begins at midnight in UTC, as the days of what is counted do.

    Raises:
        InputError: *text* is none of these.
    """
    passed = _duration(text)
    if passed is not None:
        try:
            return now - passed
        except OverflowError as error:
            raise InputError(f"{text!r} is too long ago") from error
    if _DAY.fullmatch(text.strip()):
        return parse_time(f"{text.strip()}T00:00:00Z")
    try:
        return parse_time(text)
    except InputError as error:
        raise InputError(
            f"{text!r} is neither a duration (30d, 12h, 45m, 2w), nor a day (2026-01-31), nor an"
            " instant (2026-01-31T09:30:00Z)"
        ) from error


def parse_until(text: str, now: datetime) -> datetime:
    """Read a duration from *now* on (``30d``, ``12h``, ``45m``, ``2w``) or an instant.

    Raises:
        InputError: *text* is neither.
    """
    to_come = _duration(text)
    if to_come is None:
        return parse_time(text)
    try:
        return now + to_come
    except OverflowError as error:
        raise InputError(f"{text!r} is too far ahead") from error


def _duration(text: str) -> timedelta | None:
    """Read a duration; None where *text* is none.

    Raises:
        InputError: it is longer than any calendar.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        return None
    try:
        return timedelta(**{_UNITS[match[2]]: int(match[1])})
    except OverflowError as error:
        raise InputError(f"{text!r} is longer than any calendar") from error


def to_milliseconds(instant: datetime) -> int:
    """Give *instant* as UTC milliseconds, fractions dropped.

    Raises:
        InputError: *instant* is naive, or a text.
    """
    if not isinstance(instant, datetime):
        raise InputError(f"{instant!r} is no datetime; graft_client.times.parse_time reads texts")
    if instant.utcoffset() is None:
        raise InputError(
            f"{instant.isoformat()} has no offset, so it is another instant in every time zone;"
            " give it a tzinfo, such as datetime.UTC"
        )
    return (instant - _EPOCH) // _MILLISECOND


def from_milliseconds(milliseconds: int) -> datetime:
    """Give UTC milliseconds as an instant."""
    return _EPOCH + milliseconds * _MILLISECOND


def format_time(instant: datetime) -> str:
    """Write *instant* as RFC 3339 in UTC with milliseconds, for programs."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _instant(match: re.Match[str]) -> datetime:
    second = int(match["second"])
    leap = second == _LEAP_SECOND  # RFC 3339 allows it; datetime does not
    microsecond = int((match["fraction"] or "0").ljust(6, "0")[:6])
    local = datetime(
        int(match["year"]),
        int(match["month"]),
        int(match["day"]),
        int(match["hour"]),
        int(match["minute"]),
        second - leap,
        microsecond,
        tzinfo=_offset(match["offset"]),
    )
    return (local + timedelta(seconds=int(leap))).astimezone(UTC)


def _offset(text: str) -> timezone:
    if text in "Zz":
        return UTC
    hours, minutes = int(text[1:3]), int(text[4:6])
    if hours > 23 or minutes > 59:  # noqa: PLR2004 - hours of a day, minutes of an hour
        raise ValueError(f"the offset {text} is out of range")
    size = timedelta(hours=hours, minutes=minutes)
    return timezone(-size if text[0] == "-" else size)
