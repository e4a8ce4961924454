"""The server and the protocol's own client, before a fake memstore: bindings, prompts, pages."""

import asyncio
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client.context import ClientRequestContext
from mcp_types import ListRootsResult, Root, TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import FileUrl
from tests.unit.client.fake_memstore import FakeState

from graft_client.mcp.catalogue import CATALOGUE
from graft_client.mcp.prompts import ARGUMENT_CHARS_MAX, PROMPTS
from graft_client.mcp.server import ServerOptions, make_server
from graft_client.mcp.workspace import workspace_of
from graft_client.settings import configure

MODES = ["legacy", *MODERN_PROTOCOL_VERSIONS]
Use = Callable[[Client], Awaitable[None]]


def repository(path: Path) -> Path:
    path.mkdir()
    subprocess.run(["git", "init", "--quiet", path], check=True)
    return path


def options(home: Path, directory: Path, named: Path | None = None) -> ServerOptions:
    return ServerOptions(
        configuration=configure(home=home, directory=directory, environ={}),
        workspace=None if named is None else workspace_of(named),
    )


def run(
    served: ServerOptions, use: Use, *, mode: str = "legacy", roots: list[str] | None = None
) -> None:
    async def told(context: ClientRequestContext) -> ListRootsResult:  # noqa: ARG001 - by the protocol
        return ListRootsResult(roots=[Root(uri=FileUrl(each)) for each in roots or []])

    async def main() -> None:
        answers = None if roots is None else told
        server = make_server(served)
        async with Client(server, mode=mode, list_roots_callback=answers) as client:
            await use(client)

    asyncio.run(main())


def saves_to(served: ServerOptions, **client: Any) -> list[str]:
    found: list[str] = []

    async def use(client: Client) -> None:
        for _ in range(2):
            status = await client.call_tool("status", {})
            assert status.structured_content is not None
            found.append(status.structured_content["saves_to"])

    run(served, use, **client)
    return found


@pytest.mark.parametrize("mode", MODES)
def test_each_revision_of_the_protocol_is_served(
    home: Path, memstore: FakeState, tmp_path: Path, mode: str
) -> None:
    async def use(client: Client) -> None:
        assert [each.name for each in (await client.list_tools()).tools] == list(CATALOGUE)
        assert [each.name for each in (await client.list_prompts()).prompts] == list(PROMPTS)
        assert (await client.list_resources()).resources == []
        saved = await client.call_tool("insert", {"title": "a fact", "scope": "user"})
        assert not saved.is_error

    run(options(home, tmp_path), use, mode=mode)

    assert [each.title for each in memstore.notes.values()] == ["a fact"]


def test_a_list_has_one_page(home: Path, tmp_path: Path) -> None:
    async def use(client: Client) -> None:
        for listed in (
            client.list_tools,
            client.list_prompts,
            client.list_resources,
            client.list_resource_templates,
        ):
            with pytest.raises(MCPError, match="the list has one"):
                await listed(cursor="2")

    run(options(home, tmp_path), use)


@pytest.mark.usefixtures("memstore")
def test_the_folder_that_a_client_has_open_beats_the_working_directory(
    home: Path, tmp_path: Path
) -> None:
    here, there = repository(tmp_path / "here"), repository(tmp_path / "there")
    plain = tmp_path / "plain folder"
    plain.mkdir()
    served = options(home, here)

    assert saves_to(served) == [f"project:{here}"] * 2
    assert saves_to(served, roots=[there.as_uri()]) == [f"project:{there}"] * 2
    assert saves_to(served, roots=[plain.as_uri(), there.as_uri()]) == [f"project:{there}"] * 2
    assert saves_to(served, roots=[plain.as_uri()]) == [None] * 2
    assert saves_to(served, roots=[]) == [f"project:{here}"] * 2
    assert saves_to(served, roots=["file://elsewhere/x", "file:///%00"]) == [f"project:{here}"] * 2


@pytest.mark.usefixtures("memstore")
def test_the_workspace_that_was_named_beats_the_folder_that_a_client_has_open(
    home: Path, tmp_path: Path
) -> None:
    here, there = repository(tmp_path / "here"), repository(tmp_path / "there")

    bound = saves_to(options(home, tmp_path, here), roots=[there.as_uri()])

    assert bound == [f"project:{here}"] * 2


def test_every_call_is_bound_to_what_its_session_was_bound_to_first(
    home: Path, memstore: FakeState, tmp_path: Path
) -> None:
    here = repository(tmp_path / "here")

    async def use(client: Client) -> None:
        await asyncio.gather(*(client.call_tool("query", {"text": f"q {n}"}) for n in range(20)))

    run(options(home, here), use)

    asked = memstore.requests("Query")
    assert len(asked) == 20
    assert {tuple(each.scope.scopes) for each in asked} == {(f"project:{here}", "user")}  # type: ignore[attr-defined]
    assert len({each["graft-session"] for each in memstore.metadata}) == 1


def test_a_prompt_is_told_with_its_argument(home: Path, tmp_path: Path) -> None:
    async def use(client: Client) -> None:
        got = await client.get_prompt("recall", {"problem": "pg pool {it} is empty"})
        (said,) = got.messages
        assert isinstance(said.content, TextContent)
        assert "pg pool {it} is empty" in said.content.text
        (said,) = (await client.get_prompt("save", {})).messages
        assert isinstance(said.content, TextContent)
        assert "{it}" not in said.content.text
        for name, given, why in (
            ("nope", {}, "there is no prompt"),
            ("recall", {"problem": " "}, "problem is missing"),
            ("recall", {"problem": "x" * (ARGUMENT_CHARS_MAX + 1)}, "give 4,000 at most"),
            ("tidy", {"scope": "*"}, "unknown arguments: scope"),
        ):
            with pytest.raises(MCPError, match=why):
                await client.get_prompt(name, given)

    run(options(home, tmp_path), use)


def test_every_tool_that_a_prompt_names_is_there() -> None:
    words = {word.strip(".,;:") for each in PROMPTS.values() for word in each.text.split()}

    named = {word for word in words if "_" in word}

    assert named == {"maintain_status", "maintain_scan", "maintain_resolve"} | {
        "sources_diff",
        "sources_refresh",
    }
    assert named <= CATALOGUE.keys()
