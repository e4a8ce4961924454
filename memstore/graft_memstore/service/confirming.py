"""Whether the files that an answer rests on are as they were: asked of the caller, then decided."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.errors import BadFieldError, WrongStateError
from graft_memstore.gate import Hit
from graft_memstore.model import Caller, Condition, Note, Source, SourceKind
from graft_memstore.provenance import Finding, SourceCheck, SourceState, check_of, state_of
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.receipt import CheckedSource, Receipt
from graft_memstore.service.convert import HITS, SOURCE_CHECKS, note_message, source_message
from graft_memstore.service.sources import finding_of
from graft_memstore.store.database import Connection
from graft_memstore.store.events import read_last_seq
from graft_memstore.store.full_notes import read_full_notes
from graft_memstore.store.notes import read_titles
from graft_memstore.store.profile import Profile
from graft_memstore.upkeep.confirmations import Confirmed
from graft_memstore.upkeep.ledger import Given
from graft_memstore.upkeep.scribe import Scribe, receipt_not_found
from graft_memstore.visibility import MAY_BE_STRONG, View
from graft_memstore.write.source_changes import check_finding
from graft_memstore.write.validate import check_projects

CONFIRM_MS = 60_000
"""How long after an answer its sources may be told of."""
NAMED_MAX = 3
"""Sources that a reason names."""
WHY = {
    SourceState.CHANGED: "its source changed",
    SourceState.GONE: "its source is gone",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is still to be found out of an answer's sources.

    Attributes:
        check: None where the answer rests on no file.
        sources: those that the caller is to look at.
    """

    check: SourceCheck | None = None
    sources: tuple[Source, ...] = ()

    @property
    def unlooked_at(self) -> SourceCheck | None:
        """How the sources are where nobody will look at them."""
        return None if self.check is None else SourceCheck.UNCHECKED

    @property
    def waits(self) -> bool:
        """Whether the answer waits for its caller."""
        return self.check is SourceCheck.WAITING


def outlook_of(note: Note | None, hit: Hit, request: pb.QueryRequest) -> Outlook:
    """Return what is to be found out of the sources of a *note* that is handed out.

    Raises:
        BadFieldError: the caller's projects cannot be.
    """
    projects = check_projects(request.projects)
    if note is None or hit is not Hit.STRONG:
        return Outlook()
    files = [each for each in note.sources if each.kind is SourceKind.FILE]
    if not files:
        return Outlook()
    # What a file is today says nothing of what was known or true at another instant.
    may_ask = request.can_confirm and not request.HasField("as_of")
    mine = tuple(each for each in files if each.project in projects and each.fingerprint)
    if not mine or not may_ask:
        return Outlook(check=SourceCheck.UNCHECKED)
    return Outlook(check=SourceCheck.WAITING, sources=mine)


def with_outlook(receipt: Receipt, outlook: Outlook, caller: Caller) -> Receipt:
    """Return *receipt* with who was answered, and what is to be found out."""
    return replace(
        receipt,
        session=caller.session,
        check=outlook.check,
        sources=tuple(
            CheckedSource(source_id=each.source_id, known=each.fingerprint)
            for each in outlook.sources
        ),
    )


def tell_outlook(reply: pb.QueryResponse, outlook: Outlook) -> None:
    """Put into a reply what is to be looked at, and hold the text back until then."""
    if outlook.check is not None:
        reply.source_check = SOURCE_CHECKS[outlook.check]
    if outlook.waits:
        reply.note.body = ""
        reply.to_confirm.extend(source_message(each) for each in outlook.sources)


def confirm(
    profile: Profile[VectorIndex], scribe: Scribe, request: pb.ConfirmAnswerRequest, caller: Caller
) -> tuple[pb.ConfirmAnswerResponse, Given | None]:
    """End an answer by what its caller found; tell of the note, too, if it is given out whole.

    Raises:
        BadFieldError: what was found is not of just the sources that were named.
        ReceiptNotFoundError: no answer to this session has the receipt.
        WrongStateError: nothing was to be found out, something else was found before, or it is too
            late.
        ServiceError: see `Scribe.find`.
    """
    findings = tuple(finding_of(each) for each in request.findings)
    for each in findings:
        check_finding(each)
    receipt = scribe.find(request.receipt)
    if receipt.session != caller.session:
        raise receipt_not_found(request.receipt)
    states = _states(receipt, findings)
    with profile.snapshot() as connection:
        now_ms = profile.now_ms(connection)
        _check_state(receipt, states, now_ms)
        confirmed = _confirmed(connection, receipt, states, now_ms)
        kept = scribe.confirm(Confirmed(receipt=confirmed, findings=findings))
        if kept.sources != confirmed.sources:
            raise _said_before(receipt)
        return _ended(connection, kept, now_ms)


def _states(receipt: Receipt, findings: Sequence[Finding]) -> tuple[SourceState, ...]:
    by_id = {each.source_id: each for each in findings}
    wanted = [each.source_id for each in receipt.sources]
    if not wanted:
        raise WrongStateError(
            f"receipt {receipt.receipt_id} names no sources to look at",
            metadata={"state": "nothing to confirm"},
        )
    if sorted(by_id) != sorted(wanted) or len(findings) != len(wanted):
        raise BadFieldError(
            "findings",
            f"are of the sources {sorted(each.source_id for each in findings)[:8]}; tell of each "
            f"of {sorted(wanted)[:8]}, once",
        )
    return tuple(state_of(each.known, by_id[each.source_id]) for each in receipt.sources)


def _check_state(receipt: Receipt, states: Sequence[SourceState], now_ms: int) -> None:
    if receipt.check is not SourceCheck.WAITING:
        if tuple(each.state for each in receipt.sources) != tuple(states):
            raise _said_before(receipt)
        return
    if now_ms - receipt.at_ms > CONFIRM_MS:
        raise WrongStateError(
            f"the answer of receipt {receipt.receipt_id} was given more than "
            f"{CONFIRM_MS // 1_000} s ago, and its sources may have changed since; ask again",
            metadata={"state": "expired"},
        )


def _said_before(receipt: Receipt) -> WrongStateError:
    return WrongStateError(
        f"something else was said of the sources of receipt {receipt.receipt_id} before; ask again",
        metadata={"state": "confirmed"},
    )


def _confirmed(
    connection: Connection, receipt: Receipt, states: Sequence[SourceState], now_ms: int
) -> Receipt:
    check = check_of(states)
    note = _note_now(connection, receipt, now_ms)
    hit = Hit.STRONG
    if note is None:
        hit = Hit.MISS
    elif check in (SourceCheck.CHANGED, SourceCheck.GONE) or not _may_be_strong(note):
        hit = Hit.WEAK
    return replace(
        receipt,
        hit=hit,
        check=check,
        sources=tuple(
            replace(each, state=state) for each, state in zip(receipt.sources, states, strict=True)
        ),
    )


def _ended(
    connection: Connection, receipt: Receipt, now_ms: int
) -> tuple[pb.ConfirmAnswerResponse, Given | None]:
    assert receipt.check is not None, "what was found says so"
    note = _note_now(connection, receipt, now_ms)
    # What was hidden since is not handed out, whatever the receipt says.
    hit = Hit.MISS if note is None else receipt.hit
    reply = pb.ConfirmAnswerResponse(hit=HITS[hit], source_check=SOURCE_CHECKS[receipt.check])
    if note is None:
        reply.missing.append("the note was hidden while its sources were looked at; ask again")
        return reply, None
    if hit is Hit.STRONG:
        reply.note.CopyFrom(note_message(note, Condition.SHOWN))
        given = Given(
            note_id=note.id,
            session=receipt.session,
            at_ms=now_ms,
            strong=True,
            seen=read_last_seq(connection),
        )
        return reply, given
    reply.note.CopyFrom(note_message(replace(note, body="", sources=()), Condition.SHOWN))
    reply.missing.extend(_reasons(receipt, note))
    return reply, None


def _reasons(receipt: Receipt, note: Note) -> list[str]:
    locators = {each.source_id: each.locator for each in note.sources}
    reasons = []
    for state, why in WHY.items():
        named = [
            locators.get(each.source_id, "") for each in receipt.sources if each.state is state
        ]
        if named:
            reasons.append(f"{why}: {', '.join(named[:NAMED_MAX])}")
    if not _may_be_strong(note):
        reasons.append(f"its trust is {note.state.trust}")
    return reasons


def _may_be_strong(note: Note) -> bool:
    return note.state.trust in MAY_BE_STRONG


def _note_now(connection: Connection, receipt: Receipt, now_ms: int) -> Note | None:
    """Return the note of an answer, if searches of its scopes show it now."""
    note_id = receipt.looked_at[0].note_id
    view = View(scope=receipt.scope, now_ms=now_ms)
    if note_id not in read_titles(connection, [note_id], view):
        return None
    return read_full_notes(connection, [note_id])[0]
