"""The thread that gives a profile's texts vectors, its notes edges, and moves it between models."""

import logging
import threading
import time
from collections.abc import Callable

from graft.wire.errors import ModelNotReadyError, ServiceError
from graft.wire.events import event
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import Embedder
from graft_memstore.model import ModelRole
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.profile import Profile
from graft_memstore.upkeep.back_off import LONGEST_SECONDS, BackOff
from graft_memstore.upkeep.embed_pending import embed_some
from graft_memstore.upkeep.join_notes import join_some
from graft_memstore.upkeep.reindex import abandon_target, move_on

STEP_SECONDS = 120.0
"""Deadline of one step; a large model on a small machine needs seconds for a window."""

STOP_SECONDS = 10.0
OTHER_MODEL = "other-model"

log = logging.getLogger(__name__)


class VectorWorker:
    """Works whenever something is committed, and otherwise waits.

    What waits for the serving model, what a reindex wants and the edges back off separately, so
    that a reindex can save a profile whose own model is gone; edges need no model at all.
    """

    def __init__(self, profile: Profile[VectorIndex], embedder: Embedder) -> None:
        self._profile = profile
        self._embedder = embedder
        self._serving = BackOff(time.monotonic)
        self._target = BackOff(time.monotonic)
        self._edges = BackOff(time.monotonic)
        self._stopping = threading.Event()
        self._deadline = Deadline(STEP_SECONDS)
        # Commits that have been looked at; below the profile's count there may be work.
        self._seen = -1
        self._thread = threading.Thread(
            target=self._work, name=f"vectors-{profile.name}", daemon=True
        )
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether it works or is about to; what it cannot do now does not count."""
        return self._seen != self._profile.changes.count

    @property
    def problem(self) -> str:
        """Why texts do not get their vectors now; empty while nothing is in the way."""
        return self._serving.problem

    @property
    def edges_problem(self) -> str:
        """Why notes do not get their edges now; empty while nothing is in the way."""
        return self._edges.problem

    @property
    def reindex_problem(self) -> str:
        """Why a reindex does not go on now; empty while nothing is in the way."""
        return self._target.problem

    def begin_reindex(self) -> None:
        """Go on with a reindex at once: it was asked for anew, whatever failed before."""
        self._target.succeeded()
        self._profile.changes.notify()

    def stop(self) -> None:
        """End the thread after the transaction that runs, if any."""
        self._stopping.set()
        self._deadline.cancel()
        self._profile.changes.notify()
        self._thread.join(STOP_SECONDS)

    def _work(self) -> None:
        while not self._stopping.is_set():
            count = self._profile.changes.count
            if self._step():
                continue
            self._seen = count
            back_offs = (self._serving, self._target, self._edges)
            pauses = [each.left() for each in back_offs if each.problem]
            self._profile.changes.wait(count, min(pauses, default=LONGEST_SECONDS))

    def _step(self) -> bool:
        """Do a little; tell whether there may be more to do at once."""
        did = self._try(self._serving, self._embed_for_serving)
        did = self._try(self._target, self._go_on_with_reindex) or did
        return self._try(self._edges, self._join_notes) or did

    def _try(self, back_off: BackOff, work: Callable[[Deadline], bool]) -> bool:
        if self._stopping.is_set() or back_off.left() > 0:
            return False
        self._deadline = Deadline(STEP_SECONDS)
        if self._stopping.is_set():
            return False
        try:
            did = work(self._deadline)
        except ServiceError as error:
            if not self._stopping.is_set():
                log.info(event("upkeep waits", profile=self._profile.name, because=error.message))
            back_off.failed(error.message)
            return False
        except Exception:
            # The thread's root: a bug must not end what every later note relies on.
            log.exception(event("bug in upkeep", profile=self._profile.name))
            back_off.failed("internal error; see the log")
            return False
        back_off.succeeded()
        return did

    def _embed_for_serving(self, deadline: Deadline) -> bool:
        return embed_some(self._profile, self._embedder, ModelRole.SERVING, deadline)

    def _join_notes(self, _deadline: Deadline) -> bool:
        return join_some(self._profile)

    def _go_on_with_reindex(self, deadline: Deadline) -> bool:
        try:
            did = embed_some(self._profile, self._embedder, ModelRole.TARGET, deadline)
        except ModelNotReadyError as error:
            if error.metadata.get("state") == OTHER_MODEL:
                abandon_target(self._profile)
                return True
            raise
        return did or move_on(self._profile, self._embedder, deadline)
