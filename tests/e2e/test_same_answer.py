"""The same question gets the same answer, to the last bit, and explain tells how."""

import math
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.gate.corpora import read_corpora
from tests.e2e.conftest import Shell

from graft_client import NewNote
from graft_client.client import Graft
from graft_client.explanations import Explanation
from graft_client.results import QueryAnswer

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

PORTS = Path(__file__).parents[2] / "bench" / "gate" / "judge" / "ports"
PREFIXES = ("--query-prefix", "query: ", "--passage-prefix", "passage: ", "--pooling", "mean")


@pytest.fixture
def ports(shell: Shell) -> Iterator[tuple[Graft, list[str]]]:
    """A store of notes that differ by a word or a number, and questions to it."""
    (corpus,) = read_corpora(PORTS)
    with Graft(home=shell.home, timeout_seconds=100, scope="user") as graft:
        notes = [
            NewNote(title=note.title, body=note.body, keywords=note.keywords)
            for note in corpus.notes
        ]
        graft.insert_many(notes, wait=True)
        yield graft, [question.text for question in corpus.questions]


def test_explain_adds_up_to_the_answer_that_it_explains(ports: tuple[Graft, list[str]]) -> None:
    graft, questions = ports

    for text in questions:
        answer = graft.query(text)
        told = graft.explain(answer.receipt or "")

        assert (told.hit, told.probability) == (answer.hit, answer.probability), text
        logit = told.bias + sum(each.contribution for each in told.signals)
        assert 1 / (1 + math.exp(-logit)) == pytest.approx(answer.probability, abs=1e-12), text
        assert told.hit == by_thresholds(told) or any(rule.lowered for rule in told.rules), text
        assert answer.signals.items() <= {each.name: each.value for each in told.signals}.items()
        if answer.note:
            first = told.looked_at[0]
            assert (first.id, first.probability) == (answer.note.id, answer.probability), text


def test_an_answer_is_the_same_again_and_after_a_restart(
    ports: tuple[Graft, list[str]], shell: Shell
) -> None:
    graft, questions = ports[0], ports[1][::2]
    first = [facts(graft.query(text)) for text in questions]

    again = [facts(graft.query(text)) for text in reversed(questions)]
    shell.run("stop")
    restarted = [facts(graft.query(text)) for text in questions]

    assert again[::-1] == first
    assert restarted == first


def test_a_reindex_to_another_model_and_back_changes_no_answer(
    ports: tuple[Graft, list[str]], shell: Shell, models_dir: Path, tmp_path: Path
) -> None:
    graft, questions = ports[0], ports[1][::6]
    twin = tmp_path / "twin.gguf"
    shutil.copyfile(models_dir / "starter.gguf", twin)
    with twin.open("ab") as file:
        file.write(b"the same weights in another file")
    used = shell.run("model", "use", str(twin), "--name", "twin", *PREFIXES)
    before = [graft.query(text) for text in questions]

    for model in ("twin", "starter"):
        graft.start_reindex(model)
        *_, moved = graft.reindex_progress()
        assert moved.serving_model == model
    after = [graft.query(text) for text in questions]

    assert used.status == 0, used.err
    assert [(each.hit, each.note) for each in after] == [(each.hit, each.note) for each in before]
    # The rows of the index lie in another order then, and so do the sums over them.
    expected = pytest.approx([each.probability for each in before], abs=1e-9)
    assert [each.probability for each in after] == expected


def facts(answer: QueryAnswer) -> tuple[object, ...]:
    """Return what must not change: figures are compared to their last bit."""
    near = [(each.id, each.why) for each in answer.near]
    note = answer.note.id if answer.note else None
    return (answer.hit, note, answer.probability, answer.signals, answer.missing, near)


def by_thresholds(told: Explanation) -> str:
    """Return what the probability alone would have answered."""
    reached = [each for each in told.thresholds if told.probability >= each.probability]
    return max(reached, key=lambda each: each.probability).hit if reached else "MISS"
