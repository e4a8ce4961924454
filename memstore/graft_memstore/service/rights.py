"""Which right each rpc takes of a caller from outside: the one table that decides it.

An rpc that is not in it is closed to whoever does not come through the local socket.
"""

from collections.abc import Mapping

from graft_memstore.access import Right
from graft_memstore.service.passages import full_names

_READ, _WRITE, _MANAGE = Right.READ, Right.WRITE, Right.MANAGE

_RIGHTS: Mapping[str, Mapping[str, Right]] = {
    "NotesService": {
        "GetNote": _READ,
        "ListNotes": _READ,
        "GetStats": _READ,
        "InsertNote": _WRITE,
        "InsertNotes": _WRITE,
        "DeleteNote": _WRITE,  # of an agent it retires
    },
    "LifecycleService": {
        "SupersedeNote": _WRITE,
        "RetireNote": _WRITE,
        "RestoreNote": _WRITE,
        "RejectNote": _WRITE,
        "DisputeNote": _WRITE,
        "MarkNoteStale": _WRITE,
        "SetNoteTimes": _WRITE,
        "SetNoteKeywords": _WRITE,
        "VerifyNote": _WRITE,
        "UndoEvent": _WRITE,
    },
    "RecallService": {
        "Query": _READ,
        "Retrieve": _READ,
        "Explore": _READ,
        "Classify": _READ,
        "Explain": _READ,
        "ConfirmAnswer": _READ,  # the second half of a query
        "ListMisses": _READ,
        "ClearMisses": _WRITE,
    },
    "SourcesService": {
        "ListSources": _READ,
        "AddSources": _WRITE,
        "ReportSources": _WRITE,
        "RefreshSources": _WRITE,
    },
    "ReviewService": {
        # Deciding takes a reviewer, who comes through the socket.
        "GetReviewer": _READ,
        "ListReviewItems": _READ,
        "GetReviewItem": _READ,
    },
    "UpkeepService": {
        "GetUpkeep": _READ,
        "ListUpkeepEvents": _READ,
        "ScanNotes": _WRITE,
        "ResolveItem": _WRITE,
        "ApplySafe": _WRITE,
        "Consolidate": _MANAGE,
    },
    "AuditService": {"ListEvents": _READ, "GetTrailHead": _READ, "VerifyTrail": _MANAGE},
    "ScopesService": {"ListScopes": _READ, "MoveScope": _MANAGE},
    "ProfilesService": {
        "ListProfiles": _READ,
        "GetReindex": _READ,
        "StartReindex": _MANAGE,
    },
    "AnalyticsService": {"GetAnalytics": _READ, "ClearAnalytics": _MANAGE},
    "DaemonService": {
        "GetStatus": _READ,
        "LoadModel": _READ,
        "CheckProfile": _MANAGE,
        "MeasureGate": _MANAGE,
        "ResetGate": _MANAGE,
    },
}

RIGHTS: Mapping[str, Right] = {
    **full_names(_RIGHTS),
    # Watching it would hold a thread for as long as somebody watches.
    "/grpc.health.v1.Health/Check": _READ,
}
"""By the full name of the rpc."""
