"""Questions in vain: grouped by meaning inside their scopes, and closed by a note that answers."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from tests.unit.memstore.room import AGENT, PERSON, START_MS, Room

from graft_memstore.model import NewNote, NoteId, ScopeFilter
from graft_memstore.store.database import Connection
from graft_memstore.store.misses import (
    MISSES_MAX,
    MissGroup,
    MissVector,
    delete_old_misses,
    read_misses,
)
from graft_memstore.write.misses import (
    ALONE_STANDING,
    ANSWERS_STANDING,
    NEAR_STANDING,
    QUESTION_CHARS_MAX,
    Missed,
    find_answered,
    keep_misses,
    mark_answered,
)

USER = ScopeFilter(scopes=("user",))
PROJECT = ScopeFilter(scopes=("project:a", "user"))
EVERYWHERE = ScopeFilter(all=True)
MODEL = "of two dimensions"
DEVIATION = 0.1


def at_standing(standing: float) -> bytes:
    """Return the vector that lies so many deviations above the background of `FIRST`."""
    cosine = standing * DEVIATION
    return np.array([cosine, math.sqrt(1 - cosine * cosine)], dtype="<f4").tobytes()


FIRST = np.array([1.0, 0.0], dtype="<f4").tobytes()


def vector(values: bytes, model: str = MODEL) -> MissVector:
    return MissVector(model=model, mean=0.0, deviation=DEVIATION, values=values)


def keep(
    room: Room,
    text: str,
    values: bytes | None = None,
    *,
    scope: ScopeFilter = USER,
    model: str = MODEL,
    at_ms: int = START_MS,
) -> None:
    asked = None if values is None else vector(values, model)
    missed = Missed(text=text, scope=scope, vector=asked, at_ms=at_ms)
    room.profile.write(lambda transaction: keep_misses(transaction.connection, [missed]))


def kept(room: Room, scope: ScopeFilter = EVERYWHERE, count: int = MISSES_MAX) -> list[MissGroup]:
    with room.profile.snapshot() as connection:
        now_ms = room.profile.now_ms(connection)
        return read_misses(connection, scope, now_ms=now_ms, count_max=count)


def counts(room: Room, scope: ScopeFilter = EVERYWHERE) -> dict[str, int]:
    return {each.question: each.count for each in kept(room, scope)}


def answered_by(room: Room, titles: Sequence[tuple[str, bytes]]) -> list[int]:
    with room.profile.snapshot() as connection:
        return [len(each) for each in find_answered(connection, MODEL, titles)]


def test_the_same_words_are_one_question_however_they_are_written(still_room: Room) -> None:
    keep(still_room, "How do I rotate LOGS?", at_ms=START_MS)
    keep(still_room, "rotate logs how do i", at_ms=START_MS + 5)
    keep(still_room, "how do I rotate pictures", at_ms=START_MS + 7)

    rotated = kept(still_room)[0]

    assert counts(still_room) == {"How do I rotate LOGS?": 2, "how do I rotate pictures": 1}
    assert (rotated.first_at_ms, rotated.last_at_ms) == (START_MS, START_MS + 5)


@pytest.mark.parametrize(
    ("text", "standing", "same"),
    [
        ("rotate the logs of nginx daily", NEAR_STANDING + 0.1, True),
        ("rotate the logs of nginx daily", NEAR_STANDING - 0.1, False),
        ("log rotation", NEAR_STANDING + 0.1, False),
        ("ログのローテーション", ALONE_STANDING + 0.1, True),
        ("ログのローテーション", ALONE_STANDING - 0.1, False),
    ],
)
def test_questions_that_mean_the_same_are_one_where_words_agree_or_the_vector_is_sure(
    still_room: Room, text: str, standing: float, same: bool
) -> None:
    keep(still_room, "nginx: rotate logs", FIRST)

    keep(still_room, text, at_standing(standing))

    assert len(kept(still_room)) == (1 if same else 2)


def test_questions_that_come_together_are_grouped_as_those_that_come_one_by_one(
    still_room: Room,
) -> None:
    texts = ("nginx: rotate logs", "rotate the logs of nginx daily", "nginx rotate logs")
    missed = [Missed(text=text, scope=USER, vector=vector(FIRST), at_ms=START_MS) for text in texts]

    still_room.profile.write(lambda transaction: keep_misses(transaction.connection, missed))

    assert counts(still_room) == {"nginx: rotate logs": 3}


def test_the_nearest_group_takes_the_question(still_room: Room) -> None:
    keep(still_room, "ports of staging", at_standing(9.9))
    keep(still_room, "hosts of production", at_standing(1.0))

    keep(still_room, "ports and hosts", at_standing(1.2))

    assert counts(still_room) == {"hosts of production": 2, "ports of staging": 1}


def test_without_a_vector_only_the_same_words_are_one(still_room: Room) -> None:
    keep(still_room, "nginx: rotate logs", FIRST)
    keep(still_room, "rotate the logs of nginx daily")
    keep(still_room, "nginx rotate logs")

    assert counts(still_room) == {"nginx: rotate logs": 2, "rotate the logs of nginx daily": 1}


def test_vectors_of_two_models_are_never_compared(still_room: Room) -> None:
    keep(still_room, "one thing", FIRST, model="another file")
    keep(still_room, "something else", FIRST)

    assert len(kept(still_room)) == 2
    assert answered_by(still_room, [("user", FIRST)]) == [1]


def test_questions_of_other_scopes_are_never_one_and_their_order_does_not_matter(
    still_room: Room,
) -> None:
    keep(still_room, "the port", FIRST, scope=PROJECT)
    keep(still_room, "the port", FIRST, scope=ScopeFilter(scopes=("user", "project:a", "user")))
    keep(still_room, "the port", FIRST, scope=USER)
    keep(still_room, "the port", FIRST, scope=EVERYWHERE)

    found = {(each.scope, each.count) for each in kept(still_room)}

    assert found == {(PROJECT, 2), (USER, 1), (EVERYWHERE, 1)}


def test_two_clones_of_a_repository_share_their_questions(still_room: Room) -> None:
    def clone(folder: str, remote: str = "project:host/o/n") -> ScopeFilter:
        return ScopeFilter(scopes=(remote, f"project:{folder}", "user"))

    keep(still_room, "the port", scope=clone("/one"))
    keep(still_room, "the port", scope=clone("/other"))
    keep(still_room, "the port", scope=ScopeFilter(scopes=("project:/one", "user")))

    assert counts(still_room, clone("/third")) == {"the port": 2}
    assert counts(still_room, clone("/one", "project:host/o/m")) == {"the port": 1}
    assert counts(still_room, ScopeFilter(scopes=("user",))) == {}


@pytest.mark.parametrize(
    ("looking", "expected"),
    [
        (USER, {"of user"}),
        (PROJECT, {"of user", "of a"}),
        (ScopeFilter(scopes=("user", "project:a", "project:b")), {"of user", "of a", "of b"}),
        (ScopeFilter(scopes=("project:b", "user")), {"of user", "of b"}),
        (ScopeFilter(scopes=("project:a",)), set()),
        (EVERYWHERE, {"of user", "of a", "of b", "of all"}),
    ],
)
def test_a_question_is_told_where_all_its_scopes_are_looked_at(
    still_room: Room, looking: ScopeFilter, expected: set[str]
) -> None:
    keep(still_room, "of user", scope=USER)
    keep(still_room, "of a", scope=PROJECT)
    keep(still_room, "of b", scope=ScopeFilter(scopes=("project:b", "user")))
    keep(still_room, "of all", scope=EVERYWHERE)

    assert set(counts(still_room, looking)) == expected


def test_the_most_asked_come_first_and_of_these_the_last_asked(still_room: Room) -> None:
    for text, times, at_ms in (("rare", 1, 9), ("older", 2, 1), ("newer", 2, 5)):
        for _ in range(times):
            keep(still_room, text, at_ms=at_ms)

    assert [each.question for each in kept(still_room)] == ["newer", "older", "rare"]
    assert [each.question for each in kept(still_room, count=1)] == ["newer"]


@pytest.mark.parametrize(
    "text",
    ["🦀", "a\x00b", "\x00", "x" * 65_536, "修复", '"', "\u202e back", "a\nb"],
)
def test_any_text_is_kept_as_its_beginning(still_room: Room, text: str) -> None:
    keep(still_room, text, FIRST)
    keep(still_room, text)

    assert counts(still_room) == {text[:QUESTION_CHARS_MAX]: 2}


def test_questions_without_words_are_told_apart(still_room: Room) -> None:
    for text in ("🦀", "🐙", "🦀"):
        keep(still_room, text)

    assert counts(still_room) == {"🦀": 2, "🐙": 1}


def test_the_group_that_was_asked_longest_ago_makes_room(still_room: Room) -> None:
    texts = [f"word{number}" for number in range(MISSES_MAX)] + ["word0", "one more"]
    missed = [
        Missed(text=text, scope=USER, vector=None, at_ms=START_MS + number)
        for number, text in enumerate(texts)
    ]

    def fill(connection: Connection) -> None:
        keep_misses(connection, missed)
        delete_old_misses(connection)

    still_room.profile.write(lambda transaction: fill(transaction.connection))

    found = counts(still_room)
    assert len(found) == MISSES_MAX
    assert found["word0"] == 2
    assert "word1" not in found
    assert {"one more", "word2"} <= found.keys()


@pytest.mark.parametrize(
    ("standing", "expected"), [(ANSWERS_STANDING + 0.1, 1), (ANSWERS_STANDING - 0.1, 0)]
)
def test_a_title_near_a_question_may_answer_it(
    still_room: Room, standing: float, expected: int
) -> None:
    keep(still_room, "the port of staging", FIRST)

    assert answered_by(still_room, [("user", at_standing(standing))]) == [expected]


def test_a_note_answers_only_questions_that_would_have_seen_it(still_room: Room) -> None:
    keep(still_room, "asked in a", FIRST, scope=PROJECT)
    keep(still_room, "asked in user", FIRST, scope=USER)
    keep(still_room, "asked everywhere", FIRST, scope=EVERYWHERE)

    found = answered_by(still_room, [("user", FIRST), ("project:a", FIRST), ("project:b", FIRST)])

    assert found == [3, 2, 1]


def test_nothing_is_answered_where_nothing_was_asked(still_room: Room) -> None:
    assert answered_by(still_room, [("user", FIRST)]) == [0]
    assert answered_by(still_room, []) == []


def mark(room: Room, note_id: str) -> int:
    def change(connection: Connection) -> int:
        (miss_ids,) = find_answered(connection, MODEL, [("user", FIRST)])
        return mark_answered(connection, miss_ids, NoteId(note_id), room.clock.ms)

    return room.profile.write(lambda transaction: change(transaction.connection))


def answers_of(room: Room, scope: ScopeFilter = EVERYWHERE) -> dict[str, str | None]:
    return {each.question: each.answered_by for each in kept(room, scope)}


def test_answered_questions_are_counted_once_and_stand_last(still_room: Room) -> None:
    for text in ("the port", "the port", "port of staging"):
        keep(still_room, text, FIRST)
    keep(still_room, "something else", at_standing(0.0))
    first, second = still_room.insert("one"), still_room.insert("two")

    closed = [mark(still_room, first.id), mark(still_room, second.id)]

    # The third question joined the first two: it means the same.
    assert closed == [3, 0]
    assert answers_of(still_room) == {"something else": None, "the port": second.id}
    assert [each.question for each in kept(still_room)] == ["something else", "the port"]


def test_a_question_that_misses_again_was_not_answered(still_room: Room) -> None:
    keep(still_room, "the port", FIRST)
    note = still_room.insert("one")
    mark(still_room, note.id)

    keep(still_room, "the port", FIRST)

    assert answers_of(still_room) == {"the port": None}
    assert counts(still_room) == {"the port": 2}


@pytest.mark.parametrize("door", [AGENT, PERSON])
def test_it_is_open_again_when_the_note_is_gone_or_hidden(still_room: Room, door: object) -> None:
    keep(still_room, "the port", FIRST)
    note = still_room.insert("one")
    mark(still_room, note.id)
    before = answers_of(still_room)

    still_room.delete(note.id, caller=AGENT if door is AGENT else PERSON)

    assert before == {"the port": note.id}
    assert answers_of(still_room) == {"the port": None}


def test_a_note_that_cannot_be_seen_yet_closes_nothing(still_room: Room) -> None:
    keep(still_room, "the port", FIRST)
    later = still_room.clock.ms + 1_000
    note = still_room.insert(note=NewNote(title="one", valid_from_ms=later))

    closed = mark(still_room, note.id)

    assert closed == 0
    assert answers_of(still_room) == {"the port": None}
