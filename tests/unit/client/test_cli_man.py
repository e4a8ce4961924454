"""Manual pages: one for every command, and nothing in them that man stumbles over."""

import shutil
import stat
import subprocess
from pathlib import Path

import click
import pytest
from tests.unit.client.conftest import Command

from graft_client.cli.app import graft
from graft_client.cli.manual import Page, pages

PAGES = {each.name: each for each in pages(graft, "graft")}


def commands(group: click.Group, path: str) -> list[str]:
    """Return the paths of all commands, found another way: from the groups' own dictionaries."""
    found = [path]
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        below = f"{path}-{name}"
        found += commands(command, below) if isinstance(command, click.Group) else [below]
    return found


def test_every_command_has_a_page() -> None:
    assert sorted(PAGES) == sorted(commands(graft, "graft"))
    assert {"graft", "graft-insert", "graft-profile-add"} <= set(PAGES)


@pytest.mark.skipif(not shutil.which("man"), reason="no man here")
def test_man_shows_every_page_without_a_warning(tmp_path: Path) -> None:
    for page in PAGES.values():
        (tmp_path / f"{page.name}.1").write_text(page.text)

    shown = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", *sorted(tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "MANWIDTH": "80", "PAGER": "cat", "LC_ALL": "C.UTF-8"},
    )

    assert shown.stderr == ""
    assert "--body-file FILE" in shown.stdout
    assert 'graft insert --title "CI needs Node 20" --body "Node 18 lacks fetch." --keyword ci' in (
        shown.stdout
    )


@pytest.mark.skipif(not shutil.which("lexgrog"), reason="no lexgrog here")
def test_apropos_finds_what_a_page_is_about(tmp_path: Path) -> None:
    (tmp_path / "graft-insert.1").write_text(PAGES["graft-insert"].text)

    said = subprocess.run(
        ["lexgrog", "-m", tmp_path / "graft-insert.1"], capture_output=True, text=True, check=True
    )

    assert said.stdout.endswith(': "graft-insert - save a note"\n')


def test_a_page_tells_options_exit_codes_and_where_it_belongs() -> None:
    text = PAGES["graft-profile-add"].text
    main = PAGES["graft"].text

    assert ".SH OPTIONS OF ALL COMMANDS\n.TP\n\\fB\\-\\-profile PROFILE\\fR\n" in text
    assert ".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone\n" in text
    assert ".SH SEE ALSO\n\\fBgraft\\-profile\\fR(1)\n" in text
    assert "\\fBgraft\\-insert\\fR\nsave a note\n" in main
    assert "\\fBGRAFT_HOME\\fR" in main


def test_a_text_that_roff_would_obey_is_shown_as_it_stands() -> None:
    @click.command(help='.sp 99\n\n\'tis a \\fBtrick\\fR with "quotes" and -x')
    def tricky() -> None: ...

    (page,) = pages(tricky, "graft")

    assert isinstance(page, Page)
    assert "\n\\&.sp 99\n" in page.text
    assert "\n\\&'tis a \\efBtrick\\efR with \\(dqquotes\\(dq and \\-x\n" in page.text


def test_pages_are_written_where_man_finds_them(command: Command, place: Path) -> None:
    done = command("man", str(place / "man"))
    again = command("man", str(place / "man"), "--json").json()

    folder = place / "man" / "man1"
    assert done.out == f"wrote {len(PAGES)} pages to {folder}\n"
    assert sorted(again["pages"]) == sorted(each.name for each in folder.iterdir())
    assert (folder / "graft-insert.1").read_text() == PAGES["graft-insert"].text
    assert stat.S_IMODE((folder / "graft.1").stat().st_mode) == 0o644
    (place / "file").write_text("")
    assert "cannot be written: Not a directory" in command("man", str(place / "file" / "x")).err
