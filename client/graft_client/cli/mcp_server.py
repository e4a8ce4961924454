"""`graft mcp`: the server that coding agents start."""

from contextlib import suppress
from pathlib import Path
from typing import TypedDict

import click
from typing_extensions import Unpack

from graft_client.cli.options import GraftCommand
from graft_client.cli.session import Session, with_session
from graft_client.errors import GraftError, InputError
from graft_client.limits import ANSWER_TOKENS, ANSWER_TOKENS_MAX, ANSWER_TOKENS_MIN
from graft_client.programs import INSTALL_LINE, MCP_MODULES, missing

MCP_PORT = 8472
"""Where HTTP is served unless another port is named, so that clients' settings go on holding."""


class Http(TypedDict):
    """Options of HTTP."""

    http: bool
    port: int | None
    new_token: bool


@click.command(cls=GraftCommand)
@click.option(
    "--workspace",
    metavar="DIRECTORY",
    help="Directory whose project the agent is bound to.  [default: the working directory]",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(ANSWER_TOKENS_MIN, ANSWER_TOKENS_MAX),
    default=ANSWER_TOKENS,
    show_default=True,
    help="Tokens that one answer may take, about.",
)
@click.option(
    "--http",
    is_flag=True,
    help="Serve over HTTP on 127.0.0.1, for clients that show the token in mcp.token of the home.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help=f"Port with --http; 0 takes one that is free.  [default: {MCP_PORT}]",
)
@click.option(
    "--new-token", is_flag=True, help="With --http: make a new token, and forget the old."
)
@with_session
def mcp(session: Session, *, workspace: str | None, max_tokens: int, **http: Unpack[Http]) -> None:
    """Serve a coding agent by the Model Context Protocol, over standard input and output.

    The agent sees the workspace's project and user, and no argument of its tools widens that. It
    may save and correct notes; it never approves, lifts a rejection or erases. Where no workspace
    is named it is the folder that the client says it has open, else the working directory.

    \b
    Example:
        graft mcp --workspace ~/src/app
    """
    if not http["http"] and (http["port"] is not None or http["new_token"]):
        raise InputError("--port and --new-token are of --http; add it, or leave them out")
    lacking = missing(MCP_MODULES)
    if lacking:
        raise GraftError(
            f"graft mcp needs {', '.join(lacking)}, which is not installed; run: {INSTALL_LINE}",
            details={"install": INSTALL_LINE},
        )
    # The protocol's library alone takes most of a second to load.
    import anyio  # noqa: PLC0415

    from graft_client.mcp.server import ServerOptions, serve_stdio  # noqa: PLC0415
    from graft_client.mcp.workspace import workspace_of  # noqa: PLC0415

    options = ServerOptions(
        configuration=session.configuration,
        workspace=workspace_of(Path(workspace)) if workspace else None,
        tokens=max_tokens,
    )
    if not http["http"]:
        anyio.run(serve_stdio, options)
        return

    from graft_client.mcp.bearer import bearer_token  # noqa: PLC0415
    from graft_client.mcp.over_http import listen, serve_http, url_of  # noqa: PLC0415

    home = session.configuration.home
    token = bearer_token(home, renew=http["new_token"])
    with listen(MCP_PORT if http["port"] is None else http["port"]) as listener:
        told = {"url": url_of(listener), "token_file": str(home.mcp_token_file)}
        if session.output.as_json:
            session.output.record(told)
        else:
            session.output.line(told["url"])
            session.output.say(f"Clients show the token in {told['token_file']}. Ctrl-C ends it.")
        with suppress(KeyboardInterrupt):
            anyio.run(serve_http, options, listener, token)
