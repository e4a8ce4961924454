"""Holds every rpc of a bound caller against its wall, before and after it is answered.

Ids, events and receipts of other scopes are refused as those that are nowhere; ids that pass go on
whole, so that what lies elsewhere makes no piece of them ambiguous.
"""

from __future__ import annotations  # grpc's classes are generic in their stubs alone

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, TypeVar

import grpc
from google.protobuf.message import Message
from typing_extensions import override

from graft.memory.v1 import note_pb2, notes_service_pb2
from graft.wire.errors import NotAllowedError, ServiceError
from graft.wire.metadata import BOUND_SCOPE_KEY, CallMetadata
from graft.wire.server import Way, passed
from graft_memstore.deadline import Deadline
from graft_memstore.model import USER_SCOPE, ItemId, NoteId, ScopeFilter
from graft_memstore.recall.index import VectorIndex
from graft_memstore.service.convert import scope_filter_of
from graft_memstore.service.passages import PASSAGES, Passage
from graft_memstore.store.database import Connection
from graft_memstore.store.events import read_event
from graft_memstore.store.note_ids import scopes_of
from graft_memstore.store.profiles import Profiles
from graft_memstore.store.review_items import read_item
from graft_memstore.wall import Wall
from graft_memstore.write.identify import find_note
from graft_memstore.write.queue import item_not_found
from graft_memstore.write.undo import event_not_found
from graft_memstore.write.validate import check_scopes

if TYPE_CHECKING:
    from graft.wire.server import Around, Continuation, MethodHandler

SCOPE = "scope"
SUCCESSOR = "superseded_by"
NOTE_ID = re.compile(r"\b[0-9a-f]{32}\b")
CLOSED = Passage(closed=True)

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")
FindReceipt = Callable[[str, str, Wall], str]
"""Returns the whole id of a receipt, given a profile, a piece of the id and a wall."""


class WallInterceptor(grpc.ServerInterceptor):
    """Puts a wall about every handler of ours that a bound caller calls.

    Args:
        profiles: the notes.
        find_receipt: finds receipts of answers that looked at nothing beyond a wall.
    """

    def __init__(self, profiles: Profiles[VectorIndex], find_receipt: FindReceipt) -> None:
        self._profiles = profiles
        self._find_receipt = find_receipt

    @override
    def intercept_service(
        self,
        continuation: Continuation[RequestT, ReplyT],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> MethodHandler[RequestT, ReplyT]:
        """Leave the handlers of whoever is not bound as they are."""
        handler = continuation(handler_call_details)
        method = handler_call_details.method
        pairs = [(pair[0], pair[1]) for pair in handler_call_details.invocation_metadata or ()]
        bound = any(key == BOUND_SCOPE_KEY for key, _ in pairs)
        if handler is None or not bound or method.startswith("/grpc."):
            return handler

        @contextmanager
        def way(
            request: RequestT, context: grpc.ServicerContext
        ) -> Iterator[Way[RequestT, ReplyT]]:
            call = self._walled(pairs, method)
            inside = call.inside(request, context)
            with call.cut_refusals():
                yield Way(inside, context, call.cut)

        return passed(handler, way)

    def _walled(self, pairs: Sequence[tuple[str, str | bytes]], method: str) -> WalledCall:
        """Return a call of a method that passes the wall.

        Raises:
            BadFieldError: see `wall_of`.
            NotAllowedError: it does not.
        """
        wall = wall_of(pairs)
        passage = PASSAGES.get(method, CLOSED)
        if passage.closed:
            raise _closed(method)
        return WalledCall(self._profiles, self._find_receipt, wall, passage)


def wall_of(pairs: Iterable[tuple[str, str | bytes]]) -> Wall:
    """Read the wall of a caller that is bound.

    Raises:
        BadFieldError: what it is bound to is no scope, or too many; nothing is guessed.
    """
    bound = CallMetadata.read(pairs).bound
    check_scopes(ScopeFilter(scopes=bound))
    return Wall(scopes=tuple(dict.fromkeys(bound)))


class WalledCall:
    """One call, held against a wall."""

    def __init__(
        self,
        profiles: Profiles[VectorIndex],
        find_receipt: FindReceipt,
        wall: Wall,
        passage: Passage,
    ) -> None:
        self._profiles = profiles
        self._find_receipt = find_receipt
        self._wall = wall
        self._passage = passage
        self._profile = ""

    def inside(self, request: RequestT, context: grpc.ServicerContext) -> RequestT:
        """Return *request* with its filter cut down and its ids whole.

        Raises:
            NotAllowedError: it asks for nothing but other scopes, or would save to one.
            ServiceError: an id, an event or a receipt is not there, or not inside.
        """
        assert isinstance(request, Message), "our rpcs carry messages"
        inside = type(request).FromString(request.SerializeToString())
        self._profile = getattr(inside, "profile", "")
        asked = getattr(inside, SCOPE, None)
        named = isinstance(asked, note_pb2.ScopeFilter) and inside.HasField(SCOPE)
        if isinstance(asked, note_pb2.ScopeFilter) and (named or not self._passage.optional):
            self._narrow(asked)
        if self._passage.receipt:
            piece = getattr(inside, self._passage.receipt)
            setattr(
                inside,
                self._passage.receipt,
                self._find_receipt(self._profile, piece, self._wall),
            )
        parts = _parts(inside, self._passage.saves)
        notes = [each for each in parts if isinstance(each, notes_service_pb2.NewNote)]
        numbered = self._passage.notes or self._passage.event or self._passage.item
        if numbered or any(note.supersedes for note in notes):
            seconds = Deadline.of_call(context).for_work()
            with (
                self._profiles.use(self._profile, seconds) as profile,
                profile.snapshot() as connection,
            ):
                self._find_inside(connection, inside, notes)
        for note in notes:
            self._place(note)
        return inside

    def cut(self, reply: object) -> None:
        """Take out of *reply* what counts or names anything beyond the wall."""
        assert isinstance(reply, Message), "our rpcs carry messages"
        for path in self._passage.hides:
            *parents, name = path.split(".")
            for part in _parts(reply, ".".join(parents)) if parents else [reply]:
                part.ClearField(name)
        holders = [reply, *_parts(reply, "note"), *_parts(reply, "notes")]
        named = [part for part in holders if getattr(part, SUCCESSOR, "")]
        listed = [entry for name in self._passage.drops for entry in getattr(reply, name)]
        beyond = self._beyond(
            [*(getattr(part, SUCCESSOR) for part in named), *(entry.id for entry in listed)]
        )
        for part in named:
            if getattr(part, SUCCESSOR) in beyond:
                part.ClearField(SUCCESSOR)
        for name in self._passage.drops if beyond else ():
            kept = [entry for entry in getattr(reply, name) if entry.id not in beyond]
            reply.ClearField(name)
            getattr(reply, name).extend(kept)

    @contextmanager
    def cut_refusals(self) -> Iterator[None]:
        """Take out of a refusal what names a note beyond the wall."""
        try:
            yield
        except ServiceError as error:
            self._cut_refusal(error)
            raise

    def _cut_refusal(self, error: ServiceError) -> None:
        told = [error.message, *error.metadata.values()]
        beyond = self._beyond([each for text in told for each in NOTE_ID.findall(text)])
        if not beyond:
            return
        facts = {name: text for name, text in error.metadata.items() if text not in beyond}
        note_id, state = facts.get("note_id"), facts.get("state", "as it is")
        what = f"note {note_id} is {state}" if note_id else "it cannot be done"
        error.message = f"{what}; this connection is told no more of why"
        error.metadata = facts

    def _narrow(self, asked: note_pb2.ScopeFilter) -> None:
        checked = check_scopes(scope_filter_of(asked))
        narrowed = self._wall.narrowed(checked)
        if not narrowed.scopes:
            raise self._outside(checked.scopes[0])
        asked.CopyFrom(note_pb2.ScopeFilter(scopes=narrowed.scopes))

    def _find_inside(
        self,
        connection: Connection,
        inside: Message,
        notes: Sequence[notes_service_pb2.NewNote],
    ) -> None:
        within = ScopeFilter(scopes=self._wall.scopes)
        for path in self._passage.notes:
            *parents, name = path.split(".")
            for part in _parts(inside, ".".join(parents)) if parents else [inside]:
                piece = getattr(part, name)
                if piece or not self._passage.optional:
                    setattr(part, name, find_note(connection, piece, path, within))
        for note in notes:
            if note.supersedes:
                note.supersedes = find_note(connection, note.supersedes, "supersedes", within)
        if self._passage.event:
            self._check_event(connection, getattr(inside, self._passage.event))
        if self._passage.item:
            self._check_item(connection, getattr(inside, self._passage.item))

    def _check_event(self, connection: Connection, seq: int) -> None:
        event = read_event(connection, seq)
        # Of a note that was erased nobody knows the scope any more.
        if event is None or event.note_id is None:
            raise event_not_found(seq)
        scope = scopes_of(connection, [event.note_id]).get(event.note_id)
        if scope is None or not self._wall.holds(scope):
            raise event_not_found(seq)

    def _check_item(self, connection: Connection, number: int) -> None:
        item = read_item(connection, ItemId(number))
        if item is None:
            raise item_not_found(number)
        about = [each for each in (item.note_id, item.other_id) if each is not None]
        scopes = scopes_of(connection, about)
        # Of a note that was erased nobody knows the scope any more.
        within = [each in scopes and self._wall.holds(scopes[each]) for each in about]
        if not all(within or [self._wall.holds(item.scope)]):
            raise item_not_found(number)

    def _place(self, note: notes_service_pb2.NewNote) -> None:
        """See that a note is saved inside: without a scope where it would be, else to the first."""
        if not note.scope and not note.supersedes:
            note.scope = USER_SCOPE if self._wall.holds(USER_SCOPE) else self._wall.scopes[0]
        if note.scope and not self._wall.holds(note.scope):
            raise self._outside(note.scope)

    def _beyond(self, note_ids: Sequence[str]) -> frozenset[str]:
        """Return those of *note_ids* whose notes are there, and not inside."""
        if not note_ids:
            return frozenset()
        with self._profiles.use(self._profile) as profile, profile.snapshot() as connection:
            found = scopes_of(connection, [NoteId(each) for each in note_ids])
        return frozenset(each for each, scope in found.items() if not self._wall.holds(scope))

    def _outside(self, scope: str) -> NotAllowedError:
        return NotAllowedError(
            f"this connection is bound to {', '.join(self._wall.scopes)}, which {scope[:80]!r} is "
            "none of; leave the scope out"
        )


def _parts(message: Message, path: str) -> list[Message]:
    """Return the messages in a field, or in the elements of one; none where it is not there."""
    found = getattr(message, path, None) if path else None
    if isinstance(found, Message):
        return [found] if message.HasField(path) else []
    if not isinstance(found, Sequence):
        return []
    return [each for each in found if isinstance(each, Message)]


def _refuse(method: str) -> Around[object]:
    """Return what lets no call of *method* begin."""

    def around(_: object, __: grpc.ServicerContext) -> AbstractContextManager[None]:
        raise _closed(method)

    return around


def _closed(method: str) -> NotAllowedError:
    name = method.rpartition("/")[2]
    return NotAllowedError(
        f"{name} is about the whole profile, and this connection is bound to scopes; call it from "
        "one that is not"
    )
