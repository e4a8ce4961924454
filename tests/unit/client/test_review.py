"""The reviewer at the command line and in programs: who is asked what, and what is sent."""

import asyncio
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from tests.terminals import GRAFT, run_at_keyboard
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState
from tests.unit.client.fake_review import TOKEN, item

from graft.memory.v1 import note_pb2
from graft.memory.v1 import review_service_pb2 as pb
from graft_client import AsyncGraft, Graft
from graft_client.authority import Oracle
from graft_client.cli.word_diff import marked, word_diff
from graft_client.errors import InputError
from graft_client.oracles import CheckFailedError, Run, commit_that_touches, run_command
from graft_client.settings import configure

PHRASE = "correct horse battery staple"
ASKED = "Reviewer's passphrase: "

Keyboard = Callable[..., tuple[int, str]]


@pytest.fixture
def keyboard(home: Path, place: Path) -> Keyboard:
    """Run ``graft`` at a terminal that controls it; what is typed follows its questions."""

    def run(*arguments: str, typed: Sequence[tuple[str, str]] = ()) -> tuple[int, str]:
        around: Mapping[str, str] = {"PATH": "/usr/bin:/bin"}
        return run_at_keyboard(
            *arguments, "--home", str(home), at=place, around=around, typed=typed
        )

    return run


def without_terminal(home: Path, place: Path, *arguments: str) -> tuple[int, str]:
    """Run ``graft`` as a background program does: no terminal at all, the phrase on stdin."""
    done = subprocess.run(
        [GRAFT, *arguments, "--home", str(home)],
        cwd=place,
        env={"PATH": "/usr/bin:/bin", "GRAFT_PASSPHRASE": PHRASE},
        input=f"{PHRASE}\n".encode() * 3,
        capture_output=True,
        start_new_session=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stderr.decode()


def test_a_passphrase_is_set_when_it_was_typed_twice(
    keyboard: Keyboard, memstore: FakeState
) -> None:
    typed = [("New passphrase", PHRASE), ("The same again", PHRASE)]

    code, screen = keyboard("reviewer", "init", typed=typed)

    assert code == 0, screen
    (request,) = memstore.requests("SetReviewer")
    assert isinstance(request, pb.SetReviewerRequest)
    assert (request.passphrase, request.old_passphrase) == (PHRASE, "")
    assert PHRASE not in screen
    again = [("Present", PHRASE), ("New passphrase", PHRASE[::-1]), ("again", PHRASE[::-1])]
    assert keyboard("reviewer", "init", typed=again)[0] == 0
    assert memstore.requests("SetReviewer")[1] == pb.SetReviewerRequest(
        profile="default", passphrase=PHRASE[::-1], old_passphrase=PHRASE
    )


def test_a_typing_mistake_changes_nothing(keyboard: Keyboard, memstore: FakeState) -> None:
    typed = [("New passphrase", PHRASE), ("The same again", "something else")]

    code, screen = keyboard("reviewer", "init", typed=typed)

    assert code == 2
    assert "differ" in screen
    assert memstore.requests("SetReviewer") == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("reviewer", "init"),
        ("review",),
        ("review", "approve", "1"),
        ("verify", "00000001"),
        ("retire", "00000001", "--reason", "x", "--as-reviewer"),
        ("scope", "move", "a", "b", "--yes", "--as-reviewer"),
    ],
)
def test_without_a_terminal_nobody_is_asked_and_nothing_is_sent(
    home: Path, place: Path, memstore: FakeState, arguments: tuple[str, ...]
) -> None:
    memstore.queue.passphrase = PHRASE
    memstore.queue.items.append(item())

    code, said = without_terminal(home, place, *arguments)

    assert code == 1
    assert "terminal" in said
    assert {name for name, _ in memstore.received} <= {"GetReviewer", "ListReviewItems"}


@pytest.mark.parametrize("arguments", [("review", "approve", "1"), ("verify", "00000001")])
def test_without_a_reviewer_the_next_step_is_named(
    keyboard: Keyboard, memstore: FakeState, arguments: tuple[str, ...]
) -> None:
    code, screen = keyboard(*arguments)

    assert code == 1
    assert "graft reviewer init" in screen
    assert [name for name, _ in memstore.received] == ["GetReviewer"]


def test_a_decision_goes_with_a_session_that_is_closed_after_it(
    keyboard: Keyboard, memstore: FakeState
) -> None:
    memstore.queue.passphrase = PHRASE
    memstore.queue.items.append(item())

    code, screen = keyboard(
        "review", "supersede", "1", "--keep", "00000002", typed=[(ASKED, PHRASE)]
    )

    assert code == 0, screen
    (request,) = memstore.requests("DecideReviewItem")
    assert isinstance(request, pb.DecideReviewItemRequest)
    assert (request.decision, request.note_id) == (pb.REVIEW_DECISION_SUPERSEDE, "00000002")
    told = dict(zip((name for name, _ in memstore.received), memstore.metadata, strict=True))
    assert told["DecideReviewItem"]["graft-reviewer"] == TOKEN
    assert "graft-reviewer" not in told["OpenReviewSession"]
    assert memstore.received[-1][1] == pb.CloseReviewSessionRequest(token=TOKEN)
    assert PHRASE not in screen
    assert TOKEN not in screen


def test_the_queue_is_gone_through_with_one_question_for_the_passphrase(
    keyboard: Keyboard, memstore: FakeState
) -> None:
    memstore.queue.passphrase = PHRASE
    memstore.queue.items += [item(1), item(2), item(3)]
    typed = [
        (ASKED, PHRASE),
        ("Decide", "keep-both"),
        ("Why", ""),
        ("Decide", "skip"),
        ("Decide", "supersede"),
        ("Which note stays", "00000001"),
        ("Why", "the file says so"),
    ]

    code, screen = keyboard("review", typed=typed)

    assert code == 0, screen
    first, second = memstore.requests("DecideReviewItem")
    assert isinstance(first, pb.DecideReviewItemRequest)
    assert isinstance(second, pb.DecideReviewItemRequest)
    assert (first.item, first.decision, first.reason) == (
        1,
        pb.REVIEW_DECISION_KEEP_BOTH,
        "reviewed",
    )
    assert (second.item, second.note_id, second.reason) == (3, "00000001", "the file says so")
    assert screen.count(ASKED) == 1


def test_the_queue_is_listed_and_shown_to_anybody(command: Command, memstore: FakeState) -> None:
    memstore.queue.items += [item(1), item(2, decision=pb.REVIEW_DECISION_KEEP_BOTH)]

    rows = command("review", "list", "--kind", "contradiction").out.splitlines()
    listed = [command("review", "list", "--limit", "1", "--json").json()]
    shown = command("review", "show", "1")

    assert [row.split("\t")[0] for row in rows] == ["1", "2"]
    assert rows[1].endswith("keep-both")
    assert listed[0]["detail"] == {"on": "port"}
    assert listed[0]["note"]["body"] is None
    assert "the port is [-6432-]{+7000+}" in shown.out
    assert "graft review keep-both 1" in shown.err
    assert "OpenReviewSession" not in [name for name, _ in memstore.received]


def test_a_person_sees_which_keyword_or_source_it_is_about(
    command: Command, memstore: FakeState
) -> None:
    source = note_pb2.Source(kind=note_pb2.SOURCE_KIND_FILE, locator="conf.py", id=7)
    note = note_pb2.Note(id="0" * 31 + "1", title="the port is 6432", sources=[source])
    memstore.queue.items += [
        pb.ReviewItem(
            item=1,
            kind=pb.REVIEW_KIND_KEYWORD_VARIANT,
            scope="user",
            detail='{"variant": "pools", "keep": "pool"}',
        ),
        pb.ReviewItem(
            item=2, kind=pb.REVIEW_KIND_CHANGED_SOURCE, note=note, detail='{"source": 7}'
        ),
    ]

    assert "pools -> pool in user" in command("review", "list").out
    assert "pools -> pool" in command("review", "show", "1").out
    assert "file:conf.py" in command("review", "show", "2").out


def test_where_there_is_a_reviewer_erasing_takes_the_passphrase(
    home: Path, place: Path, keyboard: Keyboard, memstore: FakeState
) -> None:
    memstore.queue.passphrase = PHRASE
    memstore.notes["0" * 31 + "1"] = note_pb2.Note(id="0" * 31 + "1", title="t", scope="user")
    wanted = ("delete", "00000001", "--reason", "x", "--yes")

    refused, said = without_terminal(home, place, *wanted)
    done, screen = keyboard(*wanted, typed=[(ASKED, PHRASE)])

    assert (refused, done) == (1, 0), screen
    assert "terminal" in said
    assert len(memstore.requests("DeleteNote")) == 1


def test_the_reviewer_is_shown_in_the_status(command: Command, memstore: FakeState) -> None:
    none = command("status").out
    memstore.status_reply.reviewer.CopyFrom(
        pb.ReviewerStatus(exists=True, set_at_ms=1_767_225_600_000, event=3, failures=2)
    )
    some = command("status").out
    memstore.queue.passphrase = PHRASE

    assert "graft reviewer init" in none
    assert "event 3" in some
    assert "2 wrong passphrases" in some
    assert command("reviewer", "status", "--json").json()["exists"] is True
    assert "set up 2026" in command("reviewer", "status").out


def test_programs_have_the_same_verbs(graft: Graft, memstore: FakeState) -> None:
    memstore.queue.items += [item(1), item(2)]
    graft.set_reviewer(PHRASE)

    with graft.reviewing(PHRASE) as reviewer:
        decided = reviewer.decide(1, "keep-both", reason="both hold")
        assert TOKEN not in repr(vars(reviewer)["_calls"])
    graft.review_item(2)

    assert (decided.outcome, decided.note_event) == ("done", 9)
    assert [each.item for each in graft.review_items(kinds=["contradiction"])] == [1, 2]
    assert "graft-reviewer" not in memstore.metadata[-1]
    with pytest.raises(InputError, match="none of candidate"):
        list(graft.review_items(kinds=["odd"]))  # type: ignore[list-item]  # the point


def test_asyncio_programs_have_them_too(home: Path, memstore: FakeState, tmp_path: Path) -> None:
    memstore.queue.items.append(item(1))
    memstore.queue.passphrase = PHRASE

    async def work() -> tuple[bool, list[int], str]:
        made = configure(home=home, directory=tmp_path, environ={})
        async with AsyncGraft(configuration=made) as graft:
            exists = (await graft.reviewer()).exists
            items = [each.item async for each in graft.review_items()]
            async with graft.reviewing(PHRASE) as reviewer:
                done = await reviewer.decide(1, "reject", reason="wrong", note="00000001")
            return exists, items, done.outcome

    assert asyncio.run(work()) == (True, [1], "done")


def test_a_note_tells_by_what_it_was_checked(command: Command, graft: Graft) -> None:
    note_id = graft.insert("t").id

    graft.verify(note_id, Oracle(kind="run", command="make test"), reason="ran it")

    assert graft.get(note_id).trust == "verified"
    assert "make test (ended with 0" in command("get", note_id).out
    with pytest.raises(InputError, match="none of reviewer"):
        graft.verify(note_id, Oracle(kind="luck"), reason="x")  # type: ignore[arg-type]  # the point


def test_a_command_that_fails_verifies_nothing(
    command: Command, graft: Graft, memstore: FakeState
) -> None:
    note_id = graft.insert("t").id

    failed = command("verify", note_id, "--run", "exit 3")
    done = command("verify", note_id, "--run", "true", "--json")

    assert failed.code == 1
    assert "ended with 3" in failed.err
    assert done.json()["trust"] == "verified"
    (request,) = memstore.requests("VerifyNote")
    assert request.oracle.command == "true"  # type: ignore[attr-defined] # the fake keeps all kinds
    assert command("verify", note_id, "--run", "x", "--commit", "y").code == 2


def test_a_command_s_output_is_shown_and_its_digest_kept(tmp_path: Path) -> None:
    shown: list[bytes] = []

    run = run_command("printf 'to out'; printf ' to err' >&2; exit 4", tmp_path, shown.append)

    assert b"".join(shown) == b"to out to err"
    assert run == Run(
        exit_code=4,
        output_digest="a6022238fde28ba24a3d3e9f8ec7243222f9825de0110a2430c410424cd79c55",
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of one commit that touches ``src/port.py``."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "port.py").write_text("PORT = 6432\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "port")):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("locator", ["src/port.py", "./src/port.py", "src/port.py#L1"])
def test_a_commit_that_touches_a_source_is_found(repository: Path, locator: str) -> None:
    assert len(commit_that_touches(repository, "HEAD", [locator])) == 40
    assert commit_that_touches(repository / "src", "HEAD", ["port.py"])
    assert commit_that_touches(repository, "HEAD", [str(repository / "src" / "port.py")])


@pytest.mark.parametrize(
    ("commit", "locators", "error", "says"),
    [
        ("HEAD", ["src/other.py"], CheckFailedError, "touches none"),
        ("HEAD", [], CheckFailedError, "names no file"),
        ("0123456", ["src/port.py"], InputError, "no commit"),
        ("--all", ["src/port.py"], InputError, "no commit"),
    ],
)
def test_a_commit_that_says_nothing_is_refused(
    repository: Path, commit: str, locators: list[str], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        commit_that_touches(repository, commit, locators)


def test_a_commit_needs_a_repository(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no git repository"):
        commit_that_touches(tmp_path, "HEAD", ["a.py"])


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("the port is 6432", "the port is 7000", "the port is [-6432-]{+7000+}"),
        ("a b", "a b", "a b"),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
    ],
)
def test_texts_are_compared_word_by_word(before: str, after: str, shown: str) -> None:
    assert marked(word_diff(before, after)) == shown


def test_a_reviewer_refreshes_sources_and_edits_keywords_as_one(
    graft: Graft, memstore: FakeState
) -> None:
    memstore.queue.passphrase = PHRASE
    note_id = graft.insert("the port is 6432").id

    with graft.reviewing(PHRASE) as reviewer:
        reviewer.filing.set_keywords(note_id, add=["port"], reason="r")
    graft.filing.set_keywords(note_id, add=["pool"], reason="r")

    told = [
        metadata.get("graft-reviewer", "")
        for (name, _), metadata in zip(memstore.received, memstore.metadata, strict=True)
        if name == "SetNoteKeywords"
    ]
    assert told == [TOKEN, ""]
