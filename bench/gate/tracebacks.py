"""What pasted errors are answered: ``python -m bench.gate.tracebacks [FOLDER]``.

FOLDER (bench/gate/errors when none is given) holds ``notes.jsonl`` (key, title, body, keywords) and
``questions.jsonl`` (query, kind, expect: a key or nothing); of the questions, those of the kind
"traceback" are asked, through the real services and the starter model, in a temporary home.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from bench.gate.corpora import CorpusQuestion, read_corpora
from bench.homes import temporary_home
from graft_client.client import Graft

ERRORS = Path(__file__).with_name("errors")
SECONDS = 120.0


def main(arguments: list[str]) -> int:
    """Print each question that is not answered as it should be, and how many are."""
    folder = Path(arguments[0]) if arguments else ERRORS
    (corpus,) = read_corpora(folder)
    counts: Counter[str] = Counter()
    with (
        temporary_home() as home,
        Graft(home=home, timeout_seconds=SECONDS, scope="user") as client,
    ):
        keys = {
            client.insert(
                note.title, note.body, keywords=list(note.keywords), wait=True
            ).id: note.key
            for note in corpus.notes
        }
        for question in corpus.questions:
            if question.kind == "traceback":
                counts[_ask(client, keys, question)] += 1
    print(json.dumps(dict(sorted(counts.items()))))
    return 0


def _ask(client: Graft, keys: dict[str, str], question: CorpusQuestion) -> str:
    """Ask one question and name what came of it."""
    expect, answer = question.expect or "", client.query(question.text)
    found = keys[answer.note.id] if answer.note else ""
    if not expect:
        result = f"no note, {answer.hit}"
    elif found == expect:
        result = f"right note, {answer.hit}"
    else:
        result = f"right note missed, {answer.hit}"
    if result not in ("right note, STRONG", "no note, MISS"):
        signals = {name: round(value, 2) for name, value in answer.signals.items()}
        print(f"{result}: {expect or question.about} <- {found} {signals}")
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
