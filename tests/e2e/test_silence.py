"""What services and command line leave behind tells what happened, and quotes nobody.

No word of a note, a question or a secret stands anywhere but in the file of the notes.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from tests.e2e.conftest import SECONDS, Shell

from graft_client import Graft, GraftError

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

# Words that stand nowhere else, one for each place that a caller can put a text into.
TITLE, BODY, KEYWORD, AUTHOR = "vermilion-otter", "cobalt-heron", "ochre-lynx", "teal-badger"
SOURCE, QUESTION, REASON, REFUSED = "umber-stoat", "mauve-ibis", "sepia-newt", "puce-vole"
TEXTS = (TITLE, BODY, KEYWORD, AUTHOR, SOURCE, QUESTION, REASON, REFUSED)
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "aws-secret-of-the-caller",
    "GITHUB_TOKEN": "ghp_secret_of_the_caller",
    "HTTPS_PROXY": "http://me:proxy-password@proxy.example",
}
REMOTE = "https://me:ghp_secret_in_the_remote@git.example/team/project.git"
QUOTING = """
CREATE TRIGGER quoting BEFORE INSERT ON notes BEGIN SELECT RAISE(ABORT, NEW.title); END
"""
HIDDEN = (*TEXTS, *SECRETS.values(), "ghp_secret_in_the_remote", "proxy-password")


@pytest.fixture
def talkative(shell: Shell, tmp_path: Path) -> Shell:
    """A shell in a repository, with secrets in its environment, whose services log all they can.

    Whatever it and they leave behind lies below *tmp_path*.
    """
    git = shell.directory / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f'[remote "origin"]\n\turl = {REMOTE}\n')
    places = {"HOME": tmp_path / "person", "TMPDIR": tmp_path / "temporary"}
    for place in places.values():
        place.mkdir()
    own = {name: str(place) for name, place in places.items()}
    return replace(shell, environ={**SECRETS, **own, "GRAFT_LOG_LEVEL": "debug"})


def database(shell: Shell) -> Path:
    return shell.home / "profiles" / "default" / "graft.db"


def use_everything(shell: Shell) -> str:
    """Store, ask in every way, list and delete; return the id of a note that stays."""
    note = shell.insert(
        f"{TITLE} in a title",
        f"{BODY} in a body\n\n" * 30,
        *("--keyword", KEYWORD, "--author", AUTHOR, "--source", f"url:https://{SOURCE}", "--wait"),
    )
    gone = shell.insert(f"another {TITLE}", BODY)
    asked = [shell.query(f"{QUESTION} and {TITLE}"), shell.query(QUESTION)]
    told = [
        shell.run("retrieve", QUESTION, "--keyword", KEYWORD, "--json"),
        shell.run("explore", QUESTION, "--keyword", KEYWORD, "--json"),
        shell.run("classify", "--title", f"{QUESTION} in a draft", "--json"),
        shell.run("explain", asked[0]["receipt"], "--json"),
        shell.run("misses", "--json"),
    ]
    listed = shell.run("list", "--keyword", KEYWORD, "--json").lines()
    deleted = shell.run("delete", gone["id"], "--reason", REASON, "--yes", "--json")
    assert [each["degraded"] for each in asked] == [[], []]
    assert [each.status for each in (*told, deleted)] == [0] * 6
    assert [each["id"] for each in listed] == [note["id"]]
    return str(note["id"])


def be_refused(shell: Shell) -> None:
    """Ask for what is refused, by the service itself."""
    with Graft(home=shell.home, scope="user") as graft:
        for ask in (
            lambda: graft.insert(f"{REFUSED} " * 1_000, f"{REFUSED} in a body"),
            lambda: graft.insert(REFUSED, keywords=[REFUSED * 20]),
            lambda: graft.insert(REFUSED, scope=f" {REFUSED}"),
            lambda: graft.insert(REFUSED, request_id=REFUSED),
            lambda: graft.get(REFUSED),
            lambda: graft.delete(REFUSED, reason=REFUSED),
            lambda: graft.query(f"{REFUSED} " * 10_000),
            lambda: graft.explore(REFUSED, keywords=[REFUSED * 20]),
            lambda: graft.classify(f"{REFUSED} " * 1_000),
            lambda: graft.explain(REFUSED),
            lambda: graft.start_reindex(REFUSED),
        ):
            with pytest.raises(GraftError):
                ask()


def meet_bugs(shell: Shell, note_id: str) -> None:
    """Make calls fail inside, one with an error that quotes the title that it was given."""
    with contextlib.closing(apsw.Connection(str(database(shell)))) as foreign:
        foreign.set_busy_timeout(10_000)
        foreign.execute(QUOTING)
        with pytest.raises(apsw.ConstraintError, match=REFUSED):
            foreign.execute("INSERT INTO notes (title) VALUES (?)", (REFUSED,))
        failed = [shell.run("insert", "--title", f"{TITLE} {REFUSED}", "--body", BODY)]
        foreign.execute("DROP TRIGGER quoting")
        foreign.execute("ALTER TABLE meta RENAME TO gone")
        failed += [shell.run("query", QUESTION), shell.run("get", note_id)]
        foreign.execute("ALTER TABLE gone RENAME TO meta")
    assert {each.status for each in failed[:2]} == {1}
    for told in failed:
        assert told_in(told.err) == []


def lose_the_embedder(shell: Shell) -> None:
    """Kill the embedder under the memstore and ask again."""
    for pid in shell.daemons("embedder"):
        os.kill(pid, signal.SIGKILL)
    shell.query(f"{QUESTION} after its end")


def left_behind(shell: Shell, root: Path) -> dict[str, str]:
    """Return every file below *root*, as text, that is not there to hold notes or the remote."""
    own = (shell.home / "profiles", shell.directory / ".git")
    return {
        str(path.relative_to(root)): path.read_bytes().decode("utf-8", "replace")
        for path in root.rglob("*")
        if path.is_file() and not any(path.is_relative_to(each) for each in own)
    }


def told_in(text: str) -> list[str]:
    return [each for each in HIDDEN if each.lower() in text.lower()]


def test_logs_tell_events_and_no_text_or_secret(talkative: Shell, tmp_path: Path) -> None:
    note_id = use_everything(talkative)
    be_refused(talkative)
    meet_bugs(talkative, note_id)
    lose_the_embedder(talkative)
    talkative.run("stop")

    files = left_behind(talkative, tmp_path)
    assert {name: told_in(text) for name, text in files.items() if told_in(text)} == {}
    for event in (
        "started service=memstore",
        "refused method=/graft.memory.v1.NotesService/InsertNote reason=BadFieldsError",
        "refused method=/graft.memory.v1.RecallService/Query reason=BadFieldError",
        "bug method=/graft.memory.v1.NotesService/InsertNote",
        "apsw.ConstraintError",
        "bug method=/graft.memory.v1.RecallService/Query",
        "apsw.SQLError",
        "stopped service=memstore",
    ):
        assert event in files["home/memstore.log"]
    assert "ready model=starter" in files["home/embedder-starter.log"]
    key = (talkative.home / "audit" / "key").read_bytes()
    assert not any(key.hex() in text for text in files.values())
    # Where the words may stand they are found in the same way.
    kept = told_in(database(talkative).read_bytes().decode("utf-8", "replace"))
    assert kept == [TITLE, BODY, KEYWORD, AUTHOR, SOURCE, QUESTION, REASON]


def test_services_that_were_started_by_hand_keep_their_stdout_empty(talkative: Shell) -> None:
    embedder = by_hand(talkative, "graft_embedder", "--model", "starter")
    wait_for(talkative.home / "embedder-starter.json")
    memstore = by_hand(talkative, "graft_memstore")
    wait_for(talkative.home / "memstore.json")

    use_everything(talkative)
    be_refused(talkative)
    talkative.run("stop")

    for process, event in (
        (memstore, "refused method=/graft.memory.v1.NotesService/InsertNote"),
        (embedder, "ready model=starter"),
    ):
        out, err = process.communicate(timeout=SECONDS)
        assert (process.returncode, out) == (0, "")
        assert event in err
        assert told_in(err) == []


def by_hand(shell: Shell, module: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", module, "serve", "--home", str(shell.home), *arguments],
        env=shell.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(path: Path) -> None:
    end, pause = time.monotonic() + SECONDS, threading.Event()
    while not path.exists():
        assert time.monotonic() < end, f"{path} does not appear"
        pause.wait(0.05)
