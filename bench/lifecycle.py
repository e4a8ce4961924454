"""What the rules of visibility cost a query: against the same query over notes without states."""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.rows import Row
from graft_memstore import visibility

SIZE = 10_000
ROUNDS = 5
PASSES = 5

# Of the scope alone, as if nothing were ever superseded, rejected, expired or disputed.
WITHOUT_STATES = """
visible (seq, note_id, title, scope, trust, recorded_at, state_id) AS NOT MATERIALIZED (
    SELECT notes.seq, notes.id, notes.title, notes.scope, 'observed', notes.recorded_at, 0
    FROM notes
    WHERE (:all_scopes OR notes.scope IN (SELECT value FROM json_each(:scopes)))
      AND :now IS NOT NULL AND :valid_at IS NOT NULL
)
"""


def measure() -> Iterator[Row]:
    """Yield the row of this part: rounds of both by turns, each in a process of its own."""
    spent: dict[str, list[float]] = {"with": [], "without": []}
    for _ in range(ROUNDS):
        for way, times in spent.items():
            done = subprocess.run(
                [sys.executable, "-m", "bench.lifecycle", way],
                capture_output=True,
                text=True,
                check=True,
            )
            times.append(float(done.stdout))
    ours, bare = (statistics.median(times) for times in spent.values())
    yield Row(
        part="lifecycle",
        what=f"whole query at {SIZE:,} notes with the rules of visibility, embedding excluded",
        value=ours,
        unit="ms",
        rival="the same over notes without states",
        rival_value=bare,
        target="≤ 10 % more",
        reached=ours <= bare * 1.1,
    )


def _query_ms(way: str) -> float:
    """Return the median of a query, in milliseconds; every note is there to be found."""
    if way == "without":
        # Statements take the rules in when their modules are loaded, which is below.
        visibility.VISIBLE = WITHOUT_STATES
    from bench.fill import fill, open_profiles  # noqa: PLC0415
    from bench.search import FACTS, query_times_ms  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="graft-bench-") as folder:
        profiles = open_profiles(Path(folder))
        filled = fill(profiles.open("default"), SIZE, FACTS)
        spent = [each for _ in range(PASSES) for each in query_times_ms(filled)]
        profiles.close()
    return statistics.median(spent)


if __name__ == "__main__":
    sys.stdout.write(f"{_query_ms(sys.argv[1])}\n")
