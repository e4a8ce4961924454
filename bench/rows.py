"""One measured figure, and the file that keeps them."""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).with_name("results.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure.

    Attributes:
        part: which benchmark it belongs to.
        what: what was measured, with sizes.
        value: the figure.
        unit: its unit.
        target: what to reach, in words; empty where there is no target.
        reached: whether it was; None where there is no target.
        rival: what it was compared with, in words; may be empty.
        rival_value: the rival's figure in the same unit; None without a rival.
    """

    part: str
    what: str
    value: float
    unit: str
    target: str = ""
    reached: bool | None = None
    rival: str = ""
    rival_value: float | None = None


def machine() -> dict[str, object]:
    """Return what a reader needs to know of the machine: processor, CPUs, load, versions."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text("utf-8").splitlines()
        model = next(
            (line.split(": ", 1)[1] for line in lines if line.startswith("model name")), ""
        )
    return {
        "processor": model,
        "cpus": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def commit() -> str:
    """Return the commit that was measured, with "+" when files differ from it."""
    run = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"], capture_output=True, text=True, check=False
    )
    return run.stdout.strip()


def keep(rows: Iterable[Row]) -> None:
    """Write *rows* in place of the kept ones of the same parts."""
    fresh = list(rows)
    parts = {row.part for row in fresh}
    old = RESULTS.read_text("utf-8").splitlines() if RESULTS.exists() else []
    kept = [line for line in old if json.loads(line)["part"] not in parts]
    facts = {"machine": machine(), "commit": commit()}
    new = [json.dumps({**asdict(row), **facts}, ensure_ascii=False) for row in fresh]
    RESULTS.write_text("\n".join([*kept, *new]) + "\n", "utf-8")


def show(row: Row) -> None:
    """Print one figure for a person."""
    rival = f"  ({row.rival}: {row.rival_value:.4g} {row.unit})" if row.rival_value else ""
    verdict = {None: "", True: "  reached", False: "  NOT reached"}[row.reached]
    target = f"  [{row.target}]" if row.target else ""
    sys.stdout.write(
        f"{row.part}: {row.what}: {row.value:.4g} {row.unit}{rival}{target}{verdict}\n"
    )
    sys.stdout.flush()


def median_ms(work: Callable[[], object], times: int) -> float:
    """Return the median time of *work* over *times* runs, in milliseconds."""
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        spent.append((time.perf_counter() - started) * 1000)
    return statistics.median(spent)
