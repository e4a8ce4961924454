"""`graft model`: which models there are; the embedder's own program does the work."""

import subprocess
import sys

import click
from click.shell_completion import CompletionItem

from graft_client.cli.inputs import complete_file
from graft_client.cli.options import GraftGroup
from graft_client.cli.profiles import complete_models
from graft_client.cli.session import Session, with_session
from graft_client.errors import GraftError
from graft_client.programs import EMBEDDER_MODULES, INSTALL_LINE, missing


@click.group(cls=GraftGroup)
def model() -> None:
    """List, fetch and choose models.

    \b
    Example:
        graft model pull bge-m3
    """


@model.command("list")
@with_session
def list_models(session: Session) -> None:
    """List the models: which are there, which is the default.

    \b
    Example:
        graft model list
    """
    _run(session, "list")


@model.command()
@click.argument("name", default="bge-m3", shell_complete=complete_models)
@with_session
def pull(session: Session, name: str) -> None:
    """Fetch the model NAME (default bge-m3) and check its hash; goes on where it was cut off.

    \b
    Example:
        graft model pull bge-m3
    """
    _run(session, "pull", "--", name)


def complete_models_or_files(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the models that this home knows; where none fits, let the shell offer its files."""
    return complete_models(context, parameter, incomplete) or complete_file(
        context, parameter, incomplete
    )


@model.command()
@click.argument("path_or_name", metavar="PATH|NAME", shell_complete=complete_models_or_files)
@click.option("--name", help="Name to register a file under; default: made of the file's.")
@click.option(
    "--pooling",
    type=click.Choice(["mean", "cls", "last"]),
    help="How token vectors become one; default: what the file says.",
)
@click.option("--query-prefix", help='Put before every question, such as "query: ".')
@click.option("--passage-prefix", help='Put before every passage, such as "passage: ".')
@with_session
def use(session: Session, /, *, path_or_name: str, **options: str | None) -> None:
    """Make a model the default of profiles without vectors; a GGUF file is registered first.

    Profiles that have vectors keep their model; graft reindex moves them.

    \b
    Example:
        graft model use ~/models/my-embedder.gguf
    """
    flags = [
        f"--{option.replace('_', '-')}={value}"
        for option, value in options.items()
        if value is not None
    ]
    _run(session, "use", *flags, "--", path_or_name)


def _run(session: Session, action: str, *arguments: str) -> None:
    """Run the embedder's program with this terminal; its exit code is ours."""
    lacking = missing(EMBEDDER_MODULES)
    if lacking:
        raise GraftError(
            f"models need {', '.join(lacking)}, which is not installed; run: {INSTALL_LINE}",
            details={"install": INSTALL_LINE},
        )
    command = [sys.executable, "-m", "graft_embedder", "model", action]
    command += ["--home", str(session.configuration.home.root)]
    if session.output.as_json:
        command.append("--json")
    elif session.output.quiet:
        command.append("--quiet")
    command += arguments
    done = subprocess.run(command, check=False)  # noqa: S603 - our own module
    session.context.exit(done.returncode)
