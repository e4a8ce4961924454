"""Taking notes away: erased to the last byte for a person, retired for everybody else."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.memstore.room import AGENT, Room

from graft.wire.errors import (
    AmbiguousIdError,
    BadFieldError,
    NoteNotFoundError,
    RequestIdReusedError,
    WrongStateError,
)
from graft_memstore.model import Lifecycle, NewNote, Source, SourceKind
from graft_memstore.store.erasures import count_erasures
from graft_memstore.write.delete import DeleteOutcome

WORDS = ("xylophonist", "zebracrossing", "quarkkeyword", "vortexlocator")


def store_words(room: Room) -> str:
    stored = room.insert(
        note=NewNote(
            title=f"the {WORDS[0]} plays",
            body=f"across the {WORDS[1]} " * 50 + "\nMusicError: the instrument is out of tune",
            keywords=(WORDS[2],),
            sources=(Source(kind=SourceKind.FILE, locator=WORDS[3]),),
        ),
        wait=True,
    )
    return stored.id


def words_in_files(folder: Path) -> set[str]:
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    return {word for word in WORDS if word.encode() in content}


def test_an_erased_note_leaves_no_word_in_any_file(room: Room) -> None:
    note_id = store_words(room)
    before = words_in_files(room.profile.path.parent)

    reply = room.delete(note_id)

    assert before == set(WORDS)
    assert reply.outcome is DeleteOutcome.ERASED
    assert words_in_files(room.profile.path.parent) == set()


def test_an_erased_note_leaves_its_event_and_nothing_else(room: Room) -> None:
    note_id = store_words(room)
    signed = room.count("SELECT count(*) FROM note_signatures")

    reply = room.delete(note_id)

    assert signed > 0
    tables = ("notes", "note_states", "note_keywords", "note_sources", "note_signatures")
    for table in (*tables, "chunks", "pending"):
        assert room.count(f"SELECT count(*) FROM {table}") == 0, table  # noqa: S608
    for table in ("edges", "edges_pending", "background_samples"):
        assert room.count(f"SELECT count(*) FROM {table}") == 0, table  # noqa: S608
    for table in ("keywords", "sources", "notes_fts", "notes_pieces", "vec_bits_1", "erasures"):
        assert room.count(f"SELECT count(*) FROM {table}") == 0, table  # noqa: S608
    assert room.count("SELECT count(*) FROM events WHERE action = 'delete'") == 1
    assert reply.event == 2


def test_erasing_spares_what_other_notes_carry(room: Room) -> None:
    note_id = store_words(room)
    other = room.insert(note=NewNote(title="another", keywords=(WORDS[2],)))

    room.delete(note_id)

    assert room.note(other.id).keywords == (WORDS[2],)


def test_a_reader_puts_erasing_off_and_it_is_made_good(room: Room) -> None:
    note_id = store_words(room)
    with room.profile.snapshot():
        reply = room.delete(note_id)

    assert reply.outcome is DeleteOutcome.ERASING
    wait_until_clean(room)
    assert words_in_files(room.profile.path.parent) == set()


def wait_until_clean(room: Room) -> None:
    """Wake the housekeeper, which also wakes by itself, until nothing waits."""
    for _ in range(200):
        seen = room.profile.changes.count
        with room.profile.snapshot() as connection:
            if not count_erasures(connection):
                return
        room.profile.changes.wait(seen, 0.1)
        room.profile.changes.notify()
    raise AssertionError("the file is still to be cleaned")


def test_every_other_door_retires(room: Room) -> None:
    stored = room.insert("a title")
    room.clock.ms += 5

    reply = room.delete(stored.id, caller=AGENT, reason="outdated")

    state = room.note(stored.id).state
    assert reply.outcome is DeleteOutcome.RETIRED
    assert (state.lifecycle, state.reason) == (Lifecycle.RETIRED, "outdated")
    assert room.count("SELECT count(*) FROM note_states") == 2
    assert room.count("SELECT known_to - known_from FROM note_states WHERE state_id = 1") == 5


def test_a_retired_note_is_not_retired_again(room: Room) -> None:
    stored = room.insert("a title")
    room.delete(stored.id, caller=AGENT)

    with pytest.raises(WrongStateError) as refusal:
        room.delete(stored.id, caller=AGENT)

    assert refusal.value.metadata["state"] == "retired"


def test_a_retired_note_can_be_erased(room: Room) -> None:
    note_id = store_words(room)
    room.delete(note_id, caller=AGENT)

    assert room.delete(note_id).outcome is DeleteOutcome.ERASED
    assert words_in_files(room.profile.path.parent) == set()


def test_a_retried_delete_answers_the_same(room: Room) -> None:
    stored = room.insert("a title")
    key = room.key("DeleteNote")

    first = room.delete(stored.id[-8:], key=key)
    again = room.delete(stored.id[-8:], key=key)

    assert again == first
    with pytest.raises(RequestIdReusedError):
        room.insert("a title", key=replace(key, method="InsertNote"))


@pytest.mark.parametrize(
    "piece", ["", "1234567", "x" * 32, "0" * 33, "%" * 8, "________", "0123456 "]
)
def test_what_is_no_piece_of_an_id_is_refused(room: Room, piece: str) -> None:
    with pytest.raises(BadFieldError, match="is no id"):
        room.delete(piece)


def test_a_piece_of_an_id_must_fit_one_note(room: Room) -> None:
    first, second = room.insert("one"), room.insert("two")
    shared = first.id[:8]

    with pytest.raises(AmbiguousIdError):
        room.delete(shared)
    with pytest.raises(NoteNotFoundError):
        room.delete("f" * 8)

    assert shared == second.id[:8]


@pytest.mark.parametrize("cut", [slice(0, 32), slice(0, 31), slice(-8, None), slice(-20, None)])
def test_a_prefix_or_suffix_that_fits_one_note_is_enough(room: Room, cut: slice) -> None:
    room.insert("another one")
    stored = room.insert("the one")

    assert room.delete(stored.id[cut].upper()).id == stored.id


def test_a_reason_is_needed(room: Room) -> None:
    stored = room.insert("a title")

    with pytest.raises(BadFieldError, match="reason"):
        room.delete(stored.id, reason=" ")
