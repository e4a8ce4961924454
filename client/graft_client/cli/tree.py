"""Draws the paths of a walk as trees, a note a line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from graft_client.cli.output import printable
from graft_client.cli.words import doubts
from graft_client.results import short_id
from graft_client.walks import Explored, ExploredEdge, ExploredNode

_JOINS = {"SEMANTIC": "alike", "CONTRADICTS": "contradicts", "SUPERSEDES": "supersedes"}

Style = Mapping[str, object]


class _Branch(NamedTuple):
    """A note that is still to be drawn: the one before it, and what stands left of it."""

    note: str
    parent: str
    stem: str
    last: bool


def draw(found: Explored) -> Iterator[tuple[str, Style]]:
    """Yield lines with their styles: each note stands under the one that it was reached from."""
    nodes = {node.id: node for node in found.nodes}
    joins = _joins(found.edges)
    below: dict[str, list[str]] = {"": []}
    for path in found.paths:
        for parent, note in zip(("", *path.ids), path.ids, strict=False):
            children = below.setdefault(parent, [])
            if note not in children:
                children.append(note)
    waiting = [_Branch(note, "", "", last=True) for note in reversed(below[""])]
    while waiting:
        branch = waiting.pop()
        node = nodes[branch.note]
        if branch.parent:
            arm = "└─ " if branch.last else "├─ "
            why = joins[frozenset((branch.parent, branch.note))]
            yield f"{branch.stem}{arm}{_label(node)} ({why})", {}
            stem = branch.stem + ("   " if branch.last else "│  ")
        else:
            near = "" if node.cosine is None else f" ({node.cosine:.2f})"
            yield f"{_label(node)}{near}", {"bold": True}
            stem = ""
        children = below.get(branch.note, [])
        waiting += reversed(
            [_Branch(note, branch.note, stem, note == children[-1]) for note in children]
        )


def _label(node: ExploredNode) -> str:
    doubted = printable(doubts(node.trust, node.trust_reason))
    return f"{short_id(node.id)}  {printable(node.title)}{doubted}"


def _joins(edges: Sequence[ExploredEdge]) -> dict[frozenset[str], str]:
    """Return in words what joins each two notes: their keywords, else their likeness."""
    found: dict[frozenset[str], list[ExploredEdge]] = {}
    for edge in edges:
        found.setdefault(frozenset((edge.src, edge.dst)), []).append(edge)
    return {pair: _reason(together) for pair, together in found.items()}


def _reason(edges: Sequence[ExploredEdge]) -> str:
    words = [printable(edge.keyword) for edge in edges if edge.keyword]
    words = words or list(dict.fromkeys(_JOINS.get(edge.kind, "") for edge in edges))
    return f"{', '.join(words)} {max(edge.weight for edge in edges):.2f}"
