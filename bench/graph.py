"""How notes are joined: ``python -m bench.graph NOTES.jsonl…`` prints a JSON row a figure.

Each file holds notes (title, body, keywords), a line each. They go through the real services and
the starter model, in a temporary home; then the edges in the profile's file are counted.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from bench.fill import open_profiles
from bench.homes import graft, temporary_home
from bench.rows import Row
from graft_client import NewNote
from graft_client.client import Graft
from graft_memstore.store.database import Connection

SECONDS = 600.0
BATCH = 32

SELECT_EDGES = "SELECT src, dst, kind FROM edges WHERE known_to IS NULL"


def measure(files: list[Path]) -> Iterator[Row]:
    """Yield the figures of a store of all notes in *files*."""
    notes = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    with temporary_home() as home:
        _store(home, notes)
        graft(home, "stop")
        profiles = open_profiles(home)
        try:
            with profiles.open("").snapshot() as connection:
                yield from _figures(connection, len(notes))
        finally:
            profiles.close()


def _store(home: Path, notes: list[dict[str, str]]) -> None:
    """Store the notes and wait until they are embedded and joined."""
    with Graft(home=home, timeout_seconds=SECONDS, scope="user") as client:
        for start in range(0, len(notes), BATCH):
            batch = [
                NewNote(title=note["title"], body=note["body"], keywords=list(note["keywords"]))
                for note in notes[start : start + BATCH]
            ]
            client.insert_many(batch, wait=True)
        while (memstore := client.status().memstore) is not None and memstore.pending:
            client.query("is anything still pending")


def _figures(connection: Connection, count: int) -> Iterator[Row]:
    edges: list[tuple[int, int, str]] = [
        (src, dst, kind)
        for src, dst, kind in connection.execute(SELECT_EDGES)
        if isinstance(src, int) and isinstance(dst, int) and isinstance(kind, str)
    ]
    for what, kinds in (
        ("joined by anything", {"KEYWORD", "SEMANTIC"}),
        ("joined by a keyword", {"KEYWORD"}),
        ("joined for their likeness", {"SEMANTIC"}),
    ):
        pairs = {(src, dst) for src, dst, kind in edges if kind in kinds}
        degrees = Counter(note for pair in pairs for note in pair)
        yield _row(f"notes that one of {count} is {what} with", 2 * len(pairs) / count, "notes")
        yield _row(
            f"most notes that one of {count} is {what} with",
            max(degrees.values(), default=0),
            "notes",
        )
        yield _row(f"notes of {count} not {what}", 1 - len(degrees) / count, "share")


def _row(what: str, value: float, unit: str) -> Row:
    return Row(part="graph", what=what, value=value, unit=unit)


def main(arguments: list[str]) -> int:
    """Print the figures; return 2 without a file."""
    if not arguments:
        sys.stderr.write("usage: python -m bench.graph NOTES.jsonl…\n")
        return 2
    for row in measure([Path(each) for each in arguments]):
        sys.stdout.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
