"""SourcesService: what notes rest on, and what was found of it since."""

import base64
import re
from collections.abc import Sequence

import grpc
from typing_extensions import override

from graft.memory.v1 import note_pb2, sources_service_pb2_grpc
from graft.memory.v1 import sources_service_pb2 as pb
from graft.wire.errors import BadFieldError, BadPageTokenError
from graft_memstore.deadline import Deadline
from graft_memstore.provenance import Finding
from graft_memstore.recall.index import VectorIndex
from graft_memstore.review.reviewer import Reviewer
from graft_memstore.service.callers import proved_caller
from graft_memstore.service.convert import (
    SOURCE_STATES,
    scope_filter_of,
    source_message,
    source_of,
)
from graft_memstore.service.request_key import request_key
from graft_memstore.store.database import Connection
from graft_memstore.store.note_sources import NoteSource, SourcePage, read_note_sources
from graft_memstore.store.notes import read_stored
from graft_memstore.store.profiles import Profiles
from graft_memstore.store.sources import read_sources
from graft_memstore.visibility import View
from graft_memstore.write.identify import find_note
from graft_memstore.write.limits import PAGE_SIZE_MAX
from graft_memstore.write.source_changes import (
    NoteFinding,
    add_note_sources,
    refresh_sources,
    report_sources,
)
from graft_memstore.write.state_change import Saying
from graft_memstore.write.validate import check_projects, check_scopes

PLACE = re.compile(r"([0-9]{1,18}):([0-9a-f]{32})")


class SourcesServicer(sources_service_pb2_grpc.SourcesServiceServicer):
    """Answers for the sources of every profile."""

    def __init__(self, profiles: Profiles[VectorIndex], reviewer: Reviewer) -> None:
        self._profiles = profiles
        self._reviewer = reviewer

    @override
    def ListSources(
        self, request: pb.ListSourcesRequest, context: grpc.ServicerContext
    ) -> pb.ListSourcesResponse:
        """Give a page of sources."""
        if request.page_size > PAGE_SIZE_MAX:
            raise BadFieldError("page_size", f"{request.page_size}; {PAGE_SIZE_MAX} at most")
        count = request.page_size or PAGE_SIZE_MAX
        projects = check_projects(request.projects)
        seconds = Deadline.of_call(context).for_work()
        with (
            self._profiles.use(request.profile, seconds) as profile,
            profile.snapshot() as connection,
        ):
            if request.id:
                found = _of_note(connection, request.id, projects)
                return pb.ListSourcesResponse(sources=[_message(each) for each in found])
            scope = check_scopes(scope_filter_of(request.scope))
            view = View(scope=scope, now_ms=profile.now_ms(connection))
            page = _page_of(request.page_token, projects)
            listed = read_note_sources(connection, view, page, count + 1)
        more = len(listed) > count
        return pb.ListSourcesResponse(
            sources=[_message(each) for each in listed[:count]],
            next_page_token=_token_after(listed[count - 1]) if more else "",
        )

    @override
    def AddSources(
        self, request: pb.AddSourcesRequest, context: grpc.ServicerContext
    ) -> pb.AddSourcesResponse:
        """Give a note further sources."""
        sources = [source_of(each, "note") for each in request.sources]
        key = request_key(request, request.request_id, "AddSources")
        saying = Saying(caller=proved_caller(context, self._reviewer), reason=request.reason)
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            added = add_note_sources(
                profile, request.id, sources, (key, saying), deadline.for_work()
            )
        return pb.AddSourcesResponse(
            id=added.id,
            sources=[source_message(each) for each in added.sources],
            added=added.added,
            event=added.event,
        )

    @override
    def ReportSources(
        self, request: pb.ReportSourcesRequest, context: grpc.ServicerContext
    ) -> pb.ReportSourcesResponse:
        """Put before the reviewer what has changed."""
        key = request_key(request, request.request_id, "ReportSources")
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            reported = report_sources(
                profile, _findings(request.findings), key, deadline.for_work()
            )
        return pb.ReportSourcesResponse(
            states=[SOURCE_STATES[each] for each in reported.states], waiting=reported.waiting
        )

    @override
    def RefreshSources(
        self, request: pb.RefreshSourcesRequest, context: grpc.ServicerContext
    ) -> pb.RefreshSourcesResponse:
        """Take what was found for what holds."""
        key = request_key(request, request.request_id, "RefreshSources")
        saying = Saying(caller=proved_caller(context, self._reviewer), reason=request.reason)
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            refreshed = refresh_sources(
                profile, _findings(request.findings), (key, saying), deadline.for_work()
            )
        return pb.RefreshSourcesResponse(
            states=[SOURCE_STATES[each] for each in refreshed.states], events=refreshed.events
        )


def finding_of(message: note_pb2.SourceFinding) -> Finding:
    """Read what somebody found of a source, unchecked."""
    return Finding(source_id=message.source_id, fingerprint=message.fingerprint, gone=message.gone)


def _findings(messages: Sequence[pb.NoteSourceFinding]) -> list[NoteFinding]:
    return [NoteFinding(piece=each.note_id, finding=finding_of(each.finding)) for each in messages]


def _of_note(connection: Connection, piece: str, projects: Sequence[str]) -> list[NoteSource]:
    note_id = find_note(connection, piece)
    stored = read_stored(connection, note_id)
    assert stored is not None, "its id was found in this snapshot"
    return [
        NoteSource(note_id=note_id, title=stored.title, source=source)
        for source in read_sources(connection, [note_id]).get(note_id, ())
        if not projects or source.project in projects
    ]


def _message(each: NoteSource) -> pb.NoteSource:
    return pb.NoteSource(note_id=each.note_id, title=each.title, source=source_message(each.source))


def _token_after(last: NoteSource) -> str:
    place = f"{last.source.source_id}:{last.note_id}"
    return base64.urlsafe_b64encode(place.encode()).decode()


def _page_of(token: str, projects: tuple[str, ...]) -> SourcePage:
    """Return which page is wanted.

    Raises:
        BadPageTokenError: the token is none.
    """
    if not token:
        return SourcePage(projects=projects)
    try:
        place = PLACE.fullmatch(base64.urlsafe_b64decode(token.encode()).decode())
    except ValueError:
        place = None
    if place is None:
        raise BadPageTokenError(
            "the page token is not one that this listing gave out; begin anew without one"
        )
    return SourcePage(projects=projects, after_source=int(place[1]), after_note=place[2])
