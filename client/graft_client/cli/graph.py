"""`graft explore` and `graft classify`: what lies around a text, and what to call it."""

import click

from graft_client.cli.inputs import STDIN, looking_back, read_text
from graft_client.cli.options import GraftCommand
from graft_client.cli.recall import talk_degraded
from graft_client.cli.session import Session, with_session
from graft_client.cli.tree import draw
from graft_client.cli.waiting import model_shown
from graft_client.cli.words import where_searched
from graft_client.limits import BEAM, BEAM_MAX, DEPTH, DEPTH_MAX, QUERY_BYTES_MAX
from graft_client.requests import AsOfFields


@click.command(cls=GraftCommand)
@click.argument("text")
@click.option(
    "--keyword", "keywords", multiple=True, help="Begin at notes that carry this keyword."
)
@click.option(
    "--depth",
    type=click.IntRange(1, DEPTH_MAX),
    default=DEPTH,
    show_default=True,
    help="Steps to walk.",
)
@click.option(
    "--beam",
    type=click.IntRange(1, BEAM_MAX),
    default=BEAM,
    show_default=True,
    help="Notes to keep at each step.",
)
@looking_back
@with_session
def explore(
    session: Session,
    text: str,
    keywords: tuple[str, ...],
    depth: int,
    beam: int,
    instants: AsOfFields,
) -> None:
    """Walk from the notes nearest to TEXT to those that they are joined with.

    Notes are joined in the background after they are saved: by a keyword that both carry, and
    because their titles are alike. Prints the paths. TEXT - reads stdin.

    \b
    Example:
        graft explore "locked database" --keyword sqlite --depth 2
    """
    begin = read_text("text", text, QUERY_BYTES_MAX) if text == STDIN else text
    with model_shown(session):
        found = session.graft.explore(
            begin,
            keywords=keywords,
            depth=depth,
            beam=beam,
            scope=session.read_scope,
            **instants,
        )
    if session.output.as_json:
        session.output.record(found)
        return
    for line, style in draw(found):
        session.output.line(line, **style)
    if found.hint:
        session.output.say(f"graft: {found.hint}")
    if not found.nodes:
        where = where_searched(found.scopes, found.notes_elsewhere)
        session.output.say(f"graft: nothing found; {where}")
    talk_degraded(session.output, found.degraded)


@click.command(cls=GraftCommand)
@click.option("--title", required=True, help="Title of the note that is to be saved.")
@with_session
def classify(session: Session, title: str) -> None:
    """Suggest keywords for a note before it is saved.

    They are those of the notes nearest to its title, the most telling first.

    \b
    Example:
        graft classify --title "pip fails behind the proxy"
    """
    with model_shown(session):
        found = session.graft.classify(title, scope=session.read_scope)
    if session.output.as_json:
        session.output.record(found)
        return
    session.output.table(
        ("keyword", "score"),
        ((each.keyword, f"{each.score:.2f}") for each in found.suggestions),
    )
    if not found.suggestions:
        session.output.say("graft: no note near this title carries a keyword")
    talk_degraded(session.output, found.degraded)
