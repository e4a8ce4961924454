"""NotesService: store, get, list, delete and count notes."""

from contextlib import AbstractContextManager
from dataclasses import replace

import grpc
from typing_extensions import override

from graft.memory.v1 import notes_service_pb2 as pb
from graft.memory.v1 import notes_service_pb2_grpc
from graft.wire.errors import BadFieldError, NoteNotFoundError
from graft_memstore.deadline import Deadline
from graft_memstore.model import Lifecycle
from graft_memstore.recall.index import VectorIndex
from graft_memstore.review.reviewer import Reviewer
from graft_memstore.service.admission import Admission
from graft_memstore.service.callers import proved_caller
from graft_memstore.service.convert import (
    LIFECYCLES,
    TRUSTS,
    caller_of,
    lifecycle_of,
    new_note_of,
    note_message,
    scope_filter_of,
    trust_of,
)
from graft_memstore.service.given import Giving, given_to_message, uses_message
from graft_memstore.service.looking_back import as_of
from graft_memstore.service.page_token import page_of, token_after
from graft_memstore.service.request_key import request_key
from graft_memstore.service.screened import finding_message, wish_of
from graft_memstore.store.events import read_last_seq
from graft_memstore.store.full_notes import read_full_notes, read_full_page
from graft_memstore.store.notes import PageFilter
from graft_memstore.store.profile import Profile
from graft_memstore.store.profiles import Profiles
from graft_memstore.store.stats import read_stats
from graft_memstore.store.uses import read_uses
from graft_memstore.upkeep.ledger import Given
from graft_memstore.visibility import NEVER_SHOWN, View
from graft_memstore.write.delete import DeleteOrder, DeleteOutcome, take_away
from graft_memstore.write.identify import find_note
from graft_memstore.write.insert import Inserter, InsertOrder
from graft_memstore.write.insert_reply import InsertedNote, InsertReply
from graft_memstore.write.limits import PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, PAGE_SIZE_WITH_BODIES_MAX
from graft_memstore.write.validate import check_keyword_filter, check_scopes

INSERTS_MAX = 40
"""Inserts that run at once; most of their time they wait for the model."""

OUTCOMES = {
    DeleteOutcome.ERASED: pb.DELETE_OUTCOME_ERASED,
    DeleteOutcome.ERASING: pb.DELETE_OUTCOME_ERASING,
    DeleteOutcome.RETIRED: pb.DELETE_OUTCOME_RETIRED,
}


class NotesServicer(notes_service_pb2_grpc.NotesServiceServicer):
    """Answers for the notes of every profile.

    Args:
        profiles: the notes.
        inserter: stores new ones.
        reviewer: proves who is one.
        giving: sees to what follows from a note that is given out.
    """

    def __init__(
        self,
        profiles: Profiles[VectorIndex],
        inserter: Inserter[VectorIndex],
        reviewer: Reviewer,
        giving: Giving,
    ) -> None:
        self._profiles = profiles
        self._reviewer = reviewer
        self._inserter = inserter
        self._giving = giving
        self._inserts = Admission(INSERTS_MAX, "store notes")

    @override
    def InsertNote(
        self, request: pb.InsertNoteRequest, context: grpc.ServicerContext
    ) -> pb.InsertNoteResponse:
        """Store one note."""
        order = InsertOrder(
            notes=[new_note_of(request.note, "note")],
            key=request_key(request, request.request_id, "InsertNote"),
            caller=proved_caller(context, self._reviewer),
            single=True,
            wait_for_passages=request.wait_for_passages,
            secrets=wish_of(request, has_reviewer=self._reviewer.exists()),
        )
        reply = self._insert(request.profile, order, context)
        return pb.InsertNoteResponse(note=_inserted(reply.notes[0]), degraded=reply.degraded)

    @override
    def InsertNotes(
        self, request: pb.InsertNotesRequest, context: grpc.ServicerContext
    ) -> pb.InsertNotesResponse:
        """Store several notes, all or none."""
        order = InsertOrder(
            notes=[
                new_note_of(note, f"notes[{number}]") for number, note in enumerate(request.notes)
            ],
            key=request_key(request, request.request_id, "InsertNotes"),
            caller=proved_caller(context, self._reviewer),
            wait_for_passages=request.wait_for_passages,
            secrets=wish_of(request, has_reviewer=self._reviewer.exists()),
        )
        reply = self._insert(request.profile, order, context)
        return pb.InsertNotesResponse(
            notes=[_inserted(note) for note in reply.notes], degraded=reply.degraded
        )

    @override
    def GetNote(
        self, request: pb.GetNoteRequest, context: grpc.ServicerContext
    ) -> pb.GetNoteResponse:
        """Give one note by its id."""
        looks_back = as_of(request.as_of)
        with self._use(request.profile, context) as profile:
            with profile.snapshot() as connection:
                now_ms = profile.now_ms(connection)
                instants = looks_back.seen_from(now_ms)
                note_id = find_note(connection, request.id)
                notes = read_full_notes(connection, [note_id], instants.known_at_ms)
                counted = read_uses(connection, note_id)
                seen = read_last_seq(connection)
                notices = self._giving.notices(profile.name, connection, caller_of(context), now_ms)
            if not notes:
                raise NoteNotFoundError(f"note {note_id} was not known then; it was stored later")
            uses = counted.and_then(self._giving.uses_waiting(profile.name, note_id))
            given = Given(
                note_id=note_id,
                session=caller_of(context).session,
                at_ms=now_ms,
                strong=False,
                seen=seen,
            )
            self._giving.gave(profile.name, caller_of(context), given)
        return pb.GetNoteResponse(
            note=note_message(notes[0], instants.condition(notes[0].state)),
            uses=uses_message(uses),
            notices=notices,
        )

    @override
    def ListNotes(
        self, request: pb.ListNotesRequest, context: grpc.ServicerContext
    ) -> pb.ListNotesResponse:
        """Give a page of notes."""
        count = _page_size(request)
        looks_back, trust = as_of(request.as_of), trust_of(request.trust)
        if trust in NEVER_SHOWN:
            raise BadFieldError("trust", f"{trust} notes are never listed; get one by its id")
        wanted = PageFilter(
            scope=check_scopes(scope_filter_of(request.scope)),
            keywords=check_keyword_filter(request.keywords),
            lifecycle=lifecycle_of(request.lifecycle) or Lifecycle.ACTIVE,
            trust=trust,
            since_ms=request.since_ms,
        )
        with self._use(request.profile, context) as profile, profile.snapshot() as connection:
            instants = looks_back.seen_from(profile.now_ms(connection))
            wanted = replace(
                wanted, valid_at_ms=instants.valid_at_ms, known_at_ms=instants.known_at_ms
            )
            page = page_of(wanted, request.page_token)
            # One more than asked for tells whether another page follows.
            notes = read_full_page(connection, page, now_ms=instants.now_ms, count_max=count + 1)
            more, notes = len(notes) > count, notes[:count]
            if request.with_bodies:
                listed = [note.id for note in notes]
                notes = read_full_notes(connection, listed, instants.known_at_ms)
        return pb.ListNotesResponse(
            notes=[note_message(note, instants.condition(note.state)) for note in notes],
            next_page_token=token_after(notes[-1], wanted) if more else "",
        )

    @override
    def DeleteNote(
        self, request: pb.DeleteNoteRequest, context: grpc.ServicerContext
    ) -> pb.DeleteNoteResponse:
        """Erase or retire a note."""
        order = DeleteOrder(
            piece=request.id,
            reason=request.reason,
            key=request_key(request, request.request_id, "DeleteNote"),
            caller=proved_caller(context, self._reviewer),
            has_reviewer=self._reviewer.exists(),
        )
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            self._giving.before_change(profile.name, deadline)
            reply = take_away(profile, order, deadline.for_work())
        return pb.DeleteNoteResponse(
            id=reply.id,
            outcome=OUTCOMES[reply.outcome],
            event=reply.event,
            given_to=given_to_message(reply.given_to),
        )

    @override
    def GetStats(
        self, request: pb.GetStatsRequest, context: grpc.ServicerContext
    ) -> pb.GetStatsResponse:
        """Count what a profile holds."""
        scope = check_scopes(scope_filter_of(request.scope))
        with self._use(request.profile, context) as profile, profile.snapshot() as connection:
            view = View(scope=scope, now_ms=profile.now_ms(connection))
            stats = read_stats(connection, view)
            file_bytes = profile.file_bytes()
            caller = caller_of(context)
            notices = (
                self._giving.notices(profile.name, connection, caller, view.now_ms)
                if request.with_notices
                else []
            )
        return pb.GetStatsResponse(
            notes=stats.notes,
            scopes=[pb.ScopeCount(scope=name, notes=count) for name, count in stats.scopes],
            inactive_notes=stats.inactive_notes,
            keywords=stats.keywords,
            vectors=stats.vectors,
            pending=stats.pending,
            events=stats.events,
            file_bytes=file_bytes,
            model=stats.model,
            notes_elsewhere=stats.notes_elsewhere,
            notices=notices,
        )

    def _insert(
        self, profile_name: str, order: InsertOrder, context: grpc.ServicerContext
    ) -> InsertReply:
        deadline = Deadline.of_call(context)
        with (
            self._profiles.use(profile_name, deadline.for_work()) as profile,
            self._inserts.enter(deadline),
        ):
            if any(note.supersedes for note in order.notes):
                self._giving.before_change(profile.name, deadline)
            given = self._giving.given_to(profile.name, order.caller)
            return self._inserter.insert(profile, replace(order, given=given), deadline)

    def _use(
        self, profile_name: str, context: grpc.ServicerContext
    ) -> AbstractContextManager[Profile[VectorIndex]]:
        return self._profiles.use(profile_name, Deadline.of_call(context).for_work())


def _page_size(request: pb.ListNotesRequest) -> int:
    """Return how many notes a page is to have.

    Raises:
        BadFieldError: more are wanted than a reply may carry.
    """
    most = PAGE_SIZE_WITH_BODIES_MAX if request.with_bodies else PAGE_SIZE_MAX
    if request.page_size > most:
        raise BadFieldError("page_size", f"{request.page_size}; {most} at most")
    return request.page_size or min(PAGE_SIZE_DEFAULT, most)


def _inserted(note: InsertedNote) -> pb.InsertedNote:
    return pb.InsertedNote(
        id=note.id,
        duplicate=note.duplicate,
        lifecycle=LIFECYCLES[note.lifecycle],
        trust=TRUSTS[note.trust],
        scope=note.scope,
        pending=note.pending,
        similar=[
            pb.SimilarNote(id=each.note_id, title=each.title, similarity=each.similarity)
            for each in note.similar
        ],
        event=note.event,
        uncovered_from_char=note.uncovered_from_char,
        answers=note.answers,
        superseded=note.superseded or "",
        superseded_event=note.superseded_event,
        restored=note.restored,
        recalled=note.recalled,
        proposal=note.proposal,
        given_to=given_to_message(note.given_to),
        findings=[finding_message(each) for each in note.findings.first],
        findings_more=note.findings.more,
    )
