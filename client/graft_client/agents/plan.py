"""What would change for an agent, file by file; nothing is written here."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import Literal

from graft_client.agents.disk import FileProblemError, Found, read
from graft_client.agents.jsonc import SyntaxProblem
from graft_client.agents.ledger import Ledger, digest
from graft_client.agents.targets import Edited, Target, containers

BOM = "\ufeff"

Action = Literal["create", "update", "delete", "keep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file: as it was *found*, and as it is to be *after*; None: no file.

    Attributes:
        path: as the agent knows it; links are followed.
        remark: what was left alone in it, and why.
        made: containers that setup makes in it.
    """

    path: Path
    found: Found
    after: bytes | None
    remark: str = ""
    made: frozenset[str] = frozenset()

    @property
    def action(self) -> Action:
        """What is done to it."""
        if self.after == self.found.content:
            return "keep"
        if self.found.content is None:
            return "create"
        return "delete" if self.after is None else "update"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done for one agent, or why it cannot be; then there are no changes."""

    agent: str
    changes: tuple[Change, ...] = ()
    problem: str = ""

    @property
    def work(self) -> tuple[Change, ...]:
        """The changes that change something."""
        return tuple(each for each in self.changes if each.action != "keep")

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was left alone, and why."""
        return tuple(f"{each.path} {each.remark}" for each in self.changes if each.remark)


def plan_adding(agent: str, targets: Iterable[Target], ledger: Ledger) -> Plan:
    """Plan what puts *targets* where they belong."""
    try:
        changes = tuple(_adding(target, ledger) for target in targets)
    except FileProblemError as error:
        return Plan(agent=agent, problem=error.message)
    return Plan(agent=agent, changes=changes)


def plan_removing(
    agent: str, targets: Iterable[Target], ledger: Ledger, leaving: frozenset[str]
) -> Plan:
    """Plan what takes *targets* out again, but for files that agents not *leaving* use as well."""
    try:
        changes = tuple(_removing(agent, target, ledger, leaving) for target in targets)
    except FileProblemError as error:
        return Plan(agent=agent, problem=error.message)
    return Plan(agent=agent, changes=changes)


def difference(change: Change) -> Sequence[str]:
    """Show what changes, without the lines around it, which may hold what is secret."""
    before, after = (_lines(each) for each in (change.found.content, change.after))
    # A comparison of whole files would take seconds where one has grown to many megabytes.
    head = _same(before, after)
    tail = _same(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    lines = list(unified_diff(old, new, n=0, lineterm=""))[2:]
    return [line for line in lines if not line.startswith("@@")]


def _same(these: Sequence[str], those: Sequence[str]) -> int:
    """Count the lines at the beginning that are the same."""
    pairs = enumerate(zip(these, those, strict=False))
    unlike = (at for at, (this, that) in pairs if this != that)
    return next(unlike, min(len(these), len(those)))


def _adding(target: Target, ledger: Ledger) -> Change:
    found = read(target.path)
    untouched = _is_untouched(found, ledger)
    with _named(target.path):
        text = _text(target.path, found.content)
        edited = target.added(text, untouched=untouched)
        made = containers(text, target)
    return _change(target, found, edited, made)


def _removing(agent: str, target: Target, ledger: Ledger, leaving: frozenset[str]) -> Change:
    found = read(target.path)
    written = ledger.files.get(str(found.real))
    # Whoever it was written for takes it out, the last of them.
    others = written is not None and bool(written.agents) and agent not in written.agents
    if written is not None and (others or written.agents - leaving):
        return Change(path=target.path, found=found, after=found.content)
    known, first = ledger.first(found.real, found.content)
    if known:
        return Change(path=target.path, found=found, after=first)
    made = written.made if written is not None else frozenset[str]()
    with _named(target.path):
        edited = target.removed(
            _text(target.path, found.content), made, untouched=_is_untouched(found, ledger)
        )
    return _change(target, found, edited, frozenset())


def _change(target: Target, found: Found, edited: Edited, made: frozenset[str]) -> Change:
    change = Change(path=target.path, found=found, after=found.content, remark=edited.remark)
    if edited.text is None:
        return replace(change, after=None)
    mark = BOM if (found.content or b"").startswith(BOM.encode()) else ""
    after = (mark + edited.text).encode()
    return replace(change, after=after, made=made if after != found.content else frozenset())


def _is_untouched(found: Found, ledger: Ledger) -> bool:
    written = ledger.files.get(str(found.real))
    return (
        written is not None
        and found.content is not None
        and digest(found.content) == written.digest
    )


def _text(path: Path, content: bytes | None) -> str | None:
    if content is None:
        return None
    try:
        return content.decode("utf-8").removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise FileProblemError(f"{path} is no UTF-8 (byte {error.start}); convert it") from error


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Tell which file a problem of syntax lies in."""
    try:
        yield
    except SyntaxProblem as error:
        raise FileProblemError(
            f"{path} cannot be read, {error}; repair it and run the same again"
        ) from error


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines()
