"""What was hidden does not come back, through any read, while its sibling does."""

import pytest
from tests.negative.conftest import HELD, MOMENTS, PAIRS, READS, Memory, word_of

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]

MARKS = (*PAIRS, "held")
ASKED = [
    (moment, mark, read)
    for moment in MOMENTS
    for mark in MARKS
    for read in READS
    if read != "similar" or moment == MOMENTS[0]
]


@pytest.mark.parametrize(("moment", "mark", "read"), ASKED)
def test_a_hidden_note_is_not_told(memory: Memory, moment: str, mark: str, read: str) -> None:
    told = memory.told[moment, mark, read]

    assert memory.gone[mark] not in told.ids
    assert (PAIRS | {"held": HELD})[mark].gone not in told.text
    assert word_of(mark, "gone") not in told.text


@pytest.mark.parametrize(("moment", "mark", "read"), ASKED)
def test_its_sibling_is_told(memory: Memory, moment: str, mark: str, read: str) -> None:
    told = memory.told[moment, mark, read]

    if read == "classify":
        # A model that knows nothing finds others nearer; it suggests something all the same.
        known = moment != "after a reindex"
        assert word_of(mark, "kept") in told.text if known else '"keyword"' in told.text
    elif read == "similar":
        # Whether it is like enough is the model's to say; the text itself would be.
        assert told.ids <= {memory.kept[mark]}
    else:
        assert memory.kept[mark] in told.ids


@pytest.mark.parametrize("mark", [mark for mark in PAIRS if mark != "other scope"])
def test_before_it_was_hidden_every_note_was_told(memory: Memory, mark: str) -> None:
    for read in ("retrieve", "explore", "list"):
        assert {memory.gone[mark], memory.kept[mark]} <= memory.before[mark, read].ids


def test_the_counts_are_of_the_siblings_alone(memory: Memory) -> None:
    assert memory.shown == dict.fromkeys(MOMENTS, len(MARKS))
