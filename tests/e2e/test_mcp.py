"""A coding agent's client speaks to `graft mcp`, on real services, over real pipes."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult, Implementation, TextContent
from tests.e2e.conftest import GRAFT, Shell
from tests.e2e.test_scopes import repository

from graft_client.mcp.catalogue import CATALOGUE

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

TITLE = "The staging pooler listens on port 6432"
QUESTION = "on which port does the staging pooler listen"
REMOTE = "git@github.com:me/app.git"
WHY = "because"


class Agent:
    """A client that is connected to a server."""

    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool."""
        return await self.session.call_tool(tool, arguments)

    async def done(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that does what it is asked; return its data."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        data: dict[str, Any] | None = result.structured_content
        assert data is not None
        return data

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Call a tool that refuses; return what it says."""
        result = await self.call(tool, **arguments)
        assert result.is_error, text_of(result)
        return text_of(result)


def text_of(result: CallToolResult) -> str:
    """Return the text of a result."""
    return "\n".join(each.text for each in result.content if isinstance(each, TextContent))


@asynccontextmanager
async def connected(shell: Shell, *arguments: str) -> AsyncIterator[Agent]:
    """Start a server in the shell's directory, and shake hands."""
    parameters = StdioServerParameters(
        command=str(GRAFT), args=["mcp", *arguments], env=shell.environment(), cwd=shell.directory
    )
    async with (
        stdio_client(parameters) as (incoming, outgoing),
        ClientSession(
            incoming, outgoing, client_info=Implementation(name="claude-code", version="2.1")
        ) as session,
    ):
        await session.initialize()
        yield Agent(session)


def run(shell: Shell, use: Callable[[Agent], Awaitable[None]], *arguments: str) -> None:
    """Run *use* with a client."""

    async def main() -> None:
        async with connected(shell, *arguments) as agent:
            await use(agent)

    asyncio.run(main())


@pytest.fixture
def here(shell: Shell, tmp_path: Path) -> Shell:
    """A shell in a repository with a file."""
    directory = repository(tmp_path / "app", REMOTE)
    (directory / "conf.py").write_text("port = 6432\n")
    return replace(shell, directory=directory)


def test_an_agent_asks_saves_and_looks(here: Shell) -> None:
    async def use(agent: Agent) -> None:
        listed = await agent.session.list_tools()
        assert {each.name for each in listed.tools} == CATALOGUE.keys()
        assert (await agent.done("status"))["saves_to"] == "project:github.com/me/app"
        saved = await agent.done(
            "insert", title=TITLE, body="See conf.py", keywords='["pool"]', sources="file:conf.py"
        )
        answer = await agent.done("query", text=QUESTION)
        assert (answer["hit"], answer["source_check"]) == ("STRONG", "same")
        assert answer["note"]["author"] == "claude-code 2.1"
        assert (await agent.done("explain", receipt=answer["receipt"]))["hit"] == "STRONG"
        found = await agent.done("retrieve", text="pooler", limit="5")
        assert [each["id"] for each in found["results"]] == [saved["id"]]
        assert (await agent.done("explore", text="pooler"))["nodes"]
        assert (await agent.done("classify", title="a pooler"))["suggestions"]
        assert (await agent.done("get", id=saved["id"][-8:]))["body"] == "See conf.py"
        (here.directory / "conf.py").write_text("port = 7000\n")
        assert (await agent.done("sources_diff"))["sources"][0]["state"] == "changed"
        assert (await agent.done("query", text=QUESTION))["hit"] != "STRONG"
        assert len((await agent.done("sources_refresh", reason=WHY))["events"]) == 1
        assert (await agent.done("query", text=QUESTION))["hit"] == "STRONG"

    run(here, use)


def test_an_agent_corrects_and_tidies(here: Shell) -> None:
    async def use(agent: Agent) -> None:
        old = await agent.done("insert", title=TITLE)
        new = await agent.done("insert", title="The staging pooler listens on port 7000")
        assert (await agent.done("maintain_status"))["sweeping"]
        items = (await agent.done("maintain_scan"))["items"]
        item = next(each["id"] for each in items if each["kind"] == "supersession")
        await agent.done("maintain_resolve", item=item, decision="keep-both", reason=WHY)
        replaced = await agent.done("supersede", id=old["id"], by=new["id"], reason=WHY)
        assert replaced["state"] == "superseded"
        assert (await agent.done("query", text=QUESTION))["note"]["id"] == new["id"]
        assert (await agent.done("dispute", id=new["id"], reason=WHY))["trust"] == "disputed"
        assert (await agent.done("retire", id=new["id"], reason=WHY))["state"] == "retired"
        wrong = await agent.done("insert", title="rsync has a flag --fast-copy")
        assert (await agent.done("reject", id=wrong["id"], reason=WHY))["trust"] == "rejected"
        said = await agent.refused("insert", title="rsync has a flag --fast-copy")
        assert said.startswith("REJECTED_TEXT")

    run(here, use)


def test_a_note_is_read_as_a_resource(here: Shell) -> None:
    note = here.insert(TITLE, "Since the move.")

    async def use(agent: Agent) -> None:
        templates = await agent.session.list_resource_templates()
        assert [each.uri_template for each in templates.resource_templates] == ["graft://note/{id}"]
        read = await agent.session.read_resource(f"graft://note/{note['id']}")
        assert "Since the move." in read.contents[0].text  # type: ignore[union-attr]

    run(here, use)


def test_no_argument_shows_another_project(here: Shell, tmp_path: Path) -> None:
    there = replace(here, directory=repository(tmp_path / "theirs", "git@github.com:me/other.git"))
    theirs = there.insert("Their gateway wants the header X-Tenant")
    ours = here.insert(TITLE)

    async def use(agent: Agent) -> None:
        answer = await agent.done("query", text="which header does their gateway want")
        assert theirs["id"] not in json.dumps(answer)
        assert "X-Tenant" not in json.dumps(answer)
        assert "NOTE_NOT_FOUND" in await agent.refused("get", id=theirs["id"])
        assert "NOTE_NOT_FOUND" in await agent.refused("retire", id=theirs["id"], reason=WHY)
        assert "unknown arguments: scopes" in await agent.refused("query", text="x", scopes=["*"])
        assert (await agent.done("get", id=ours["id"]))["title"] == TITLE
        assert (await agent.done("status"))["notes"] == 1

    run(here, use)


def test_without_a_project_a_note_is_saved_for_everywhere_on_purpose_alone(shell: Shell) -> None:
    async def use(agent: Agent) -> None:
        assert (await agent.done("status"))["saves_to"] is None
        assert "scope: user" in await agent.refused("insert", title=TITLE)
        assert (await agent.done("insert", title=TITLE, scope="user"))["scope"] == "user"

    run(shell, use, "--workspace", "/")


def test_the_handshake_starts_nothing(here: Shell) -> None:
    async def use(agent: Agent) -> None:
        assert (await agent.session.list_tools()).tools
        assert here.daemons("memstore") == here.daemons("embedder") == []
        await agent.done("status")
        assert len(here.daemons("memstore")) == 1

    run(here, use)


def test_a_hundred_calls_at_once_of_each_of_two_agents_all_land(here: Shell) -> None:
    titles = {f"note number {number} of many" for number in range(200)}

    async def save(some: list[str]) -> None:
        async with connected(here) as agent:
            await asyncio.gather(*(agent.done("insert", title=each) for each in some))

    async def both() -> None:
        every = sorted(titles)
        await asyncio.gather(save(every[:100]), save(every[100:]))

    asyncio.run(both())

    assert {each["title"] for each in here.run("list", "--json").lines()} == titles


def test_a_killed_memstore_is_started_again_unnoticed(here: Shell) -> None:
    async def use(agent: Agent) -> None:
        saved = await agent.done("insert", title=TITLE)
        (pid,) = here.daemons("memstore")
        os.kill(pid, signal.SIGKILL)
        assert (await agent.done("get", id=saved["id"]))["title"] == TITLE
        assert here.daemons("memstore") != [pid]

    run(here, use)


def test_standard_output_is_the_protocol_alone_whatever_comes_in(here: Shell) -> None:
    shake = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "0"},
    }
    sent = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": shake},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "nope"}},
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "insert", "arguments": {"title": "t", "body": "x" * 10_000_000}},
        },
        {
            "jsonrpc": "2.0",
            "id": 4,
            "method": "tools/call",
            "params": {"name": "query", "arguments": {"text": QUESTION}},
        },
    ]
    lines = [json.dumps(each) for each in sent]
    lines[2:2] = ['{"jsonrpc": "2.0", "id": 9, "meth', "no JSON at all", "[]", "\udcff"]
    noisy = replace(here, environ={"GRAFT_LOG_LEVEL": "debug", "LC_ALL": "C", "LANG": "C"})
    process = subprocess.Popen(
        [GRAFT, "mcp"],
        cwd=noisy.directory,
        env=noisy.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for line in lines:
        process.stdin.write(line.encode("utf-8", "surrogateescape") + b"\n")
    process.stdin.flush()

    answers: dict[object, dict[str, Any]] = {}
    while 4 not in answers:
        read = json.loads(process.stdout.readline())
        assert read["jsonrpc"] == "2.0"
        answers[read.get("id")] = read
    process.stdin.close()

    assert answers[1]["result"]["protocolVersion"] == "2025-06-18"
    assert "there is no tool" in answers[2]["error"]["message"]
    assert "body" in answers[3]["result"]["content"][0]["text"]
    assert answers[3]["result"]["isError"]
    assert answers[4]["result"]["structuredContent"]["hit"] == "MISS"
    assert process.wait(30) == 0
    assert process.stdout.read() == b""
    process.stdout.close()
