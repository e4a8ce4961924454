"""Every link between our own pages and files leads somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "bench").rglob("*.md")),
    *sorted((ROOT / "client").glob("*.md")),
    *sorted((ROOT / "client").glob("[!.]*/*.md")),
]
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")


def test_there_are_pages_with_links() -> None:
    assert len(PAGES) > len(list(ROOT.glob("*.md")))
    assert LINK.findall("see [this](docs/cli.md#top) and [that](https://example.org)") == [
        "docs/cli.md"
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_links_to_is_there(page: Path) -> None:
    targets = LINK.findall(page.read_text("utf-8"))

    assert [each for each in targets if not (page.parent / each).exists()] == []
