"""Stores one note inside a transaction: its row, state, words, title's vector, event together."""

from dataclasses import dataclass

from graft.wire.errors import KnownTextError
from graft_memstore.ids import NewId
from graft_memstore.model import (
    Caller,
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
from graft_memstore.store.fts import delete_words, insert_words
from graft_memstore.store.keywords import add_keywords, read_keywords
from graft_memstore.store.models import read_model
from graft_memstore.store.notes import (
    KnownNote,
    NoteOrigin,
    find_same_content,
    find_same_value,
    insert_note,
    read_stored,
)
from graft_memstore.store.pending import insert_pending
from graft_memstore.store.signatures import insert_signatures
from graft_memstore.store.sources import add_sources
from graft_memstore.store.states import insert_state, read_state
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.limits import SIMILAR_MAX
from graft_memstore.write.misses import mark_answered
from graft_memstore.write.prepare import (
    JUDGED_WRONG,
    PreparedNote,
    TitleVector,
    in_force,
    twin_of,
    words_of,
)
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
    """

    id: NoteId
    duplicate: bool
    state: NoteState
    scope: str
    event: int
    similar: tuple[SimilarNote, ...] = ()
    answers: int = 0


def store_note(
    transaction: Transaction,
    prepared: PreparedNote,
    *,
    caller: Caller,
    new_id: NewId,
    vector: TitleVector | None,
) -> StoredReply:
    """Store a note, or add to the one in force that has the same text in the same scope.

    Raises:
        KnownTextError: the same text was taken out of use in this scope.
    """
    known = find_same_content(transaction.connection, prepared.content_hash, prepared.note.scope)
    twin = twin_of(prepared.note, known, transaction.at_ms)
    if twin is not None:
        return _add_to(transaction, twin, prepared, caller)
    taken_out = next((each for each in known if not in_force(each)), None)
    if taken_out is not None:
        raise _known_text(taken_out)
    return _store_new(transaction, prepared, caller, new_id, vector)


def _known_text(known: KnownNote) -> KnownTextError:
    state = str(known.trust if known.trust in JUDGED_WRONG else known.lifecycle)
    return KnownTextError(
        f"this text is already here as note {known.id}, which was {state}; "
        f"look at it with: graft get {known.id}",
        metadata={"state": state, "note_id": known.id},
    )


def _store_new(
    transaction: Transaction,
    prepared: PreparedNote,
    caller: Caller,
    new_id: NewId,
    vector: TitleVector | None,
) -> StoredReply:
    connection, note = transaction.connection, prepared.note
    note_id = new_id(transaction.at_ms)
    similar = _similar_to(transaction, prepared, vector)
    seq = insert_note(connection, *_rows_of(transaction, prepared, note_id))
    state = NoteState(
        trust=Trust.OBSERVED,
        valid_from_ms=note.valid_from_ms,
        valid_to_ms=note.valid_to_ms,
        expires_at_ms=note.expires_at_ms,
        known_from_ms=transaction.at_ms,
    )
    event = transaction.record(
        EventDraft(
            caller=caller,
            action=ACTION_INSERT,
            note_id=note_id,
            content_hash=prepared.content_hash,
            state=state,
        )
    )
    insert_state(connection, note_id, state, event)
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


def _add_to(
    transaction: Transaction, note_id: NoteId, prepared: PreparedNote, caller: Caller
) -> StoredReply:
    """Give the note that is there the new keywords, sources and ranges."""
    connection, note = transaction.connection, prepared.note
    keywords = add_keywords(connection, note_id, note.keywords, transaction.at_ms)
    sources = add_sources(connection, note_id, note.sources, transaction.at_ms)
    ranges = set_applies_to(connection, note_id, prepared.applies_to, transaction.at_ms)
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
        _fold_again(connection, note_id)
        ask_for_edges(connection, note_id)
    state = read_state(connection, note_id)
    assert state is not None, "every note has a present state"
    return StoredReply(id=note_id, duplicate=True, state=state, scope=note.scope, event=event)


def _fold_again(connection: Connection, note_id: NoteId) -> None:
    stored = read_stored(connection, note_id)
    assert stored is not None, "its content was found a moment ago"
    keywords = read_keywords(connection, [note_id]).get(note_id, ())
    delete_words(connection, stored.seq)
    insert_words(connection, stored.seq, words_of(stored.title, stored.body, keywords))
