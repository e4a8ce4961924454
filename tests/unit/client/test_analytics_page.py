"""The page of analytics stands alone, holds nothing but figures, and is read without colour."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest
from typing_extensions import override

from graft_client.analytics_reports import (
    Analytics,
    DayCounts,
    HitCounts,
    NamedCounts,
    Percentiles,
    ReusedNote,
)
from graft_client.cli.analytics_page import BARS_MAX, page_of
from graft_client.errors import InputError
from graft_client.times import parse_since

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)
EVIL = '<script>alert("x")</script>'
VOID = frozenset({"meta", "rect", "line", "polyline"})


def hits(strong: int, weak: int, miss: int) -> HitCounts:
    total = strong + weak + miss
    return HitCounts(
        strong=strong, weak=weak, miss=miss, hit_rate=strong / total if total else None
    )


def given(days: int) -> Analytics:
    took = Percentiles(p50_ms=8.0, p90_ms=20.0, p99_ms=1_500.0)
    return Analytics(
        hits=hits(6 * days, 2 * days, 2 * days),
        days=tuple(
            DayCounts(
                day=AT + timedelta(days=number), hits=hits(6, 2, 2) if number % 3 else hits(0, 0, 0)
            )
            for number in range(days)
        ),
        scopes=(NamedCounts(name=EVIL, hits=hits(6, 2, 2)),),
        agents=(NamedCounts(name="", hits=hits(0, 0, 0)),),
        doors=(NamedCounts(name="mcp", hits=hits(6, 2, 2)),),
        service=took,
        embedder=took,
        reused=(ReusedNote(id="a" * 32, title=EVIL, count=3),),
        notes_given=3,
        degraded=1,
        first_at=AT,
        misses_closed=2,
        misses_open=4,
        misses_kept=True,
    )


class Reader(HTMLParser):
    """Reads a page, and complains of what is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.links: list[str] = []
        self.unbalanced = False

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"src", "href"}]
        if tag not in VOID:
            self.open.append(tag)

    @override
    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        self.unbalanced |= not self.open or self.open.pop() != tag

    @override
    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


@pytest.mark.parametrize("days", [1, 2, 14, BARS_MAX, BARS_MAX + 1, 3_660])
def test_the_page_is_whole_and_fetches_nothing(days: int) -> None:
    page = page_of(given(days), 60, AT)

    reader = read(page)
    assert (reader.open, reader.unbalanced) == ([], False)
    assert reader.links == []
    assert {"script", "img", "link", "iframe"} & set(reader.tags) == set()
    assert not re.search(r"url\((?!#)|https?:|@import", page)
    assert "default-src 'none'" in page


def test_what_notes_and_scopes_are_called_is_text() -> None:
    page = page_of(given(3), 60, AT)

    assert EVIL not in page
    assert EVIL in "".join(read(page).texts)


def test_charts_have_a_bar_for_each_day_with_answers_and_say_their_figures() -> None:
    page = page_of(given(7), 60, AT)

    titles = re.findall(r"<title>(\d{4}-\d\d-\d\d): (\d+) STRONG, (\d+) WEAK, (\d+) MISS", page)
    assert len(titles) == 7
    assert titles[1] == ("2026-02-01", "6", "2", "2")
    # A level is told by its pattern: filled, striped, empty.
    assert page.count('class="strong" x=') == page.count('class="miss" x=') == 4
    assert "fill: url(#stripes)" in page
    assert ".miss { fill: none; }" in page


def test_many_days_are_put_together_and_none_is_lost() -> None:
    page = page_of(given(1_000), 60, AT)

    bars = re.findall(r"<title>[^<]*: (\d+) STRONG,", page)
    assert len(bars) <= BARS_MAX
    assert sum(map(int, bars)) == sum(each.hits.strong for each in given(1_000).days)


def test_the_estimate_says_what_it_assumes() -> None:
    page = page_of(given(1), 90, AT)

    assert "9 min saved, on the assumption of 90 s for each STRONG answer" in page


def test_of_no_answers_there_is_a_page_without_charts() -> None:
    empty = replace(
        given(1),
        **dict.fromkeys(("days", "scopes", "agents", "doors", "reused"), ()),  # type: ignore[arg-type]  # tuples all
        hits=hits(0, 0, 0),
        service=None,
        embedder=None,
        first_at=None,
    )

    reader = read(page_of(empty, 60, AT))

    assert "svg" not in reader.tags
    assert "0 questions" in "".join(reader.texts)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("30d", AT - timedelta(days=30)),
        ("12h", AT - timedelta(hours=12)),
        ("45m", AT - timedelta(minutes=45)),
        (" 2w ", AT - timedelta(weeks=2)),
        ("2026-01-30", datetime(2026, 1, 30, tzinfo=UTC)),
        ("2026-01-30T09:00:00+09:00", datetime(2026, 1, 30, tzinfo=UTC)),
    ],
)
def test_a_beginning_is_a_duration_a_day_or_an_instant(text: str, instant: datetime) -> None:
    assert parse_since(text, AT) == instant


@pytest.mark.parametrize(
    "text",
    ["", "d", "3", "3y", "-3d", "yesterday", "2026-02-30", "2026-01-30T09:00:00", "999999999w"],
)
def test_what_is_no_beginning_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_since(text, AT)
