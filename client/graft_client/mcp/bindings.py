"""The memory of each session that a server serves, bound to one workspace at its first call."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from graft_client.async_client import AsyncGraft
from graft_client.mcp.workspace import Workspace, workspace_among
from graft_client.settings import Configuration

SESSIONS_MAX = 64
"""Sessions of one server that are kept; one more closes the one that was used longest ago."""
Roots = Callable[[], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """One session: its memory, and to what that is bound for good."""

    graft: AsyncGraft
    workspace: Workspace


@dataclass(slots=True)
class _Session:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    binding: Binding | None = None


class Bindings:
    """The sessions of one server, by the names that the transport gives them.

    Over pipes there is one, without a name. No service is looked for before a session's first
    call, and no session is bound twice.
    """

    def __init__(self, configuration: Configuration, named: Workspace | None) -> None:
        """Bind nothing yet.

        Args:
            configuration: what calls go by; its directory is the last resort.
            named: the workspace that whoever started the server named; None: the client's.
        """
        self._configuration = configuration
        self._named = named
        self._sessions: OrderedDict[str, _Session] = OrderedDict()

    async def of(self, name: str, agent: str, roots: Roots) -> Binding:
        """Return the binding of session *name*; *roots* asks its client, *agent*, for folders."""
        session = self._sessions.setdefault(name, _Session())
        self._sessions.move_to_end(name)
        if len(self._sessions) > SESSIONS_MAX:
            _, oldest = self._sessions.popitem(last=False)
            await _close(oldest)
        async with session.lock:
            if session.binding is None:
                workspace = self._named
                if workspace is None:
                    workspace = workspace_among(await roots(), self._configuration.directory)
                configuration = replace(self._configuration, agent=agent)
                bound = workspace.bind(configuration, one_of_many=bool(name))
                session.binding = Binding(
                    graft=AsyncGraft(configuration=bound), workspace=workspace
                )
            return session.binding

    async def close(self) -> None:
        """Close the connections of all sessions."""
        while self._sessions:
            _, session = self._sessions.popitem()
            await _close(session)


async def _close(session: _Session) -> None:
    if session.binding is not None:
        await session.binding.graft.close()
