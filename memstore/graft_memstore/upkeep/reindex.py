"""Moves a profile to another model: embeds everything anew beside what serves, then switches.

What is asked for stands in the file (`meta`), and so do the target's model and the texts that
still wait for it; a restart goes on from there. Until the switch every answer comes from the
old vectors, after it from the new ones: one transaction lies between.
"""

from dataclasses import dataclass

from graft.wire.errors import ReindexStateError
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import Embedder, ModelFacts, WantedModel
from graft_memstore.model import Caller, Model, ModelRole
from graft_memstore.store import meta
from graft_memstore.store.edges import delete_derived
from graft_memstore.store.edges_pending import ask_for_all_edges
from graft_memstore.store.models import delete_model, read_model, set_role
from graft_memstore.store.notes import count_notes
from graft_memstore.store.pending import (
    count_notes_for_model,
    delete_for_model,
    insert_all_pending,
    insert_forgotten_pending,
    more_wait,
)
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.vectors import drop_bits
from graft_memstore.store.writer import WRITE_WAIT_SECONDS
from graft_memstore.write.acts import record_act
from graft_memstore.write.prepare import ONE_WINDOW_CHARS
from graft_memstore.write.vectors import add_model


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexProgress:
    """How far a reindex is.

    Attributes:
        target: model that the profile moves to; empty when none runs.
        serving: model that answers now; empty before the first vector.
        done: notes that the target knows whole; when none runs, that the serving model does.
        total: notes in all.
    """

    target: str
    serving: str
    done: int
    total: int


UPKEEP = Caller(actor="system", door="upkeep")
"""Whoever goes on with what was asked for."""

ACTION_REINDEX = "reindex"
ACTION_SWITCH = "switch-model"


def ask_for_reindex(
    profile: Profile[Index],
    model_name: str,
    wait_seconds: float = WRITE_WAIT_SECONDS,
    *,
    caller: Caller = UPKEEP,
) -> None:
    """Enter that the profile is to move to *model_name*; asking again for it is safe.

    Asking for the model that serves gives up a move to another one and embeds what has no
    vector; a move that has not begun, its model being away, can be asked to go elsewhere.

    Raises:
        ReindexStateError: it moves to another model already.
        ServiceError: see `Profile.write`.
    """

    def enter(transaction: Transaction) -> None:
        connection = transaction.connection
        asked = meta.read(connection, meta.REINDEX_MODEL)
        serving = read_model(connection, ModelRole.SERVING)
        target = read_model(connection, ModelRole.TARGET)
        if asked is not None and asked != model_name and target is not None:
            if serving is None or serving.name != model_name:
                raise ReindexStateError(
                    f"profile {profile.name} is being moved to {asked}; wait for that to end, or "
                    f"give it up with: graft reindex --model {serving.name if serving else asked}",
                    metadata={"target": asked},
                )
            _forget_target(transaction)
        meta.write(connection, meta.REINDEX_MODEL, model_name)
        if asked != model_name:
            record_act(transaction, caller, ACTION_REINDEX, f"to {model_name}")

    profile.write(enter, wait_seconds)


def read_progress(profile: Profile[Index]) -> ReindexProgress:
    """Tell how far the profile's reindex is."""
    with profile.snapshot() as connection:
        asked = meta.read(connection, meta.REINDEX_MODEL) or ""
        serving = read_model(connection, ModelRole.SERVING)
        target = read_model(connection, ModelRole.TARGET)
        total = count_notes(connection)
        left = total
        if target is not None or asked == "":
            left = count_notes_for_model(connection, None if target is None else target.model_id)
    return ReindexProgress(
        target=asked,
        serving="" if serving is None else serving.name,
        done=total - left,
        total=total,
    )


def move_on(profile: Profile[Index], embedder: Embedder, deadline: Deadline) -> bool:
    """Begin what was asked for, or switch when nothing is left; tell whether it did anything.

    Raises:
        ModelNotReadyError: the target cannot be had now.
        ServiceError: see `Profile.write`.
    """
    with profile.snapshot() as connection:
        asked = meta.read(connection, meta.REINDEX_MODEL)
        target = read_model(connection, ModelRole.TARGET)
        if asked is None:
            return False
        if target is not None and more_wait(connection, target.model_id, 0):
            return False
    if target is None:
        # Loading the model takes a while, in which somebody may ask for another.
        facts = embedder.facts(WantedModel(name=asked), deadline)
        profile.write(lambda transaction: _begin(transaction, asked, facts))
    else:
        profile.write(lambda transaction: switch(transaction, target))
    return True


def abandon_target(profile: Profile[Index]) -> None:
    """Forget the target's vectors, so that the reindex begins anew: its file has changed.

    Raises:
        ServiceError: see `Profile.write`.
    """
    profile.write(_forget_target)


def _forget_target(transaction: Transaction) -> None:
    connection = transaction.connection
    target = read_model(connection, ModelRole.TARGET)
    if target is not None:
        delete_for_model(connection, target.model_id)
        drop_bits(connection, target.model_id)
        delete_model(connection, target.model_id)


def _begin(transaction: Transaction, asked: str, facts: ModelFacts) -> None:
    connection = transaction.connection
    if meta.read(connection, meta.REINDEX_MODEL) != asked:
        return  # it is to go elsewhere, or nowhere, since the model was asked for
    serving = read_model(connection, ModelRole.SERVING)
    if serving is None:
        # Nothing has a vector yet: what waits will get this model's.
        add_model(connection, facts, ModelRole.SERVING)
        meta.clear(connection, meta.REINDEX_MODEL)
    elif serving.identity == facts.identity:
        insert_forgotten_pending(connection, serving.model_id, ONE_WINDOW_CHARS)
        meta.clear(connection, meta.REINDEX_MODEL)
    else:
        target = add_model(connection, facts, ModelRole.TARGET)
        insert_all_pending(connection, target.model_id, ONE_WINDOW_CHARS)


def switch(transaction: Transaction, target: Model) -> None:
    """Let *target* serve if it is still moved to and knows every note."""
    connection = transaction.connection
    if read_model(connection, ModelRole.TARGET) != target:
        return  # the move was given up since
    if more_wait(connection, target.model_id, 0):
        return  # a note came in since; it is embedded first
    serving = read_model(connection, ModelRole.SERVING)
    if serving is not None:
        drop_bits(connection, serving.model_id)
        delete_model(connection, serving.model_id)
    # What still waited for the old model has vectors of the new one.
    delete_for_model(connection, None)
    set_role(connection, target.model_id, ModelRole.SERVING)
    # The edges of two models cannot be compared; their notes are joined anew in the background.
    delete_derived(connection)
    ask_for_all_edges(connection, target.model_id)
    meta.clear(connection, meta.REINDEX_MODEL)
    record_act(transaction, UPKEEP, ACTION_SWITCH, f"to {target.name}")
