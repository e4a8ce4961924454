"""What the rules of visibility cost a query: against the same query over notes without states."""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.rows import Row
from graft_memstore import visibility

SIZE = 10_000
PASSES = 25

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
    """Yield the row of this part: both ways in a process each, by turns within a second."""
    with _asked("with") as ours, _asked("without") as bare:
        passes = [(_pass_ms(ours), _pass_ms(bare)) for _ in range(PASSES)]
    ours_ms, bare_ms = (statistics.median(each) for each in zip(*passes, strict=True))
    yield Row(
        part="lifecycle",
        what=f"whole query at {SIZE:,} notes with the rules of visibility, embedding excluded",
        value=ours_ms,
        unit="ms",
        rival="the same over notes without states",
        rival_value=bare_ms,
        target="≤ 10 % more",
        reached=ours_ms <= bare_ms * 1.1,
    )


@contextmanager
def _asked(way: str) -> Iterator["subprocess.Popen[str]"]:
    """Start a process that makes a pass for each line it is sent."""
    with subprocess.Popen(
        [sys.executable, "-m", "bench.lifecycle", way],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.communicate()


def _pass_ms(process: "subprocess.Popen[str]") -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def _answer(way: str) -> None:
    """Write the median of a pass of queries, in milliseconds, for each line that is read."""
    if way == "without":
        # Statements take the rules in when their modules are loaded, which is below.
        visibility.VISIBLE = WITHOUT_STATES
    from bench.fill import fill, open_profiles  # noqa: PLC0415
    from bench.search import FACTS, query_times_ms  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="graft-bench-") as folder:
        profiles = open_profiles(Path(folder))
        filled = fill(profiles.open("default"), SIZE, FACTS)
        with filled.profile.snapshot() as connection:
            filled.index.load(connection)
        query_times_ms(filled)
        for _ in sys.stdin:
            sys.stdout.write(f"{statistics.median(query_times_ms(filled))}\n")
            sys.stdout.flush()
        profiles.close()


if __name__ == "__main__":
    _answer(sys.argv[1])
