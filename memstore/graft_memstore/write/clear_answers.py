"""Forgets what the gate answered, because somebody wants it forgotten."""

from graft_memstore.model import Caller, ScopeFilter
from graft_memstore.store.answers import delete_answers
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.acts import record_act
from graft_memstore.write.receipts import Reply, RequestKey, recall_reply, remember_reply

ACTION_CLEAR_ANALYTICS = "clear-analytics"


def forget_answers(
    profile: Profile[Index],
    scope: ScopeFilter,
    key: RequestKey,
    caller: Caller,
    wait_seconds: float,
) -> int:
    """Forget the answers of *scope*; return how many there were.

    Raises:
        RequestIdReusedError: the request_id belongs to another request.
        ServiceError: see `Profile.write`.
    """

    def forget(transaction: Transaction) -> Reply:
        connection = transaction.connection
        earlier = recall_reply(connection, key, transaction.at_ms)
        if earlier is not None:
            return earlier
        count = delete_answers(connection, scope)
        if count:
            record_act(transaction, caller, ACTION_CLEAR_ANALYTICS, f"answers: {count:,}")
        reply = {"answers": count}
        remember_reply(connection, key, reply, transaction.at_ms)
        return reply

    return int(profile.write(forget, wait_seconds)["answers"])
