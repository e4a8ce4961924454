from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_client.errors import InputError
from graft_client.times import format_time, from_milliseconds, parse_time, to_milliseconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-01T00:00:00Z", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-01-01T09:00:00+09:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2025-12-31 16:30:00.25-07:30", datetime(2026, 1, 1, microsecond=250_000, tzinfo=UTC)),
        ("2026-01-01t00:00:00z", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=UTC)),
        ("2026-01-01T00:00:00.123456789Z", datetime(2026, 1, 1, microsecond=123_456, tzinfo=UTC)),
    ],
)
def test_any_offset_is_the_same_instant(text: str, expected: datetime) -> None:
    assert parse_time(text) == expected
    assert parse_time(text).tzinfo is UTC


def test_a_naive_time_is_refused_with_the_reason_and_the_fix() -> None:
    with pytest.raises(InputError, match=r"no offset.*write 2026-01-01T00:00:00Z"):
        parse_time("2026-01-01T00:00:00")


def test_a_day_is_refused_because_it_begins_elsewhere_at_another_instant() -> None:
    with pytest.raises(InputError, match=r"a day, not an instant.*2026-01-01T00:00:00Z"):
        parse_time("2026-01-01")


@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z"),
        *("2026-01-01T00:00Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+09:60"),
        *("0001-01-01T00:00:00+14:00", "٢٠٢٦-01-01T00:00:00Z"),
    ],
)
def test_what_is_no_instant_is_refused_with_its_value(text: str) -> None:
    with pytest.raises(InputError, match="no time"):
        parse_time(text)


def test_a_naive_datetime_of_a_program_is_refused() -> None:
    with pytest.raises(InputError, match="no offset"):
        to_milliseconds(datetime(2026, 1, 1))  # noqa: DTZ001 - a naive one is the point


@given(
    st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1)),  # noqa: DTZ001
    st.integers(-14 * 60, 14 * 60),
)
def test_writing_and_reading_keep_the_millisecond(local: datetime, offset_minutes: int) -> None:
    instant = local.replace(tzinfo=timezone(timedelta(minutes=offset_minutes)))
    milliseconds = to_milliseconds(instant)

    written = format_time(from_milliseconds(milliseconds))

    assert to_milliseconds(parse_time(written)) == milliseconds
    assert written.endswith("Z")
