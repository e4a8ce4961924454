"""Questions asked of real stores, and what the gate saw of each candidate."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from bench.gate.corpora import Corpus, CorpusQuestion
from bench.gate.stores import CorpusStore, corpus_store
from graft_memstore.embedding import Embedder
from graft_memstore.gate import GateModel, features, may_be_strong
from graft_memstore.recall.answer import Question
from graft_memstore.recall.arms import gather
from graft_memstore.recall.query import CANDIDATES_WANTED, judge
from graft_memstore.store.database import Connection

UNFITTED = GateModel(bias=0.0, coefficients={}, strong=1.0, weak=0.0)
"""Nothing that was fitted before has a say in what is learned from."""
SMALL_SIZES = (1, 3, 10)
SMALL_STORES = 12
"""Random stores of each small size that a corpus is cut into."""
STRANGERS = 10
"""Questions about other notes that each of these is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCandidate:
    """One candidate: what the gate sees of it.

    Attributes:
        right: it is the answer.
        may_be_strong: no rule keeps it from being handed out.
    """

    features: dict[str, float]
    right: bool
    may_be_strong: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question to one store.

    Attributes:
        hidden: the note that answers is not in the store.
        small: notes of a store that was cut small; 0 for a whole corpus.
        candidates: in fused order.
    """

    corpus: str
    question: CorpusQuestion
    hidden: bool
    small: int
    candidates: tuple[SeenCandidate, ...]

    @property
    def answerable(self) -> bool:
        """Whether the store holds the answer."""
        return self.question.expect is not None and not self.hidden

    @property
    def group(self) -> str:
        """What must not be both learned from and judged: the note, else the question."""
        return self.question.about or self.question.text


def collect(corpus: Corpus, embedder: Embedder) -> Iterator[Case]:
    """Ask every question of the whole corpus, each answerable one without its note as well."""
    with corpus_store(embedder, corpus.notes) as store:
        for question in corpus.questions:
            asked = store.question(question.text)
            with store.profile.snapshot() as connection:
                yield _case(corpus.name, store, connection, (question, asked))
            if question.expect is not None:
                with store.without(question.expect) as connection:
                    yield _case(corpus.name, store, connection, (question, asked), hidden=True)


def collect_small(corpus: Corpus, embedder: Embedder, seed: int = 5) -> Iterator[Case]:
    """Ask small stores, cut at random from the corpus, about their notes and about others."""
    draw = random.Random(seed)
    for size in SMALL_SIZES:
        for _ in range(SMALL_STORES):
            notes = draw.sample(corpus.notes, min(size, len(corpus.notes)))
            keys = {note.key for note in notes}
            near = [each for each in corpus.questions if each.about in keys]
            others = [each for each in corpus.questions if each.about not in keys]
            with corpus_store(embedder, notes) as store, store.profile.snapshot() as connection:
                for question in near:
                    asked = (question, store.question(question.text))
                    yield _case(corpus.name, store, connection, asked, small=size)
                for question in draw.sample(others, min(STRANGERS, len(others))):
                    asked = (question, store.question(question.text))
                    yield _case(corpus.name, store, connection, asked, small=size, hidden=True)


def _case(
    name: str,
    store: CorpusStore,
    connection: Connection,
    asked: tuple[CorpusQuestion, Question],
    *,
    hidden: bool = False,
    small: int = 0,
) -> Case:
    question, put = asked
    gathered = gather(connection, store.index, put, CANDIDATES_WANTED)
    judged = judge(connection, gathered, put.context, UNFITTED)
    expected = None if hidden else question.expect
    return Case(
        corpus=name,
        question=question,
        hidden=hidden,
        small=small,
        candidates=tuple(
            SeenCandidate(
                features=features(each.signals),
                right=store.keys[each.note.note_id] == expected,
                may_be_strong=may_be_strong(each.signals, each.rules),
            )
            for each in judged
        ),
    )
