"""How the gate does on corpora: ``python -m bench.gate.report FOLDER…`` prints figures by kind.

Every question is asked of a real store through the product's own code. An answerable one is asked a
second time with its note taken out: the right answer is then anything but STRONG.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.gate.corpora import Corpus, CorpusQuestion, read_corpora
from bench.gate.stores import CorpusStore, corpus_store
from bench.gate.vectors import kept_vectors
from graft_memstore.embedding import Embedder
from graft_memstore.gate import Hit
from graft_memstore.recall.query import answer_query
from graft_memstore.store.database import Connection

UNANSWERABLE_SHARE = 0.25
"""Share of unanswerable questions that the precision is reckoned for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What the gate said to one question.

    Attributes:
        hidden: the note that answers was taken out of the store.
        right: the note that was handed out, or named, is the one that answers.
        named: the right note is STRONG, WEAK or among the near titles.
    """

    question: CorpusQuestion
    hidden: bool
    hit: Hit
    right: bool
    named: bool

    @property
    def answerable(self) -> bool:
        """Whether the store holds the answer."""
        return self.question.expect is not None and not self.hidden


def ask_all(corpus: Corpus, embedder: Embedder) -> Iterator[Answered]:
    """Ask every question of the corpus, answerable ones without their note as well."""
    with corpus_store(embedder, corpus.notes) as store:
        for question in corpus.questions:
            with store.profile.snapshot() as connection:
                yield _ask(store, connection, question)
            if question.expect is not None:
                with store.without(question.expect) as connection:
                    yield _ask(store, connection, question, hidden=True)


def _ask(
    store: CorpusStore, connection: Connection, question: CorpusQuestion, *, hidden: bool = False
) -> Answered:
    answer = answer_query(connection, store.index, store.question(question.text))
    expected = None if hidden else question.expect
    given = store.keys[answer.note_id] if answer.note_id else None
    near = {store.keys[each.note_id] for each in answer.near}
    right = given is not None and given == expected
    return Answered(
        question=question,
        hidden=hidden,
        hit=answer.hit,
        right=right,
        named=right or expected in near,
    )


def report(name: str, answers: Sequence[Answered]) -> None:
    """Print the figures of one corpus, then those of each kind of question."""
    _figures(name, [each for each in answers if not each.hidden])
    hidden = [each for each in answers if each.hidden]
    false = sum(each.hit is Hit.STRONG for each in hidden)
    sys.stdout.write(f"  without their notes: {len(hidden)}, STRONG {false}\n")
    for kind in sorted({each.question.kind for each in answers}):
        of_kind = [each for each in answers if not each.hidden and each.question.kind == kind]
        strong = [each for each in of_kind if each.hit is Hit.STRONG]
        sys.stdout.write(
            f"  {kind}: {len(of_kind)}, STRONG and right {sum(each.right for each in strong)}, "
            f"STRONG and wrong {sum(not each.right for each in strong)}\n"
        )


def _figures(name: str, answers: Sequence[Answered]) -> None:
    answerable = [each for each in answers if each.answerable]
    others = [each for each in answers if not each.answerable]
    right, wrong = _strong(answerable)
    _, false = _strong(others)
    given = right + wrong + worth_of_one(len(answerable), len(others)) * false
    named = sum(each.named for each in answerable)
    sys.stdout.write(
        f"{name}: {len(answerable)} answerable, {len(others)} not; "
        f"precision {right / given if given else 1.0:.3f}, "
        f"hit rate {right / max(len(answerable), 1):.3f}, "
        f"false STRONG {false / max(len(others), 1):.3f}, "
        f"named {named / max(len(answerable), 1):.3f}\n"
    )


def worth_of_one(answerable: float, unanswerable: float) -> float:
    """Return what one unanswerable question counts, so that all are `UNANSWERABLE_SHARE`."""
    share = UNANSWERABLE_SHARE / (1.0 - UNANSWERABLE_SHARE)
    return share * answerable / unanswerable if unanswerable else 0.0


def _strong(answers: Iterable[Answered]) -> tuple[int, int]:
    """Return how many STRONG answers are right, and how many wrong."""
    strong = [each for each in answers if each.hit is Hit.STRONG]
    right = sum(each.right for each in strong)
    return right, len(strong) - right


def main(arguments: list[str]) -> int:
    """Report on every corpus in the folders named."""
    parser = argparse.ArgumentParser(prog="python -m bench.gate.report")
    parser.add_argument("folders", nargs="+", type=Path)
    with kept_vectors() as embedder:
        for folder in parser.parse_args(arguments).folders:
            for corpus in read_corpora(folder):
                report(corpus.name, list(ask_all(corpus, embedder)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
