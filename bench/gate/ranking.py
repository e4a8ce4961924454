"""How the arms rank: ``python -m bench.gate.ranking FOLDER…`` prints recall by arm and by weight.

Recall@k is the share of answerable questions whose note is among the first k. The first table takes
arms away, the second tries other weights for what the best note by words gains.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.gate.corpora import Corpus, read_corpora
from bench.gate.stores import corpus_store
from bench.gate.vectors import kept_vectors
from graft_memstore.embedding import Embedder
from graft_memstore.fusion import WEIGHTS, ArmScores, Weights, fuse
from graft_memstore.model import Background
from graft_memstore.recall.arms import gather

WANTED = 50
"""Notes that each arm is asked for."""
WORDS_TRIED = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
"""Weights of the words' arm that are swept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What the arms found for one answerable question.

    Attributes:
        expected: seq of the note that answers.
    """

    kind: str
    expected: int
    found: tuple[ArmScores, ...]
    background: Background

    def place(self, weights: Weights, *, vectors: bool = True) -> int:
        """Return the place of the note that answers, from 1; past all where no arm found it."""
        found = self.found
        if not vectors:
            found = tuple(replace(each, cosine=None) for each in found)
        ranked = [each.scores.seq for each in fuse(found, self.background, weights)]
        return ranked.index(self.expected) + 1 if self.expected in ranked else len(ranked) + 1


def rankings_of(corpus: Corpus, embedder: Embedder) -> list[Ranking]:
    """Ask every answerable question of the corpus."""
    found = []
    with corpus_store(embedder, corpus.notes) as store, store.profile.snapshot() as connection:
        seqs = {
            store.keys[note_id]: seq
            for seq, note_id in connection.execute("SELECT seq, id FROM notes")
        }
        for question in corpus.questions:
            if question.expect is None:
                continue
            asked = store.question(question.text)
            gathered = gather(connection, store.index, asked, WANTED)
            found.append(
                Ranking(
                    kind=question.kind,
                    expected=seqs[question.expect],
                    found=tuple(each.scores for each in gathered.ranked),
                    background=gathered.background,
                )
            )
    return found


def report(name: str, rankings: Sequence[Ranking]) -> None:
    """Print the tables of one corpus."""
    nothing = Weights(words=0.0, pieces=0.0, signature=0.0)
    places = {
        "vectors": [each.place(nothing) for each in rankings],
        "words": [each.place(WEIGHTS, vectors=False) for each in rankings],
        "fused": [each.place(WEIGHTS) for each in rankings],
    }
    sys.stdout.write(f"{name}, {len(rankings)} questions: recall@1 / recall@5\n")
    for kind in ("all", *sorted({each.kind for each in rankings})):
        of_kind = [kind in ("all", each.kind) for each in rankings]
        told = "  ".join(
            f"{arm} {_recall(found, of_kind, 1):.3f} / {_recall(found, of_kind, 5):.3f}"
            for arm, found in places.items()
        )
        sys.stdout.write(f"  {kind} ({sum(of_kind)}): {told}\n")
    everything = [True] * len(rankings)
    for words in WORDS_TRIED:
        found = [each.place(replace(WEIGHTS, words=words)) for each in rankings]
        at_1, at_5 = (_recall(found, everything, count) for count in (1, 5))
        sys.stdout.write(f"  words weigh {words}: {at_1:.3f} / {at_5:.3f}\n")


def _recall(places: Sequence[int], counted: Sequence[bool], count: int) -> float:
    chosen = [place for place, wanted in zip(places, counted, strict=True) if wanted]
    return sum(place <= count for place in chosen) / len(chosen)


def main(arguments: list[str]) -> int:
    """Report on every corpus in the folders named."""
    parser = argparse.ArgumentParser(prog="python -m bench.gate.ranking")
    parser.add_argument("folders", nargs="+", type=Path)
    with kept_vectors() as embedder:
        for folder in parser.parse_args(arguments).folders:
            for corpus in read_corpora(folder):
                report(corpus.name, rankings_of(corpus, embedder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
