"""What `graft misses` lists and erases, and how an insert says what it answers."""

import json

from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import RECORDED_MS, FakeState

from graft.memory.v1 import recall_service_pb2 as pb

NOTE = "0193a7a0" + "0" * 16 + "89abcdef"
GROUPS = [
    pb.MissGroup(
        question="how do I\nrotate \x1b logs",
        count=1_200,
        first_at_ms=RECORDED_MS,
        last_at_ms=RECORDED_MS + 1,
        scopes=["project:host/o/n", "user"],
    ),
    pb.MissGroup(question="the port", count=1, all_scopes=True, answered_by=NOTE),
]


def test_groups_are_one_line_each(command: Command, memstore: FakeState) -> None:
    memstore.misses_reply = pb.ListMissesResponse(groups=GROUPS, kept=True)

    done = command("misses", "--scope", "user")

    lines = [line.split("\t") for line in done.out.splitlines()]
    assert [line[0] for line in lines] == ["1,200", "1"]
    assert lines[0][2:] == ["how do I rotate \\x1b logs", ""]
    assert lines[1][2:] == ["the port", "89abcdef"]
    assert done.err == ""
    (request,) = memstore.requests("ListMisses")
    assert isinstance(request, pb.ListMissesRequest)
    assert (list(request.scope.scopes), request.limit) == (["user"], 50)


def test_groups_are_one_object_a_line(command: Command, memstore: FakeState) -> None:
    memstore.misses_reply = pb.ListMissesResponse(groups=GROUPS, kept=True)

    done = command("misses", "--json", "--limit", "7", "--all-scopes")

    first, second = (json.loads(line) for line in done.out.splitlines())
    assert first == {
        "question": "how do I\nrotate \x1b logs",
        "count": 1200,
        "first_at": "2026-01-01T00:00:00.000Z",
        "last_at": "2026-01-01T00:00:00.001Z",
        "scopes": ["project:host/o/n", "user"],
        "all_scopes": False,
        "answered_by": None,
    }
    assert (second["answered_by"], second["all_scopes"]) == (NOTE, True)
    (request,) = memstore.requests("ListMisses")
    assert isinstance(request, pb.ListMissesRequest)
    assert (request.scope.all, request.limit) == (True, 7)


def test_an_empty_list_says_whether_questions_are_kept(
    command: Command, memstore: FakeState
) -> None:
    nothing = command("misses")
    memstore.misses_reply = pb.ListMissesResponse(kept=False)
    off = command("misses")

    assert (nothing.out, off.out) == ("", "")
    assert "nothing was asked in vain here" in nothing.err
    assert "the setting misses is off" in off.err


def test_erasing_without_a_terminal_needs_yes_and_names_the_count(
    command: Command, memstore: FakeState
) -> None:
    memstore.misses_reply = pb.ListMissesResponse(groups=GROUPS, kept=True)
    memstore.clear_reply = pb.ClearMissesResponse(groups=2, questions=1_201, erasing=True)

    refused = command("misses", "--clear", "--scope", "user")
    asked = len(memstore.requests("ClearMisses"))
    done = command("misses", "--clear", "--yes", "--scope", "user")
    reply = command("misses", "--clear", "--yes", "--json").json()

    assert refused.code == 2
    assert "1,201 questions in 2 groups" in refused.err
    assert "--yes" in refused.err
    assert asked == 0
    assert done.out == (
        "erased 1,201 questions in 2 groups; cleaning the file goes on in the background\n"
    )
    assert reply == {"groups": 2, "questions": 1201, "erasing": True}
    first, second = memstore.requests("ClearMisses")
    assert isinstance(first, pb.ClearMissesRequest)
    assert isinstance(second, pb.ClearMissesRequest)
    assert list(first.scope.scopes) == ["user"]
    assert first.request_id != second.request_id


def test_yes_alone_is_wrong_usage(command: Command, memstore: FakeState) -> None:
    assert command("misses", "--yes").code == 2
    assert memstore.received == []


def test_an_insert_says_what_it_answers(command: Command, memstore: FakeState) -> None:
    memstore.insert_answers = 4

    shown = command("insert", "--title", "t").out
    reply = command("insert", "--title", "u", "--json").json()
    lines = b'{"title": "v"}\n{"title": "w"}\n'
    many = command("insert", "--jsonl", "-", stdin=lines).out

    assert "  answers 4 earlier questions (graft misses)\n" in shown
    assert reply["answers"] == 4
    assert "  answers 8 earlier questions (graft misses)\n" in many
    memstore.insert_answers = 0
    assert "answers" not in command("insert", "--title", "x").out
