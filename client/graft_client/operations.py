"""The calls about notes, profiles and the process, as values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graft.memory.v1 import (
    daemon_service_pb2,
    note_pb2,
    notes_service_pb2,
    profiles_service_pb2,
)
from graft_client import history_replies, replies
from graft_client.errors import InputError
from graft_client.history import GotNote
from graft_client.operation import Operation, as_of, scope_filter, sendable
from graft_client.repairs import Repair
from graft_client.requests import AsOfFields, NewNote, SecretsWish
from graft_client.results import (
    KINDS,
    STATES,
    Check,
    Deleted,
    EmbedderStatus,
    Inserted,
    MemstoreStatus,
    Note,
    Profile,
    ReindexProgress,
    Source,
    State,
    Stats,
)
from graft_client.scope import ScopeChoice
from graft_client.times import to_milliseconds

NOTES = "/graft.memory.v1.NotesService"
PROFILES = "/graft.memory.v1.ProfilesService"
DAEMON = "/graft.memory.v1.DaemonService"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a listing, and the token of the next; empty after the last."""

    notes: tuple[Note, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What to list.

    Attributes:
        keywords: only notes that carry all of them.
        state: only notes in this state.
        since_ms: only notes stored at or after this instant; 0: all.
        page_notes: notes in a page; 0: the service's own figure.
        instants: that it looks back to.
        bodies: give the notes whole.
    """

    keywords: tuple[str, ...] = ()
    state: State = "active"
    since_ms: int = 0
    page_notes: int = 0
    instants: AsOfFields = field(default_factory=AsOfFields)
    bodies: bool = False


def insert(
    profile: str, note: NewNote, *, request_id: str, wait: bool, secrets: SecretsWish = ""
) -> Operation[notes_service_pb2.InsertNoteResponse, Inserted]:
    """Store *note*."""
    with sendable():
        request = notes_service_pb2.InsertNoteRequest(
            profile=profile,
            request_id=request_id,
            note=_new_note(note),
            wait_for_passages=wait,
            strict_secrets=secrets == "strict",
            allow_secret=secrets == "allow",
        )
    return Operation(
        path=f"{NOTES}/InsertNote",
        request=request,
        reply=notes_service_pb2.InsertNoteResponse,
        read=lambda reply: replies.inserted(reply.note, reply.degraded),
    )


def insert_many(
    profile: str,
    notes: Sequence[NewNote],
    *,
    request_id: str,
    wait: bool,
    secrets: SecretsWish = "",
) -> Operation[notes_service_pb2.InsertNotesResponse, tuple[Inserted, ...]]:
    """Store *notes* in one transaction."""
    with sendable():
        request = notes_service_pb2.InsertNotesRequest(
            profile=profile,
            request_id=request_id,
            notes=[_new_note(note) for note in notes],
            wait_for_passages=wait,
            strict_secrets=secrets == "strict",
            allow_secret=secrets == "allow",
        )
    return Operation(
        path=f"{NOTES}/InsertNotes",
        request=request,
        reply=notes_service_pb2.InsertNotesResponse,
        read=lambda reply: tuple(replies.inserted(note, reply.degraded) for note in reply.notes),
    )


def get(
    profile: str, note_id: str, instants: AsOfFields | None = None
) -> Operation[notes_service_pb2.GetNoteResponse, GotNote]:
    """Fetch one note."""
    with sendable():
        request = notes_service_pb2.GetNoteRequest(
            profile=profile, id=note_id, as_of=as_of(instants)
        )
    return Operation(
        path=f"{NOTES}/GetNote",
        request=request,
        reply=notes_service_pb2.GetNoteResponse,
        read=history_replies.got_note,
    )


def list_page(
    profile: str, scope: ScopeChoice, listing: Listing, page_token: str
) -> Operation[notes_service_pb2.ListNotesResponse, Page]:
    """Fetch one page of a listing."""
    with sendable():
        request = notes_service_pb2.ListNotesRequest(
            profile=profile,
            scope=scope_filter(scope),
            keywords=listing.keywords,
            lifecycle=_lifecycle(listing.state),
            since_ms=listing.since_ms,
            page_size=listing.page_notes,
            page_token=page_token,
            as_of=as_of(listing.instants),
            with_bodies=listing.bodies,
        )
    return Operation(
        path=f"{NOTES}/ListNotes",
        request=request,
        reply=notes_service_pb2.ListNotesResponse,
        read=lambda reply: Page(
            notes=tuple(replies.note(note, with_body=listing.bodies) for note in reply.notes),
            next_page_token=reply.next_page_token,
        ),
    )


def delete(
    profile: str, note_id: str, *, reason: str, request_id: str
) -> Operation[notes_service_pb2.DeleteNoteResponse, Deleted]:
    """Take a note away."""
    with sendable():
        request = notes_service_pb2.DeleteNoteRequest(
            profile=profile, request_id=request_id, id=note_id, reason=reason
        )
    return Operation(
        path=f"{NOTES}/DeleteNote",
        request=request,
        reply=notes_service_pb2.DeleteNoteResponse,
        read=replies.deleted,
    )


def stats(profile: str, scope: ScopeChoice) -> Operation[notes_service_pb2.GetStatsResponse, Stats]:
    """Count what a profile holds."""
    with sendable():
        request = notes_service_pb2.GetStatsRequest(profile=profile, scope=scope_filter(scope))
    return Operation(
        path=f"{NOTES}/GetStats",
        request=request,
        reply=notes_service_pb2.GetStatsResponse,
        read=replies.stats,
    )


def profiles() -> Operation[profiles_service_pb2.ListProfilesResponse, tuple[Profile, ...]]:
    """List the profiles."""
    return Operation(
        path=f"{PROFILES}/ListProfiles",
        request=profiles_service_pb2.ListProfilesRequest(),
        reply=profiles_service_pb2.ListProfilesResponse,
        read=lambda reply: tuple(replies.profile(each) for each in reply.profiles),
    )


def add_profile(name: str) -> Operation[profiles_service_pb2.AddProfileResponse, Profile]:
    """Make a profile."""
    with sendable():
        request = profiles_service_pb2.AddProfileRequest(name=name)
    return Operation(
        path=f"{PROFILES}/AddProfile",
        request=request,
        reply=profiles_service_pb2.AddProfileResponse,
        read=lambda reply: replies.profile(reply.profile),
        repeatable=False,
    )


def start_reindex(
    profile: str, model: str
) -> Operation[profiles_service_pb2.StartReindexResponse, None]:
    """Begin to move a profile to *model*."""
    with sendable():
        request = profiles_service_pb2.StartReindexRequest(profile=profile, model=model)
    return Operation(
        path=f"{PROFILES}/StartReindex",
        request=request,
        reply=profiles_service_pb2.StartReindexResponse,
        read=lambda _: None,
    )


def get_reindex(
    profile: str,
) -> Operation[profiles_service_pb2.GetReindexResponse, ReindexProgress]:
    """Ask how far a reindex is."""
    with sendable():
        request = profiles_service_pb2.GetReindexRequest(profile=profile)
    return Operation(
        path=f"{PROFILES}/GetReindex",
        request=request,
        reply=profiles_service_pb2.GetReindexResponse,
        read=replies.reindex_progress,
    )


def status(
    socket: str,
) -> Operation[
    daemon_service_pb2.GetStatusResponse, tuple[MemstoreStatus, tuple[EmbedderStatus, ...]]
]:
    """Ask how the memstore that listens on *socket* and its embedders are."""
    return Operation(
        path=f"{DAEMON}/GetStatus",
        request=daemon_service_pb2.GetStatusRequest(),
        reply=daemon_service_pb2.GetStatusResponse,
        read=lambda reply: (
            replies.memstore_status(reply, socket),
            tuple(replies.embedder_status(each) for each in reply.embedders),
        ),
    )


def repair_profile(
    profile: str, *, dry_run: bool
) -> Operation[daemon_service_pb2.RepairProfileResponse, tuple[Repair, ...]]:
    """Make anew what is derived from a profile's notes."""
    with sendable():
        request = daemon_service_pb2.RepairProfileRequest(profile=profile, dry_run=dry_run)
    return Operation(
        path=f"{DAEMON}/RepairProfile",
        request=request,
        reply=daemon_service_pb2.RepairProfileResponse,
        read=lambda reply: tuple(
            Repair(
                name=each.name,
                found=each.found,
                repaired=each.repaired,
                detail=each.detail,
                profile=profile,
            )
            for each in reply.repairs
        ),
    )


def load_model(profile: str) -> Operation[daemon_service_pb2.LoadModelResponse, str]:
    """Make a profile's model ready; the result is its name."""
    with sendable():
        request = daemon_service_pb2.LoadModelRequest(profile=profile)
    return Operation(
        path=f"{DAEMON}/LoadModel",
        request=request,
        reply=daemon_service_pb2.LoadModelResponse,
        read=lambda reply: reply.model,
    )


def stop(*, only_if_idle: bool) -> Operation[daemon_service_pb2.StopResponse, int]:
    """End the memstore; the result is its process."""
    return Operation(
        path=f"{DAEMON}/Stop",
        request=daemon_service_pb2.StopRequest(only_if_idle=only_if_idle),
        reply=daemon_service_pb2.StopResponse,
        read=lambda reply: reply.pid,
        repeatable=False,
    )


def check_profile(
    profile: str,
) -> Operation[daemon_service_pb2.CheckProfileResponse, tuple[Check, ...]]:
    """Check a profile's file from inside."""
    with sendable():
        request = daemon_service_pb2.CheckProfileRequest(profile=profile)
    return Operation(
        path=f"{DAEMON}/CheckProfile",
        request=request,
        reply=daemon_service_pb2.CheckProfileResponse,
        read=lambda reply: tuple(
            Check(name=each.name, ok=each.ok, detail=each.detail, profile=profile)
            for each in reply.checks
        ),
    )


def _new_note(note: NewNote) -> notes_service_pb2.NewNote:
    return notes_service_pb2.NewNote(
        title=note.title,
        body=note.body,
        keywords=note.keywords,
        kind=note_pb2.NOTE_KIND_DEAD_END if note.kind == KINDS[1] else note_pb2.NOTE_KIND_NOTE,
        scope=note.scope,
        author=note.author,
        sources=[source_message(source) for source in note.sources],
        valid_from_ms=_optional_ms(note.valid_from),
        valid_to_ms=_optional_ms(note.valid_to),
        expires_at_ms=_optional_ms(note.expires_at),
        applies_to=note.applies_to,
        supersedes=note.supersedes,
        reason=note.reason,
        restore=note.restore,
        candidate=note.candidate,
    )


def source_message(source: Source) -> note_pb2.Source:
    """Pack a source."""
    kind = note_pb2.SourceKind.Value(f"SOURCE_KIND_{source.kind.upper()}")
    return note_pb2.Source(
        kind=kind, locator=source.locator, project=source.project, fingerprint=source.fingerprint
    )


def _lifecycle(state: State) -> "note_pb2.Lifecycle.ValueType":
    if state not in STATES:
        raise InputError(f"state is {state!r}; it must be one of {', '.join(STATES)}")
    return note_pb2.Lifecycle.Value(f"LIFECYCLE_{state.upper()}")


def _optional_ms(instant: datetime | None) -> int | None:
    return None if instant is None else to_milliseconds(instant)
