"""What a person waits for who types a prompt to an agent that has graft's hook."""

import json
import os
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.corpus import notes
from bench.homes import GRAFT, temporary_home
from bench.rows import Row
from graft_client import Graft
from graft_client.requests import NewNote

NOTES = 200
PROMPTS = 60
PERCENTILE = 95


def measure() -> Iterator[Row]:
    """Yield the row of this part: the hook and the command that asks the same, by turns."""
    with temporary_home() as home, Graft(home=home, timeout_seconds=120) as client:
        batch = [NewNote(title=note.title, body=note.body, scope="user") for note in notes(NOTES)]
        for _ in client.insert_many(batch, wait=True):
            pass
        hook: list[float] = []
        query: list[float] = []
        for number, note in enumerate(batch[:PROMPTS]):
            told = {"session_id": f"s-{number}", "cwd": "/", "prompt": f"{note.title}, please"}
            hook.append(_seconds(home, ("hook", "prompt"), json.dumps(told)))
            query.append(_seconds(home, ("query", "--scope", "user", "--json", note.title)))
    value, rival = (statistics.quantiles(each, n=100)[PERCENTILE - 1] for each in (hook, query))
    yield Row(
        part="hook",
        what=f"a prompt's hook with the starter, {PERCENTILE}th percentile",
        value=value,
        unit="s",
        target="≤ 0.3 s",
        reached=value <= 0.3,
        rival="graft query",
        rival_value=rival,
    )


def _seconds(home: Path, words: Sequence[str], told: str = "") -> float:
    started = time.perf_counter()
    subprocess.run(
        [GRAFT, *words],
        input=told,
        env={**os.environ, "GRAFT_HOME": str(home)},
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - started
