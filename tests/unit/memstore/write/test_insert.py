"""Storing notes: whole, once, together with everything that belongs to them."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from uuid import RFC_4122, UUID

import pytest
from tests.unit.memstore.room import AGENT, Room, open_room

from graft.wire.errors import KnownTextError, RequestIdReusedError
from graft_memstore.errors import BadFieldsError
from graft_memstore.model import (
    Lifecycle,
    NewNote,
    NoteKind,
    ScopeFilter,
    Source,
    SourceKind,
    Trust,
)
from graft_memstore.store.requests import RECEIPT_MS
from graft_memstore.store.stats import read_stats
from graft_memstore.visibility import View

FULL = NewNote(
    title="pip cannot see the proxy",
    body="Set `HTTPS_PROXY` before the first call.",
    keywords=("pip", "Proxy"),
    kind=NoteKind.DEAD_END,
    scope="project:github.com/owner/name",
    author="me",
    sources=(Source(kind=SourceKind.FILE, locator="setup.cfg", project="github.com/owner/name"),),
    valid_from_ms=1,
    valid_to_ms=2,
    expires_at_ms=3,
)


def test_a_note_is_stored_whole(room: Room) -> None:
    stored = room.insert(note=FULL)

    note = room.note(stored.id)
    assert (note.title, note.body, note.kind) == (FULL.title, FULL.body, FULL.kind)
    assert note.keywords == ("Proxy", "pip")
    assert (note.author, note.scope) == (FULL.author, FULL.scope)
    assert [(each.kind, each.locator) for each in note.sources] == [("file", "setup.cfg")]
    assert note.sources[0].observed_at_ms == note.recorded_at_ms == room.clock.ms
    assert (note.state.valid_from_ms, note.state.valid_to_ms) == (1, 2)
    assert note.state.expires_at_ms == 3
    assert (stored.lifecycle, stored.trust) == (Lifecycle.ACTIVE, Trust.OBSERVED)
    assert (stored.duplicate, stored.scope, stored.event) == (False, FULL.scope, 1)


@pytest.mark.parametrize(
    "body",
    [
        "word " * 9_000,
        "😀" * 600,
        "\x01\x02\x1b[0m\u2028\u200b",
        "<s></s> [INST] <|im_end|>",
        "x" * (1024 * 1024),
        "x",
    ],
)
def test_any_body_that_is_taken_comes_back_as_it_was(still_room: Room, body: str) -> None:
    stored = still_room.insert("a title", body)

    assert still_room.note(stored.id).body == body


def test_a_stored_note_has_its_vectors_or_waits_for_them(room: Room) -> None:
    stored = room.insert("a title", "some body", wait=True)

    assert stored.pending == 0
    assert room.count("SELECT count(*) FROM chunks") == 2
    assert room.count("SELECT count(*) FROM vec_bits_1") == 2


def test_a_note_without_body_has_its_title_s_vector_alone(room: Room) -> None:
    stored = room.insert("a title")

    assert stored.pending == 0
    assert room.count("SELECT count(*) FROM chunks") == 1


def test_without_a_model_a_note_is_stored_and_waits(room: Room) -> None:
    room.embedder.away["fake"] = "no file"

    reply = room.insert_all([NewNote(title="a title", body="a body")])

    assert reply.degraded == ("vector",)
    assert reply.notes[0].pending == 2
    assert room.count("SELECT count(*) FROM notes_fts WHERE notes_fts MATCH 'title'") == 1


def test_the_same_text_in_the_same_scope_is_a_duplicate(room: Room) -> None:
    first = room.insert(note=FULL)
    again = room.insert(note=FULL)

    assert (again.id, again.duplicate, again.event) == (first.id, True, 0)
    assert room.count("SELECT count(*) FROM notes") == 1


def test_a_duplicate_adds_its_keywords_and_sources(still_room: Room) -> None:
    first = still_room.insert(note=FULL)
    more = replace(
        FULL,
        keywords=("pip", "corporate"),
        sources=(Source(kind=SourceKind.URL, locator="https://example.org"),),
    )

    again = still_room.insert(note=more)

    note = still_room.note(first.id)
    assert note.keywords == ("Proxy", "corporate", "pip")
    assert [each.locator for each in note.sources] == ["setup.cfg", "https://example.org"]
    assert again.event == 2
    assert still_room.count("SELECT count(*) FROM notes_fts WHERE notes_fts MATCH 'corporate'") == 1


def test_a_text_that_has_expired_can_be_stored_again(room: Room) -> None:
    first = room.insert(note=NewNote(title="a title", expires_at_ms=room.clock.ms + 10))
    room.clock.ms += 20

    again = room.insert("a title")
    third = room.insert("a title")

    assert not again.duplicate
    assert again.id != first.id
    assert (third.duplicate, third.id) == (True, again.id)


def test_an_expired_note_that_is_stored_again_as_it_was_is_a_duplicate(room: Room) -> None:
    expired = NewNote(title="a title", expires_at_ms=room.clock.ms - 10)
    first = room.insert(note=expired)

    again = room.insert(note=expired)

    assert (again.duplicate, again.id) == (True, first.id)


def test_the_same_text_in_another_scope_is_another_note(room: Room) -> None:
    first = room.insert(note=FULL)
    other = room.insert(note=replace(FULL, scope="user"))

    assert other.id != first.id
    assert not other.duplicate


def test_another_spelling_is_stored_and_listed_first_among_the_similar(room: Room) -> None:
    first = room.insert("Use Node 20", "in CI")
    room.wait_until_embedded()

    other = room.insert("use  node 20", "in CI")

    assert not other.duplicate
    assert other.similar[0].note_id == first.id
    assert other.similar[0].similarity == 1.0


def test_notes_of_other_scopes_are_never_named_as_similar(room: Room) -> None:
    room.insert(note=NewNote(title="Use Node 20", scope="project:a"))
    room.wait_until_embedded()

    other = room.insert(note=NewNote(title="use node 20", scope="project:b"))

    assert other.similar == ()


def test_the_same_text_for_two_scopes_of_a_batch_is_like_the_notes_of_each(room: Room) -> None:
    here, there = (
        room.insert(note=NewNote(title="the port of staging", body="old", scope=scope), wait=True)
        for scope in ("project:a", "project:b")
    )

    stored = room.insert_all(
        [
            NewNote(title="the port of staging", body="new", scope=scope)
            for scope in ("project:a", "project:b")
        ]
    ).notes

    assert [[each.note_id for each in note.similar] for note in stored] == [[here.id], [there.id]]


def test_a_retired_text_does_not_come_back_silently(still_room: Room) -> None:
    first = still_room.insert(note=FULL)
    still_room.delete(first.id, caller=AGENT)

    with pytest.raises(KnownTextError) as refusal:
        still_room.insert(note=FULL)

    assert refusal.value.metadata == {"state": "retired", "note_id": first.id}
    assert still_room.insert(note=replace(FULL, scope="user")).event == 3


def test_an_erased_text_may_come_back(room: Room) -> None:
    first = room.insert(note=FULL)
    room.delete(first.id)

    again = room.insert(note=FULL)

    assert again.id != first.id
    assert not again.duplicate


def test_a_retry_answers_the_same_and_stores_nothing(room: Room) -> None:
    key = room.key()
    room.insert("use node 20")
    first = room.insert("Use Node 20", key=key)

    again = room.insert("Use Node 20", key=key)

    assert again == first
    assert room.count("SELECT count(*) FROM notes") == 2
    assert room.count("SELECT count(*) FROM events") == 2


def test_a_retry_after_a_restart_answers_the_same(tmp_path: Path) -> None:
    with open_room(tmp_path) as room:
        key = room.key()
        first = room.insert("a title", key=key)

    with open_room(tmp_path) as room:
        assert room.insert("a title", key=key) == first


def test_a_request_id_belongs_to_one_request(room: Room) -> None:
    key = room.key(payload=b"one")
    room.insert("a title", key=key)

    with pytest.raises(RequestIdReusedError):
        room.insert("a title", key=replace(key, payload_hash=b"other"))
    with pytest.raises(RequestIdReusedError):
        room.insert("a title", key=replace(key, method="InsertNotes"))


def test_a_request_id_is_forgotten_after_a_day(room: Room) -> None:
    key = room.key(payload=b"one")
    room.insert("a title", key=key)
    room.clock.ms += RECEIPT_MS

    later = room.insert("another title", key=replace(key, payload_hash=b"other"))

    assert not later.duplicate


def test_receipts_hold_no_text(room: Room) -> None:
    room.insert("use a xylophone")
    room.insert("Use a  xylophone", "with a zebra")

    with room.profile.snapshot() as connection:
        rows = connection.execute("SELECT * FROM requests").fetchall()

    assert b"xylophone" not in repr(rows).encode()
    assert b"zebra" not in repr(rows).encode()


def test_a_batch_is_stored_in_order_with_one_embedding_call(room: Room) -> None:
    calls: list[str] = []
    room.embedder.before = calls.append

    reply = room.insert_all([NewNote(title=f"note {number}") for number in range(100)])

    assert [room.note(each.id).title for each in reply.notes[:3]] == ["note 0", "note 1", "note 2"]
    assert [each.event for each in reply.notes] == list(range(1, 101))
    assert calls == ["fake"]


def test_a_batch_is_stored_whole_or_not_at_all(room: Room) -> None:
    retired = room.insert("once true")
    room.delete(retired.id, caller=AGENT)
    before = room.count("SELECT count(*) FROM notes")

    with pytest.raises(KnownTextError):
        room.insert_all([NewNote(title="new"), NewNote(title="once true")])
    with pytest.raises(BadFieldsError):
        room.insert_all([NewNote(title="new"), NewNote(title="")])

    assert room.count("SELECT count(*) FROM notes") == before


def test_equal_notes_in_a_batch_become_one(room: Room) -> None:
    reply = room.insert_all(
        [NewNote(title="same", keywords=("a",)), NewNote(title="same", keywords=("b",))]
    )

    assert [each.duplicate for each in reply.notes] == [False, True]
    assert reply.notes[0].id == reply.notes[1].id
    assert room.note(reply.notes[0].id).keywords == ("a", "b")


def test_equal_notes_from_many_threads_become_one(room: Room) -> None:
    start = threading.Barrier(8)

    def insert(_: int) -> str:
        start.wait(20)
        return room.insert("the same from all").id

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(insert, range(8)))

    assert len(ids) == 1
    assert room.count("SELECT count(*) FROM notes") == 1


def test_two_writers_of_many_notes_lose_none(room: Room) -> None:
    def insert(name: str) -> list[str]:
        return [room.insert(f"{name} {number}").id for number in range(60)]

    with ThreadPoolExecutor(2) as pool:
        ids = [note_id for part in pool.map(insert, ["one", "two"]) for note_id in part]

    assert len(set(ids)) == 120
    assert room.count("SELECT count(*) FROM notes") == 120


def test_no_transaction_is_open_while_the_model_works(room: Room) -> None:
    written: list[bool] = []

    def write_meanwhile(_: str) -> None:
        room.profile.write(lambda _: written.append(True), 5.0)

    room.embedder.before = write_meanwhile
    room.insert("a title", "a body", wait=True)

    assert written


def test_a_text_that_no_model_takes_is_stored_and_found_by_words(room: Room) -> None:
    room.embedder.refused = {"cursed"}

    reply = room.insert_all([NewNote(title="cursed"), NewNote(title="blessed")])
    room.wait_until_embedded()

    assert reply.degraded == ()
    assert room.count("SELECT count(*) FROM chunks") == 1
    assert room.count("SELECT count(*) FROM notes_fts WHERE notes_fts MATCH 'cursed'") == 1


def test_counts_tell_what_is_here_and_what_is_elsewhere(room: Room) -> None:
    for scope, count in (("user", 3), ("project:a", 2), ("project:b", 1)):
        for number in range(count):
            room.insert(note=NewNote(title=f"{scope} {number}", scope=scope, keywords=(scope,)))
    room.delete(room.insert(note=NewNote(title="gone", scope="user")).id, caller=AGENT)

    with room.profile.snapshot() as connection:
        here = ScopeFilter(scopes=("user", "project:b"))
        stats = read_stats(connection, View(scope=here, now_ms=room.clock.ms))

    assert (stats.notes, stats.inactive_notes, stats.notes_elsewhere) == (4, 1, 2)
    assert stats.scopes == (("user", 3), ("project:b", 1))
    assert (stats.keywords, stats.events, stats.model) == (2, 8, "fake")


def test_ids_sort_by_the_time_they_were_made(room: Room) -> None:
    batch = room.insert_all([NewNote(title=f"at once {number}") for number in range(100)])
    ids = [each.id for each in batch.notes]
    for number in range(3):
        room.clock.ms += 1
        ids.append(room.insert(f"note {number}").id)

    assert ids == sorted(ids)
    assert Counter(note_id[12] for note_id in ids) == {"7": 103}
    assert {UUID(note_id).variant for note_id in ids} == {RFC_4122}


def test_a_reply_waits_for_its_passages_but_not_behind_a_queue(room: Room) -> None:
    go_on = threading.Event()

    def hold_back_passages(_: str) -> None:
        # Titles come from the insert's own thread, passages from the worker's.
        if threading.current_thread().name.startswith("vectors-"):
            go_on.wait(20)

    room.embedder.before = hold_back_passages
    first = room.insert("the first", "a body")

    second = room.insert("behind it", "a body")
    go_on.set()
    third = room.insert("when all is done", "a body", wait=True)

    assert (first.pending, second.pending, third.pending) == (1, 1, 0)
