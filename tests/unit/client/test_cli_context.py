"""`graft query` says what is there: what it is given, this machine, lock files when they matter."""

import os
import sys
from pathlib import Path

import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState
from tests.unit.client.test_cli import ID, strong

from graft.memory.v1 import note_pb2, recall_service_pb2
from graft.wire.ecosystems import system_of
from graft_client.limits import CONTEXT_MAX

HERE = f"os:{system_of(sys.platform)}"


def contexts(memstore: FakeState) -> list[list[str]]:
    return [
        list(each.context)
        for each in memstore.requests("Query")
        if isinstance(each, recall_service_pb2.QueryRequest)
    ]


def wanting(*names: str) -> recall_service_pb2.QueryResponse:
    reply = strong()
    reply.context_wanted.extend(names)
    return reply


def test_the_machine_s_system_is_told_and_nothing_is_read_when_nothing_is_wanted(
    command: Command, memstore: FakeState, place: Path
) -> None:
    (place / "uv.lock").write_text("broken [")
    memstore.query_reply = strong()

    done = command("query", "x")

    assert contexts(memstore) == [[HERE]]
    assert (done.code, done.err) == (0, "")


def test_what_is_given_is_told_and_a_given_system_replaces_the_machine_s(
    command: Command, memstore: FakeState
) -> None:
    command("query", "x", "--context", "pypi:django@5.1", "--context", "OS:windows")

    assert contexts(memstore) == [["pypi:django@5.1", "OS:windows"]]


def test_what_is_wanted_is_read_from_lock_files_and_the_question_asked_again(
    command: Command, memstore: FakeState, place: Path
) -> None:
    (place / "requirements.txt").write_text("Django==5.1\nflask==3.0\n")
    memstore.query_reply = wanting("pypi:django", "npm:react")

    done = command("query", "x", "--context", "tool:git@2.40")

    assert contexts(memstore) == [
        ["tool:git@2.40", HERE],
        ["tool:git@2.40", HERE, "pypi:django@5.1"],
    ]
    assert done.err == ""


def test_a_question_is_asked_once_where_no_file_knows(
    command: Command, memstore: FakeState
) -> None:
    memstore.query_reply = wanting("pypi:django")

    assert command("query", "x").code == 0
    assert len(contexts(memstore)) == 1


def test_a_broken_lock_file_is_named_and_the_question_answered(
    command: Command, memstore: FakeState, place: Path
) -> None:
    (place / "uv.lock").write_text("[[package]\n")
    os.mkfifo(place / "poetry.lock")
    memstore.query_reply = wanting("pypi:django")

    done = command("query", "x", "--exit-status")
    as_json = command("query", "x", "--json")

    assert (done.code, len(contexts(memstore))) == (0, 2)
    assert f"graft: {place}/uv.lock is left out, since it is broken" in done.err
    assert "poetry.lock is left out: no regular file" in done.err
    assert (as_json.json()["hit"], as_json.err) == ("STRONG", "")


def test_a_context_is_never_grown_beyond_what_the_service_takes(
    command: Command, memstore: FakeState, place: Path
) -> None:
    (place / "requirements.txt").write_text("django==5.1\n")
    memstore.query_reply = wanting("pypi:django")
    given = [f"--context=npm:a{number}@1.0.0" for number in range(CONTEXT_MAX - 1)]

    command("query", "x", *given)

    assert [len(each) for each in contexts(memstore)] == [CONTEXT_MAX]


def finding(fit: "note_pb2.Fit.ValueType", words: str) -> note_pb2.Applicability:
    return note_pb2.Applicability(name="pypi:django", range="<5", fit=fit, words=words)


def test_a_note_outside_its_range_says_so_in_words_and_for_programs(
    command: Command, memstore: FakeState
) -> None:
    reply = strong()
    reply.hit = recall_service_pb2.HIT_WEAK
    reply.applicability.append(finding(note_pb2.FIT_OUTSIDE, "applies to django <5; here is 5.1"))
    memstore.query_reply = reply

    done = command("query", "x")
    content = command("query", "x", "--json").json()

    assert done.out.splitlines()[3] == "applies to django <5; here is 5.1"
    assert content["note"]["body"] is None
    assert content["applicability"] == [
        {
            "name": "pypi:django",
            "range": "<5",
            "fit": "outside",
            "here": [],
            "words": "applies to django <5; here is 5.1",
        }
    ]


def test_dead_ends_stand_beside_the_answer_and_are_marked(
    command: Command, memstore: FakeState
) -> None:
    reply = strong()
    dead_end = recall_service_pb2.DeadEnd(
        id=ID, title="Polyfilling \x1b[31mfetch", trust=note_pb2.TRUST_OBSERVED
    )
    dead_end.applicability.append(finding(note_pb2.FIT_UNKNOWN, "only for django <5"))
    reply.dead_ends.append(dead_end)
    reply.against.add(id=ID, title="Keep\x07 it", why="denies what the answer says")
    memstore.query_reply = reply

    done = command("query", "x")
    content = command("query", "x", "--json").json()

    assert done.out.splitlines()[-1] == (
        "dead end: 89abcdef  Polyfilling \\x1b[31mfetch (only for django <5)"
    )
    assert done.out.splitlines()[-2] == "but: 89abcdef  Keep\\x07 it (denies what the answer says)"
    assert content["against"][0]["why"] == "denies what the answer says"
    (listed,) = content["dead_ends"]
    assert (listed["id"], listed["trust"]) == (ID, "observed")
    assert "body" not in listed


def test_a_dead_end_that_is_the_answer_is_called_one(command: Command, memstore: FakeState) -> None:
    reply = strong()
    reply.hit = recall_service_pb2.HIT_WEAK
    reply.note.kind = note_pb2.NOTE_KIND_DEAD_END
    memstore.query_reply = reply

    assert command("query", "x").out.splitlines()[2].startswith("dead-end · 89abcdef")
    assert command("query", "x", "--json").json()["note"]["kind"] == "dead-end"


def test_a_search_marks_dead_ends(command: Command, memstore: FakeState) -> None:
    memstore.retrieve_reply.results.append(
        recall_service_pb2.RetrievedNote(
            id=ID,
            title="Polyfilling fetch",
            kind=note_pb2.NOTE_KIND_DEAD_END,
            trust=note_pb2.TRUST_OBSERVED,
        )
    )

    (line,) = command("retrieve", "x").out.splitlines()
    (result,) = command("retrieve", "x", "--json").json()["results"]

    assert line.split("\t")[2] == "dead-end: Polyfilling fetch"
    assert (result["kind"], result["applies_to"]) == ("dead-end", [])


def test_what_a_note_applies_to_is_shown(command: Command, memstore: FakeState) -> None:
    note = command(
        *("insert", "--title", "t", "--applies-to", "pypi:django<5", "--json"),
        *("--applies-to", "os:linux"),
    ).json()

    assert "applies to: pypi:django<5\napplies to: os:linux\n" in command("get", note["id"]).out
    assert command("get", note["id"], "--json").json()["applies_to"] == [
        *("pypi:django<5", "os:linux")
    ]
    assert len(memstore.notes) == 1


@pytest.mark.parametrize("text", ["\udcff", "a\udc80b"])
def test_a_context_of_half_a_character_is_wrong_usage(
    command: Command, memstore: FakeState, text: str
) -> None:
    assert command("query", "x", "--context", text).code == 2
    assert contexts(memstore) == []
