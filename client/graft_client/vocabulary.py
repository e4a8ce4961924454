"""The words for the values of the protos' enums.

An enum value that this program does not know comes from a newer service; it is shown as what may do
least.
"""

from graft.memory.v1 import note_pb2, notes_service_pb2, recall_service_pb2, review_service_pb2
from graft_client.authority import OracleKind
from graft_client.notices import Happening
from graft_client.results import (
    Condition,
    Fit,
    Hit,
    Kind,
    Outcome,
    SourceCheck,
    SourceKind,
    SourceState,
    State,
    Trust,
)
from graft_client.reviews import ReviewDecision, ReviewKind
from graft_client.walks import EdgeKind

KINDS: dict[int, Kind] = {
    note_pb2.NOTE_KIND_NOTE: "note",
    note_pb2.NOTE_KIND_DEAD_END: "dead-end",
}
STATES: dict[int, State] = {
    note_pb2.LIFECYCLE_ACTIVE: "active",
    note_pb2.LIFECYCLE_SUPERSEDED: "superseded",
    note_pb2.LIFECYCLE_RETIRED: "retired",
}
TRUSTS: dict[int, Trust] = {
    note_pb2.TRUST_CANDIDATE: "candidate",
    note_pb2.TRUST_OBSERVED: "observed",
    note_pb2.TRUST_VERIFIED: "verified",
    note_pb2.TRUST_DISPUTED: "disputed",
    note_pb2.TRUST_STALE: "stale",
    note_pb2.TRUST_HELD: "held",
    note_pb2.TRUST_REJECTED: "rejected",
}
SOURCES: dict[int, SourceKind] = {
    note_pb2.SOURCE_KIND_FILE: "file",
    note_pb2.SOURCE_KIND_URL: "url",
    note_pb2.SOURCE_KIND_COMMIT: "commit",
    note_pb2.SOURCE_KIND_TEST: "test",
    note_pb2.SOURCE_KIND_CONVERSATION: "conversation",
    note_pb2.SOURCE_KIND_MANUAL: "manual",
}
HITS: dict[int, Hit] = {
    recall_service_pb2.HIT_STRONG: "STRONG",
    recall_service_pb2.HIT_WEAK: "WEAK",
    recall_service_pb2.HIT_MISS: "MISS",
}
FITS: dict[int, Fit] = {
    note_pb2.FIT_INSIDE: "inside",
    note_pb2.FIT_OUTSIDE: "outside",
    note_pb2.FIT_UNKNOWN: "unknown",
}
HAPPENINGS: dict[int, Happening] = {
    note_pb2.HAPPENING_SUPERSEDED: "superseded",
    note_pb2.HAPPENING_RETIRED: "retired",
    note_pb2.HAPPENING_REJECTED: "rejected",
    note_pb2.HAPPENING_DISPUTED: "disputed",
    note_pb2.HAPPENING_DELETED: "deleted",
}
EDGES: dict[int, EdgeKind] = {
    recall_service_pb2.EDGE_KIND_KEYWORD: "KEYWORD",
    recall_service_pb2.EDGE_KIND_SEMANTIC: "SEMANTIC",
    recall_service_pb2.EDGE_KIND_CONTRADICTS: "CONTRADICTS",
    recall_service_pb2.EDGE_KIND_SUPERSEDES: "SUPERSEDES",
}
OUTCOMES: dict[int, Outcome] = {
    notes_service_pb2.DELETE_OUTCOME_ERASED: "erased",
    notes_service_pb2.DELETE_OUTCOME_ERASING: "erasing",
    notes_service_pb2.DELETE_OUTCOME_RETIRED: "retired",
}
SOURCE_STATES: dict[int, SourceState] = {
    note_pb2.SOURCE_STATE_SAME: "same",
    note_pb2.SOURCE_STATE_CHANGED: "changed",
    note_pb2.SOURCE_STATE_GONE: "gone",
    note_pb2.SOURCE_STATE_UNCHECKED: "unchecked",
}
SOURCE_CHECKS: dict[int, SourceCheck] = {
    recall_service_pb2.SOURCE_CHECK_UNCHECKED: "unchecked",
    recall_service_pb2.SOURCE_CHECK_WAITING: "waiting",
    recall_service_pb2.SOURCE_CHECK_SAME: "same",
    recall_service_pb2.SOURCE_CHECK_CHANGED: "changed",
    recall_service_pb2.SOURCE_CHECK_GONE: "gone",
}
ORACLES: dict[int, OracleKind] = {
    note_pb2.ORACLE_KIND_REVIEWER: "reviewer",
    note_pb2.ORACLE_KIND_COMMIT: "commit",
    note_pb2.ORACLE_KIND_RUN: "run",
}
REVIEWS: dict[int, ReviewKind] = {
    review_service_pb2.REVIEW_KIND_CANDIDATE: "candidate",
    review_service_pb2.REVIEW_KIND_HELD: "held",
    review_service_pb2.REVIEW_KIND_PROPOSAL: "proposal",
    review_service_pb2.REVIEW_KIND_RESTATED_REJECTION: "restated-rejection",
    review_service_pb2.REVIEW_KIND_DUPLICATE: "duplicate",
    review_service_pb2.REVIEW_KIND_SUPERSESSION: "supersession",
    review_service_pb2.REVIEW_KIND_CONTRADICTION: "contradiction",
    review_service_pb2.REVIEW_KIND_POSSIBLE_CONTRADICTION: "possible-contradiction",
    review_service_pb2.REVIEW_KIND_CHANGED_SOURCE: "changed-source",
    review_service_pb2.REVIEW_KIND_REMOVED_SOURCE: "removed-source",
    review_service_pb2.REVIEW_KIND_KEYWORD_VARIANT: "keyword-variant",
    review_service_pb2.REVIEW_KIND_ISOLATED: "isolated",
    review_service_pb2.REVIEW_KIND_NEVER_USED: "never-used",
    review_service_pb2.REVIEW_KIND_EXPIRED: "expired",
    review_service_pb2.REVIEW_KIND_PURGE_DUE: "purge-due",
}
DECISIONS: dict[int, ReviewDecision] = {
    review_service_pb2.REVIEW_DECISION_APPROVE: "approve",
    review_service_pb2.REVIEW_DECISION_REJECT: "reject",
    review_service_pb2.REVIEW_DECISION_KEEP_BOTH: "keep-both",
    review_service_pb2.REVIEW_DECISION_SUPERSEDE: "supersede",
}
CONDITIONS: dict[int, Condition] = {
    note_pb2.NOTE_CONDITION_SHOWN: "shown",
    note_pb2.NOTE_CONDITION_SUPERSEDED: "superseded",
    note_pb2.NOTE_CONDITION_RETIRED: "retired",
    note_pb2.NOTE_CONDITION_HELD: "held",
    note_pb2.NOTE_CONDITION_REJECTED: "rejected",
    note_pb2.NOTE_CONDITION_EXPIRED: "expired",
    note_pb2.NOTE_CONDITION_NOT_YET_VALID: "not yet valid",
    note_pb2.NOTE_CONDITION_NO_LONGER_VALID: "no longer valid",
    note_pb2.NOTE_CONDITION_DELETED: "deleted",
}
