"""Gives texts that wait their vectors, a few windows at a time.

Each step reads what waits in a snapshot, embeds it with no transaction open, and stores the
vectors and how far it came in one transaction. So it can be interrupted anywhere, by kill -9
too, and goes on where it was; a note that is deleted meanwhile is left alone.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from graft.wire.events import event
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import (
    OVERLAP_TOKENS,
    PASSAGES_MAX,
    WINDOW_TOKENS,
    EmbeddedTexts,
    Embedder,
    ModelFacts,
    TextRefusedError,
    TextVectors,
    WantedModel,
    WindowVector,
    model_for,
)
from graft_memstore.model import Model, ModelId, ModelRole, PendingKind, passage_text
from graft_memstore.store.database import Connection
from graft_memstore.store.edges_pending import ask_for_edges
from graft_memstore.store.models import read_model
from graft_memstore.store.notes import read_stored
from graft_memstore.store.pending import (
    PendingText,
    delete_pending,
    move_on,
    read_pending,
    still_waits,
)
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.vectors import serving_model_of, store_title, store_windows

TITLES_IN_STEP = 16
WINDOWS_IN_STEP = 4
SLICE_CHARS_MAX = 16_384
"""Text that is sent for the windows of one step; far more than they take, far less than 1 MiB,
so that a long body is not split into tokens again and again."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Texts that wait for one model, and what of them is to be embedded next."""

    role: ModelRole
    wanted: WantedModel
    rows: tuple[PendingText, ...]
    texts: tuple[str, ...]
    windows_max: int


def embed_some(
    profile: Profile[Index], embedder: Embedder, role: ModelRole, deadline: Deadline
) -> bool:
    """Do one step for the model of *role*; tell whether there was anything to do.

    Raises:
        ModelNotReadyError: the model cannot be had now; what waits goes on waiting.
        ServiceError: see `Profile.write`.
    """
    with profile.snapshot() as connection:
        waiting = _next(connection, embedder, role)
    if waiting is None:
        return False
    try:
        embedded = _embed(embedder, waiting, deadline)
    except TextRefusedError as error:
        _go_one_by_one(profile, embedder, waiting, deadline, error)
    else:
        profile.write(lambda transaction: _store(transaction, waiting, embedded))
    return True


def _embed(embedder: Embedder, waiting: Waiting, deadline: Deadline) -> EmbeddedTexts:
    if not all(text.strip() for text in waiting.texts):
        raise TextRefusedError("white space alone")
    embedded = embedder.embed_passages(waiting.wanted, waiting.texts, waiting.windows_max, deadline)
    if not all(text.windows for text in embedded.texts):
        raise TextRefusedError("nothing in it that can be seen")
    return embedded


def _next(connection: Connection, embedder: Embedder, role: ModelRole) -> Waiting | None:
    """Return what is to be embedded next: titles before passages, the oldest first."""
    model = read_model(connection, role)
    if role is ModelRole.TARGET and model is None:
        return None
    # Rows without a model wait for the one that serves, which the first of them may fix.
    model_id = model.model_id if model is not None and role is ModelRole.TARGET else None
    for what, count in ((PendingKind.TITLE, TITLES_IN_STEP), (PendingKind.PASSAGES, 1)):
        rows = tuple(read_pending(connection, model_id, what, count))
        if rows:
            return Waiting(
                role=role,
                wanted=model_for(model, embedder),
                rows=rows,
                texts=tuple(_text(connection, row) for row in rows),
                windows_max=1 if what is PendingKind.TITLE else _windows_left(rows[0]),
            )
    return None


def _windows_left(row: PendingText) -> int:
    return min(WINDOWS_IN_STEP, PASSAGES_MAX + 1 - row.next_part)


def _text(connection: Connection, row: PendingText) -> str:
    stored = read_stored(connection, row.note_id)
    assert stored is not None, "a pending row goes with its note"
    if row.what is PendingKind.TITLE:
        return stored.title
    whole = passage_text(stored.title, stored.body)
    return whole[row.from_char : row.from_char + SLICE_CHARS_MAX]


def _go_one_by_one(
    profile: Profile[Index],
    embedder: Embedder,
    waiting: Waiting,
    deadline: Deadline,
    refused: TextRefusedError,
) -> None:
    """Find out which of several texts the model refuses, and take it off the list.

    Raises:
        ModelNotReadyError: the model cannot be had now.
    """
    if len(waiting.rows) == 1:
        _leave_out(profile, waiting, refused)
        return
    for row, text in zip(waiting.rows, waiting.texts, strict=True):
        one = replace(waiting, rows=(row,), texts=(text,))
        try:
            embedded = _embed(embedder, one, deadline)
        except TextRefusedError as error:
            _leave_out(profile, one, error)
        else:
            profile.write(partial(_store, waiting=one, embedded=embedded))


def _leave_out(profile: Profile[Index], one: Waiting, refused: TextRefusedError) -> None:
    row, text = one.rows[0], one.texts[0]
    log.info(event("no vector can be made", note=row.note_id, what=row.what, because=refused))
    profile.write(lambda transaction: _skip(transaction, row, text))


def _skip(transaction: Transaction, row: PendingText, text: str) -> None:
    """Leave a stretch out that has no vector: all of a title, or one slice of the passages."""
    connection = transaction.connection
    if not still_waits(connection, row):
        return
    stored = read_stored(connection, row.note_id)
    assert stored is not None, "a pending row goes with its note"
    after = row.from_char + len(text)
    whole = len(passage_text(stored.title, stored.body))
    if row.what is PendingKind.TITLE or after >= whole:
        delete_pending(connection, row)
    else:
        move_on(connection, row, after, row.next_part)


def _store(transaction: Transaction, waiting: Waiting, embedded: EmbeddedTexts) -> None:
    model = _model_of(transaction.connection, waiting, embedded.model)
    if model is None:
        # The profile has moved to another model meanwhile; what waits for that is listed.
        return
    for row, text, vectors in zip(waiting.rows, waiting.texts, embedded.texts, strict=True):
        if not still_waits(transaction.connection, row):
            continue
        if row.what is PendingKind.TITLE:
            store_title(transaction.connection, model.model_id, row.note_id, vectors.windows[0])
            if waiting.role is ModelRole.SERVING:
                ask_for_edges(transaction.connection, row.note_id)
            delete_pending(transaction.connection, row)
        else:
            _store_passages(transaction.connection, model.model_id, row, text, vectors)


def _model_of(connection: Connection, waiting: Waiting, facts: ModelFacts) -> Model | None:
    if waiting.role is ModelRole.SERVING:
        return serving_model_of(connection, facts)
    target = read_model(connection, ModelRole.TARGET)
    return target if target is not None and target.identity == facts.identity else None


def _store_passages(
    connection: Connection,
    model_id: ModelId,
    row: PendingText,
    text: str,
    vectors: TextVectors,
) -> None:
    store_windows(
        connection,
        model_id,
        row.note_id,
        vectors.windows,
        first_part=row.next_part,
        offset=row.from_char,
    )
    next_part = row.next_part + len(vectors.windows)
    stored = read_stored(connection, row.note_id)
    assert stored is not None, "a pending row goes with its note"
    rest_from = row.from_char + vectors.uncovered_from_char
    rest = passage_text(stored.title, stored.body)[rest_from:]
    if next_part > PASSAGES_MAX or not rest.strip():
        delete_pending(connection, row)
        return
    move_on(connection, row, row.from_char + next_start(text, vectors.windows), next_part)


def next_start(text: str, windows: Sequence[WindowVector]) -> int:
    """Return where the window after *windows* begins, so that the two share some words.

    Tokens are counted by the embedder alone; the last window tells how many characters they
    take here. The place is moved back to a gap between words where one is near.
    """
    last = windows[-1]
    shared = (last.end_char - last.start_char) * OVERLAP_TOKENS // WINDOW_TOKENS
    start = last.end_char - shared
    gap = max(text.rfind(space, last.start_char + 1, start) for space in " \n\t")
    # Always on: a window that begins where the last one did would never end.
    return gap + 1 if gap > last.start_char + shared else max(start, last.start_char + 1)
