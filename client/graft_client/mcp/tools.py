"""What each tool does: reads its arguments, asks the memory, packs the answer."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from graft_client.async_client import AsyncGraft
from graft_client.errors import InputError
from graft_client.limits import TOP_K, TOP_K_MAX, UPKEEP_ITEMS_MAX
from graft_client.mcp.arguments import Arguments
from graft_client.mcp.replies import Reply, answer_reply, limited, note_reply, plain
from graft_client.mcp.workspace import Workspace
from graft_client.requests import NewNote, parse_source
from graft_client.results import KINDS
from graft_client.scope import USER
from graft_client.surroundings.system import system_here
from graft_client.upkeep_reports import DECISIONS

OFFSET_MAX = 1 << 21
SCAN_ITEMS = 20
PROJECT = "project"
_NO_PROJECT = (
    "this server is bound to no project, so a note is seen everywhere; say so with scope: user,"
    " or start the server in a repository"
)
Progress = Callable[[int, int], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool.

    Attributes:
        tokens: that the answer may take.
        author: who calls, as the protocol gives it.
        progress: tells the caller how far long work is.
    """

    graft: AsyncGraft
    workspace: Workspace
    arguments: Arguments
    tokens: int
    author: str
    progress: Progress

    @property
    def begin(self) -> int:
        """Where in a long answer to begin; 0 where that is not said."""
        return self.arguments.number("offset", 0, OFFSET_MAX)


async def query(call: Call) -> Reply:
    """Ask the gate."""
    context = call.arguments.texts("context")
    answer = await call.graft.query(
        call.arguments.text("text"), context=(*context, *system_here(context))
    )
    return answer_reply(answer, call.tokens)


async def retrieve(call: Call) -> Reply:
    """Rank notes."""
    arguments, begin = call.arguments, call.begin
    found = await call.graft.retrieve(
        arguments.text("text"),
        top_k=min(begin + (arguments.number("limit", 0, TOP_K_MAX) or TOP_K), TOP_K_MAX),
        keywords=arguments.texts("keywords"),
        match_all=arguments.flag("match_all"),
    )
    return limited(found, "results", begin, call.tokens)


async def explore(call: Call) -> Reply:
    """Walk over the graph."""
    arguments = call.arguments
    found = await call.graft.explore(
        arguments.text("text", ""), keywords=arguments.texts("keywords")
    )
    return limited(found, "nodes", call.begin, call.tokens)


async def get(call: Call) -> Reply:
    """Open a note."""
    got = await call.graft.get(call.arguments.text("id"))
    return note_reply(got, call.begin, call.tokens)


async def insert(call: Call) -> Reply:
    """Save a note."""
    arguments, project = call.arguments, call.workspace.project
    chosen = arguments.choice("scope", (PROJECT, USER), PROJECT)
    supersedes = arguments.text("supersedes", "")
    if chosen == PROJECT and project is None and not supersedes:
        raise InputError(_NO_PROJECT)
    scope = USER if chosen == USER else "" if project is None or supersedes else project.scope
    note = NewNote(
        title=arguments.text("title"),
        body=arguments.text("body", ""),
        keywords=arguments.texts("keywords"),
        sources=[parse_source(each) for each in arguments.texts("sources")],
        kind="dead-end" if arguments.choice("kind", KINDS, KINDS[0]) == "dead-end" else "note",
        applies_to=arguments.texts("applies_to"),
        supersedes=supersedes,
        reason=arguments.text("reason", ""),
        candidate=arguments.flag("candidate"),
        author=call.graft.configuration.settings.text("author") or call.author,
        scope=scope,
    )
    return plain(await call.graft.insert_note(note))


async def supersede(call: Call) -> Reply:
    """Put a note in the place of another."""
    arguments = call.arguments
    return plain(
        await call.graft.supersede(
            arguments.text("id"), by=arguments.text("by"), reason=arguments.text("reason")
        )
    )


async def retire(call: Call) -> Reply:
    """Take a note out of use."""
    arguments = call.arguments
    return plain(await call.graft.retire(arguments.text("id"), reason=arguments.text("reason")))


async def reject(call: Call) -> Reply:
    """Say that a note was wrong."""
    arguments = call.arguments
    return plain(await call.graft.reject(arguments.text("id"), reason=arguments.text("reason")))


async def dispute(call: Call) -> Reply:
    """Say that a note may be wrong."""
    arguments = call.arguments
    return plain(await call.graft.dispute(arguments.text("id"), reason=arguments.text("reason")))


async def classify(call: Call) -> Reply:
    """Suggest keywords."""
    return plain(await call.graft.classify(call.arguments.text("title")))


async def explain(call: Call) -> Reply:
    """Tell what an answer was made of."""
    return plain(await call.graft.explain(call.arguments.text("receipt")))


async def sources_diff(call: Call) -> Reply:
    """Look at what notes rest on."""
    looked = await call.graft.filing.diff_sources(call.arguments.text("id", ""))
    return limited(looked, "sources", call.begin, call.tokens)


async def sources_refresh(call: Call) -> Reply:
    """Take what notes rest on as it is."""
    arguments = call.arguments
    renewed = await call.graft.filing.refresh_sources(
        arguments.text("id", ""), reason=arguments.text("reason")
    )
    return limited(renewed, "sources", call.begin, call.tokens)


async def maintain_status(call: Call) -> Reply:
    """Say what waits."""
    return plain(await call.graft.maintenance.status())


async def maintain_scan(call: Call) -> Reply:
    """Look for what somebody should judge."""
    begin, report = call.begin, None
    limit = min(
        begin + call.arguments.number("limit", SCAN_ITEMS, UPKEEP_ITEMS_MAX), UPKEEP_ITEMS_MAX
    )
    async for step in call.graft.maintenance.scan(limit=limit):
        await call.progress(step.done, step.total)
        report = step.report
    assert report is not None, "the last step has it"
    return limited(report, "items", begin, call.tokens)


async def maintain_resolve(call: Call) -> Reply:
    """Decide one thing that a scan found."""
    arguments = call.arguments
    word = arguments.choice("decision", DECISIONS)
    decision = next(each for each in DECISIONS if each == word)
    resolved = await call.graft.maintenance.resolve(
        arguments.number("item", 0, 2**62),
        decision,
        keep=arguments.text("keep", ""),
        reason=arguments.text("reason"),
    )
    return plain(resolved)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """To what the server is bound, and what is there.

    Attributes:
        saves_to: scope that notes go to; None: each must name `user`.
        reads: scopes that questions look at.
    """

    profile: str
    workspace: str
    saves_to: str | None
    reads: tuple[str, ...]
    notes: int
    pending: int
    model: str


async def status(call: Call) -> Reply:
    """Say to what this server is bound, and what is there."""
    counts = await call.graft.stats()
    project = call.workspace.project
    return plain(
        ServerStatus(
            profile=call.graft.configuration.profile,
            workspace=str(call.workspace.directory),
            saves_to=None if project is None else project.scope,
            reads=call.workspace.scopes,
            notes=counts.notes,
            pending=counts.pending,
            model=counts.model,
        )
    )


HANDLERS: Mapping[str, Callable[[Call], Awaitable[Reply]]] = {
    "query": query,
    "retrieve": retrieve,
    "explore": explore,
    "get": get,
    "insert": insert,
    "supersede": supersede,
    "retire": retire,
    "reject": reject,
    "dispute": dispute,
    "classify": classify,
    "explain": explain,
    "sources_diff": sources_diff,
    "sources_refresh": sources_refresh,
    "maintain_status": maintain_status,
    "maintain_scan": maintain_scan,
    "maintain_resolve": maintain_resolve,
    "status": status,
}
