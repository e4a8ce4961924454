"""What is opened of the files that notes name, and how a client ends an answer by it."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from blake3 import blake3
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import note_pb2
from graft.memory.v1 import recall_service_pb2 as pb
from graft_client import AsyncGraft, Graft
from graft_client.fingerprints import GONE, UNCHECKED, Budget, look_at_file
from graft_client.results import Source
from graft_client.scope import find_project
from graft_client.settings import Configuration, configure
from graft_client.sources import Surveyor

CONTENT = b"pool = 6432\n"
PRINT = "blake3:" + blake3(CONTENT).hexdigest()
OURS = "example.org/o/n"


def plenty() -> Budget:
    return Budget(1 << 20, 60.0)


def git(directory: Path, *arguments: str) -> str:
    around = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # noqa: TID251
    identity = ("-c", "user.name=n", "-c", "user.email=e@x")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=directory, env=around, check=True, capture_output=True
    )
    return done.stdout.decode().strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a file in a folder, and a secret beside it."""
    path = tmp_path / "app"
    (path / "src").mkdir(parents=True)
    git(path, "init", "-q")
    git(path, "remote", "add", "origin", f"https://{OURS}.git")
    (path / "src" / "pool.py").write_bytes(CONTENT)
    git(path, "add", ".")
    git(path, "commit", "-qm", "one")
    (tmp_path / "secret").write_text("x")
    return path


def surveyor(directory: Path) -> Surveyor:
    return Surveyor(find_project(directory), directory)


def test_a_file_of_the_project_is_looked_at(project: Path) -> None:
    found = look_at_file(project, "src/pool.py", "", plenty())

    assert found.fingerprint == PRINT
    assert look_at_file(project, "src/gone.py", "", plenty()) == GONE
    assert look_at_file(project, "src/pool.py/x", "", plenty()) == GONE


def test_nothing_else_is_opened(project: Path, tmp_path: Path) -> None:
    (project / "link").symlink_to(tmp_path / "secret")
    (project / "folder").symlink_to(tmp_path)
    (project / "loop").symlink_to(project / "loop")
    os.mkfifo(project / "pipe")
    (project / "device").symlink_to("/dev/zero")
    closed = project / "closed"
    closed.write_text("x")
    closed.chmod(0)
    names = ["../secret", str(tmp_path / "secret"), "link", "folder/secret", "loop", "pipe"]
    names += ["device", "src", ".", "", "/dev/zero", "/dev/stdin", "a\0b", "x" * 5000]
    names += [] if os.access(closed, os.R_OK) else ["closed"]

    for name in names:
        assert look_at_file(project, name, "", plenty()) == UNCHECKED, name
    # A link inside is followed.
    (project / "inner").symlink_to("src/pool.py")
    assert look_at_file(project, "inner", "", plenty()).fingerprint == PRINT


def test_what_would_take_too_long_is_not_read(project: Path) -> None:
    with (project / "huge").open("wb") as file:
        file.truncate(1 << 40)
    late = iter([0.0, 100.0, 100.0])

    assert look_at_file(project, "huge", "", plenty()) == UNCHECKED
    assert look_at_file(project, "src/pool.py", "", Budget(5, 60.0)) == UNCHECKED
    assert look_at_file(project, "src/pool.py", "", Budget(99, 1.0, lambda: next(late))) == (
        UNCHECKED
    )


def test_sources_are_named_from_the_top_of_the_project_wherever_one_stands(project: Path) -> None:
    head = git(project, "rev-parse", "HEAD")
    blob = git(project, "rev-parse", "HEAD:src/pool.py")
    given = [
        Source(kind="file", locator="pool.py"),
        Source(kind="file", locator="src/pool.py"),
        Source(kind="file", locator="../../secret"),
        Source(kind="commit", locator=head[:10]),
        Source(kind="commit", locator=f"{head[:10]}:src/pool.py"),
        Source(kind="url", locator="https://x"),
        Source(kind="file", locator="x" * 5000),
    ]

    found = surveyor(project / "src").complete(given, plenty())

    assert [(each.locator, each.project, each.fingerprint) for each in found] == [
        ("src/pool.py", OURS, PRINT),
        ("src/pool.py", OURS, PRINT),
        ("../../secret", "", ""),
        (head[:10], OURS, f"git:{head}"),
        (f"{head[:10]}:src/pool.py", OURS, f"git:{blob}"),
        ("https://x", "", ""),
        (f"src/{'x' * 5000}", OURS, ""),
    ]
    again = surveyor(project)
    assert [again.look(each, plenty()).fingerprint for each in found[:5]] == [
        PRINT,
        PRINT,
        "",
        f"git:{head}",
        f"git:{blob}",
    ]
    (project / "src" / "pool.py").write_text("other")
    assert again.look(found[4], plenty()).fingerprint not in {"", f"git:{blob}"}
    unborn = Source(kind="commit", locator="1" * 40, project=OURS)
    assert again.look(unborn, plenty()) == GONE
    # GIT_DIR says nothing of where one stands.
    elsewhere = Source(kind="file", locator="src/pool.py", project="example.org/other")
    assert again.look(elsewhere, plenty()) == UNCHECKED


def waiting(locator: str) -> pb.QueryResponse:
    source = note_pb2.Source(
        kind=note_pb2.SOURCE_KIND_FILE, locator=locator, project=OURS, fingerprint=PRINT, id=7
    )
    return pb.QueryResponse(
        hit=pb.HIT_STRONG,
        note=note_pb2.Note(id="a" * 32, title="t", trust=note_pb2.TRUST_OBSERVED),
        receipt="b" * 32,
        source_check=pb.SOURCE_CHECK_WAITING,
        to_confirm=[source],
    )


@pytest.fixture
def there(home: Path, memstore: FakeState, project: Path) -> Configuration:
    memstore.query_reply = waiting("src/pool.py")
    memstore.confirm_reply = pb.ConfirmAnswerResponse(
        hit=pb.HIT_STRONG,
        note=note_pb2.Note(id="a" * 32, title="t", body="whole"),
        source_check=pb.SOURCE_CHECK_SAME,
    )
    return configure(
        home=home, flags={"timeout_seconds": "10"}, directory=project / "src", environ={}
    )


def confirmed(memstore: FakeState) -> pb.ConfirmAnswerRequest:
    (request,) = memstore.requests("ConfirmAnswer")
    assert isinstance(request, pb.ConfirmAnswerRequest)
    return request


def test_a_question_is_ended_by_what_the_files_are(
    there: Configuration, memstore: FakeState
) -> None:
    with Graft(configuration=there) as graft:
        answer = graft.query("t")

    (asked,) = memstore.requests("Query")
    assert isinstance(asked, pb.QueryRequest)
    assert asked.can_confirm
    assert asked.projects[0] == OURS
    assert confirmed(memstore) == pb.ConfirmAnswerRequest(
        profile="default",
        receipt="b" * 32,
        findings=[note_pb2.SourceFinding(source_id=7, fingerprint=PRINT)],
    )
    assert (answer.hit, answer.source_check, answer.to_confirm) == ("STRONG", "same", ())
    assert answer.note is not None
    assert answer.note.body == "whole"


def test_the_async_client_ends_it_the_same(there: Configuration, memstore: FakeState) -> None:
    memstore.query_reply = waiting("../../secret")

    async def work() -> str | None:
        async with AsyncGraft(configuration=there) as graft:
            return (await graft.query("t")).source_check

    assert asyncio.run(work()) == "same"
    assert confirmed(memstore).findings == [note_pb2.SourceFinding(source_id=7)]


def test_an_answer_that_waits_for_nothing_is_not_confirmed(
    there: Configuration, memstore: FakeState
) -> None:
    memstore.query_reply = pb.QueryResponse(hit=pb.HIT_MISS)

    with Graft(configuration=there) as graft:
        graft.query("t")

    assert not memstore.requests("ConfirmAnswer")


def test_the_command_line_says_what_was_not_checked(command: Command, memstore: FakeState) -> None:
    reply = waiting("a.py")
    reply.source_check = pb.SOURCE_CHECK_UNCHECKED
    del reply.to_confirm[:]
    memstore.query_reply = reply

    assert "source not checked" in command("query", "t").out


def test_the_command_line_sets_keywords(command: Command, memstore: FakeState) -> None:
    note_id = command("insert", "--title", "t", "--keyword", "old", "--json").json()["id"]

    done = command("set", note_id, "--keyword", "+new", "--keyword", "-old", "--json").json()

    assert done["keywords"] == ["new"]
    assert command("set", note_id, "--keyword", "bare").code == 2
    assert memstore.requests("SetNoteKeywords")


def test_the_command_line_shows_the_directory_s_scope_and_starts_nothing(
    command: Command, place: Path
) -> None:
    shown = command("scope", "current", "--json").json()

    assert shown == {
        "write": "user",
        "read": ["user"],
        "all_scopes": False,
        "project": None,
        "path": None,
    }
    assert command("scope", "current", "--scope", "team:x").out == (
        "saves to: team:x\nlooks at: team:x\n"
    )
    assert place.exists()
