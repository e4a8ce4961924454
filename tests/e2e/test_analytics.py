"""`graft analytics` on real services: what was asked is shown, written as a page, forgotten."""

import json
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]

TITLE = "The staging pooler of the shop listens on port 6432"
VAIN = "quokkas vortexquestion at dawn"


def test_what_was_asked_is_shown_written_as_a_page_and_forgotten(
    shell: Shell, tmp_path: Path
) -> None:
    nothing = shell.run("analytics")
    note = shell.insert(TITLE, "", "--wait")["id"]
    shell.query(TITLE)
    shell.query(VAIN)
    told = json.dumps({"session_id": "s", "cwd": str(shell.directory), "prompt": TITLE})
    shell.run("hook", "prompt", "--agent", "claude-code", text=told)

    shown = shell.run("analytics", "--since", "1d")
    figures = shell.run("analytics", "--json", "--seconds-per-hit", "90").json()
    page = tmp_path / "page.html"
    wrote = shell.run("analytics", "--html", str(page))

    assert "nothing was asked" in nothing.out
    assert shown.out.startswith("2 questions: 1 STRONG (50%), 0 WEAK, 1 MISS\n")
    assert figures["hits"] == {"strong": 1, "weak": 0, "miss": 1, "hit_rate": 0.5}
    assert (figures["seconds_per_hit"], figures["seconds_saved"]) == (90, 180)
    assert [(each["id"], each["count"]) for each in figures["reused"]] == [(note, 2)]
    assert {each["name"] for each in figures["doors"]} == {"cli", "hook"}
    assert wrote.status == 0, wrote.err
    assert "<svg" in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600
    assert "vortexquestion" not in shown.out + json.dumps(figures) + page.read_text()

    asked = shell.run("analytics", "--clear")
    cleared = shell.run("analytics", "--clear", "--yes", "--json").json()

    assert asked.status == 2
    assert "--yes" in asked.err
    assert cleared == {"answers": 3}
    assert "nothing was asked" in shell.run("analytics").out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--since", "yesterday"),
        ("--seconds-per-hit", "-1"),
        ("--yes",),
        ("--clear", "--html", "x"),
        ("--clear", "--since", "1d"),
    ],
)
def test_what_cannot_be_meant_is_refused(shell: Shell, arguments: tuple[str, ...]) -> None:
    assert shell.run("analytics", *arguments).status == 2


def test_a_page_that_cannot_be_written_is_told(shell: Shell, tmp_path: Path) -> None:
    refused = shell.run("analytics", "--html", str(tmp_path / "no" / "page.html"))

    assert refused.status == 1
    assert "cannot be written" in refused.err
