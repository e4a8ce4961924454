"""What made-up questions say of the gate: ``python -m bench.gate.own_notes FOLDER…``.

``graft doctor --gate`` measures on questions made of notes, having no others. Here are both: the
measurement of each corpus, and how the threshold that it proposes does on what people ask.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from bench.gate.corpora import Corpus, read_corpora
from bench.gate.stores import CorpusStore, corpus_store
from bench.gate.vectors import kept_vectors
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import Embedder
from graft_memstore.gate import Hit
from graft_memstore.gate_model import GATE_MODEL
from graft_memstore.measurement import Rate, Rates
from graft_memstore.recall.query import answer_query
from graft_memstore.upkeep.measure_gate import Measurement, measure_gate

SECONDS = 600.0


def report(corpus: Corpus, embedder: Embedder) -> None:
    """Print what is measured on the notes of one corpus, and what its questions say to that."""
    with corpus_store(embedder, corpus.notes) as store:
        *_, last = measure_gate(store.profile, embedder, Deadline(SECONDS))
        assert last.measurement is not None, "the last step has it"
        measured = last.measurement
        print(f"{corpus.name}, {measured.notes} notes")
        print(f"  made up at {GATE_MODEL.strong:.3f}: {_told(measured.rates)}")
        for each in measured.by_kind:
            what = "missed" if each.answerable else "false STRONG"
            print(f"    {each.kind}: {what} {_of(each.wrong)}")
        print(f"  proposed {measured.proposed:.3f}: {_verdict(measured)}")
        for strong in dict.fromkeys((GATE_MODEL.strong, measured.proposed)):
            print(f"  people's at {strong:.3f}: {_told(_asked(store, corpus, strong))}")


def _verdict(measured: Measurement) -> str:
    if measured.proposed == GATE_MODEL.strong:
        return "kept"
    return "; ".join(measured.objections) or "would be applied"


def _asked(store: CorpusStore, corpus: Corpus, strong: float) -> Rates:
    """Return how often *strong* is wrong on the questions of the corpus."""
    gate = replace(GATE_MODEL, strong=strong)
    right = false = 0
    with store.profile.snapshot() as connection:
        for question in corpus.questions:
            answer = answer_query(connection, store.index, store.question(question.text), gate)
            if answer.hit is Hit.STRONG and answer.note_id is not None:
                right += store.keys[answer.note_id] == question.expect
                false += question.expect is None
    answerable = sum(each.expect is not None for each in corpus.questions)
    others = len(corpus.questions) - answerable
    return Rates(
        false_strong=Rate(count=false, total=others),
        missed_strong=Rate(count=answerable - right, total=answerable),
    )


def _told(rates: Rates) -> str:
    return f"missed {_of(rates.missed_strong)}, false STRONG {_of(rates.false_strong)}"


def _of(rate: Rate) -> str:
    return f"{rate.count} of {rate.total}"


def main(arguments: list[str]) -> int:
    """Report on every corpus in the folders named."""
    parser = argparse.ArgumentParser(prog="python -m bench.gate.own_notes")
    parser.add_argument("folders", nargs="+", type=Path)
    with kept_vectors() as embedder:
        for folder in parser.parse_args(arguments).folders:
            for corpus in read_corpora(folder):
                report(corpus, embedder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
