"""Checks of a home's services: who holds the locks, who answers, with which build."""

from collections.abc import Iterator

from graft.wire.launch import StartError, find_running
from graft.wire.locks import holder_of
from graft.wire.paths import Home
from graft_client.programs import MEMSTORE
from graft_client.results import Check, EmbedderStatus, Status


def check_locks(home: Home, services: list[str]) -> Iterator[Check]:
    """Check that whoever holds a service's lock also answers."""
    for service in services:
        name = f"lock of {service}"
        try:
            found = find_running(home, service)
        except StartError as error:
            yield Check(name=name, ok=False, detail=str(error))
            continue
        holder = holder_of(home.life_lock(service)) if home.root.exists() else None
        if holder is None:
            yield Check(name=name, ok=True, detail="free: nothing runs")
        elif found is None:
            yield Check(
                name=name,
                ok=False,
                detail=f"process {holder} holds {home.life_lock(service)} but nobody answers; it"
                " may be starting: try again, or run: graft stop --force",
            )
        else:
            yield Check(name=name, ok=True, detail=f"held by process {holder}, which answers")


def check_status(status: Status, build: str) -> Iterator[Check]:
    """Check what the memstore says of itself and of its embedders."""
    memstore = status.memstore
    if memstore is None:
        yield Check(
            name=MEMSTORE,
            ok=True,
            detail="not running; the next command starts it (its profiles are looked into with:"
            " graft doctor --start)",
        )
    elif memstore.version != build:
        yield Check(
            name=MEMSTORE,
            ok=True,
            detail=f"process {memstore.pid} answers, of another build ({memstore.version}, this is"
            f" {build}); the next command replaces it when it is idle",
        )
    else:
        yield Check(name=MEMSTORE, ok=True, detail=f"process {memstore.pid} answers")
    for embedder in status.embedders:
        yield _embedder(embedder)


def _embedder(embedder: EmbedderStatus) -> Check:
    name = f"embedder {embedder.model}"
    if embedder.problem or embedder.state == "failed":
        problem = embedder.problem or "it failed; see its log in the home"
        return Check(name=name, ok=False, detail=problem)
    running = f"process {embedder.pid}, " if embedder.pid else ""
    return Check(name=name, ok=True, detail=f"{running}{embedder.state}")
