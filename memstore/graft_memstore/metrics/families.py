"""The metrics that there are: their names, kinds, labels and what they mean."""

from dataclasses import dataclass

COUNTER, GAUGE, HISTOGRAM = "counter", "gauge", "histogram"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One metric.

    Attributes:
        name: as it is told; that of a counter ends in ``_total``.
        labels: what sets its series apart; each has few values, none from a note or a question.
    """

    name: str
    kind: str
    labels: tuple[str, ...] = ()
    about: str


CALLS = Family(
    name="graft_calls_total",
    kind=COUNTER,
    labels=("method", "code"),
    about="Calls that have ended, by rpc and gRPC status.",
)
CALL_SECONDS = Family(
    name="graft_call_seconds",
    kind=HISTOGRAM,
    labels=("method",),
    about="Seconds that a call took, from its request to its end.",
)
CALLS_RUNNING = Family(name="graft_calls_running", kind=GAUGE, about="Calls that run now.")
ANSWERS = Family(
    name="graft_gate_answers_total",
    kind=COUNTER,
    labels=("level",),
    about="Answers of the gate: strong, weak, miss.",
)
BUILD = Family(name="graft_build_info", kind=GAUGE, labels=("build",), about="Always 1.")
PROFILES_OPEN = Family(name="graft_profiles_open", kind=GAUGE, about="Profiles that are open.")
VECTORS = Family(
    name="graft_vectors",
    kind=GAUGE,
    labels=("profile",),
    about="Vectors of the serving model in an open profile's file.",
)
PENDING = Family(
    name="graft_pending_vectors",
    kind=GAUGE,
    labels=("profile",),
    about="Notes and questions that wait for a vector.",
)
PENDING_SECONDS = Family(
    name="graft_pending_oldest_seconds",
    kind=GAUGE,
    labels=("profile",),
    about="Age of the note that has waited longest for a vector; 0: none waits.",
)
INDEX_LOADED = Family(
    name="graft_index_loaded",
    kind=GAUGE,
    labels=("profile",),
    about="1 when the vectors are in memory, 0 while the file's bits serve.",
)
INDEX_ROWS = Family(
    name="graft_index_rows",
    kind=GAUGE,
    labels=("profile",),
    about="Vectors in memory, those of notes that have gone since included.",
)
INDEX_BEHIND = Family(
    name="graft_index_behind_vectors",
    kind=GAUGE,
    labels=("profile",),
    about="Vectors in the file that the index in memory has not taken in yet.",
)
ERASING = Family(
    name="graft_erasing",
    kind=GAUGE,
    labels=("profile",),
    about="Erasures that still wait for the file to be cleaned.",
)
DATABASE_BYTES = Family(
    name="graft_database_bytes", kind=GAUGE, labels=("profile",), about="Size of its file."
)
WAL_BYTES = Family(
    name="graft_wal_bytes",
    kind=GAUGE,
    labels=("profile",),
    about="Size of its write-ahead log.",
)
RECEIPTS_DROPPED = Family(
    name="graft_receipts_dropped_total",
    kind=COUNTER,
    labels=("profile",),
    about="Answers whose receipt was lost because too many came at once.",
)
EMBEDDER_READY = Family(
    name="graft_embedder_ready",
    kind=GAUGE,
    labels=("model",),
    about="1 when its model is loaded, 0 when it is not, or the embedder does not run.",
)
EMBEDDER_QUEUE = Family(
    name="graft_embedder_queue_calls",
    kind=GAUGE,
    labels=("model",),
    about="Calls that wait for the model or run.",
)
EMBEDDER_WAIT = Family(
    name="graft_embedder_wait_seconds",
    kind=HISTOGRAM,
    labels=("model",),
    about="Seconds that a call waited for its first computation.",
)
BATCH_TOKENS = Family(
    name="graft_embedder_batch_tokens",
    kind=HISTOGRAM,
    labels=("model",),
    about="Tokens that were computed at once.",
)
BATCH_WINDOWS = Family(
    name="graft_embedder_batch_windows",
    kind=HISTOGRAM,
    labels=("model",),
    about="Windows of texts that were computed at once.",
)
FAMILIES = (
    CALLS,
    CALL_SECONDS,
    CALLS_RUNNING,
    ANSWERS,
    BUILD,
    PROFILES_OPEN,
    VECTORS,
    PENDING,
    PENDING_SECONDS,
    INDEX_LOADED,
    INDEX_ROWS,
    INDEX_BEHIND,
    ERASING,
    DATABASE_BYTES,
    WAL_BYTES,
    RECEIPTS_DROPPED,
    EMBEDDER_READY,
    EMBEDDER_QUEUE,
    EMBEDDER_WAIT,
    BATCH_TOKENS,
    BATCH_WINDOWS,
)


def table() -> str:
    """Return all of them as a table of docs/metrics.md."""
    lines = ["| metric | kind | labels | what it tells |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{each.name}` | {each.kind} | {', '.join(each.labels)} | {each.about} |"
        for each in FAMILIES
    ]
    return "\n".join(lines)
