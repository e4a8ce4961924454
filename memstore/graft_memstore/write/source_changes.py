"""Gives notes sources, and keeps what somebody found of them: as changes, or as what holds now."""

from collections.abc import Sequence
from dataclasses import dataclass

from graft.wire.errors import BadFieldError, NotAllowedError, NoteNotFoundError, WrongStateError
from graft_memstore.lifecycle import REVIEWER, is_protected
from graft_memstore.model import ItemKind, Lifecycle, NoteId, Source, Trust
from graft_memstore.provenance import Finding, SourceState, state_of
from graft_memstore.store.note_sources import SOURCE, drop_source_items
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.review_items import NewItem, evidence_of, open_item
from graft_memstore.store.sources import add_sources, fingerprint_of, read_sources, renew_source
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.acts import record_on_note
from graft_memstore.write.identify import find_note
from graft_memstore.write.limits import FINDINGS_MAX, SOURCES_MAX
from graft_memstore.write.receipts import Reply, RequestKey, recall_reply, remember_reply
from graft_memstore.write.state_change import (
    Present,
    Saying,
    described,
    read_present,
    state_facts,
)
from graft_memstore.write.validate import check_reason, check_sources, fingerprint_problem

ACTION_ADD = "add-sources"
ACTION_REFRESH = "refresh-sources"
ITEM_KINDS = {
    SourceState.CHANGED: ItemKind.CHANGED_SOURCE,
    SourceState.GONE: ItemKind.REMOVED_SOURCE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFinding:
    """What somebody found of a source of a note, which is named by its id or a piece of it."""

    piece: str
    finding: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What was made of findings.

    Attributes:
        states: in their order.
        waiting: how many of them wait for the reviewer.
        events: that recorded new fingerprints, one for each note.
    """

    states: tuple[SourceState, ...]
    waiting: int = 0
    events: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A note's sources, how many of them are new, and the event of that; 0 for none."""

    id: NoteId
    sources: tuple[Source, ...]
    added: int
    event: int


def add_note_sources(
    profile: Profile[Index],
    piece: str,
    sources: Sequence[Source],
    said: tuple[RequestKey, Saying],
    wait_seconds: float,
) -> Added:
    """Give an active note further sources.

    Raises:
        BadFieldError: a source, the id or the reason cannot be taken, or there are too many.
        WrongStateError: the note is out of use or rejected.
        NotAllowedError: one that it has is another now, a reviewer verified the note, and the
            caller is none.
        ServiceError: see `find_note` and `Profile.write`.
    """
    (key, saying), checked = said, check_sources(sources)
    if saying.reason:
        check_reason(saying.reason)

    def add(transaction: Transaction) -> Reply:
        connection = transaction.connection
        earlier = recall_reply(connection, key, transaction.at_ms)
        if earlier is not None:
            return earlier
        present = read_present(connection, find_note(connection, piece))
        _check_active(present)
        before = read_sources(connection, [present.id]).get(present.id, ())
        added = add_sources(connection, present.id, checked, transaction.at_ms)
        now = read_sources(connection, [present.id])[present.id]
        if len(now) > SOURCES_MAX:
            raise BadFieldError("sources", f"it would have {len(now)}; {SOURCES_MAX} at most")
        was = {each.source_id: each.fingerprint for each in before}
        if any(was.get(each.source_id, each.fingerprint) != each.fingerprint for each in now):
            # To add what is there, found as it is now, is to refresh it.
            _check_may_refresh(present, saying)
        event = (
            record_on_note(transaction, saying.caller, ACTION_ADD, present.stored, saying.reason)
            if added
            else 0
        )
        reply = {"id": present.id, "added": added, "event": event}
        remember_reply(connection, key, reply, transaction.at_ms)
        return reply

    reply = profile.write(add, wait_seconds)
    note_id = NoteId(reply["id"])
    with profile.snapshot() as connection:
        now = read_sources(connection, [note_id]).get(note_id, ())
    return Added(id=note_id, sources=now, added=reply["added"], event=reply["event"])


def report_sources(
    profile: Profile[Index], findings: Sequence[NoteFinding], key: RequestKey, wait_seconds: float
) -> Reported:
    """Put before the reviewer which sources have changed or are gone.

    Raises:
        BadFieldError: there are none or too many, or one cannot be.
        NoteNotFoundError: a note has no such source.
        ServiceError: see `find_note` and `Profile.write`.
    """
    _check_findings(findings)

    def report(transaction: Transaction) -> Reply:
        earlier = recall_reply(transaction.connection, key, transaction.at_ms)
        if earlier is not None:
            return earlier
        states, waiting = [], 0
        for each in findings:
            present, known = _looked_up(transaction, each)
            state = state_of(known, each.finding)
            waiting += tell_reviewer(transaction, present, known, each.finding)
            states.append(state)
        reply = {"states": states, "waiting": waiting}
        remember_reply(transaction.connection, key, reply, transaction.at_ms)
        return reply

    reply = profile.write(report, wait_seconds)
    return Reported(states=_states(reply), waiting=reply["waiting"])


def tell_reviewer(transaction: Transaction, present: Present, known: str, finding: Finding) -> bool:
    """Keep in the queue that a source is not as it was *known*; tell whether that waits there."""
    connection, state = transaction.connection, state_of(known, finding)
    if state is SourceState.SAME:
        drop_source_items(connection, present.id, finding.source_id)
    if state not in ITEM_KINDS or not _in_use(present):
        return False
    found = finding.fingerprint if state is SourceState.CHANGED else ""
    item = NewItem(
        kind=ITEM_KINDS[state],
        evidence=evidence_of(present.id, finding.source_id, known, found),
        note_id=present.id,
        detail={SOURCE: finding.source_id},
    )
    return open_item(connection, item, transaction.at_ms).decision is None


def refresh_sources(
    profile: Profile[Index],
    findings: Sequence[NoteFinding],
    said: tuple[RequestKey, Saying],
    wait_seconds: float,
) -> Reported:
    """Take what was found of sources for what they are from now on.

    Raises:
        BadFieldError: there are none or too many, one cannot be, or there is no reason.
        NoteNotFoundError: a note has no such source.
        NotAllowedError: a reviewer verified a note, and the caller is none.
        ServiceError: see `find_note` and `Profile.write`.
    """
    _check_findings(findings)
    key, saying = said
    checked = Saying(caller=saying.caller, reason=check_reason(saying.reason))

    def refresh(transaction: Transaction) -> Reply:
        earlier = recall_reply(transaction.connection, key, transaction.at_ms)
        if earlier is not None:
            return earlier
        reply = _refresh(transaction, findings, checked)
        remember_reply(transaction.connection, key, reply, transaction.at_ms)
        return reply

    reply = profile.write(refresh, wait_seconds)
    return Reported(states=_states(reply), events=tuple(reply["events"]))


def _refresh(transaction: Transaction, findings: Sequence[NoteFinding], saying: Saying) -> Reply:
    connection, states = transaction.connection, []
    changed: dict[NoteId, Present] = {}
    for each in findings:
        present, known = _looked_up(transaction, each)
        states.append(state_of(known, each.finding))
        if not each.finding.fingerprint or each.finding.fingerprint == known:
            continue
        _check_may_refresh(present, saying)
        renew_source(connection, present.id, each.finding, transaction.at_ms)
        drop_source_items(connection, present.id, each.finding.source_id)
        changed[present.id] = present
    events = [
        record_on_note(transaction, saying.caller, ACTION_REFRESH, present.stored, saying.reason)
        for present in changed.values()
    ]
    return {"states": states, "events": events}


def _check_may_refresh(present: Present, saying: Saying) -> None:
    if is_protected(present.state) and saying.caller.actor != REVIEWER:
        raise NotAllowedError(
            f"a reviewer verified note {present.id}, so a reviewer alone says that it still holds; "
            f"tell that it may not with: graft mark-stale {present.id}",
            metadata=state_facts(present),
        )


def _check_findings(findings: Sequence[NoteFinding]) -> None:
    if not 1 <= len(findings) <= FINDINGS_MAX:
        raise BadFieldError("findings", f"{len(findings)}; 1 to {FINDINGS_MAX} at once")
    for each in findings:
        check_finding(each.finding)


def check_finding(finding: Finding) -> None:
    """See that somebody can have found this.

    Raises:
        BadFieldError: its fingerprint is none, or is one of something that is gone.
    """
    problem = fingerprint_problem(finding.fingerprint)
    if finding.gone and finding.fingerprint:
        problem = f"source {finding.source_id} is gone and has a fingerprint; leave one out"
    if problem:
        raise BadFieldError("findings", problem)


def _looked_up(transaction: Transaction, each: NoteFinding) -> tuple[Present, str]:
    """Return the note that a finding is about, and what is known of the source."""
    connection, source_id = transaction.connection, each.finding.source_id
    note_id = find_note(connection, each.piece, "findings")
    known = fingerprint_of(connection, note_id, source_id)
    if known is None:
        raise NoteNotFoundError(
            f"note {note_id} has no source {source_id}; see: graft sources list {note_id}"
        )
    return read_present(connection, note_id), known


def _check_active(present: Present) -> None:
    if not _in_use(present):
        raise WrongStateError(
            f"note {present.id} is {described(present.state)}, so its sources stay as they are; "
            f"look at it with: graft get {present.id}",
            metadata=state_facts(present),
        )


def _in_use(present: Present) -> bool:
    state = present.state
    return state.lifecycle is Lifecycle.ACTIVE and state.trust is not Trust.REJECTED


def _states(reply: Reply) -> tuple[SourceState, ...]:
    return tuple(SourceState(each) for each in reply["states"])
