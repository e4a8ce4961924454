"""Nothing but the passphrase makes a reviewer: not a call, a pipe, a flag or a fake terminal."""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import grpc
import psutil
import pytest
from tests.e2e.conftest import GRAFT, Finished, Shell, make_home, stop
from tests.terminals import run_at_keyboard, run_on_terminal

from graft.memory.v1 import review_service_pb2 as pb
from graft.memory.v1 import review_service_pb2_grpc
from graft.wire.channel import open_channel
from graft.wire.errors import read_refusal

pytestmark = pytest.mark.model

PHRASE = "correct horse battery staple"
GUESS = "an agent's own guess"
ASKED = "Reviewer's passphrase: "
REJECTED = "The staging pooler listens on port 6432"
HELD = "On port 6432 the staging pooler listens"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[Shell]:
    """A home with a reviewer, a note that they verified, and a held one in the queue."""
    root = tmp_path_factory.mktemp("reviewer")
    (root / "work").mkdir()
    shell = Shell(home=make_home(root / "home", models_dir), directory=root / "work")
    try:
        rejected = shell.insert(REJECTED)
        shell.run("reject", rejected["id"], "--reason", "it never did")
        assert shell.insert(HELD)["trust"] == "held"
        code, screen = typing(
            shell,
            *("reviewer", "init"),
            typed=[("New passphrase", PHRASE), ("The same again", PHRASE)],
        )
        assert code == 0, screen
        yield shell
    finally:
        stop(shell)


def typing(
    shell: Shell, *arguments: str, typed: Sequence[tuple[str, str | None]]
) -> tuple[int, str]:
    """Run ``graft`` at a terminal of its own."""
    return run_at_keyboard(*arguments, at=shell.directory, around=shell.environment(), typed=typed)


def without_terminal(shell: Shell, *arguments: str, **environ: str) -> Finished:
    """Run ``graft`` as a program does that has no terminal, the phrase on its stdin."""
    done = subprocess.run(
        [GRAFT, *arguments],
        cwd=shell.directory,
        env={**shell.environment(), **environ},
        input=f"{PHRASE}\n".encode() * 3,
        capture_output=True,
        start_new_session=True,
        timeout=60,
        check=False,
    )
    return Finished(status=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


def held_item(shell: Shell) -> int:
    (item,) = shell.run("review", "list", "--kind", "held", "--json").lines()
    return int(item["item"])


def socket_of(shell: Shell) -> Path:
    """Return where the memstore listens, started where another test has ended it."""
    started = shell.run("start", "--json").json()
    return Path(started["memstore"]["socket"])


def trust_of(shell: Shell, note_id: str) -> str:
    return str(shell.run("get", note_id, "--json").json()["trust"])


def test_the_queue_can_be_looked_at_by_anybody(home: Shell) -> None:
    shown = home.run("review", "show", str(held_item(home)))

    assert HELD in shown.out or "6432" in shown.out
    assert "rejected" in shown.out


@pytest.mark.parametrize("metadata", [{}, {"graft-door": "cli"}, {"graft-reviewer": PHRASE}])
def test_a_call_without_a_session_decides_nothing(home: Shell, metadata: dict[str, str]) -> None:
    socket = socket_of(home)
    request = pb.DecideReviewItemRequest(
        request_id="3f0e0b1c-54ce-4a2c-9a50-9f9b1f6f6c11",
        item=held_item(home),
        decision=pb.REVIEW_DECISION_APPROVE,
        reason="let me",
    )

    with open_channel(socket) as channel:
        decide = review_service_pb2_grpc.ReviewServiceStub(channel).DecideReviewItem
        with pytest.raises(grpc.RpcError) as raised:
            decide(request, timeout=20, metadata=tuple(metadata.items()))

    assert read_refusal(raised.value).reason == "NOT_ALLOWED"
    assert held_item(home)


@pytest.mark.parametrize(
    "arguments", [("review", "approve", "{item}"), ("review",), ("reviewer", "init")]
)
def test_a_pipe_and_a_variable_decide_nothing(home: Shell, arguments: tuple[str, ...]) -> None:
    item = held_item(home)
    filled = [each.format(item=item) for each in arguments]

    done = without_terminal(home, *filled, GRAFT_PASSPHRASE=PHRASE, GRAFT_REVIEWER=PHRASE)

    assert done.status == 1
    assert "terminal" in done.err
    assert held_item(home) == item


def refusals(shell: Shell) -> int:
    """Return how many wrong passphrases the log tells of."""
    return len(shell.run("log", "--action", "reviewer-refused", "--json").lines())


def test_a_fake_terminal_without_the_passphrase_decides_nothing(home: Shell) -> None:
    item, before = held_item(home), refusals(home)

    code, screen = typing(home, "review", "approve", str(item), typed=[(ASKED, GUESS)])

    assert code == 1
    assert "not the reviewer's passphrase" in screen
    assert held_item(home) == item
    assert refusals(home) == before + 1
    _wait_until_looked_at(home)


END_OF_INPUT = "\x04"


@pytest.mark.parametrize("line", ["", END_OF_INPUT, None])
def test_a_terminal_on_which_nothing_is_typed_decides_nothing(
    home: Shell, line: str | None
) -> None:
    item, before = held_item(home), refusals(home)

    code, screen = typing(home, "review", "approve", str(item), typed=[(ASKED, line)])

    assert code != 0
    assert ASKED.strip() in screen
    assert held_item(home) == item
    assert refusals(home) == before


def test_a_terminal_that_is_not_the_session_s_decides_nothing(home: Shell) -> None:
    item = held_item(home)

    code, screen = run_on_terminal(
        *("review", "approve", str(item)),
        at=home.directory,
        around=home.environment(),
        typed=f"{PHRASE}\n",
        detached=True,
    )

    assert code == 1
    assert "typed on a terminal, and there is none here" in " ".join(screen.split())
    assert held_item(home) == item


def test_guessing_is_slowed_down_and_counted(home: Shell) -> None:
    socket = socket_of(home)
    reasons = []
    with open_channel(socket) as channel:
        guess = review_service_pb2_grpc.ReviewServiceStub(channel).OpenReviewSession
        for number in range(20):
            request = pb.OpenReviewSessionRequest(passphrase=f"{GUESS} {number}")
            with pytest.raises(grpc.RpcError) as raised:
                guess(request, timeout=20)
            reasons.append(read_refusal(raised.value).reason)

    looked_at = reasons.count("NOT_ALLOWED")
    assert set(reasons) == {"NOT_ALLOWED", "TOO_MANY_ATTEMPTS"}
    assert looked_at < 6
    assert home.status()["memstore"]["reviewer"]["failures"] == looked_at
    _wait_until_looked_at(home)


def _wait_until_looked_at(home: Shell) -> None:
    """Prove the phrase, which forgets the failures, once the delay is over."""
    note = home.insert("A note to be verified while the delay lasts")
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if typing(home, "verify", note["id"], typed=[(ASKED, PHRASE)])[0] == 0:
            return
    raise AssertionError("the reviewer is locked out")


def test_the_reviewer_decides_with_the_passphrase(home: Shell) -> None:
    rejected = home.insert("The flag --fast never existed, they say")
    home.run("reject", rejected["id"], "--reason", "it did")
    held = home.insert("They say the flag --fast never existed")
    (item,) = [
        each["item"]
        for each in home.run("review", "list", "--json").lines()
        if (each["note"] or {}).get("id") == held["id"]
    ]

    code, screen = typing(
        home, "review", "approve", str(item), "--reason", "I looked", typed=[(ASKED, PHRASE)]
    )

    assert code == 0, screen
    assert trust_of(home, held["id"]) == "observed"
    (decided,) = [
        each
        for each in home.run("review", "list", "--decided", "--json").lines()
        if each["item"] == item
    ]
    assert decided["decision"] == "approve"


def test_what_the_reviewer_verified_no_agent_takes_away(home: Shell) -> None:
    note = home.insert("The release is signed with the key of the build host")
    code, screen = typing(home, "verify", note["id"], typed=[(ASKED, PHRASE)])
    assert code == 0, screen
    attempts = [
        ("retire", note["id"], "--reason", "x"),
        ("reject", note["id"], "--reason", "x"),
        ("set", note["id"], "--expires-at", "2001-01-01T00:00:00Z"),
        ("undo", str(home.run("get", note["id"], "--json").json()["state_event"])),
    ]

    refused = [home.run(*each, "--json") for each in attempts]
    erased = without_terminal(home, "delete", note["id"], "--reason", "x", "--yes")
    by_an_agent = home.run("dispute", note["id"], "--reason", "doubt", "--json").json()
    again = home.run("retire", note["id"], "--reason", "x", "--json")

    for each in (*refused, again):
        assert each.status == 1
        assert json.loads(each.err)["reason"] == "PROPOSED"
    assert (erased.status, "terminal" in erased.err) == (1, True)
    assert by_an_agent["trust"] == "disputed"
    assert home.run("get", note["id"], "--json").json()["state"] == "active"

    done = typing(
        home, "retire", note["id"], "--reason", "x", "--as-reviewer", typed=[(ASKED, PHRASE)]
    )
    assert done[0] == 0, done[1]
    assert home.run("get", note["id"], "--json").json()["state"] == "retired"


def test_what_the_reviewer_retired_no_agent_brings_back(home: Shell) -> None:
    title = "The nightly job runs on the second runner"
    theirs, own = home.insert(title), home.insert("The weekly job runs on the third runner")
    code, screen = typing(
        home, "retire", theirs["id"], "--reason", "x", "--as-reviewer", typed=[(ASKED, PHRASE)]
    )
    assert code == 0, screen
    home.run("retire", own["id"], "--reason", "x")

    refused = [
        home.run("restore", theirs["id"], "--reason", "x", "--json"),
        home.run("insert", "--title", title, "--restore", "--reason", "x", "--json"),
    ]
    restored = home.run("restore", own["id"], "--reason", "x", "--json")

    for each in refused:
        assert (each.status, json.loads(each.err)["reason"]) == (1, "PROPOSED")
    assert home.run("get", theirs["id"], "--json").json()["state"] == "retired"
    assert restored.json()["state"] == "active"


def test_the_passphrase_is_in_no_file_log_or_argument(home: Shell) -> None:
    # Another test may have stopped them; a search brings both back.
    home.query("anything at all")
    memstores, embedders = home.daemons("memstore"), home.daemons("embedder")
    assert memstores
    assert embedders
    for pid in (*memstores, *embedders):
        process = psutil.Process(pid)
        assert PHRASE not in " ".join(process.cmdline())
        assert PHRASE not in str(process.environ())

    looked = 0
    for folder, _, names in os.walk(home.home):
        for name in names:
            path = Path(folder) / name
            if path.is_file():
                content = path.read_bytes()
                assert PHRASE.encode() not in content, path
                assert GUESS.encode() not in content, path
                looked += 1
    assert looked > 5


def test_a_restart_ends_every_session_and_keeps_the_passphrase(home: Shell) -> None:
    home.run("stop")
    note = home.insert("The mirror is synced every four hours")

    code, screen = typing(home, "verify", note["id"], typed=[(ASKED, PHRASE)])

    assert code == 0, screen
    shown = home.run("get", note["id"], "--json").json()
    assert (shown["trust"], shown["oracle"]["kind"]) == ("verified", "reviewer")


def test_where_notes_wait_a_candidate_is_weak_until_the_reviewer_approves(home: Shell) -> None:
    home.run("stop")
    strict = Shell(
        home=home.home, directory=home.directory, environ={"GRAFT_NEW_NOTES": "candidate"}
    )
    note = strict.insert("Nightly builds are kept for eleven days", "Then a job removes them.")
    question = "how long are nightly builds kept"
    before = strict.query(question)
    (item,) = strict.run("review", "list", "--kind", "candidate", "--json").lines()

    code, screen = typing(strict, "review", "approve", str(item["item"]), typed=[(ASKED, PHRASE)])

    assert code == 0, screen
    assert note["trust"] == "candidate"
    assert before["hit"] == "WEAK"
    after = strict.query(question)
    assert (after["hit"], after["note"]["id"]) == ("STRONG", note["id"])
    strict.run("stop")
