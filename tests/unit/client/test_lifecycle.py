"""Changing what notes are worth: the clients, the command line, and what they send."""

import asyncio
import inspect
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import lifecycle_service_pb2 as pb
from graft.memory.v1 import notes_service_pb2
from graft.wire.errors import SupersededAlreadyError
from graft_client import AsyncGraft, Graft
from graft_client.errors import InputError, WrongStateError
from graft_client.settings import configure

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
VERBS = ("retire", "restore", "reject", "dispute", "mark_stale")


@pytest.mark.parametrize(
    ("verb", "state", "trust"),
    [
        ("retire", "retired", "observed"),
        ("restore", "active", "observed"),
        ("reject", "active", "rejected"),
        ("dispute", "active", "disputed"),
        ("mark_stale", "active", "stale"),
    ],
)
def test_a_verb_answers_with_the_note_as_it_is(
    graft: Graft, memstore: FakeState, verb: str, state: str, trust: str
) -> None:
    note_id = graft.insert("port 1").id

    changed = getattr(graft, verb)(note_id, reason="why")

    assert (changed.id, changed.state, changed.trust, changed.event) == (note_id, state, trust, 42)
    assert changed.others == (2 if verb == "reject" else 0)
    (_, request) = memstore.received[-1]
    assert isinstance(request, pb.RetireNoteRequest) or hasattr(request, "reason")
    assert (request.id, request.reason) == (note_id, "why")  # type: ignore[attr-defined]


def test_superseding_names_both_notes(graft: Graft, memstore: FakeState) -> None:
    old, new = graft.insert("port 1").id, graft.insert("port 2").id

    changed = graft.supersede(old, by=new, reason="moved")

    assert (changed.state, changed.superseded_by) == ("superseded", new)
    assert graft.get(old).superseded_by == new
    request = memstore.requests("SupersedeNote")[0]
    assert isinstance(request, pb.SupersedeNoteRequest)
    assert (request.id, request.by, request.reason) == (old, new, "moved")


def test_times_that_are_not_named_are_not_sent(graft: Graft, memstore: FakeState) -> None:
    note_id = graft.insert("port 1").id

    changed = graft.set_times(note_id, reason="why", valid_to=MARCH, expires_at=None)

    assert changed.valid_to == MARCH
    request = memstore.requests("SetNoteTimes")[0]
    assert isinstance(request, pb.SetNoteTimesRequest)
    assert not request.HasField("valid_from")
    assert request.HasField("expires_at")
    assert not request.expires_at.HasField("at_ms")
    with pytest.raises(InputError, match="offset"):
        graft.set_times(note_id, reason="why", valid_to=datetime(2026, 3, 1))  # noqa: DTZ001


def test_a_correction_is_sent_without_a_scope_unless_one_was_chosen(
    graft: Graft, memstore: FakeState
) -> None:
    old = graft.insert("port 1").id
    graft.insert("port 2", supersedes=old, reason="moved")
    graft.insert("port 3", supersedes=old, reason="moved", scope="team:x")

    sent = memstore.requests("InsertNote")
    scopes = [each.note.scope for each in sent]  # type: ignore[attr-defined]
    assert scopes == ["user", "", "team:x"]


def test_a_refusal_carries_the_state_and_the_head(graft: Graft, memstore: FakeState) -> None:
    facts = {"state": "superseded", "note_id": "a", "head": "b"}
    memstore.failures.append(SupersededAlreadyError("superseded already: b", metadata=facts))

    with pytest.raises(WrongStateError) as refusal:
        graft.supersede("a" * 8, by="c" * 8, reason="r")

    assert refusal.value.reason == "SUPERSEDED_ALREADY"
    assert refusal.value.details == facts


def test_the_async_client_has_the_same_verbs(
    home: Path, memstore: FakeState, tmp_path: Path
) -> None:
    assert memstore is not None
    configuration = configure(
        home=home, flags={"timeout_seconds": "10"}, directory=tmp_path, environ={}
    )

    async def work() -> list[str]:
        async with AsyncGraft(configuration=configuration) as graft:
            note_id = (await graft.insert("port 1")).id
            done = [await getattr(graft, verb)(note_id, reason="r") for verb in VERBS]
            done.append(await graft.supersede(note_id, by=note_id, reason="r"))
            done.append(await graft.set_times(note_id, reason="r", valid_to=MARCH))
            done.append(await graft.undo(42, reason="r"))
            return [each.id for each in done]

    assert len(set(asyncio.run(work()))) == 1
    for verb in (*VERBS, "supersede", "set_times", "undo"):
        sync, awaited = getattr(Graft, verb), getattr(AsyncGraft, verb)
        assert inspect.signature(sync) == inspect.signature(awaited)


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("retire", "retired"),
        ("restore", "restored"),
        ("reject", "rejected"),
        ("dispute", "disputed"),
        ("mark-stale", "marked"),
    ],
)
def test_the_command_line_says_a_verb_and_how_to_take_it_back(
    graft: Graft, command: Command, verb: str, said: str
) -> None:
    note_id = graft.insert("port 1").id

    ran = command(verb, note_id, "--reason", "why")

    assert ran.code == 0
    assert ran.out.startswith(f"{said} {note_id[-8:]}")
    assert "graft undo 42" in ran.err
    assert command(verb, note_id).code == 2
    assert command(verb, note_id, "--reason", "why", "--json").json()["event"] == 42


def test_the_command_line_supersedes_sets_and_undoes(
    graft: Graft, memstore: FakeState, command: Command
) -> None:
    old, new = graft.insert("port 1").id, graft.insert("port 2").id

    superseded = command("supersede", old, "--by", new, "--json").json()
    set_times = command("set", old, "--valid-to", "2026-03-01T00:00:00Z", "--valid-from", "none")
    undone = command("undo", "42", "--json").json()

    assert superseded["superseded_by"] == new
    assert superseded["state"] == "superseded"
    assert set_times.code == 0
    request = memstore.requests("SetNoteTimes")[0]
    assert isinstance(request, pb.SetNoteTimesRequest)
    assert request.HasField("valid_from")
    assert not request.HasField("expires_at")
    assert undone["event"] == 42
    assert all(
        request.reason  # type: ignore[attr-defined]
        for name in ("SupersedeNote", "SetNoteTimes", "UndoEvent")
        for request in memstore.requests(name)
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("set", "1f3a9c04"),
        ("set", "1f3a9c04", "--valid-to", "2026-03-01T00:00:00"),
        ("set", "1f3a9c04", "--valid-to", "soon"),
        ("undo", "0"),
        ("supersede", "1f3a9c04"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_asked(
    memstore: FakeState, command: Command, arguments: tuple[str, ...]
) -> None:
    assert command(*arguments).code == 2
    assert memstore.received == []


def test_a_note_is_saved_in_the_place_of_another(
    graft: Graft, memstore: FakeState, command: Command
) -> None:
    old = graft.insert("port 1").id

    command("insert", "--title", "port 2", "--supersedes", old)
    command("insert", "--title", "port 3", "--restore", "--reason", "it is back")
    line = b'{"title": "port 4", "supersedes": "1f3a9c04", "reason": "moved", "restore": true}'
    command("insert", "--jsonl", "-", stdin=line)

    one, two = (each.note for each in memstore.requests("InsertNote")[1:])  # type: ignore[attr-defined]
    (batch,) = memstore.requests("InsertNotes")
    assert isinstance(batch, notes_service_pb2.InsertNotesRequest)
    assert (one.supersedes, one.restore, bool(one.reason)) == (old, False, True)
    assert (two.supersedes, two.restore, two.reason) == ("", True, "it is back")
    three = batch.notes[0]
    assert (three.supersedes, three.restore, three.reason) == ("1f3a9c04", True, "moved")
    refused = command("insert", "--jsonl", "-", stdin=b'{"title": "t", "restore": "yes"}')
    assert refused.code == 2


def test_what_nobody_has_looked_at_is_saved_as_a_candidate(
    memstore: FakeState, command: Command
) -> None:
    lines = b'{"title": "port 2"}\n{"title": "port 3", "candidate": true}\n'

    command("insert", "--title", "port 1", "--candidate")
    command("insert", "--jsonl", "-", stdin=lines)
    command("insert", "--jsonl", "-", "--candidate", stdin=lines)

    (one,) = memstore.requests("InsertNote")
    batches = memstore.requests("InsertNotes")
    assert one.note.candidate  # type: ignore[attr-defined]
    assert [[note.candidate for note in each.notes] for each in batches] == [  # type: ignore[attr-defined]
        [False, True],
        [True, True],
    ]


def test_a_person_sees_what_became_of_a_note(
    graft: Graft, memstore: FakeState, command: Command
) -> None:
    old, new = graft.insert("port 1").id, graft.insert("port 2").id
    graft.supersede(old, by=new, reason="moved")
    memstore.notes[old].state_reason = "moved"

    shown = command("get", old).out

    assert "superseded, observed" in shown
    assert "because:    moved" in shown
    assert f"replaced by:{new}" in shown.replace("replaced by: ", "replaced by:")


@pytest.mark.parametrize(
    ("arguments", "method"),
    [
        (("query", "port"), "Query"),
        (("retrieve", "port"), "Retrieve"),
        (("explore", "port"), "Explore"),
        (("list",), "ListNotes"),
        (("get", "0193a7a0"), "GetNote"),
    ],
)
def test_every_read_looks_back_by_both_clocks(
    graft: Graft, memstore: FakeState, command: Command, arguments: tuple[str, ...], method: str
) -> None:
    graft.insert("port 1")
    times = ("--valid-at", "2026-03-01T00:00:00Z", "--known-at", "2026-03-01T09:00:00+09:00")

    assert command(*arguments, *times).code == 0
    assert command(*arguments).code == 0
    naive = command(*arguments, "--known-at", "2026-03-01T00:00:00")

    back, now = memstore.requests(method)
    instants = back.as_of  # type: ignore[attr-defined]
    assert (instants.valid_at_ms, instants.known_at_ms) == (1_772_323_200_000, 1_772_323_200_000)
    assert not now.HasField("as_of")  # type: ignore[attr-defined]
    assert naive.code == 2
    assert "no offset" in naive.err


def test_both_clients_look_back_alike(graft: Graft, memstore: FakeState) -> None:
    graft.query("port", valid_at=MARCH)
    list(graft.list(known_at=MARCH))

    (asked,) = memstore.requests("Query")
    (listed,) = memstore.requests("ListNotes")
    assert asked.as_of.HasField("valid_at_ms")  # type: ignore[attr-defined]
    assert not asked.as_of.HasField("known_at_ms")  # type: ignore[attr-defined]
    assert listed.as_of.HasField("known_at_ms")  # type: ignore[attr-defined]
    for name in ("query", "retrieve", "explore", "get"):
        parameters = [inspect.signature(getattr(each, name)) for each in (Graft, AsyncGraft)]
        assert parameters[0] == parameters[1]
