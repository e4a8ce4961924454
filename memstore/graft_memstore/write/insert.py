"""Stores new notes: vectors first, then everything else in one transaction, then the reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from graft.wire.errors import ModelNotReadyError
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import Embedder, TextRefusedError, model_for
from graft_memstore.ids import NewId
from graft_memstore.leaks.scan import Findings
from graft_memstore.model import (
    Caller,
    ModelRole,
    NewNote,
    NoteId,
    SimilarNote,
    Trust,
)
from graft_memstore.store.database import Connection
from graft_memstore.store.models import read_model
from graft_memstore.store.notes import (
    KnownNote,
    find_same_content,
    read_stored,
)
from graft_memstore.store.profile import Index, Profile
from graft_memstore.store.transaction import Transaction
from graft_memstore.write.coverage import wait_for_vectors
from graft_memstore.write.identify import find_note
from graft_memstore.write.insert_reply import InsertReply, full_reply, receipt_of
from graft_memstore.write.limits import SIMILAR_MAX
from graft_memstore.write.misses import find_answered
from graft_memstore.write.prepare import Place, PreparedNote, TitleVector, prepare, twin_of
from graft_memstore.write.proposal import or_propose
from graft_memstore.write.queue import tell_restated
from graft_memstore.write.receipts import (
    Reply,
    RequestKey,
    recall_reply,
    remember_reply,
)
from graft_memstore.write.screen import (
    AS_SET,
    Screen,
    SecretsRule,
    SecretsWish,
    record_meant,
)
from graft_memstore.write.store_note import RestatedError, Storing, store_note
from graft_memstore.write.validate import check_batch, check_note

PASSAGES_WAIT_SECONDS = 0.5
"""How long a reply waits for its passages where the caller does not ask for more."""

REPLY_MARGIN_SECONDS = 0.2
"""A caller that asked to wait for its passages is answered so long before its deadline."""

DEGRADED_VECTOR = "vector"

IndexT = TypeVar("IndexT", bound=Index)
IndexT_contra = TypeVar("IndexT_contra", contravariant=True)


class FindSimilar(Protocol[IndexT_contra]):
    """Finds the notes whose titles are nearest to a vector; see `recall.similar`."""

    def __call__(
        self,
        connection: Connection,
        index: IndexT_contra,
        vector: bytes,
        *,
        scope: str,
        limit: int,
    ) -> Sequence[SimilarNote]:
        """Return at most *limit* notes of *scope*, most alike first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertOrder:
    """What somebody wants stored, all of it or nothing.

    Attributes:
        single: the notes come from an rpc that takes one; its field has another name.
        wait_for_passages: wait until all of it has vectors, as long as the deadline allows.
        given: notes that the caller's session was given of late, the last first.
        secrets: what the caller wants done about secrets.
        findings: what looks like a secret in each of the notes, once they were looked through.
    """

    notes: Sequence[NewNote]
    key: RequestKey
    caller: Caller
    single: bool = False
    wait_for_passages: bool = False
    given: tuple[NoteId, ...] = ()
    secrets: SecretsWish = AS_SET
    findings: Sequence[Findings] = ()


class Inserter(Generic[IndexT]):
    """Stores notes through one embedder.

    Args:
        embedder: makes the titles' vectors.
        find_similar: finds the notes that are like a new one.
        new_id: makes ids.
        trust: what new notes of agents start with: observed or candidate.
        secrets: what follows where a note holds what looks like a secret.
    """

    def __init__(
        self,
        embedder: Embedder,
        find_similar: FindSimilar[IndexT],
        new_id: NewId,
        trust: Trust = Trust.OBSERVED,
        secrets: SecretsRule = SecretsRule.WARN,
    ) -> None:
        self._screen = Screen(secrets)
        self._embedder = embedder
        self._find_similar = find_similar
        self._storing = Storing(new_id=new_id, trust=trust)

    def insert(
        self, profile: Profile[IndexT], order: InsertOrder, deadline: Deadline
    ) -> InsertReply:
        """Store the notes of *order* and tell what became of each.

        Raises:
            RequestIdReusedError: its request_id belongs to another request.
            BadFieldsError: a note cannot be taken; nothing is stored.
            SecretFoundError: see `Screen.refuse`; nothing is stored.
            ServiceError: see `store_note`, nothing is stored then, and `Profile.write`.
        """
        with profile.snapshot() as connection:
            earlier = recall_reply(connection, order.key, profile.now_ms(connection))
        if earlier is None:
            placed = _placed(profile, order.notes)
            notes = [check_note(placed[0])] if order.single else check_batch(placed)
            findings = self._screen.look(order.notes, order.secrets, deadline)
            self._screen.refuse(findings, order.caller, order.secrets)
            prepared = [prepare(note) for note in notes]
            vectors = self._title_vectors(profile, prepared, deadline)
            storing = replace(order, findings=findings)
            earlier = self._write(profile, storing, prepared, vectors, deadline.for_work())
        else:
            findings = self._screen.look(order.notes, order.secrets, deadline)
        note_ids = [NoteId(each["id"]) for each in earlier["notes"]]
        if order.wait_for_passages:
            seconds = deadline.left() - REPLY_MARGIN_SECONDS
            wait_for_vectors(profile, note_ids, seconds, behind_others=True)
        elif not earlier["degraded"]:
            # Behind a queue the wait would end for nothing, once for each of many notes.
            seconds = min(PASSAGES_WAIT_SECONDS, deadline.left() / 2)
            wait_for_vectors(profile, note_ids, seconds, behind_others=False)
        with profile.snapshot() as connection:
            return full_reply(connection, earlier, findings, profile.now_ms(connection))

    def _write(
        self,
        profile: Profile[IndexT],
        order: InsertOrder,
        prepared: Sequence[PreparedNote],
        vectors: Mapping[Place, TitleVector] | None,
        seconds: float,
    ) -> Reply:
        """Store everything, or tell the reviewer what only they can allow."""
        reasons = [note.reason for note in order.notes if note.reason]
        try:
            return or_propose(
                profile,
                lambda transaction: self._store(transaction, order, prepared, vectors),
                (order.caller, reasons[0] if reasons else ""),
                seconds,
            )
        except RestatedError as error:
            rejection = error.rejection
            profile.write(lambda transaction: tell_restated(transaction, rejection), seconds)
            raise

    def _title_vectors(
        self, profile: Profile[IndexT], prepared: Sequence[PreparedNote], deadline: Deadline
    ) -> Mapping[Place, TitleVector] | None:
        """Return vectors by the notes' places, None when the model cannot be had in time.

        A note that is there already needs none, and of two equal ones in a batch one is enough.
        """
        with profile.snapshot() as connection:
            now_ms = profile.now_ms(connection)
            fresh = {
                each.place: each
                for each in prepared
                if twin_of(each.note, _same_content(connection, each), now_ms) is None
            }
            serving = read_model(connection, ModelRole.SERVING)
        if not fresh:
            return {}
        titles = [each.note.title for each in fresh.values()]
        try:
            embedded = self._embedder.embed_passages(
                model_for(serving, self._embedder), titles, 1, deadline
            )
        except ModelNotReadyError:
            return None
        except TextRefusedError:
            # The pending worker tries them one by one and finds out which it is.
            return {}
        found: dict[Place, TitleVector] = {}
        with profile.snapshot() as connection:
            windows = [text.windows[0] for text in embedded.texts]
            scoped = [
                (each.note.scope, window.values)
                for each, window in zip(fresh.values(), windows, strict=True)
            ]
            answered = find_answered(connection, embedded.model.identity, scoped)
            for each, window, misses in zip(fresh.values(), windows, answered, strict=True):
                vector = TitleVector(model=embedded.model, window=window, answered=misses)
                similar = self._similar(profile, connection, each, vector)
                found[each.place] = replace(vector, similar=similar)
        return found

    def _similar(
        self,
        profile: Profile[IndexT],
        connection: Connection,
        prepared: PreparedNote,
        vector: TitleVector,
    ) -> tuple[SimilarNote, ...]:
        index = profile.index
        serving = read_model(connection, ModelRole.SERVING)
        if index is None or serving is None or serving.identity != vector.model.identity:
            return ()
        if index.model_id != serving.model_id:
            return ()
        found = self._find_similar(
            connection,
            index,
            vector.window.values,
            scope=prepared.note.scope,
            limit=SIMILAR_MAX,
        )
        return tuple(found)

    def _store(
        self,
        transaction: Transaction,
        order: InsertOrder,
        prepared: Sequence[PreparedNote],
        vectors: Mapping[Place, TitleVector] | None,
    ) -> Reply:
        """Store everything and the receipt; runs inside the transaction."""
        connection = transaction.connection
        # The same request may have been stored since it was first looked up.
        earlier = recall_reply(connection, order.key, transaction.at_ms)
        if earlier is not None:
            return earlier
        storing = replace(self._storing, given=order.given)
        stored = [
            store_note(
                transaction,
                each,
                caller=order.caller,
                storing=storing,
                vector=(vectors or {}).get(each.place),
            )
            for each in prepared
        ]
        if order.secrets.allow:
            record_meant(transaction, stored, order.findings, order.caller)
        reply = {
            "notes": [receipt_of(each) for each in stored],
            "degraded": [DEGRADED_VECTOR] if vectors is None else [],
        }
        remember_reply(connection, order.key, reply, transaction.at_ms)
        return reply


def _placed(profile: Profile[Index], notes: Sequence[NewNote]) -> list[NewNote]:
    """Return the notes, each that names no scope in that of the note which it supersedes.

    Raises:
        ServiceError: see `find_note`.
    """
    placed = list(notes)
    for place, note in enumerate(notes):
        if note.supersedes and not note.scope:
            with profile.snapshot() as connection:
                stored = read_stored(
                    connection, find_note(connection, note.supersedes, "supersedes")
                )
            assert stored is not None, "its id was found in this snapshot"
            placed[place] = replace(note, scope=stored.scope)
    return placed


def _same_content(connection: Connection, prepared: PreparedNote) -> list[KnownNote]:
    return find_same_content(connection, prepared.content_hash, prepared.note.scope)
