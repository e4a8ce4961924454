"""One memory on real services in which each mark has a note that must not come back."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell, make_home, stop

from graft_client import Graft
from graft_client.json_output import as_json
from graft_client.results import QueryAnswer
from graft_client.settings import Configuration, configure

FAR_AGO, FAR_AHEAD = datetime(2001, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)
WHY = "it is so"
ID = re.compile(r"[0-9a-f]{32}")
MOMENTS = ("at once", "after a restart", "after upkeep", "after a reindex")
DOORS = ("cli", "mcp", "library")
"""Of these "mcp" is bound to the scope that the others read by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A note that is to be hidden, and its sibling that says nearly the same and stays.

    Attributes:
        scope: that the first is saved to.
        hide: hides the first, given both ids.
    """

    gone: str
    kept: str
    scope: str = ""
    hide: Callable[[Graft, str, str], object] = lambda *_: None


PAIRS = {
    "superseded": Pair(
        gone="The staging pooler listens on port 6432",
        kept="The staging pooler listens on port 7000",
        hide=lambda graft, gone, kept: graft.supersede(gone, by=kept, reason=WHY),
    ),
    "rejected": Pair(
        gone="rsync resumes a broken copy with the flag --fast-copy",
        kept="rsync resumes a broken copy with the flag --partial",
        hide=lambda graft, gone, _: graft.reject(gone, reason=WHY),
    ),
    "retired": Pair(
        gone="The old build farm is rented from Hetzner in Falkenstein",
        kept="The new build farm is rented from Hetzner in Helsinki",
        hide=lambda graft, gone, _: graft.retire(gone, reason=WHY),
    ),
    "expired": Pair(
        gone="The licence server is being moved, so use the spare one",
        kept="The licence server answers on the host lic-2",
        hide=lambda graft, gone, _: graft.set_times(gone, reason=WHY, expires_at=FAR_AGO),
    ),
    "no longer valid": Pair(
        gone="Invoices are rounded down to whole cents",
        kept="Invoices are rounded half up to whole cents",
        hide=lambda graft, gone, _: graft.set_times(gone, reason=WHY, valid_to=FAR_AGO),
    ),
    "not yet valid": Pair(
        gone="The nightly backup runs at four in the morning",
        kept="The nightly backup runs at two in the morning",
        hide=lambda graft, gone, _: graft.set_times(gone, reason=WHY, valid_from=FAR_AHEAD),
    ),
    "deleted": Pair(
        gone="The demo account signs in with the pin 4711",
        kept="The demo account signs in with a hardware key",
        hide=lambda graft, gone, _: graft.delete(gone, reason=WHY),
    ),
    "other scope": Pair(
        gone="Their gateway wants the header X-Tenant on every call",
        kept="Our gateway wants the header X-Team on every call",
        scope="project:example.org/theirs",
    ),
}
HELD = Pair(
    gone="With the switch --turbo the linter keeps its results",
    kept="With the switch --cache the linter keeps its results",
)
"""The first is the text of a rejected note in another order."""
DISPUTED = Pair(
    gone="The proxy on the third floor drops connections after 30 seconds",
    kept="The printer on the second floor jams when the paper is damp",
)
"""The first is disputed: shown with that word, and never handed out as an answer."""
REJECTED_BEFORE = "The linter keeps its results with the switch --turbo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a read told: every id in it, and all of its text."""

    ids: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The pairs' ids, and what every read told of them at every moment.

    Attributes:
        told: by moment, door, mark and read.
        answers: what the gate said of the disputed note and of its sibling, by moment and door.
        before: what reads told of the pairs before anything was hidden.
    """

    gone: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    told: dict[tuple[str, str, str, str], Told] = field(default_factory=dict)
    answers: dict[tuple[str, str], tuple[QueryAnswer, QueryAnswer]] = field(default_factory=dict)
    before: dict[tuple[str, str], Told] = field(default_factory=dict)
    shown: dict[tuple[str, str], int] = field(default_factory=dict)


def word_of(mark: str, which: str) -> str:
    """Return the keyword that only one note of a pair carries."""
    return f"{which}-{mark.replace(' ', '-')}"


def similar(graft: Graft, mark: str, pair: Pair) -> object:
    """Save a neighbour, erase it again, and return what it was said to be like."""
    saved = graft.insert(f"{pair.gone}, somebody says", keywords=[f"draft-{mark}"])
    graft.delete(saved.id, reason="a draft")
    return saved.similar


READS: dict[str, Callable[[Graft, str, Pair], object]] = {
    "query": lambda graft, _, pair: graft.query(pair.gone),
    "retrieve": lambda graft, _, pair: graft.retrieve(pair.gone),
    "retrieve by keyword": lambda graft, mark, pair: graft.retrieve(pair.gone, keywords=[mark]),
    "explore": lambda graft, _, pair: graft.explore(pair.gone, depth=8, beam=8),
    "explore by keyword": lambda graft, mark, pair: graft.explore(pair.gone, keywords=[mark]),
    "classify": lambda graft, _, pair: graft.classify(pair.gone),
    "list": lambda graft, _, __: list(graft.list()),
    "similar": similar,
}


def told_by(graft: Graft, mark: str, pair: Pair, read: str) -> Told:
    """Return what a read tells when it is asked in the words of the hidden note."""
    text = json.dumps(as_json(READS[read](graft, mark, pair)))
    return Told(ids=frozenset(ID.findall(text)), text=text)


def save(graft: Graft, mark: str, which: str, title: str, scope: str = "") -> str:
    """Save a note with the pair's keyword and one of its own; return its id."""
    return graft.insert(title, keywords=[mark, word_of(mark, which)], scope=scope).id


def wait_until_settled(graft: Graft) -> None:
    """Wait until nothing is to be embedded or joined."""
    for _ in range(6_000):
        memstore = graft.status().memstore
        assert memstore is not None
        if not memstore.pending:
            return
    raise AssertionError("work is still pending")


@pytest.fixture(scope="module")
def memory(
    tmp_path_factory: pytest.TempPathFactory, models_dir: Path, random_model: Path
) -> Iterator[Memory]:
    """Hide every pair's first note, and ask every read at every moment."""
    root = tmp_path_factory.mktemp("negative")
    (root / "work").mkdir()
    shell = Shell(home=make_home(root / "home", models_dir), directory=root / "work")
    try:
        with ExitStack() as stack:
            doors = {
                door: stack.enter_context(Graft(configuration=_configured(shell, door)))
                for door in DOORS
            }
            yield _filled(doors, lambda: _use_model(shell, random_model))
    finally:
        stop(shell)


def _configured(shell: Shell, door: str) -> Configuration:
    return configure(
        home=shell.home,
        flags={"timeout_seconds": "100"},
        directory=shell.directory,
        environ=shell.environment(),
        door=door,
        bound_scopes=("user",) if door == "mcp" else (),
    )


def _use_model(shell: Shell, path: Path) -> str:
    """Make a file known to the home, and return the name that it has there."""
    assert shell.run("model", "use", str(path)).status == 0
    models = shell.run("model", "list", "--json").lines()
    return next(str(each["name"]) for each in models if each["default"])


def _filled(doors: Mapping[str, Graft], other_model: Callable[[], str]) -> Memory:
    graft, memory = doors["cli"], Memory()
    for mark, pair in PAIRS.items():
        memory.gone[mark] = save(graft, mark, "gone", pair.gone, pair.scope)
        memory.kept[mark] = save(graft, mark, "kept", pair.kept)
    before = save(graft, "held", "before", REJECTED_BEFORE)
    memory.kept["held"] = save(graft, "held", "kept", HELD.kept)
    disputed = graft.insert(DISPUTED.gone).id
    graft.insert(DISPUTED.kept)
    wait_until_settled(graft)
    for mark, pair in PAIRS.items():
        for read in ("retrieve", "explore", "list"):
            memory.before[mark, read] = told_by(graft, mark, pair, read)
    assert graft.query(DISPUTED.gone).hit == "STRONG"
    for mark, pair in PAIRS.items():
        pair.hide(graft, memory.gone[mark], memory.kept[mark])
    graft.reject(before, reason="there is no such switch")
    graft.dispute(disputed, reason="could not see that")
    memory.gone["held"] = save(graft, "held", "gone", HELD.gone)
    _ask_all(doors, memory, "at once")
    graft.stop()
    _ask_all(doors, memory, "after a restart")
    graft.maintenance.apply_safe()
    assert list(graft.maintenance.scan())[-1].report is not None
    assert list(graft.maintenance.consolidate())[-1].finished
    _ask_all(doors, memory, "after upkeep")
    graft.start_reindex(other_model())
    assert [each.problem for each in graft.reindex_progress()][-1] == ""
    wait_until_settled(graft)
    _ask_all(doors, memory, "after a reindex")
    return memory


def _ask_all(doors: Mapping[str, Graft], memory: Memory, moment: str) -> None:
    for door, graft in doors.items():
        for mark, pair in (PAIRS | {"held": HELD}).items():
            for read in READS:
                if read != "similar" or (moment, door) == (MOMENTS[0], DOORS[0]):
                    memory.told[moment, door, mark, read] = told_by(graft, mark, pair, read)
        memory.answers[moment, door] = (graft.query(DISPUTED.gone), graft.query(DISPUTED.kept))
        memory.shown[moment, door] = graft.stats().notes
