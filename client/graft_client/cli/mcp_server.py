"""`graft mcp`: the server that coding agents start."""

from pathlib import Path

import click

from graft_client.cli.options import GraftCommand
from graft_client.cli.session import Session, with_session
from graft_client.errors import GraftError
from graft_client.limits import ANSWER_TOKENS, ANSWER_TOKENS_MAX, ANSWER_TOKENS_MIN
from graft_client.programs import INSTALL_LINE, MCP_MODULES, missing


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
@with_session
def mcp(session: Session, workspace: str | None, max_tokens: int) -> None:
    """Serve a coding agent over standard input and output, by the Model Context Protocol.

    The agent sees the workspace's project and user, and no argument of its tools widens that. It
    may save and correct notes; it never approves, lifts a rejection or erases.

    \b
    Example:
        graft mcp --workspace ~/src/app
    """
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

    directory = Path(workspace) if workspace else session.configuration.directory
    options = ServerOptions(
        configuration=session.configuration,
        workspace=workspace_of(directory),
        tokens=max_tokens,
    )
    anyio.run(serve_stdio, options)
