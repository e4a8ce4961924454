"""Erases questions that nothing answered, because somebody wants them forgotten."""

from dataclasses import dataclass

from graft_memstore.model import Caller, NoteId, ScopeFilter
from graft_memstore.store.erasures import insert_erasure, is_erasing
from graft_memstore.store.misses import clear_misses
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.acts import record_act
from graft_memstore.write.receipts import Reply, RequestKey, recall_reply, remember_reply

ACTION_CLEAR_MISSES = "clear-misses"
ERASED_MISSES = NoteId("misses")
"""Stands in the list of erasures for all of them: it is no note's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """What was forgotten.

    Attributes:
        erasing: a reader holds up cleaning the file, which goes on in the background.
    """

    groups: int
    questions: int
    erasing: bool


def forget_misses(
    profile: Profile[Index],
    scope: ScopeFilter,
    key: RequestKey,
    caller: Caller,
    wait_seconds: float,
) -> Cleared:
    """Erase the questions that may be told in *scope*.

    Raises:
        RequestIdReusedError: the request_id belongs to another request.
        ServiceError: see `Profile.write`.
    """

    def forget(transaction: Transaction) -> Reply:
        connection = transaction.connection
        earlier = recall_reply(connection, key, transaction.at_ms)
        if earlier is not None:
            return earlier
        groups, questions = clear_misses(connection, scope)
        if groups:
            insert_erasure(connection, ERASED_MISSES, transaction.at_ms)
            what = f"questions: {questions:,}, groups: {groups:,}"
            record_act(transaction, caller, ACTION_CLEAR_MISSES, what)
        reply = {"groups": groups, "questions": questions}
        remember_reply(connection, key, reply, transaction.at_ms)
        return reply

    reply = profile.write(forget, wait_seconds)
    with profile.snapshot() as connection:
        waits = is_erasing(connection, ERASED_MISSES)
    # The snapshot above is closed: a reader would hold up the checkpoint.
    clean = not waits or profile.clean()
    return Cleared(groups=reply["groups"], questions=reply["questions"], erasing=not clean)
