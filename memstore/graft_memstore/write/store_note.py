"""Stores one note inside a transaction: its row, state, words, title's vector, event together."""

from dataclasses import dataclass, replace

from graft.wire.errors import NotAllowedError, RejectedTextError
from graft_memstore.ids import NewId
from graft_memstore.lifecycle import AGENT, REVIEWER, Ruling, Verb, is_protected, ruling_of
from graft_memstore.model import (
    Caller,
    EventSeq,
    Lifecycle,
    ModelId,
    ModelRole,
    NoteId,
    NoteState,
    PendingKind,
    SimilarNote,
    StoredNote,
    Trust,
)
from graft_memstore.store.applies import set_applies_to
from graft_memstore.store.chain import EventDraft
from graft_memstore.store.database import Connection
from graft_memstore.store.edges_pending import ask_for_edges
from graft_memstore.store.fts import insert_words
from graft_memstore.store.keywords import add_keywords
from graft_memstore.store.models import read_model
from graft_memstore.store.notes import (
    NoteOrigin,
    find_same_content,
    insert_note,
    read_stored,
)
from graft_memstore.store.notices import NOBODY, GivenTo
from graft_memstore.store.pending import insert_pending
from graft_memstore.store.signatures import insert_signatures
from graft_memstore.store.sources import add_sources
from graft_memstore.store.states import insert_state, read_state
from graft_memstore.store.tombstones import Rejection
from graft_memstore.store.transaction import Transaction
from graft_memstore.store.values import find_of_value, find_same_value
from graft_memstore.write.fold_again import fold_again
from graft_memstore.write.identify import find_note
from graft_memstore.write.known_text import (
    find_known,
    find_rejected,
    find_rejected_alike,
    known_text,
    may_change_back,
)
from graft_memstore.write.limits import SIMILAR_MAX
from graft_memstore.write.misses import mark_answered
from graft_memstore.write.notices import given_to
from graft_memstore.write.prepare import (
    PreparedNote,
    TitleVector,
    twin_of,
    words_of,
)
from graft_memstore.write.proposal import ReviewerNeededError, propose
from graft_memstore.write.queue import keep_queue
from graft_memstore.write.recalled import compare_with_given
from graft_memstore.write.state_change import Saying, read_present, say
from graft_memstore.write.supersede import supersede
from graft_memstore.write.vectors import serving_model_of, store_title

CHANNEL = "insert"
ACTION_INSERT = "insert"
ACTION_ADD = "add"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReply:
    """What became of one note.

    Attributes:
        event: 0 when nothing changed.
        answers: earlier questions in vain that it may answer.
        superseded: the note that it replaced, by *superseded_event*.
        restored: it was there, retired, and is in force again.
        recalled: it is a piece of a note that its session was given, and was not stored.
        proposal: item of the review queue that is to let it replace the other; 0 for none.
        given_to: sessions that were given the note that it replaced, and will be told.
    """

    id: NoteId
    duplicate: bool
    state: NoteState
    scope: str
    event: int
    similar: tuple[SimilarNote, ...] = ()
    answers: int = 0
    superseded: NoteId | None = None
    superseded_event: int = 0
    restored: bool = False
    recalled: bool = False
    proposal: int = 0
    given_to: GivenTo = NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class Storing:
    """How notes are stored.

    Attributes:
        trust: what a new note of an agent starts with.
        given: notes that the session was given of late, the last first.
    """

    new_id: NewId
    trust: Trust = Trust.OBSERVED
    given: tuple[NoteId, ...] = ()


class RestatedError(RejectedTextError):
    """What a note says was rejected; *rejection* is what binds it."""

    def __init__(self, rejection: Rejection, how: str = "") -> None:
        super().__init__(
            f"what this note says was rejected{how}, and must not come back; say what holds "
            "instead",
            metadata={"state": Trust.REJECTED},
        )
        self.rejection = rejection


def store_note(
    transaction: Transaction,
    prepared: PreparedNote,
    *,
    caller: Caller,
    storing: Storing,
    vector: TitleVector | None,
) -> StoredReply:
    """Store a note, or add to the one in force that has the same text in the same scope.

    Where it is to supersede a note that only a reviewer may, it is stored as a candidate, and
    that it supersedes the other is proposed.

    Raises:
        RestatedError: what it says was rejected.
        KnownTextError: what it says was taken out of use in this scope.
        ServiceError: see `find_note` and `supersede`.
    """
    note, saying = prepared.note, Saying(caller=caller, reason=prepared.note.reason)
    if caller.actor != AGENT:
        storing = replace(storing, trust=Trust.OBSERVED)
    if note.candidate:
        storing = replace(storing, trust=Trust.CANDIDATE)
    if not note.supersedes:
        return _store(transaction, prepared, saying, storing, vector)
    old = find_note(transaction.connection, note.supersedes, "supersedes")
    state = read_present(transaction.connection, old).state
    if ruling_of(Verb.SUPERSEDE, state, caller.actor) is Ruling.PROPOSED:
        storing = replace(storing, trust=Trust.CANDIDATE)
    stored = _store(transaction, prepared, saying, storing, vector, old)
    similar = tuple(each for each in stored.similar if each.note_id != old)
    try:
        event = supersede(transaction, old, stored.id, saying)
    except ReviewerNeededError as needed:
        item = propose(transaction, needed.proposal, caller, saying.reason)
        return replace(stored, proposal=item, similar=similar)
    told = given_to(transaction, event)
    return replace(stored, superseded=old, superseded_event=event, similar=similar, given_to=told)


def _store(
    transaction: Transaction,
    prepared: PreparedNote,
    saying: Saying,
    storing: Storing,
    vector: TitleVector | None,
    old: NoteId | None = None,
) -> StoredReply:
    """Store a note that is to supersede *old*, if that is given."""
    connection, note = transaction.connection, prepared.note
    rejection = find_rejected(connection, prepared)
    if rejection is not None:
        raise RestatedError(rejection)
    known = find_same_content(connection, prepared.content_hash, note.scope)
    twin = twin_of(note, known, transaction.at_ms)
    if twin is not None:
        return _add_to(transaction, twin, prepared, saying.caller)
    out_of_use = find_known(connection, prepared)
    if out_of_use is not None:
        if note.restore and out_of_use.state.lifecycle is Lifecycle.RETIRED:
            say(transaction, Verb.RESTORE, out_of_use.id, saying)
            added = _add_to(transaction, out_of_use.id, prepared, saying.caller)
            return replace(added, duplicate=False, restored=True)
        # A value may change back, where it was one of those that led to the present one.
        if old is None or not may_change_back(connection, prepared, old):
            raise known_text(connection, out_of_use)
    looks_like = find_rejected_alike(connection, prepared)
    if looks_like is not None and old is not None:
        # It would take the other's place in no search.
        raise RestatedError(looks_like, " in other order")
    if looks_like is None:
        given = () if old is not None or note.restore else storing.given
        return _store_unless_given(
            transaction, prepared, saying, replace(storing, given=given), vector
        )
    held = replace(storing, trust=Trust.HELD)
    stored = _store_new(transaction, prepared, saying, held, vector)
    like = find_of_value(connection, looks_like.value_hash, looks_like.scope)
    keep_queue(transaction, stored.id, stored.state, EventSeq(stored.event), like=like)
    return stored


def _store_unless_given(
    transaction: Transaction,
    prepared: PreparedNote,
    saying: Saying,
    storing: Storing,
    vector: TitleVector | None,
) -> StoredReply:
    """Store a note unless it is a piece of one that its session was given."""
    recalled = compare_with_given(
        transaction.connection, prepared.note, storing.given, transaction.at_ms
    )
    if recalled.piece_of is not None:
        return _add_to_piece(transaction, recalled.piece_of, prepared, saying.caller)
    stored = _store_new(transaction, prepared, saying, storing, vector)
    return replace(stored, similar=recalled.first_of(stored.similar)[:SIMILAR_MAX])


def _store_new(
    transaction: Transaction,
    prepared: PreparedNote,
    saying: Saying,
    storing: Storing,
    vector: TitleVector | None,
) -> StoredReply:
    connection, note = transaction.connection, prepared.note
    note_id = storing.new_id(transaction.at_ms)
    similar = _similar_to(transaction, prepared, vector)
    seq = insert_note(connection, *_rows_of(transaction, prepared, note_id))
    state = NoteState(
        trust=storing.trust,
        valid_from_ms=note.valid_from_ms,
        valid_to_ms=note.valid_to_ms,
        expires_at_ms=note.expires_at_ms,
        known_from_ms=transaction.at_ms,
        reason=saying.reason,
    )
    event = transaction.record(
        EventDraft(
            caller=saying.caller,
            action=ACTION_INSERT,
            note_id=note_id,
            content_hash=prepared.content_hash,
            reason=saying.reason,
            state=state,
        )
    )
    insert_state(connection, note_id, state, event)
    if state.trust is Trust.CANDIDATE:
        keep_queue(transaction, note_id, state, event)
    add_keywords(connection, note_id, note.keywords, transaction.at_ms)
    add_sources(connection, note_id, note.sources, transaction.at_ms)
    set_applies_to(connection, note_id, prepared.applies_to, transaction.at_ms)
    insert_words(connection, seq, words_of(note.title, note.body, note.keywords))
    insert_signatures(connection, seq, prepared.signatures)
    _store_vectors(connection, note_id, prepared, vector)
    answered = () if vector is None else vector.answered
    return StoredReply(
        id=note_id,
        duplicate=False,
        state=state,
        scope=note.scope,
        event=event,
        similar=similar,
        answers=mark_answered(connection, answered, note_id, transaction.at_ms),
    )


def _rows_of(
    transaction: Transaction, prepared: PreparedNote, note_id: NoteId
) -> tuple[StoredNote, NoteOrigin]:
    note = prepared.note
    row = StoredNote(
        seq=0,
        id=note_id,
        title=note.title,
        body=note.body,
        kind=note.kind,
        author=note.author,
        scope=note.scope,
        content_hash=prepared.content_hash,
        recorded_at_ms=transaction.at_ms,
    )
    origin = NoteOrigin(
        channel=CHANNEL,
        value_hash=prepared.value_hash,
        site=transaction.site,
        hlc=transaction.next_hlc(),
    )
    return row, origin


def _store_vectors(
    connection: Connection,
    note_id: NoteId,
    prepared: PreparedNote,
    vector: TitleVector | None,
) -> None:
    """Store the title's vector if it is of this profile's model, and list what still waits."""
    serving = None if vector is None else serving_model_of(connection, vector.model)
    if vector is not None and serving is not None:
        store_title(connection, serving.model_id, note_id, vector.window)
        ask_for_edges(connection, note_id)
    else:
        insert_pending(connection, note_id, PendingKind.TITLE, None)
    if prepared.has_passages:
        insert_pending(connection, note_id, PendingKind.PASSAGES, None)
    target = read_model(connection, ModelRole.TARGET)
    if target is not None:
        _list_for_target(connection, note_id, prepared, target.model_id)


def _list_for_target(
    connection: Connection, note_id: NoteId, prepared: PreparedNote, target: ModelId
) -> None:
    """List a note for the model that is moved to, which must know every note at the switch."""
    insert_pending(connection, note_id, PendingKind.TITLE, target)
    if prepared.has_passages:
        insert_pending(connection, note_id, PendingKind.PASSAGES, target)


def _similar_to(
    transaction: Transaction, prepared: PreparedNote, vector: TitleVector | None
) -> tuple[SimilarNote, ...]:
    """Return the notes that say the same, then those whose titles are near."""
    same = find_same_value(
        transaction.connection,
        prepared.value_hash,
        prepared.note.scope,
        now_ms=transaction.at_ms,
        count_max=SIMILAR_MAX,
    )
    found = {
        note_id: SimilarNote(note_id=note_id, title=title, similarity=1.0)
        for note_id, title in same
    }
    for each in () if vector is None else vector.similar:
        found.setdefault(each.note_id, each)
    return tuple(found.values())[:SIMILAR_MAX]


def _add_to_piece(
    transaction: Transaction, note_id: NoteId, prepared: PreparedNote, caller: Caller
) -> StoredReply:
    """Give the note of which a new one is a piece what that brings besides its text."""
    whole = read_stored(transaction.connection, note_id)
    assert whole is not None, "it was compared a moment ago"
    added = _add_to(
        transaction, note_id, replace(prepared, content_hash=whole.content_hash), caller
    )
    return replace(added, scope=whole.scope, recalled=True)


def _add_to(
    transaction: Transaction, note_id: NoteId, prepared: PreparedNote, caller: Caller
) -> StoredReply:
    """Give the note that is there the new keywords, sources and ranges.

    Raises:
        NotAllowedError: a reviewer verified it, it would apply to something else, and the caller is
            none.
    """
    connection, note = transaction.connection, prepared.note
    state = read_state(connection, note_id)
    assert state is not None, "every note has a present state"
    reviewed = is_protected(state) and caller.actor != REVIEWER
    keywords = add_keywords(connection, note_id, note.keywords, transaction.at_ms)
    # That it still holds for what its sources are now is the reviewer's to say.
    sources = add_sources(connection, note_id, note.sources, transaction.at_ms, renew=not reviewed)
    ranges = set_applies_to(connection, note_id, prepared.applies_to, transaction.at_ms)
    if ranges and reviewed:
        raise NotAllowedError(
            f"a reviewer verified note {note_id}, which says this, so a reviewer alone says what "
            "it applies to; leave that out",
            metadata={"note_id": note_id},
        )
    event = 0
    if keywords or sources or ranges:
        event = transaction.record(
            EventDraft(
                caller=caller,
                action=ACTION_ADD,
                note_id=note_id,
                content_hash=prepared.content_hash,
            )
        )
    if keywords:
        fold_again(connection, note_id)
        ask_for_edges(connection, note_id)
    return StoredReply(id=note_id, duplicate=True, state=state, scope=note.scope, event=event)
