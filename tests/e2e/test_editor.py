"""Notes are written and corrected in an editor, on a real terminal and by real programs."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell
from tests.terminals import GRAFT, TAKE_TERMINAL, run_at_keyboard

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

WAIT_SECONDS = 60


def with_editor(shell: Shell, lines: str) -> Shell:
    """Give *shell* an editor: some lines of Python, which have the draft's *path*."""
    script = shell.directory / "the editor.py"
    script.write_text(
        f"import os, sys, time\nfrom pathlib import Path\npath = Path(sys.argv[1])\n{lines}"
    )
    editor = f"{sys.executable} '{script}'"
    return Shell(home=shell.home, directory=shell.directory, environ={"EDITOR": editor})


def test_a_note_is_written_found_corrected_and_the_correction_found(shell: Shell) -> None:
    writing = with_editor(
        shell,
        "print('chatter of an editor')\n"
        "head = '---\\ntitle: the quay crane listens on port: 8080\\n---\\n'\n"
        "path.write_text(head + '\\nSince May.\\n')",
    )
    saved = writing.run("note", "--json", "--wait").json()
    correcting = with_editor(shell, "path.write_text(path.read_text().replace('8080', '9090'))")

    corrected = correcting.run("edit", saved["id"], "--reason", "it moved", "--json").json()
    old = shell.run("get", saved["id"], "--json").json()
    new = shell.run("get", corrected["id"], "--json").json()

    assert corrected["superseded"] == saved["id"]
    assert (old["state"], old["superseded_by"]) == ("superseded", corrected["id"])
    assert (new["title"], new["body"]) == ("the quay crane listens on port: 9090", "Since May.")
    assert new["scope"] == old["scope"]
    assert "it moved" in shell.run("log", "--note", saved["id"]).out
    assert correcting.run("edit", saved["id"]).err.endswith(
        f"graft edit {corrected['id'][-8:]}\n",
    )
    assert list((shell.home / "drafts").iterdir()) == []


def test_a_person_is_asked_why_on_the_terminal(shell: Shell) -> None:
    note = shell.insert("the gauge reads in inches", "It does.")
    editing = with_editor(shell, "path.write_text(path.read_text().replace('inches', 'metres'))")

    code, screen = run_at_keyboard(
        *("edit", note["id"]),
        at=shell.directory,
        around=editing.environment(),
        typed=[("Why? It is kept in the log", "it was re-calibrated")],
    )

    assert code == 0
    assert f"supersedes {note['id'][-8:]}" in screen
    assert "it was re-calibrated" in shell.run("log", "--note", note["id"]).out


def test_ctrl_c_is_the_editor_s_while_it_is_open(shell: Shell, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    editing = with_editor(
        shell,
        "import signal\n"
        "def saved(*_):\n"
        "    path.write_text('# typed before Ctrl-C\\n')\n"
        "    sys.exit(0)\n"
        "assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN\n"
        "signal.signal(signal.SIGINT, saved)\n"
        f"Path({str(ready)!r}).write_text('x')\n"
        "time.sleep(60)\n",
    )
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", TAKE_TERMINAL, GRAFT, "note"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=shell.directory,
        env=editing.environment(),
        start_new_session=True,
    )
    os.close(theirs)

    ready.read_text()
    os.write(mine, b"\x03")
    out, _ = process.communicate(timeout=WAIT_SECONDS)
    os.close(mine)

    assert process.returncode == 0, out
    assert shell.run("list").out.count("typed before Ctrl-C") == 1


def test_a_command_that_is_killed_leaves_the_draft(shell: Shell, tmp_path: Path) -> None:
    ready, over = tmp_path / "ready", tmp_path / "over"
    os.mkfifo(ready)
    os.mkfifo(over)
    editing = with_editor(
        shell,
        "path.write_text('# typed before the end\\n')\n"
        f"Path({str(ready)!r}).write_text('x')\n"
        f"Path({str(over)!r}).read_text()\n",
    )
    process = editing.start("note")

    ready.read_text()
    process.send_signal(signal.SIGKILL)
    process.wait(WAIT_SECONDS)
    over.write_text("x")
    process.communicate(timeout=WAIT_SECONDS)
    done = with_editor(shell, "").run("note", "--resume", "--json")

    assert done.json()["duplicate"] is False
    assert shell.run("list").out.count("typed before the end") == 1
