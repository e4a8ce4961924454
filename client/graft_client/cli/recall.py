"""`graft query` and `graft retrieve`: finding notes."""

import click

from graft_client.cli.context import ask_here
from graft_client.cli.exits import NOT_STRONG
from graft_client.cli.inputs import STDIN, looking_back, read_text
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import Output, printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.waiting import model_shown
from graft_client.cli.words import doubts, hit_style, one_line, talk_notices, where_searched
from graft_client.limits import QUERY_BYTES_MAX, TOP_K, TOP_K_MAX
from graft_client.requests import AsOfFields
from graft_client.results import (
    DeadEnd,
    Fit,
    QueryAnswer,
    Retrieved,
    RetrievedNote,
    SourceCheck,
    short_id,
)

_SOURCE_CHECKS: dict[SourceCheck | None, str] = {
    "unchecked": "source not checked",
    "same": "its source is as it was",
}
_FIT_STYLES: dict[Fit, dict[str, object]] = {
    "inside": {"dim": True},
    "outside": {"fg": "yellow"},
    "unknown": {"dim": True},
}


@click.command(cls=GraftCommand)
@click.argument("text")
@click.option(
    "--context",
    multiple=True,
    metavar="SPEC",
    help="What is there, such as pypi:django@5.1 or os:linux; may be given again. What is not"
    " given is read from this machine and the lock files of the directory's project.",
)
@click.option("--exit-status", is_flag=True, help="End with 4 unless the answer is STRONG.")
@looking_back
@with_session
def query(
    session: Session,
    text: str,
    context: tuple[str, ...],
    exit_status: bool,
    instants: AsOfFields,
) -> None:
    """Ask whether a problem has been seen before.

    STRONG prints the note, WEAK its title, MISS what came near. TEXT - reads stdin. An error in
    TEXT, such as a traceback in a log, is looked for by itself, whatever stands around it. A note
    that applies to other versions than are there is WEAK.

    \b
    Example:
        graft query "tests hang when the database is locked"
    """
    question = read_text("text", text, QUERY_BYTES_MAX) if text == STDIN else text
    with model_shown(session):
        answer = ask_here(session, question, context, instants)
    if session.output.as_json:
        session.output.record(answer)
    else:
        write_answer(session.output, answer)
        talk_about(session.output, answer)
        talk_notices(session.output, answer.notices)
    if exit_status and answer.hit != "STRONG":
        session.context.exit(NOT_STRONG)


@click.command(cls=GraftCommand)
@click.argument("text")
@click.option(
    "--top-k",
    type=click.IntRange(1, TOP_K_MAX),
    default=TOP_K,
    show_default=True,
    help="Results wanted.",
)
@click.option("--keyword", "keywords", multiple=True, help="Only notes with this keyword.")
@click.option(
    "--match",
    type=click.Choice(["any", "all"]),
    default="any",
    show_default=True,
    help="Whether a note must carry any or all of the keywords.",
)
@looking_back
@with_session
def retrieve(
    session: Session,
    text: str,
    top_k: int,
    keywords: tuple[str, ...],
    match: str,
    instants: AsOfFields,
) -> None:
    """Rank notes by meaning and words together.

    TEXT - reads stdin.

    \b
    Example:
        graft retrieve "locked database" --top-k 5 --keyword sqlite
    """
    wanted = read_text("text", text, QUERY_BYTES_MAX) if text == STDIN else text
    with model_shown(session):
        found = session.graft.retrieve(
            wanted,
            top_k=top_k,
            keywords=keywords,
            match_all=match == "all",
            scope=session.read_scope,
            **instants,
        )
    if session.output.as_json:
        session.output.record(found)
        return
    session.output.table(
        ("id", "score", "title", "keywords"),
        (
            (short_id(each.id), f"{each.score:.4f}", _titled(each), ", ".join(each.keywords))
            for each in found.results
        ),
    )
    if not found.results:
        session.output.say(f"graft: nothing found; {_where(found)}")
    talk_degraded(session.output, found.degraded)
    talk_notices(session.output, found.notices)


def write_answer(output: Output, answer: QueryAnswer) -> None:
    """Write the gate's answer for a person."""
    note = answer.note
    if note is None:
        output.line(answer.hit, **hit_style(answer.hit))
        for near in answer.near:
            why = f" ({printable(near.why)})" if near.why else ""
            output.line(f"  {short_id(near.id)}  {printable(near.title)}{why}")
        return
    output.line(f"{answer.hit} {answer.probability:.0%}", **hit_style(answer.hit))
    output.quote(note.title, bold=True)
    output.line(one_line(note), dim=True)
    if answer.missing:
        output.line(f"what was missing: {printable('; '.join(answer.missing))}")
    _write_check(output, answer)
    for finding in answer.applicability:
        output.line(printable(finding.words), **_FIT_STYLES[finding.fit])
    if note.body is None:
        output.line(f"open it with: graft get {short_id(note.id)}")
    elif note.body:
        output.line()
        output.quote(note.body)
    _write_besides(output, answer)


def _write_besides(output: Output, answer: QueryAnswer) -> None:
    """Write what is near the question and speaks against the answer, or does not work."""
    for contrary in answer.against:
        title = printable(contrary.title)
        output.line(f"but: {short_id(contrary.id)}  {title} ({printable(contrary.why)})")
    for dead_end in answer.dead_ends:
        _write_dead_end(output, dead_end)


def _write_check(output: Output, answer: QueryAnswer) -> None:
    """Say whether the files that a note rests on were looked at; what is wrong has been said."""
    if answer.source_check in _SOURCE_CHECKS:
        output.line(_SOURCE_CHECKS[answer.source_check], dim=True)


def _write_dead_end(output: Output, dead_end: DeadEnd) -> None:
    findings = "; ".join(each.words for each in dead_end.applicability)
    why = f" ({printable(findings)})" if findings else ""
    output.line(f"dead end: {short_id(dead_end.id)}  {printable(dead_end.title)}{why}")


def _titled(result: RetrievedNote) -> str:
    title = result.title if result.kind == "note" else f"{result.kind}: {result.title}"
    return title + doubts(result.trust, result.trust_reason)


def talk_about(output: Output, answer: QueryAnswer) -> None:
    """Say on stderr where an answer that is not STRONG was looked for, and how to ask why."""
    if answer.hit != "STRONG":
        output.say(f"graft: {where_searched(answer.scopes, answer.notes_elsewhere)}")
    if answer.receipt:
        output.say(f"graft: why so: graft explain {short_id(answer.receipt)}")
    talk_degraded(output, answer.degraded)


def talk_degraded(output: Output, degraded: tuple[str, ...]) -> None:
    """Say on stderr what an answer had to do without."""
    if degraded:
        output.say(
            f"graft: answered without {', '.join(degraded)}; graft status and graft doctor tell why"
        )


def _where(found: Retrieved) -> str:
    return where_searched(found.scopes, found.notes_elsewhere)
