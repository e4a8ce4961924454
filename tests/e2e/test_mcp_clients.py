"""Every tool of `graft mcp` through two implementations of the protocol, over pipes and HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation
from tests.e2e.agents import http_server, run_typescript, typescript_agent
from tests.e2e.conftest import GRAFT, Shell
from tests.e2e.test_scopes import repository

from graft_client.mcp.catalogue import CATALOGUE
from graft_client.mcp.prompts import PROMPTS

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

TITLE = "The staging pooler listens on port 6432"
WHY = "because"
Given = dict[str, Any]


def call(tool: str, *, saved_as: str = "", **arguments: Any) -> Given:
    return {"tool": tool, "arguments": arguments, "as": saved_as}


EVERY_TOOL = [
    call("status"),
    call("insert", title=TITLE, keywords="pool", sources=["file:conf.py"], saved_as="old"),
    call("insert", title="The staging pooler listens on port 7000", saved_as="new"),
    call("insert", title="rsync has a flag --fast-copy", saved_as="wrong"),
    call("query", text="on which port does the staging pooler listen", saved_as="answer"),
    call("explain", receipt="$answer.receipt"),
    call("retrieve", text="pooler", limit="2"),
    call("explore", text="pooler"),
    call("get", id="$new.id"),
    call("classify", title="a pooler"),
    call("sources_diff"),
    call("sources_refresh", reason=WHY),
    call("maintain_status"),
    call("maintain_scan"),
    call("supersede", id="$old.id", by="$new.id", reason=WHY),
    call("dispute", id="$new.id", reason=WHY),
    call("retire", id="$new.id", reason=WHY),
    call("reject", id="$wrong.id", reason=WHY),
    call("maintain_resolve", item=1, decision="keep-both", reason=WHY),
    call("query", text="x", scopes=["*"]),
    call("insert", title="t", keywords=[42]),
]
REFUSED = ["maintain_resolve", "query", "insert"]
"""The last three: nothing has that number any more, and arguments that cannot be meant."""


@pytest.fixture
def here(shell: Shell, tmp_path: Path) -> Shell:
    directory = repository(tmp_path / "app", "git@github.com:me/app.git")
    (directory / "conf.py").write_text("port = 6432\n")
    return replace(shell, directory=directory)


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_the_typescript_client_runs_every_tool(here: Shell, tmp_path: Path, way: str) -> None:
    program = typescript_agent(tmp_path / "node")

    if way == "stdio":
        first, given = run_typescript(program, here, ["stdio", str(GRAFT), "mcp"], EVERY_TOOL)
    else:
        with http_server(here) as (url, token):
            first, given = run_typescript(program, here, ["http", url, token], EVERY_TOOL)

    assert set(first["tools"]) == CATALOGUE.keys() == {each["tool"] for each in EVERY_TOOL}
    assert set(first["prompts"]) == PROMPTS.keys()
    assert first["templates"] == ["graft://note/{id}"]
    assert [each["tool"] for each in given if each["refused"]] == REFUSED, given
    assert given[0]["data"]["saves_to"] == "project:github.com/me/app"
    assert given[8]["data"]["author"] == "typescript-agent 1.0"


def test_the_folder_that_a_client_has_open_is_the_workspace(here: Shell, tmp_path: Path) -> None:
    program = typescript_agent(tmp_path / "node")
    elsewhere = replace(here, directory=tmp_path)
    status = [call("status")]
    root = here.directory.as_uri()

    _, piped = run_typescript(program, elsewhere, ["stdio", str(GRAFT), "mcp"], status, root)
    with http_server(elsewhere) as (url, token):
        _, there = run_typescript(program, elsewhere, ["http", url, token], status, root)
        _, nowhere = run_typescript(program, elsewhere, ["http", url, token], status)

    saves_to = [each[0]["data"]["saves_to"] for each in (piped, there, nowhere)]
    assert saves_to == ["project:github.com/me/app"] * 2 + [None]


@asynccontextmanager
async def over_http(url: str, token: str) -> AsyncIterator[ClientSession]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as client,
        streamable_http_client(url, http_client=client) as (incoming, outgoing),
        ClientSession(
            incoming, outgoing, client_info=Implementation(name="python", version="1")
        ) as session,
    ):
        await session.initialize()
        yield session


def test_each_client_over_http_is_a_session_of_its_own_and_all_calls_land(here: Shell) -> None:
    titles = {f"note number {number} of many" for number in range(100)}

    async def save(url: str, token: str, some: list[str]) -> None:
        async with over_http(url, token) as session:
            calls = (session.call_tool("insert", {"title": each}) for each in some)
            assert not any(each.is_error for each in await asyncio.gather(*calls))

    async def main(url: str, token: str) -> None:
        every = sorted(titles)
        await asyncio.gather(save(url, token, every[:50]), save(url, token, every[50:]))

    with http_server(here) as (url, token):
        asyncio.run(main(url, token))

    logged = here.run("log", "--json").lines()
    assert {each["title"] for each in here.run("list", "--json").lines()} == titles
    saved = [each["session"] for each in logged if each["action"] == "insert"]
    assert sorted(saved.count(each) for each in set(saved)) == [50, 50]


def test_without_the_token_nothing_is_answered(here: Shell) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "0"},
        },
    }

    def status_of(url: str, *headers: tuple[str, str]) -> int:
        takes = ("accept", "application/json, text/event-stream")
        return httpx2.post(url, json=hello, headers=[takes, *headers], timeout=20).status_code

    with http_server(here) as (url, token):
        right = ("authorization", f"Bearer {token}")
        assert status_of(url, right) == 200
        assert status_of(url) == 401
        assert status_of(url, ("authorization", f"Bearer {'x' * len(token)}")) == 401
        assert status_of(url, right, ("host", "evil.example")) == 421
        assert status_of(url, right, ("origin", "http://evil.example")) == 403
        assert httpx2.get(url, timeout=20).status_code == 401
