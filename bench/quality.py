"""How well recall finds and judges: ``python -m bench.quality FOLDER`` prints a JSON row a figure.

FOLDER holds ``nodes.jsonl`` and ``project_nodes.jsonl`` (key, title, body, keywords) and
``queries.jsonl`` (query, expect: a key or nothing); with ``ext_nodes.jsonl`` and
``ext_queries.jsonl`` beside them the extended set is measured, too. Notes and questions go through
the real services and the starter model, in a temporary home.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.homes import temporary_home
from bench.rows import Row
from graft_client.client import Graft

NEAR = 5
SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question: the note that answers it, what was ranked, and what the gate said."""

    expect: str
    ranked: list[str]
    hit: str
    answer: str


def measure(folder: Path) -> Iterator[Row]:
    """Yield the figures of the sets in *folder*."""
    base = _lines(folder, "nodes.jsonl") + _lines(folder, "project_nodes.jsonl")
    questions = _lines(folder, "queries.jsonl")
    yield from _figures(f"{len(base)} notes", _ask(base, questions))
    more = _lines(folder, "ext_nodes.jsonl")
    if more:
        asked = _ask(base + more, questions + _lines(folder, "ext_queries.jsonl"))
        yield from _figures(f"{len(base + more)} notes", asked)


def _lines(folder: Path, name: str) -> list[dict[str, str]]:
    file = folder / name
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _ask(notes: list[dict[str, str]], questions: list[dict[str, str]]) -> list[Asked]:
    with (
        temporary_home() as home,
        Graft(home=home, timeout_seconds=SECONDS, scope="user") as client,
    ):
        keys = {
            client.insert(
                note["title"], note["body"], keywords=list(note["keywords"]), wait=True
            ).id: note["key"]
            for note in notes
        }
        return [_ask_one(client, keys, question) for question in questions]


def _ask_one(client: Graft, keys: dict[str, str], question: dict[str, str]) -> Asked:
    ranked = client.retrieve(question["query"], top_k=NEAR)
    answer = client.query(question["query"])
    return Asked(
        expect=question["expect"] or "",
        ranked=[keys[result.id] for result in ranked.results],
        hit=answer.hit,
        answer=keys[answer.note.id] if answer.note else "",
    )


def _figures(what: str, asked: list[Asked]) -> Iterator[Row]:
    answerable = [each for each in asked if each.expect]
    others = [each for each in asked if not each.expect]
    first = sum(each.ranked[:1] == [each.expect] for each in answerable)
    near = sum(each.expect in each.ranked for each in answerable)
    strong = [each for each in asked if each.hit == "STRONG"]
    right = sum(each.answer == each.expect for each in strong)
    wrong = sum(each.hit == "STRONG" for each in others)
    for name, value, of in (
        ("recall@1", first, len(answerable)),
        (f"recall@{NEAR}", near, len(answerable)),
        ("STRONG that are right", right, len(strong)),
        ("answerable questions that get a right STRONG", right, len(answerable)),
        ("unanswerable questions that get a STRONG", wrong, len(others)),
    ):
        yield Row(
            part="quality",
            what=f"{name}, {what}, {of} cases",
            value=value / of if of else 0.0,
            unit="share",
        )


def main(arguments: list[str]) -> int:
    """Print the figures; return 2 without a folder."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m bench.quality FOLDER\n")
        return 2
    for row in measure(Path(arguments[0])):
        sys.stdout.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
