"""What a walk over the graph and a suggestion of keywords return, as plain data.

Fields are named as in the JSON output.
"""

from dataclasses import dataclass
from typing import Literal

from graft_client.results import Trust

EdgeKind = Literal["KEYWORD", "SEMANTIC", "CONTRADICTS", "SUPERSEDES"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploredNode:
    """A note that a walk came to, so many steps from where its path begins.

    *cosine* is None where question and note cannot be compared.
    """

    id: str
    title: str
    score: float
    cosine: float | None
    depth: int
    trust: Trust
    trust_reason: str
    keywords: tuple[str, ...]
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploredEdge:
    """What joins two notes on a path; *keyword* is None unless they share one."""

    src: str
    dst: str
    kind: EdgeKind
    keyword: str | None
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploredPath:
    """Ids of the notes from where a walk began to where it went no further."""

    ids: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """What a walk found: notes, best first, each reached by one path.

    *hint* says why there is little or nothing; None when nothing needs saying.
    """

    nodes: tuple[ExploredNode, ...]
    edges: tuple[ExploredEdge, ...]
    paths: tuple[ExploredPath, ...]
    hint: str | None
    degraded: tuple[str, ...]
    scopes: tuple[str, ...]
    notes_elsewhere: int
    service_ms: float
    embed_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedKeyword:
    """A keyword for a draft, and what speaks for it as a share of what does for the first."""

    keyword: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """Keywords for a draft, best first."""

    suggestions: tuple[SuggestedKeyword, ...]
    degraded: tuple[str, ...]
    scopes: tuple[str, ...]
    service_ms: float
    embed_ms: float
