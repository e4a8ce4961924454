"""A scan of a large store: with the edges of all notes made, and while all of them wait."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.fill import fill, open_profiles
from bench.rows import Row
from bench.search import FACTS
from graft_memstore.deadline import Deadline
from graft_memstore.model import ScopeFilter
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.profile import Profile
from graft_memstore.upkeep.join_notes import join_some
from graft_memstore.upkeep.scan import ScanReport, scan_notes

SIZE = 10_000
TARGET_SECONDS = 10.0
SECONDS = 600.0


def measure() -> Iterator[Row]:
    """Yield how long scans take."""
    with tempfile.TemporaryDirectory(prefix="graft-bench-") as folder:
        profiles = open_profiles(Path(folder))
        try:
            profile = profiles.open("")
            fill(profile, SIZE, FACTS)
            yield _row("a scan while all notes wait for edges", *_scan(profile))
            while join_some(profile):
                pass
            yield _row("a first scan", *_scan(profile))
            yield _row("a second scan", *_scan(profile))
        finally:
            profiles.close()


def _scan(profile: Profile[VectorIndex]) -> tuple[float, ScanReport]:
    start = time.perf_counter()
    *_, last = scan_notes(profile, ScopeFilter(all=True), 0, Deadline(SECONDS))
    assert last.report is not None
    return time.perf_counter() - start, last.report


def _row(what: str, seconds: float, report: ScanReport) -> Row:
    return Row(
        part="upkeep",
        what=f"{what}, {SIZE:,} notes ({sum(report.found.values()):,} things found)",
        value=seconds,
        unit="s",
        target=f"≤ {TARGET_SECONDS:.0f} s",
        reached=seconds <= TARGET_SECONDS,
    )
