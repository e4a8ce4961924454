"""Has all edges made anew against today's notes, and watches how far that is.

The work itself is that of the thread which joins new notes: all notes are put on its list, under a
new generation of edges, and when the list is empty the edges of before go, a few at a time. So no
transaction is long, a search sees the old edges until the new ones are there, and a process that
ends in between goes on with the rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from graft.wire.errors import DeadlinePassedError
from graft_memstore.deadline import ANSWER_MARGIN_SECONDS, Deadline
from graft_memstore.model import ModelRole
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.coverage import count_titles
from graft_memstore.store.edges import begin_generation, count_edges, has_outdated
from graft_memstore.store.edges_pending import ask_for_all_edges, count_asked
from graft_memstore.store.models import read_model
from graft_memstore.store.profile import Profile
from graft_memstore.store.transaction import Transaction

WATCH_SECONDS = 0.5
"""How often it is told how far it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """How far it is: notes that are done, that there are, and edges that there are."""

    done: int
    total: int
    edges: int
    finished: bool


def plan_consolidation(profile: Profile[VectorIndex]) -> Consolidation:
    """Return what there is to do; do nothing.

    Raises:
        ServiceError: see `Profile.snapshot`.
    """
    with profile.snapshot() as connection:
        serving = read_model(connection, ModelRole.SERVING)
        total = 0 if serving is None else count_titles(connection, serving.model_id)
        return Consolidation(done=0, total=total, edges=count_edges(connection), finished=True)


def consolidate(profile: Profile[VectorIndex], deadline: Deadline) -> Iterator[Consolidation]:
    """Begin, unless it goes on already, and yield how far it is until it is done.

    Raises:
        DeadlinePassedError: it is not done yet; it goes on.
        ServiceError: see `Profile.write`.
    """
    total = plan_consolidation(profile).total
    profile.write(_begin)
    while True:
        count = profile.changes.count
        with profile.snapshot() as connection:
            waiting, outdated = count_asked(connection), has_outdated(connection)
            edges = count_edges(connection)
        total = max(total, waiting)
        finished = not waiting and not outdated
        yield Consolidation(done=total - waiting, total=total, edges=edges, finished=finished)
        if finished:
            return
        if deadline.left() < ANSWER_MARGIN_SECONDS:
            raise DeadlinePassedError(
                f"{waiting:,} of {total:,} notes still wait for their edges; they are made in the "
                "background, and asking again watches that"
            )
        profile.changes.wait(count, WATCH_SECONDS)


def _begin(transaction: Transaction) -> None:
    connection = transaction.connection
    serving = read_model(connection, ModelRole.SERVING)
    if serving is None or has_outdated(connection):
        return
    begin_generation(connection)
    ask_for_all_edges(connection, serving.model_id)
