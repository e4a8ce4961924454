"""`graft review`: what waits for the reviewer, shown to anybody, decided by one."""

import sys
from itertools import islice
from typing import TYPE_CHECKING, get_args

import click

from graft_client.cli.as_reviewer import reviewer_of
from graft_client.cli.keyboard import NoTerminalError
from graft_client.cli.options import GraftGroup
from graft_client.cli.output import Output, printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.word_diff import marked, word_diff
from graft_client.cli.words import count_of, day_and_time, one_line
from graft_client.errors import GraftError, InputError
from graft_client.results import Note, short_id
from graft_client.reviews import Decided, ReviewDecision, ReviewItem, ReviewKind

if TYPE_CHECKING:
    from graft_client.client import Graft

WHY = "reviewed"
SKIP, QUIT = "skip", "quit"

_ITEM = click.argument("item", type=click.IntRange(min=1))
_REASON = click.option("--reason", default=WHY, show_default=True, help="Why; kept in the log.")


@click.group(cls=GraftGroup, invoke_without_command=True)
@click.pass_context
def review(context: click.Context) -> None:
    """Decide what waits: without a subcommand one after another, the passphrase asked once.

    Anybody may list and show. Deciding asks for the reviewer's passphrase on the terminal.

    \b
    Example:
        graft review
    """
    if context.invoked_subcommand is None:
        _walk()


@with_session
def _walk(session: Session) -> None:
    """Go through the queue; what is skipped waits on."""
    output = session.output
    if output.as_json:
        raise InputError("going through the queue is for people; use graft review list --json")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise NoTerminalError(
            "the queue is gone through on a terminal, and there is none here; open one and run: "
            "graft review"
        )
    numbers = [each.item for each in session.graft.review_items(scope=session.read_scope)]
    if not numbers:
        output.line("nothing waits for the reviewer")
        return
    output.line(f"{count_of(len(numbers), 'item')} wait for you")
    with reviewer_of(session) as graft:
        for number in numbers:
            if not _judge(graft, output, number):
                return


def _judge(graft: "Graft", output: Output, number: int) -> bool:
    """Show an item and do what is answered; tell whether to go on."""
    try:
        item = graft.review_item(number)
        output.line()
        _show(output, item)
        if item.decision is not None:
            return True
        answer = click.prompt(
            "Decide",
            type=click.Choice([*item.decisions, SKIP, QUIT]),
            default=SKIP,
            err=True,
        )
        if answer in (SKIP, QUIT):
            return bool(answer == SKIP)
        decision = next(each for each in item.decisions if each == answer)
        note = _which(item, decision)
        reason = click.prompt("Why", default=WHY, err=True)
        _tell(output, graft.decide(number, decision, reason=reason, note=note))
    except GraftError as error:
        if error.reason == "NOT_ALLOWED":
            raise
        output.error(error)
    return True


def _which(item: ReviewItem, decision: ReviewDecision) -> str:
    """Ask which note of a pair is meant, where the decision is about one of the two."""
    if "keep-both" not in item.decisions or item.other is None or item.note is None:
        return ""
    if decision not in {"reject", "supersede"}:
        return ""
    what = "stays" if decision == "supersede" else "was wrong"
    answer = click.prompt(
        f"Which note {what}",
        type=click.Choice([short_id(item.note.id), short_id(item.other.id)]),
        err=True,
    )
    return str(answer)


@review.command("list")
@click.option(
    "--kind",
    "kinds",
    type=click.Choice(get_args(ReviewKind)),
    metavar="KIND",
    multiple=True,
    help=f"Only this kind ({', '.join(get_args(ReviewKind))}); may be given again.",
)
@click.option("--decided", is_flag=True, help="What was decided instead of what waits.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Items to show at most; 0: all.",
)
@with_session
def list_items(session: Session, kinds: tuple[ReviewKind, ...], decided: bool, limit: int) -> None:
    """List what waits, oldest first.

    \b
    Example:
        graft review list --kind held
    """
    output = session.output
    found = session.graft.review_items(kinds=kinds, decided=decided, scope=session.read_scope)
    items = list(islice(found, limit) if limit else found)
    if output.as_json:
        for each in items:
            output.record(each)
        return
    if not items:
        output.say("graft: nothing waits here; --all-scopes looks everywhere")
    output.table(("item", "kind", "since", "about", "decided"), (_row(each) for each in items))


@review.command()
@_ITEM
@with_session
def show(session: Session, item: int) -> None:
    """Show one item with its notes, and how they differ word by word.

    \b
    Example:
        graft review show 12
    """
    found = session.graft.review_item(item)
    if session.output.as_json:
        session.output.record(found)
    else:
        _show(session.output, found)


@review.command()
@_ITEM
@_REASON
@with_session
def approve(session: Session, item: int, reason: str) -> None:
    """Say yes: believe the note, do what was proposed, let the text be said again.

    \b
    Example:
        graft review approve 12 --reason "checked it myself"
    """
    _decide(session, item, "approve", reason)


@review.command()
@_ITEM
@click.option("--note", default="", metavar="ID", help="Of a pair, the note that was wrong.")
@_REASON
@with_session
def reject(session: Session, item: int, note: str, reason: str) -> None:
    """Say no: reject the note, turn the proposal down, let things be.

    \b
    Example:
        graft review reject 12 --reason "the flag never existed"
    """
    _decide(session, item, "reject", reason, note)


@review.command("keep-both")
@_ITEM
@_REASON
@with_session
def keep_both(session: Session, item: int, reason: str) -> None:
    """Leave both notes of a pair as they are; it does not come back until they change.

    \b
    Example:
        graft review keep-both 12 --reason "one is about staging"
    """
    _decide(session, item, "keep-both", reason)


@review.command()
@_ITEM
@click.option("--keep", default="", metavar="ID", help="The note that stays; the second by itself.")
@_REASON
@with_session
def supersede(session: Session, item: int, keep: str, reason: str) -> None:
    """Let one note of a pair take the place of the other.

    \b
    Example:
        graft review supersede 12 --keep 77e0b1d2
    """
    _decide(session, item, "supersede", reason, keep)


def _decide(
    session: Session, item: int, decision: ReviewDecision, reason: str, note: str = ""
) -> None:
    with reviewer_of(session) as graft:
        decided = graft.decide(item, decision, reason=reason, note=note)
    if session.output.as_json:
        session.output.record(decided)
    else:
        _tell(session.output, decided)


def _tell(output: Output, decided: Decided) -> None:
    about = f": note {short_id(decided.note)}" if decided.note else ""
    output.line(f"item {decided.item}: {decided.outcome}{about}")
    if decided.note_event:
        output.say(
            f"graft: event {decided.note_event}; graft undo {decided.note_event} --as-reviewer "
            "takes it back"
        )


def _row(item: ReviewItem) -> tuple[str, ...]:
    about = f"{_keywords(item)} in {item.scope}" if _keywords(item) else item.scope
    if item.note is not None:
        about = f"{short_id(item.note.id)}  {item.note.title}"
    if item.other is not None:
        about += f" | {short_id(item.other.id)}  {item.other.title}"
    return (str(item.item), item.kind, day_and_time(item.opened_at), about, item.decision or "")


def _show(output: Output, item: ReviewItem) -> None:
    output.line(f"item {item.item}: {item.kind}", bold=True)
    facts = [
        ("since", day_and_time(item.opened_at)),
        ("proposed", _proposed(item)),
        ("keyword", _keywords(item)),
        ("source", _source(item)),
        ("because", item.reason),
        ("session", item.session),
        ("times", _times(item)),
        ("scope", item.scope),
        ("decided", item.decision or ""),
    ]
    for name, value in facts:
        if value:
            output.line(f"{name + ':':<12}{printable(value)}", dim=True)
    if item.note is not None:
        _show_note(output, item.note)
    if item.other is not None and item.note is not None:
        output.line(f"beside {one_line(item.other)}, {item.other.state}", dim=True)
        # A held note came after the rejected one that it looks like; of a pair the first is older.
        texts = _text(item.note), _text(item.other)
        before, after = reversed(texts) if item.kind == "held" else texts
        output.quote(marked(word_diff(before, after)))
    elif item.other is not None:
        _show_note(output, item.other)
    if item.decision is None:
        ways = ", ".join(f"graft review {each} {item.item}" for each in item.decisions)
        output.say(f"graft: decide with {ways}")


def _show_note(output: Output, note: Note) -> None:
    output.line(f"note {one_line(note)}, {note.state}", dim=True)
    output.quote(note.title, bold=True)
    if note.body:
        output.quote(note.body)


def _text(note: Note) -> str:
    return f"{note.title}\n\n{note.body}" if note.body else note.title


def _proposed(item: ReviewItem) -> str:
    if "verb" not in item.detail:
        return ""
    parts = [str(item.detail["verb"])]
    parts += [f"{name} {item.detail[name]}" for name in ("event", "times") if name in item.detail]
    return " ".join(parts)


def _keywords(item: ReviewItem) -> str:
    """Say which keyword is to be replaced by which; empty where none is."""
    if item.kind != "keyword-variant":
        return ""
    return f"{item.detail.get('variant', '')} -> {item.detail.get('keep', '')}"


def _source(item: ReviewItem) -> str:
    """Name the source that is not as it was; empty where it is about none."""
    if item.note is None or "source" not in item.detail:
        return ""
    known = (each for each in item.note.sources if each.id == item.detail["source"])
    return "".join(f"{each.kind}:{each.locator}" for each in known)


def _times(item: ReviewItem) -> str:
    if item.kind != "restated-rejection" or item.measure is None:
        return ""
    return count_of(int(item.measure), "time")
