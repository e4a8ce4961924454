"""What was hidden does not come back, through any read, while its sibling does."""

import pytest
from tests.negative.conftest import (
    DISPUTED,
    DOORS,
    HELD,
    MOMENTS,
    PAIRS,
    READS,
    Memory,
    word_of,
)

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]

MARKS = (*PAIRS, "held")
ASKED = [
    (moment, door, mark, read)
    for moment in MOMENTS
    for door in DOORS
    for mark in MARKS
    for read in READS
    if read != "similar" or (moment, door) == (MOMENTS[0], DOORS[0])
]
WHENCE = [(moment, door) for moment in MOMENTS for door in DOORS]


@pytest.mark.parametrize(("moment", "door", "mark", "read"), ASKED)
def test_a_hidden_note_is_not_told_while_its_sibling_is(
    memory: Memory, moment: str, door: str, mark: str, read: str
) -> None:
    told = memory.told[moment, door, mark, read]

    assert memory.gone[mark] not in told.ids
    assert (PAIRS | {"held": HELD})[mark].gone not in told.text
    assert word_of(mark, "gone") not in told.text
    if read == "classify":
        # A model that knows nothing finds others nearer; it suggests something all the same.
        known = moment != "after a reindex"
        assert word_of(mark, "kept") in told.text if known else '"keyword"' in told.text
    elif read == "similar":
        # Whether it is like enough is the model's to say; the text itself would be.
        assert told.ids <= {memory.kept[mark]}
    else:
        assert memory.kept[mark] in told.ids


@pytest.mark.parametrize(("moment", "door"), WHENCE)
def test_a_disputed_note_is_shown_as_that_and_is_no_answer(
    memory: Memory, moment: str, door: str
) -> None:
    disputed, undisputed = memory.answers[moment, door]

    assert disputed.hit != "STRONG"
    assert DISPUTED.gone in {each.title for each in (*disputed.near, disputed.note) if each}
    assert "disputed" in {each.trust for each in (*disputed.near, disputed.note) if each}
    # A model that knows nothing is sure of nothing.
    assert undisputed.hit == "STRONG" or moment == "after a reindex"


@pytest.mark.parametrize("mark", [mark for mark in PAIRS if mark != "other scope"])
def test_before_it_was_hidden_every_note_was_told(memory: Memory, mark: str) -> None:
    for read in ("retrieve", "explore", "list"):
        assert {memory.gone[mark], memory.kept[mark]} <= memory.before[mark, read].ids


def test_the_counts_are_of_the_siblings_alone(memory: Memory) -> None:
    assert memory.shown == dict.fromkeys(WHENCE, len(MARKS) + 2)
