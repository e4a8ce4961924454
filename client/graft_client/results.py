"""What the service answers, as plain data; field names are those of the JSON output."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from graft_client.authority import Oracle, ReviewerStatus
from graft_client.notices import NOBODY, GivenTo, Notice
from graft_client.secret_findings import SecretFinding

State = Literal["active", "superseded", "retired"]
Trust = Literal["candidate", "observed", "verified", "disputed", "stale", "held", "rejected"]
Kind = Literal["note", "dead-end"]
SourceKind = Literal["file", "url", "commit", "test", "conversation", "manual"]
Hit = Literal["STRONG", "WEAK", "MISS"]
ReindexState = Literal["none", "running", "waiting"]
Outcome = Literal["erased", "erasing", "retired"]
SourceCheck = Literal["unchecked", "waiting", "same", "changed", "gone"]
SourceState = Literal["same", "changed", "gone", "unchecked"]
Fit = Literal["inside", "outside", "unknown"]

Condition = Literal[
    "shown",
    "superseded",
    "retired",
    "held",
    "rejected",
    "expired",
    "not yet valid",
    "no longer valid",
    "deleted",
]
"""Why a search shows a note, or does not."""

STATES: tuple[State, ...] = ("active", "superseded", "retired")
KINDS: tuple[Kind, ...] = ("note", "dead-end")
SOURCE_KINDS: tuple[SourceKind, ...] = ("file", "url", "commit", "test", "conversation", "manual")

SHORT_ID_CHARACTERS = 8


def short_id(note_id: str) -> str:
    """Give the last 8 digits, which people are shown: the first ones of a UUIDv7 are a clock."""
    return note_id[-SHORT_ID_CHARACTERS:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One place that a note's knowledge comes from; *fingerprint*: what it was when looked at."""

    kind: SourceKind
    locator: str
    project: str = ""
    observed_at: datetime | None = None
    fingerprint: str = ""
    id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One note with its present state; *body* is None where only the title is handed out.

    Attributes:
        superseded_by: the last of the notes that replaced it; None where there is none.
        state_reason: why it is in this state; empty where nobody said.
        state_event: number of the event that made this state; `undo` takes it.
        condition: whether searches show it at the instant that was asked for, and if not why.
        oracle: what it was verified by, also where it is doubted since; None where it never was.
    """

    id: str
    title: str
    body: str | None
    kind: Kind
    keywords: tuple[str, ...]
    author: str
    scope: str
    state: State
    trust: Trust
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    recorded_at: datetime
    superseded_by: str | None
    sources: tuple[Source, ...]
    pending: int
    applies_to: tuple[str, ...]
    state_reason: str
    state_event: int
    condition: Condition
    oracle: Oracle | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarNote:
    """A note that says nearly the same as one just stored."""

    id: str
    title: str
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Inserted:
    """What became of a note that was stored.

    Attributes:
        pending: texts of it that have no vector yet; they are found by their words.
        event: number of the event that recorded it; None if nothing changed.
        uncovered_from_char: first character of the body that no vector covers; None for none.
        answers: earlier questions in vain that it may answer.
        superseded: the note that it replaced, by *superseded_event*; None for none.
        restored: it was there, retired, and is in force again.
        recalled: it is a piece of a note that this session was given, and was not stored.
        degraded: what could not be had, such as "vector".
        proposal: item of the review queue that is to let it replace another; None for none.
        findings: what looks like a secret in it, and *findings_more*: how many others do.
    """

    id: str
    duplicate: bool
    state: State
    trust: Trust
    scope: str
    pending: int
    similar: tuple[SimilarNote, ...]
    event: int | None
    uncovered_from_char: int | None
    answers: int
    superseded: str | None
    superseded_event: int | None
    restored: bool
    degraded: tuple[str, ...]
    proposal: int | None
    recalled: bool = False
    given_to: GivenTo = NOBODY
    findings: tuple[SecretFinding, ...] = ()
    findings_more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NearNote:
    """A note that came near, and why it is not the answer."""

    id: str
    title: str
    why: str
    trust: Trust
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Applicability:
    """What one of the names that a note applies to means where a question is asked.

    Attributes:
        name: of a package, language or tool, such as "pypi:django"; "os" for systems.
        range: of its versions; empty for any.
        fit: whether a version that is there lies in it.
        here: versions that are there.
        words: all of it for people.
    """

    name: str
    range: str
    fit: Fit
    here: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadEnd:
    """A note near a question that tells what does not work; `get` has its body."""

    id: str
    title: str
    trust: Trust
    applicability: tuple[Applicability, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnswer:
    """The gate's answer: the note when STRONG, its title when WEAK, near titles when MISS.

    Attributes:
        missing: on WEAK, in words, what was missing.
        receipt: what `explain` takes; None while the service is stopping.
        applicability: what the note applies to, and what that means here.
        dead_ends: beside a note, what was tried near the question and does not work.
        context_wanted: names whose versions might change the answer and are not known.
        source_check: how the files that a note rests on are; None where it rests on none.
        to_confirm: files that are to be looked at; the client has done that already.
        notices: what became of notes that this session was given.
        against: beside a STRONG note, what near the question says otherwise, and how.
    """

    hit: Hit
    probability: float
    note: Note | None
    signals: dict[str, float]
    near: tuple[NearNote, ...]
    missing: tuple[str, ...]
    degraded: tuple[str, ...]
    receipt: str | None
    scopes: tuple[str, ...]
    notes_elsewhere: int
    service_ms: float
    embed_ms: float
    applicability: tuple[Applicability, ...]
    dead_ends: tuple[DeadEnd, ...]
    context_wanted: tuple[str, ...]
    source_check: SourceCheck | None = None
    to_confirm: tuple[Source, ...] = ()
    notices: tuple[Notice, ...] = ()
    against: tuple[NearNote, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmScore:
    """What one arm of a search said: rank from 1, and its own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedNote:
    """One result of a ranked search.

    Attributes:
        trust_reason: why it is candidate, disputed or stale; else empty.
    """

    id: str
    title: str
    score: float
    arms: dict[str, ArmScore]
    trust: Trust
    trust_reason: str
    keywords: tuple[str, ...]
    scope: str
    kind: Kind
    applies_to: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """Results of a ranked search, best first."""

    results: tuple[RetrievedNote, ...]
    degraded: tuple[str, ...]
    scopes: tuple[str, ...]
    notes_elsewhere: int
    service_ms: float
    embed_ms: float
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """How a note was taken away: erased, erasing (cleaning goes on), or only retired."""

    id: str
    outcome: Outcome
    event: int
    given_to: GivenTo = NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A note after a change of what it is worth.

    Attributes:
        event: number of the event that recorded the change; `undo` takes it.
        superseded_by: the note that replaced it; None after any other change.
        others: notes that said the same and were rejected with it.
        keywords: those that it carries now; None after any change but one of them.
    """

    id: str
    state: State
    trust: Trust
    scope: str
    event: int
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    superseded_by: str | None = None
    others: int = 0
    keywords: tuple[str, ...] | None = None
    given_to: GivenTo = NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What a profile holds."""

    notes: int
    scopes: dict[str, int]
    inactive_notes: int
    keywords: int
    vectors: int
    pending: int
    events: int
    file_bytes: int
    model: str
    notes_elsewhere: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One profile; *model* is empty before its first vector."""

    name: str
    model: str
    dimensions: int
    file_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexProgress:
    """How far a reindex is; *state* is "none" when none runs.

    Of *total* notes *done* are embedded whole by the target, or, when none runs, by the model
    that serves.
    """

    state: ReindexState
    target_model: str
    serving_model: str
    done: int
    total: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderStatus:
    """One embedder; *pid* is 0 when it does not run."""

    pid: int
    socket: str
    model: str
    state: str
    percent: int
    problem: str
    uptime_s: float
    backend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileStatus:
    """One profile that is open; *receipts_dropped* counts answers that cannot be explained."""

    name: str
    pending: int
    erasing: int
    index: str
    vectors: int
    receipts_dropped: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemstoreStatus:
    """How the memstore is."""

    pid: int
    socket: str
    version: str
    uptime_s: float
    pending: int
    erasing: int
    calls: int
    profiles: tuple[ProfileStatus, ...]
    reviewer: ReviewerStatus = field(default_factory=ReviewerStatus)
    settings: dict[str, str] = field(default_factory=dict)
    listen: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How the services are; None stands for one that does not run.

    *embedder* is the one that answers questions; *embedders* lists all.
    """

    memstore: MemstoreStatus | None
    embedder: EmbedderStatus | None
    embedders: tuple[EmbedderStatus, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was checked and seen, and when not ok what to do; of *profile*, empty for none."""

    name: str
    ok: bool
    detail: str
    profile: str = ""
