"""Texts that wait get their vectors, whatever happens meanwhile."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.unit.memstore.fake_embedder import vector_of
from tests.unit.memstore.room import Room, open_room

from graft.wire.errors import ModelNotReadyError
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import PASSAGES_MAX, WindowVector
from graft_memstore.model import ModelRole, NewNote, passage_text
from graft_memstore.upkeep.embed_pending import WINDOWS_IN_STEP, embed_some, next_start
from graft_memstore.upkeep.resume import has_work

LONG = " ".join(f"word{number}" for number in range(2_000))
ENDLESS = " ".join(f"word{number}" for number in range(20_000))

Parts = list[tuple[int, int, int]]


def parts_of(room: Room) -> Parts:
    with room.profile.snapshot() as connection:
        rows: Iterable[Any] = connection.execute(
            "SELECT part, start_char, end_char FROM chunks WHERE part > 0 ORDER BY part"
        )
        return [(int(part), int(start), int(end)) for part, start, end in rows]


def step(room: Room, role: ModelRole = ModelRole.SERVING) -> bool:
    return embed_some(room.profile, room.embedder, role, Deadline(10))


def test_passages_cover_a_long_text_without_a_gap(room: Room) -> None:
    stored = room.insert("a title", LONG, wait=True)

    parts = parts_of(room)
    assert stored.pending == 0
    assert [part for part, _, _ in parts] == list(range(1, len(parts) + 1))
    assert parts[0][1] == 0
    assert parts[-1][2] == len(passage_text("a title", LONG))
    assert all(before[1] < after[1] <= before[2] for before, after in pairwise(parts))
    assert stored.uncovered_from_char == 0


def test_a_text_beyond_all_passages_says_where_they_end(room: Room) -> None:
    stored = room.insert("a title", ENDLESS, wait=True)

    parts = parts_of(room)
    assert len(parts) == PASSAGES_MAX
    assert stored.uncovered_from_char == parts[-1][2] - len(passage_text("a title", ""))
    assert 0 < stored.uncovered_from_char < len(ENDLESS)


def test_vectors_are_those_of_the_text_they_point_to(room: Room) -> None:
    room.insert("a title", LONG, wait=True)

    whole = passage_text("a title", LONG)
    with room.profile.snapshot() as connection:
        rows: list[Any] = connection.execute(
            "SELECT start_char, end_char, vector FROM chunks WHERE part > 0"
        ).fetchall()
    assert all(vector == vector_of(whole[start:end], "file of fake") for start, end, vector in rows)


def test_a_step_does_a_few_windows_and_the_next_goes_on(still_room: Room) -> None:
    still_room.insert("a title", LONG)

    after_each = []
    while step(still_room):
        after_each.append(len(parts_of(still_room)))

    assert after_each[0] == WINDOWS_IN_STEP
    assert after_each == sorted(set(after_each))


def test_work_goes_on_after_a_restart(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.insert("a title", LONG)
        assert step(room)
        path = room.profile.path
    left = has_work(path)

    with open_room(tmp_path) as room:
        room.wait_until_joined()
        parts = parts_of(room)

    assert left
    assert not has_work(path)
    assert parts[-1][2] == len(passage_text("a title", LONG))


def test_what_waited_for_the_model_is_embedded_when_it_is_back(room: Room) -> None:
    room.embedder.away["fake"] = "no file"
    room.insert("a title", "a body")

    room.embedder.away.clear()
    room.wait_until_embedded()

    assert room.count("SELECT count(*) FROM chunks") == 2


def test_a_missing_model_is_told_and_not_work(still_room: Room) -> None:
    still_room.embedder.away["fake"] = "no file; pull it"
    still_room.insert("a title", "a body")

    with pytest.raises(ModelNotReadyError, match="pull it"):
        step(still_room)

    assert still_room.count("SELECT count(*) FROM pending") == 2


def test_a_note_that_is_deleted_meanwhile_is_left_alone(still_room: Room) -> None:
    stored = still_room.insert("a title", LONG)

    def delete(_: str) -> None:
        still_room.embedder.before = lambda _: None
        still_room.delete(stored.id)

    still_room.embedder.before = delete

    assert step(still_room)

    assert still_room.count("SELECT count(*) FROM chunks") == 0
    assert not step(still_room)


def test_vectors_of_another_model_are_never_stored(still_room: Room) -> None:
    still_room.insert("a title", LONG)
    still_room.embedder.files["fake"] = "another file"

    with pytest.raises(ModelNotReadyError):
        step(still_room)

    assert len(parts_of(still_room)) == 0


def test_titles_that_wait_are_embedded_together_and_the_refused_one_is_left_out(
    still_room: Room,
) -> None:
    still_room.embedder.away["fake"] = "no file"
    still_room.insert_all([NewNote(title=f"note {number}") for number in range(5)])
    still_room.embedder.away.clear()
    still_room.embedder.refused = {"note 3"}

    while step(still_room):
        pass

    assert still_room.count("SELECT count(*) FROM chunks") == 4
    assert still_room.count("SELECT count(*) FROM pending") == 0


def test_white_space_that_fills_a_slice_is_stepped_over(room: Room) -> None:
    body = "begin" + " " * 50_000 + "end"

    stored = room.insert("a title", body, wait=True)

    parts = parts_of(room)
    assert stored.pending == 0
    assert parts[-1][2] == len(passage_text("a title", body))


@pytest.mark.parametrize("body", [" ", "\n\n", "\u3000"])
def test_a_body_of_white_space_waits_for_nothing(room: Room, body: str) -> None:
    assert room.insert("a title", body).pending == 0


def test_the_next_window_begins_at_a_word_and_shares_some() -> None:
    text = "abcd " * 240
    last = WindowVector(start_char=0, end_char=len(text), values=b"")

    start = next_start(text, [last])

    assert text[start - 1] == " "
    assert len(text) * 3 // 4 < start < len(text)


def test_the_next_window_moves_on_even_where_nothing_can_be_shared() -> None:
    last = WindowVector(start_char=7, end_char=8, values=b"")

    assert next_start("x" * 8, [last]) == 8


def test_pending_rows_name_each_text_once(still_room: Room) -> None:
    still_room.embedder.away["fake"] = "no file"
    stored = still_room.insert("a title", "a body")

    with pytest.raises(apsw.ConstraintError):
        still_room.profile.run(
            lambda connection: connection.execute(
                "INSERT INTO pending (note_id, what) VALUES (?, 'title')", (stored.id,)
            )
        )
