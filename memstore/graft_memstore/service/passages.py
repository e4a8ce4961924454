"""What of every rpc a caller may have who is bound to scopes: the one table that decides it.

An rpc that is not in it is closed to such a caller. A filter of scopes, the field ``scope``, is cut
down to the caller's whatever the table says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from graft.memory.v1 import (
    analytics_service_pb2,
    audit_service_pb2,
    backups_service_pb2,
    daemon_service_pb2,
    lifecycle_service_pb2,
    notes_service_pb2,
    profiles_service_pb2,
    recall_service_pb2,
    review_service_pb2,
    scopes_service_pb2,
    sources_service_pb2,
    tokens_service_pb2,
    upkeep_service_pb2,
)

_MODULES = (
    analytics_service_pb2,
    audit_service_pb2,
    backups_service_pb2,
    daemon_service_pb2,
    lifecycle_service_pb2,
    notes_service_pb2,
    profiles_service_pb2,
    recall_service_pb2,
    review_service_pb2,
    scopes_service_pb2,
    sources_service_pb2,
    tokens_service_pb2,
    upkeep_service_pb2,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """How one rpc passes the wall.

    Attributes:
        closed: it does not, since it is about the whole profile.
        notes: fields of the request, with dots, that hold an id of a note, or a piece of one.
        optional: those may be empty, and so may the filter.
        event: the field that holds the number of an event.
        receipt: the field that holds an id of a receipt, or a piece of one.
        item: the field that holds the number of something that waits to be judged.
        saves: the field that holds a note to store, or several.
        hides: fields of the reply, with dots, that count or name what lies elsewhere.
        drops: lists in the reply whose entries are notes by their ids.
    """

    closed: bool = False
    notes: tuple[str, ...] = ()
    optional: bool = False
    event: str = ""
    receipt: str = ""
    item: str = ""
    saves: str = ""
    hides: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()


_FILTERED = Passage(hides=("notes_elsewhere",))
_OPEN = Passage()
_ONE_NOTE = Passage(notes=("id",))
_CLOSED = Passage(closed=True)

_PASSAGES = {
    "NotesService": {
        "InsertNote": Passage(saves="note", hides=("note.answers",)),
        "InsertNotes": Passage(saves="notes", hides=("notes.answers",)),
        "GetNote": _ONE_NOTE,
        "ListNotes": _OPEN,
        "DeleteNote": _ONE_NOTE,
        "GetStats": Passage(
            hides=("notes_elsewhere", "vectors", "pending", "events", "file_bytes")
        ),
    },
    "LifecycleService": {
        "SupersedeNote": Passage(notes=("id", "by")),
        "RetireNote": _ONE_NOTE,
        "RestoreNote": _ONE_NOTE,
        # What was rejected for everybody may have stood in any scope.
        "RejectNote": Passage(notes=("id",), hides=("others",)),
        "DisputeNote": _ONE_NOTE,
        "MarkNoteStale": _ONE_NOTE,
        "SetNoteTimes": _ONE_NOTE,
        "SetNoteKeywords": _ONE_NOTE,
        "VerifyNote": _ONE_NOTE,
        "UndoEvent": Passage(event="event"),
    },
    "RecallService": {
        "Query": _FILTERED,
        "Retrieve": _FILTERED,
        "Explore": _FILTERED,
        "Classify": _OPEN,
        "Explain": Passage(receipt="receipt", drops=("looked_at", "withheld"), hides=("event",)),
        "ConfirmAnswer": Passage(receipt="receipt"),
        "ListMisses": _OPEN,
        "ClearMisses": _OPEN,
    },
    "SourcesService": {
        "ListSources": Passage(notes=("id",), optional=True),
        "AddSources": _ONE_NOTE,
        "ReportSources": Passage(notes=("findings.note_id",)),
        "RefreshSources": Passage(notes=("findings.note_id",)),
    },
    "ReviewService": {
        "GetReviewer": _OPEN,
        # The queue is a reviewer's, a person at a terminal, whom nothing binds.
        "SetReviewer": _CLOSED,
        "OpenReviewSession": _CLOSED,
        "CloseReviewSession": _CLOSED,
        "ListReviewItems": _CLOSED,
        "GetReviewItem": _CLOSED,
        "DecideReviewItem": _CLOSED,
    },
    "UpkeepService": {
        "GetUpkeep": Passage(hides=("edges_waiting",)),
        "ScanNotes": Passage(hides=("report.waiting",)),
        "ResolveItem": Passage(item="item", notes=("keep",), optional=True),
        "ApplySafe": _OPEN,
        # All edges are made anew, and all that upkeep did is listed.
        "Consolidate": _CLOSED,
        "ListUpkeepEvents": _CLOSED,
    },
    "AuditService": {"ListEvents": _CLOSED, "VerifyTrail": _CLOSED, "GetTrailHead": _CLOSED},
    "ScopesService": {"ListScopes": _OPEN, "MoveScope": _CLOSED},
    "ProfilesService": {
        "ListProfiles": Passage(hides=("profiles.file_bytes",)),
        "AddProfile": _CLOSED,
        "StartReindex": _CLOSED,
        "GetReindex": _CLOSED,
    },
    # A backup is of whole profiles, and holds the keys of their logs.
    "BackupsService": {
        "CreateBackup": _CLOSED,
        "VerifyBackup": _CLOSED,
        "RestoreBackup": _CLOSED,
    },
    "AnalyticsService": {
        "GetAnalytics": _OPEN,
        "ClearAnalytics": _CLOSED,
    },
    # Whom else to let in is the home's own affair.
    "TokensService": {"CreateToken": _CLOSED, "ListTokens": _CLOSED, "RevokeToken": _CLOSED},
    "DaemonService": {
        "GetStatus": Passage(hides=("pending", "erasing", "profiles")),
        "LoadModel": _OPEN,
        # A caller of another build ends an idle daemon to start its own.
        "Stop": _OPEN,
        "CheckProfile": _CLOSED,
        "RepairProfile": _CLOSED,
        "MeasureGate": _CLOSED,
        "ResetGate": _CLOSED,
    },
}

EntryT = TypeVar("EntryT")


def full_names(table: Mapping[str, Mapping[str, EntryT]]) -> dict[str, EntryT]:
    """Return a table by service and method as one by the full name of the rpc."""
    return {
        f"/{service.full_name}/{name}": entry
        for module in _MODULES
        for service in module.DESCRIPTOR.services_by_name.values()
        for name, entry in table.get(service.name, {}).items()
    }


PASSAGES: Mapping[str, Passage] = full_names(_PASSAGES)
"""By the full name of the rpc."""
