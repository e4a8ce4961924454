"""What a role may not do itself: it waits in the reviewer's queue, and nothing else is done."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TypeVar

from graft.wire.errors import NotAllowedError, ProposedError
from graft_memstore.lifecycle import Verb
from graft_memstore.model import Caller, EventSeq, ItemId, ItemKind, NoteId, Oracle
from graft_memstore.store.notes import read_stored
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.review_items import NewItem, evidence_of, find_item, open_item
from graft_memstore.store.states import read_last_states
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.acts import record_on_note

ACTION_PROPOSE = "propose"

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change that waits for a reviewer.

    Attributes:
        by: the note that is to supersede it.
        event: that is to be undone.
        times: those that are to be set, by name, UTC milliseconds; None takes one away.
        oracle: by which it is to be verified.
    """

    verb: Verb
    note_id: NoteId
    by: NoteId | None = None
    event: EventSeq | None = None
    times: Mapping[str, int | None] = field(default_factory=dict)
    oracle: Oracle | None = None

    def detail(self) -> dict[str, object]:
        """Return it as the queue keeps it."""
        found: dict[str, object] = {"verb": self.verb}
        if self.event is not None:
            found["event"] = self.event
        if self.times:
            found["times"] = dict(self.times)
        if self.oracle is not None:
            found["oracle"] = asdict(self.oracle)
        return found


class ReviewerNeededError(NotAllowedError):
    """A reviewer alone may do it; `or_propose` turns this into a proposal."""

    def __init__(self, why: str, proposal: Proposal) -> None:
        super().__init__(why, metadata={"note_id": proposal.note_id})
        self.proposal = proposal


def or_propose(
    profile: Profile[Index],
    job: Callable[[Transaction], ResultT],
    said: tuple[Caller, str],
    wait_seconds: float,
) -> ResultT:
    """Run *job* as one transaction; where that needs a reviewer, propose it and say so.

    Args:
        profile: whose notes it is about.
        job: raises `ReviewerNeededError` where its caller may only propose.
        said: by whom, and why.
        wait_seconds: see `Profile.write`.

    Raises:
        ProposedError: it was not done, and waits for a reviewer.
        NotAllowedError: a reviewer has turned just this down.
        ServiceError: see `Profile.write`.
    """
    try:
        return profile.write(job, wait_seconds)
    except ReviewerNeededError as needed:
        proposal, why = needed.proposal, needed.message
    item = profile.write(lambda transaction: propose(transaction, proposal, *said), wait_seconds)
    raise ProposedError(
        f"not done: {why}; it waits for the reviewer as item {item}, see: graft review show {item}",
        metadata={"proposal": str(item), "note_id": proposal.note_id, "verb": proposal.verb},
    )


def propose(transaction: Transaction, proposal: Proposal, caller: Caller, reason: str) -> ItemId:
    """Put *proposal* into the queue, once as long as its note stays as it is; return its item.

    Raises:
        NotAllowedError: a reviewer has turned it down.
    """
    connection, note_id = transaction.connection, proposal.note_id
    evidence = _evidence(proposal, read_last_states(connection, note_id)[0].event)
    known = find_item(connection, ItemKind.PROPOSAL, evidence)
    if known is not None and known.decision is not None:
        raise NotAllowedError(
            f"a reviewer has turned this down (item {known.item_id}), and note {note_id} has not "
            f"changed since; see: graft review show {known.item_id}",
            metadata={"proposal": str(known.item_id), "note_id": note_id},
        )
    if known is not None:
        return known.item_id
    stored = read_stored(connection, note_id)
    assert stored is not None, "its id was found a moment ago"
    event = record_on_note(transaction, caller, ACTION_PROPOSE, stored, reason)
    item = NewItem(
        kind=ItemKind.PROPOSAL,
        evidence=evidence,
        note_id=note_id,
        other_id=proposal.by,
        detail=proposal.detail(),
        event=event,
    )
    return open_item(connection, item, transaction.at_ms).item_id


def _evidence(proposal: Proposal, state_event: EventSeq) -> bytes:
    times = [part for name in sorted(proposal.times) for part in (name, proposal.times[name])]
    oracle = proposal.oracle
    claim = () if oracle is None else (oracle.kind, oracle.commit, oracle.command)
    return evidence_of(
        *(proposal.verb, proposal.note_id, state_event, proposal.by, proposal.event),
        *times,
        *claim,
    )
