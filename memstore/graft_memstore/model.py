"""What the memstore talks about: notes, their states, models and vectors, as frozen data."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from graft.wire.ecosystems import Ecosystem

NoteId = NewType("NoteId", str)
"""32 lower-case hex digits, a UUIDv7."""

ModelId = NewType("ModelId", int)
"""Number of a model inside one profile."""

EventSeq = NewType("EventSeq", int)
"""Place of an event in a profile's audit chain, from 1."""

ReceiptId = NewType("ReceiptId", str)
"""32 lower-case hex digits, random."""

ItemId = NewType("ItemId", int)
"""Number of an item of a profile's review queue, never used twice."""

USER_SCOPE = "user"
DEFAULT_PROFILE = "default"


class Lifecycle(StrEnum):
    """Whether a note is in force."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    RETIRED = "retired"


class Trust(StrEnum):
    """How far a note is to be believed."""

    CANDIDATE = "candidate"
    OBSERVED = "observed"
    VERIFIED = "verified"
    DISPUTED = "disputed"
    STALE = "stale"
    HELD = "held"
    REJECTED = "rejected"


class Condition(StrEnum):
    """Why a search does not show a note, or that it does."""

    SHOWN = "shown"
    SUPERSEDED = "superseded"
    RETIRED = "retired"
    HELD = "held"
    REJECTED = "rejected"
    EXPIRED = "expired"
    NOT_YET_VALID = "not yet valid"
    NO_LONGER_VALID = "no longer valid"
    DELETED = "deleted"


class OracleKind(StrEnum):
    """What a note was verified by."""

    REVIEWER = "reviewer"
    COMMIT = "commit"
    RUN = "run"


class Happening(StrEnum):
    """What became of a note that somebody was given."""

    SUPERSEDED = "superseded"
    RETIRED = "retired"
    REJECTED = "rejected"
    DISPUTED = "disputed"
    DELETED = "deleted"


class NoteKind(StrEnum):
    """What kind of thing a note tells."""

    NOTE = "note"
    DEAD_END = "dead-end"


class SourceKind(StrEnum):
    """Where a note's knowledge comes from."""

    FILE = "file"
    URL = "url"
    COMMIT = "commit"
    TEST = "test"
    CONVERSATION = "conversation"
    MANUAL = "manual"


class ModelRole(StrEnum):
    """What a profile uses a model for."""

    SERVING = "serving"
    TARGET = "target"


class PendingKind(StrEnum):
    """Which text of a note waits for its vectors."""

    TITLE = "title"
    PASSAGES = "passages"


class ItemKind(StrEnum):
    """Why something waits for a reviewer."""

    CANDIDATE = "candidate"
    HELD = "held"
    PROPOSAL = "proposal"
    RESTATED_REJECTION = "restated-rejection"
    DUPLICATE = "duplicate"
    SUPERSESSION = "supersession"
    CONTRADICTION = "contradiction"
    POSSIBLE_CONTRADICTION = "possible-contradiction"
    CHANGED_SOURCE = "changed-source"
    REMOVED_SOURCE = "removed-source"
    KEYWORD_VARIANT = "keyword-variant"
    ISOLATED = "isolated"
    NEVER_USED = "never-used"
    EXPIRED = "expired"
    PURGE_DUE = "purge-due"


class Decision(StrEnum):
    """What a reviewer decided of something that waited."""

    APPROVE = "approve"
    REJECT = "reject"
    KEEP_BOTH = "keep-both"
    SUPERSEDE = "supersede"


class EdgeKind(StrEnum):
    """Why two notes are joined."""

    KEYWORD = "KEYWORD"
    SEMANTIC = "SEMANTIC"
    CONTRADICTS = "CONTRADICTS"
    SUPERSEDES = "SUPERSEDES"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One place that a note's knowledge comes from.

    Attributes:
        fingerprint: what it was when it was looked at; empty where nobody did.
        source_id: its number in this profile; 0 before it has one.
    """

    kind: SourceKind
    locator: str
    project: str = ""
    observed_at_ms: int = 0
    fingerprint: str = ""
    source_id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliesTo:
    """One thing that a note applies to.

    Attributes:
        name: of a package, language or tool in its ecosystem's one form; "os" for systems.
        range: of its versions, as the ecosystem writes ranges, empty for any; for systems their
            names with "|" between.
    """

    ecosystem: Ecosystem
    name: str
    range: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNote:
    """A note as a caller wants it stored.

    Attributes:
        scope: empty: that of the note that it supersedes, else `USER_SCOPE`.
        supersedes: an id of the note that it replaces, or a piece of one; empty for none.
        reason: why it replaces another, or why one is to come back.
        restore: bring a retired note back that says the same.
        candidate: nobody has looked at it: it waits for a reviewer.
    """

    title: str
    body: str = ""
    keywords: tuple[str, ...] = ()
    kind: NoteKind = NoteKind.NOTE
    scope: str = USER_SCOPE
    author: str = ""
    sources: tuple[Source, ...] = ()
    valid_from_ms: int | None = None
    valid_to_ms: int | None = None
    expires_at_ms: int | None = None
    applies_to: tuple[str, ...] = ()
    supersedes: str = ""
    reason: str = ""
    restore: bool = False
    candidate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """What a note was verified by, and who said so; all but a reviewer's word is a claim.

    Attributes:
        commit: that touches one of its sources.
        command: that was run, with *exit_code* 0.
        output_digest: of what it printed, hexadecimal SHA-256.
        actor: the role of whoever said so, in *session* and through *door*.
    """

    kind: OracleKind
    commit: str = ""
    command: str = ""
    exit_code: int = 0
    output_digest: str = ""
    actor: str = "agent"
    session: str = ""
    door: str = ""
    at_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteState:
    """What a note is worth at present.

    Attributes:
        oracle: by which it was verified; it stays while the note is disputed or stale.
        known_from_ms: since when the store has known it so.
        reason: why it became so; empty where nobody said.
    """

    lifecycle: Lifecycle = Lifecycle.ACTIVE
    trust: Trust = Trust.OBSERVED
    valid_from_ms: int | None = None
    valid_to_ms: int | None = None
    expires_at_ms: int | None = None
    known_from_ms: int = 0
    reason: str = ""
    oracle: Oracle | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNote:
    """The row of a note: what never changes about it.

    Attributes:
        seq: its number in this file, the rowid of its words.
    """

    seq: int
    id: NoteId
    title: str
    body: str
    kind: NoteKind
    author: str
    scope: str
    content_hash: bytes
    recorded_at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One note with its present state and everything that hangs on it.

    Attributes:
        pending: its texts (title, passages) that still have no vector.
        superseded_by: the last of its successors; None where there is none.
        event: that made its present state.
    """

    id: NoteId
    title: str
    body: str
    kind: NoteKind
    author: str
    scope: str
    recorded_at_ms: int
    state: NoteState
    keywords: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    applies_to: tuple[AppliesTo, ...] = ()
    pending: int = 0
    superseded_by: NoteId | None = None
    event: EventSeq = EventSeq(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarNote:
    """A note that says nearly the same as another.

    Attributes:
        similarity: cosine of the titles' vectors; exactly 1 where the texts say the same.
    """

    note_id: NoteId
    title: str
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeFilter:
    """Which scopes a read looks at: those listed, or every one.

    Attributes:
        walled: nothing may tell of notes elsewhere, not even how rare a word is there.
    """

    scopes: tuple[str, ...] = ()
    all: bool = False
    walled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks, and through which kind of program.

    Attributes:
        actor: the role; the local socket gives "agent".
        session: the agent's session; empty where there is none.
        agent: what it names itself; empty where it does not.
        door: cli, mcp, hook, web or library.
        bound: scopes that it cannot look beyond; empty: it is bound to none.
        token: name of the token that let it in; empty for who comes through the socket.
    """

    actor: str = "agent"
    session: str = ""
    agent: str = ""
    door: str = "library"
    bound: tuple[str, ...] = ()
    token: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Cosines between unrelated texts of a model: a normal distribution and its weight."""

    mean: float
    deviation: float
    count: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model whose vectors a profile holds, or is to hold."""

    model_id: ModelId
    identity: str
    name: str
    dimensions: int
    role: ModelRole


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """One vector of a note, as it is stored.

    Attributes:
        part: 0 for the title's first window, from 1 for the passages.
        start_char: first character of the stretch (of the title for part 0, else of
            `passage_text`), counted in code points.
        end_char: one past the last character.
        vector: little-endian float32 values of unit length.
    """

    part: int
    start_char: int
    end_char: int
    vector: bytes


PASSAGE_SEPARATOR = "\n\n"


def passage_text(title: str, body: str) -> str:
    """Return the text whose windows are a note's passages."""
    return title + PASSAGE_SEPARATOR + body
