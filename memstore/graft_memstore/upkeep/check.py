"""Checks one profile from inside, repairing nothing."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from graft_memstore.model import ModelRole
from graft_memstore.recall.own_gate import gate_of, passed_over
from graft_memstore.store.coverage import count_forgotten
from graft_memstore.store.database import Connection
from graft_memstore.store.edges import count_edges
from graft_memstore.store.edges_pending import count_asked
from graft_memstore.store.erasures import count_erasures
from graft_memstore.store.integrity import (
    foreign_key_problems,
    integrity_problems,
    write_lock_is_free,
)
from graft_memstore.store.migrate import migrations, schema_version
from graft_memstore.store.models import read_model
from graft_memstore.store.note_rows import read_note_rows
from graft_memstore.store.pending import count_pending
from graft_memstore.store.profile import Index, Profile
from graft_memstore.upkeep.trail_report import TrailReport
from graft_memstore.upkeep.verify_trail import compare, read_head
from graft_memstore.write.hashes import content_hash

PAGE_ROWS = 50
"""Notes that are read at once; each may have a body of 1 MiB."""
FREE_BYTES_MIN = 200 * 1024 * 1024
OTHERS_MAY = 0o077


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was checked; *detail* says what was seen and, if not ok, what to do."""

    name: str
    ok: bool
    detail: str


def check_profile(
    profile: Profile[Index], worker_problem: str, edges_problem: str
) -> list[Finding]:
    """Check a profile's file and what is in it, in a fixed order.

    Args:
        profile: the profile.
        worker_problem: why texts do not get their vectors now, empty if they do.
        edges_problem: why notes do not get their edges now, empty if they do.

    Raises:
        ServiceError: the file cannot be read at all.
    """
    # Before the file is opened once more, which takes away what others may.
    modes = _modes(profile)
    # Before the snapshot: without a write-ahead log a writer waits for those who read, and those
    # who open the file wait for that writer.
    write_lock = _write_lock(profile)
    head = read_head(profile.chain)
    with profile.snapshot() as connection:
        checks: list[Callable[[], Finding]] = [
            lambda: _schema(connection),
            lambda: modes,
            lambda: _disk(profile),
            lambda: _journal(connection),
            lambda: write_lock,
            lambda: _integrity(connection),
            lambda: _foreign_keys(connection),
            lambda: _audit(compare(connection, profile.chain, head)),
            lambda: _texts(connection),
            lambda: _vectors(connection),
            lambda: _pending(connection, worker_problem),
            lambda: _edges(connection, edges_problem),
            lambda: _gate(connection),
            lambda: _erasing(connection),
        ]
        return [check() for check in checks]


def _schema(connection: Connection) -> Finding:
    version, newest = schema_version(connection), max(migrations())
    return Finding(
        name="schema",
        ok=version == newest,
        detail=f"schema {version}, this program knows {newest}",
    )


def _modes(profile: Profile[Index]) -> Finding:
    loose = [
        f"chmod {mode} {path}"
        for path, mode in ((profile.path.parent, "700"), (profile.path, "600"))
        if path.stat().st_mode & OTHERS_MAY
    ]
    return Finding(
        name="modes",
        ok=not loose,
        detail="readable by you alone"
        if not loose
        else f"others may read; run: {loose[0]}, or: graft doctor --repair",
    )


def _disk(profile: Profile[Index]) -> Finding:
    free = shutil.disk_usage(profile.path.parent).free
    return Finding(
        name="disk",
        ok=free >= FREE_BYTES_MIN and os.access(profile.path, os.W_OK),
        detail=f"{free // (1024 * 1024):,} MiB free, {FREE_BYTES_MIN // (1024 * 1024)} needed",
    )


def _journal(connection: Connection) -> Finding:
    mode = str(connection.pragma("journal_mode"))
    why = "" if mode == "wal" else "; the file system is not safe for wal, so writes are slower"
    return Finding(name="journal", ok=True, detail=mode + why)


def _write_lock(profile: Profile[Index]) -> Finding:
    if profile.cramped:
        detail = "nothing can be changed, the disk was full when the profile was opened; free some"
        return Finding(name="write lock", ok=False, detail=detail)
    free = write_lock_is_free(profile.path)
    return Finding(
        name="write lock",
        ok=free,
        detail="free"
        if free
        else f"another program holds it, so changes wait or are refused; find it with:"
        f" fuser {profile.path}",
    )


def _integrity(connection: Connection) -> Finding:
    problems = integrity_problems(connection)
    return Finding(
        name="integrity",
        ok=not problems,
        detail="ok"
        if not problems
        else f"{problems[0]}; run: graft doctor --repair, and where that does not help, take a"
        " backup back with: graft backup restore FILE --replace",
    )


def _foreign_keys(connection: Connection) -> Finding:
    problems = foreign_key_problems(connection)
    return Finding(
        name="foreign keys",
        ok=not problems,
        detail="ok"
        if not problems
        else f"{problems[0]}; take a backup back with: graft backup restore FILE --replace",
    )


def _audit(report: TrailReport) -> Finding:
    advice = "" if report.ok else "; compare with a backup"
    return Finding(name="audit chain", ok=report.ok, detail=report.summary + advice)


def _texts(connection: Connection) -> Finding:
    """Compare every note's text with the hash that was taken when it came in."""
    after = count = 0
    while page := read_note_rows(connection, after, PAGE_ROWS):
        for row in page:
            note = row.note
            if note is None or content_hash(note.title, note.body, note.kind) != note.content_hash:
                return Finding(
                    name="texts",
                    ok=False,
                    detail=f"the text of note {row.id} was changed from outside; "
                    "compare it with a backup",
                )
            after, count = row.seq, count + 1
    return Finding(name="texts", ok=True, detail=f"{count} notes as they were stored")


def _vectors(connection: Connection) -> Finding:
    model = read_model(connection, ModelRole.SERVING)
    if model is None:
        return Finding(name="vectors", ok=True, detail="none yet")
    forgotten = count_forgotten(connection, model.model_id)
    return Finding(
        name="vectors",
        ok=not forgotten,
        detail=f"model {model.name}"
        if not forgotten
        else f"{forgotten} notes have no vector; run: graft doctor --repair, or: graft reindex"
        f" --model {model.name}",
    )


def _pending(connection: Connection, worker_problem: str) -> Finding:
    count = count_pending(connection)
    why = f"; {worker_problem}" if count and worker_problem else ""
    return Finding(name="pending", ok=not why, detail=f"{count} texts wait for vectors{why}")


def _edges(connection: Connection, edges_problem: str) -> Finding:
    count, waiting = count_edges(connection), count_asked(connection)
    why = f"; {edges_problem}" if waiting and edges_problem else ""
    return Finding(
        name="edges",
        ok=not why,
        detail=f"{count} between notes; notes that wait for theirs: {waiting}{why}",
    )


def _gate(connection: Connection) -> Finding:
    serving = read_model(connection, ModelRole.SERVING)
    gate, old = gate_of(connection, serving), passed_over(connection, serving)
    own = ", the profile's own" if gate.strong_is_own else ""
    advice = (
        ""
        if old is None
        else f"; its own, {old:.3f}, was measured with another model or gate and is passed over:"
        " measure again with `graft doctor --gate --apply`, or forget it with"
        " `graft doctor --gate --reset`"
    )
    return Finding(name="gate", ok=True, detail=f"STRONG from {gate.strong:.3f}{own}{advice}")


def _erasing(connection: Connection) -> Finding:
    count = count_erasures(connection)
    return Finding(
        name="erasing",
        ok=True,
        detail=f"{count} deleted notes are still to be cleaned from the file",
    )
