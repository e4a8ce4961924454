"""The rival of `graft mcp`: the least server that the same SDK can make, of one tool."""

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

TOOL = types.Tool(name="echo", description="Echo.", input_schema={"type": "object"})


async def list_tools(
    _: ServerRequestContext, __: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    """List the tool."""
    return types.ListToolsResult(tools=[TOOL])


async def serve() -> None:
    """Serve until the pipe is closed."""
    server = Server("bare", on_list_tools=list_tools)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve)
