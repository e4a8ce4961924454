"""The calls about the sources of notes, as values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graft.memory.v1 import note_pb2, recall_service_pb2
from graft.memory.v1 import sources_service_pb2 as pb
from graft_client import replies
from graft_client.filing_reports import (
    LookedAtSource,
    NoteSource,
    SourcesAdded,
    SourcesDiff,
    SourcesRefreshed,
)
from graft_client.fingerprints import Look
from graft_client.operation import Operation, scope_filter, sendable
from graft_client.operations import source_message
from graft_client.recall_operations import RECALL
from graft_client.results import QueryAnswer, Source
from graft_client.scope import ScopeChoice
from graft_client.vocabulary import HITS, SOURCE_CHECKS, SOURCE_STATES

SOURCES = "/graft.memory.v1.SourcesService"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePage:
    """A page of sources, and the token of the next; empty after the last."""

    sources: tuple[NoteSource, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceListing:
    """Which sources to list.

    Attributes:
        note_id: only of this note; empty: of all that *scope* shows.
        projects: only of these; empty: of any.
    """

    scope: ScopeChoice
    note_id: str = ""
    projects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLook:
    """A source of a note, and what it is now."""

    listed: NoteSource
    look: Look


def list_sources(
    profile: str, listing: SourceListing, page_token: str
) -> Operation[pb.ListSourcesResponse, SourcePage]:
    """List one page of sources."""
    with sendable():
        request = pb.ListSourcesRequest(
            profile=profile,
            scope=None if listing.note_id else scope_filter(listing.scope),
            id=listing.note_id,
            projects=listing.projects,
            page_token=page_token,
        )
    return Operation(
        path=f"{SOURCES}/ListSources",
        request=request,
        reply=pb.ListSourcesResponse,
        read=lambda reply: SourcePage(
            sources=tuple(
                NoteSource(
                    note_id=each.note_id, title=each.title, source=replies.source(each.source)
                )
                for each in reply.sources
            ),
            next_page_token=reply.next_page_token,
        ),
    )


def add_sources(
    profile: str, note_id: str, sources: Sequence[Source], *, reason: str, request_id: str
) -> Operation[pb.AddSourcesResponse, SourcesAdded]:
    """Give a note further sources."""
    with sendable():
        request = pb.AddSourcesRequest(
            profile=profile,
            request_id=request_id,
            id=note_id,
            sources=[source_message(each) for each in sources],
            reason=reason,
        )
    return Operation(
        path=f"{SOURCES}/AddSources",
        request=request,
        reply=pb.AddSourcesResponse,
        read=lambda reply: SourcesAdded(
            id=reply.id,
            sources=tuple(replies.source(each) for each in reply.sources),
            added=reply.added,
            event=reply.event or None,
        ),
    )


def report_sources(
    profile: str, looks: Sequence[SourceLook], *, request_id: str
) -> Operation[pb.ReportSourcesResponse, SourcesDiff]:
    """Tell what was found of sources."""
    with sendable():
        request = pb.ReportSourcesRequest(
            profile=profile, request_id=request_id, findings=_findings(looks)
        )
    return Operation(
        path=f"{SOURCES}/ReportSources",
        request=request,
        reply=pb.ReportSourcesResponse,
        read=lambda reply: SourcesDiff(
            sources=_looked_at(looks, reply.states), waiting=reply.waiting
        ),
    )


def refresh_sources(
    profile: str, looks: Sequence[SourceLook], *, reason: str, request_id: str
) -> Operation[pb.RefreshSourcesResponse, SourcesRefreshed]:
    """Take what was found of sources for what they are from now on."""
    with sendable():
        request = pb.RefreshSourcesRequest(
            profile=profile, request_id=request_id, findings=_findings(looks), reason=reason
        )
    return Operation(
        path=f"{SOURCES}/RefreshSources",
        request=request,
        reply=pb.RefreshSourcesResponse,
        read=lambda reply: SourcesRefreshed(
            sources=_looked_at(looks, reply.states), events=tuple(reply.events)
        ),
    )


def confirm(
    profile: str, answer: QueryAnswer, looks: Sequence[Look]
) -> Operation[recall_service_pb2.ConfirmAnswerResponse, QueryAnswer]:
    """End an *answer* by what its sources are."""
    with sendable():
        request = recall_service_pb2.ConfirmAnswerRequest(
            profile=profile,
            receipt=answer.receipt or "",
            findings=[
                _finding(source.id, look)
                for source, look in zip(answer.to_confirm, looks, strict=True)
            ],
        )
    return Operation(
        path=f"{RECALL}/ConfirmAnswer",
        request=request,
        reply=recall_service_pb2.ConfirmAnswerResponse,
        read=lambda reply: _ended(answer, reply),
    )


def _ended(answer: QueryAnswer, reply: recall_service_pb2.ConfirmAnswerResponse) -> QueryAnswer:
    hit = HITS.get(reply.hit, "MISS")
    note = replies.note(reply.note, with_body=hit == "STRONG") if reply.HasField("note") else None
    return replace(
        answer,
        hit=hit,
        note=note,
        missing=tuple(reply.missing),
        source_check=SOURCE_CHECKS.get(reply.source_check),
        to_confirm=(),
    )


def _findings(looks: Sequence[SourceLook]) -> list[pb.NoteSourceFinding]:
    return [
        pb.NoteSourceFinding(
            note_id=each.listed.note_id, finding=_finding(each.listed.source.id, each.look)
        )
        for each in looks
    ]


def _finding(source_id: int, look: Look) -> note_pb2.SourceFinding:
    return note_pb2.SourceFinding(source_id=source_id, fingerprint=look.fingerprint, gone=look.gone)


def _looked_at(looks: Sequence[SourceLook], states: Sequence[int]) -> tuple[LookedAtSource, ...]:
    return tuple(
        LookedAtSource(
            note_id=each.listed.note_id,
            title=each.listed.title,
            source=each.listed.source,
            state=SOURCE_STATES.get(state, "unchecked"),
        )
        for each, state in zip(looks, states, strict=True)
    )
