"""`graft supersede`, `retire`, `restore`, `reject`, `dispute`, `mark-stale`, `set` and `undo`."""

from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import TypeVar

import click
from typing_extensions import override

from graft_client.cli.as_reviewer import acting, as_reviewer_option
from graft_client.cli.inputs import TIME
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import Output, printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of, talk_given_to
from graft_client.requests import TimeFields
from graft_client.results import Changed, short_id

F = TypeVar("F", bound=Callable[..., object])

NO_TIME = "none"


class Keep(Enum):
    """Stands for a time that is to stay as it is."""

    KEEP = "keep"


KEEP = Keep.KEEP


class _NoteTimeType(click.ParamType):  # type: ignore[type-arg]  # older click is not generic
    """An instant, or "none"."""

    name = "time or none"

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime | Keep | None:
        """Read *value*."""
        if isinstance(value, Keep):
            return value
        return None if value == NO_TIME else TIME.convert(value, param, ctx)


class _SignedKeywordType(click.ParamType):  # type: ignore[type-arg]  # older click is not generic
    """A keyword with "+" or "-" before it."""

    name = "signed keyword"

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Read *value*."""
        text = str(value)
        if text[:1] not in {"+", "-"} or not text[1:].strip():
            self.fail(f"{text!r} is neither +KEYWORD, to give it, nor -KEYWORD, to take it away")
        return text[0], text[1:]


def _because(default: str) -> Callable[[F], F]:
    """Add --reason; *default* is what the command itself can say."""
    return click.option(
        "--reason", default=default, show_default=True, help="Why; kept in the log."
    )


_REASON = click.option("--reason", required=True, help="Why; kept in the log.")
_NOTE = click.argument("note_id", metavar="ID")


@click.command(cls=GraftCommand)
@click.argument("note_id", metavar="OLD")
@click.option("--by", required=True, metavar="NEW", help="The note that replaces it.")
@_because("replaced by another note")
@as_reviewer_option
@with_session
def supersede(session: Session, note_id: str, by: str, reason: str, as_reviewer: bool) -> None:
    """Replace one note by another: no search shows the old one any more.

    To save the new note in the same step: graft insert --supersedes OLD.

    \b
    Example:
        graft supersede 1f3a9c04 --by 77e0b1d2 --reason "the port was moved"
    """
    with acting(session, as_reviewer=as_reviewer) as graft:
        changed = graft.supersede(note_id, by=by, reason=reason)
    replaced = f"superseded {short_id(changed.id)} by {short_id(changed.superseded_by or by)}"
    _write(session.output, changed, replaced)


@click.command(cls=GraftCommand)
@_NOTE
@_REASON
@as_reviewer_option
@with_session
def retire(session: Session, note_id: str, reason: str, as_reviewer: bool) -> None:
    """Take a note out of use; graft restore brings it back.

    \b
    Example:
        graft retire 1f3a9c04 --reason "the cluster is gone"
    """
    with acting(session, as_reviewer=as_reviewer) as graft:
        changed = graft.retire(note_id, reason=reason)
    _write(session.output, changed, f"retired {short_id(changed.id)}: no search shows it")


@click.command(cls=GraftCommand)
@_NOTE
@_REASON
@as_reviewer_option
@with_session
def restore(session: Session, note_id: str, reason: str, as_reviewer: bool) -> None:
    """Put a retired note to use again.

    \b
    Example:
        graft restore 1f3a9c04 --reason "the cluster is back"
    """
    with acting(session, as_reviewer=as_reviewer) as graft:
        changed = graft.restore(note_id, reason=reason)
    _write(session.output, changed, f"restored {short_id(changed.id)}: {changed.trust} as before")


@click.command(cls=GraftCommand)
@_NOTE
@_REASON
@as_reviewer_option
@with_session
def reject(session: Session, note_id: str, reason: str, as_reviewer: bool) -> None:
    """Say that a note was wrong and must not come back.

    What it says is refused from now on, however it is spelled: in its scope, in every scope where
    that is user. Notes there that say the same go with it.

    \b
    Example:
        graft reject 1f3a9c04 --reason "the flag never existed"
    """
    with acting(session, as_reviewer=as_reviewer) as graft:
        changed = graft.reject(note_id, reason=reason)
    others = (
        f", and {count_of(changed.others, 'note')} that said the same" if changed.others else ""
    )
    _write(
        session.output,
        changed,
        f"rejected {short_id(changed.id)}{others}: what it says is refused from now on",
    )


@click.command(cls=GraftCommand)
@_NOTE
@_REASON
@as_reviewer_option
@with_session
def dispute(session: Session, note_id: str, reason: str, as_reviewer: bool) -> None:
    """Say that a note may be wrong: it is at most a WEAK answer then.

    \b
    Example:
        graft dispute 1f3a9c04 --reason "could not reproduce it"
    """
    with acting(session, as_reviewer=as_reviewer) as graft:
        changed = graft.dispute(note_id, reason=reason)
    _write(session.output, changed, f"disputed {short_id(changed.id)}: at most a WEAK answer")


@click.command("mark-stale", cls=GraftCommand)
@_NOTE
@_REASON
@as_reviewer_option
@with_session
def mark_stale(session: Session, note_id: str, reason: str, as_reviewer: bool) -> None:
    """Say that what a note rests on has changed: it is at most a WEAK answer then.

    \b
    Example:
        graft mark-stale 1f3a9c04 --reason "the file was rewritten"
    """
    with acting(session, as_reviewer=as_reviewer) as graft:
        changed = graft.mark_stale(note_id, reason=reason)
    _write(session.output, changed, f"marked {short_id(changed.id)} stale: at most a WEAK answer")


@click.command("set", cls=GraftCommand)
@_NOTE
@click.option(
    "--valid-from",
    type=_NoteTimeType(),
    default=KEEP,
    metavar="TIME",
    help="True from this instant; none: always was.",
)
@click.option(
    "--valid-to",
    type=_NoteTimeType(),
    default=KEEP,
    metavar="TIME",
    help="True until just before this instant; none: no end.",
)
@click.option(
    "--expires-at",
    type=_NoteTimeType(),
    default=KEEP,
    metavar="TIME",
    help="Not shown from this instant on; none: never.",
)
@click.option(
    "--keyword",
    "keywords",
    multiple=True,
    type=_SignedKeywordType(),
    metavar="+K|-K",
    help="A keyword to give it, or to take away; may be given again.",
)
@click.option(
    "--reason", help="Why; kept in the log.  [default: its times or its keywords were set]"
)
@as_reviewer_option
@with_session
def set_note(
    session: Session,
    /,
    *,
    note_id: str,
    keywords: tuple[tuple[str, str], ...],
    reason: str | None,
    as_reviewer: bool,
    **times: datetime | Keep | None,
) -> None:
    """Set a note's keywords, when it is true, and until when it is shown.

    What was before stays on record. Times are RFC 3339 with an offset, such as
    2026-01-31T09:30:00+09:00. Keywords and times together are two changes, one after the other.

    \b
    Example:
        graft set 1f3a9c04 --valid-to 2026-03-01T00:00:00Z --reason "the port moves in March"
        graft set 1f3a9c04 --keyword +postgres --keyword -mysql
    """
    given = {name: time for name, time in times.items() if not isinstance(time, Keep)}
    if not given and not keywords:
        raise click.UsageError(
            "name at least one of --valid-from, --valid-to, --expires-at and --keyword"
        )
    with acting(session, as_reviewer=as_reviewer) as graft:
        if keywords:
            edited = graft.filing.set_keywords(
                note_id,
                add=[keyword for sign, keyword in keywords if sign == "+"],
                remove=[keyword for sign, keyword in keywords if sign == "-"],
                reason=reason or "its keywords were set",
            )
            _write(session.output, edited, _keyworded(edited))
        if given:
            fields = TimeFields(**given)  # type: ignore[typeddict-item]  # the options have its names
            changed = graft.set_times(note_id, reason=reason or "its times were set", **fields)
            _write(session.output, changed, f"set the times of {short_id(changed.id)}")


def _keyworded(changed: Changed) -> str:
    carried = printable(", ".join(changed.keywords or ())) or "no keyword"
    return f"{short_id(changed.id)} carries {carried}"


@click.command(cls=GraftCommand)
@click.argument("event", type=click.IntRange(min=1))
@_because("undone")
@as_reviewer_option
@with_session
def undo(session: Session, event: int, reason: str, as_reviewer: bool) -> None:
    """Take back the last change of a note, by the number of its event.

    Every change prints its number, and graft get --json has the last one as state_event.

    \b
    Example:
        graft undo 42 --reason "it was right after all"
    """
    with acting(session, as_reviewer=as_reviewer) as graft:
        changed = graft.undo(event, reason=reason)
    state = f"{changed.state}, {changed.trust}"
    _write(session.output, changed, f"undid event {event}: {short_id(changed.id)} is {state}")


def _write(output: Output, changed: Changed, done: str) -> None:
    if output.as_json:
        output.record(changed)
        return
    output.line(done)
    if not changed.event:
        output.say("graft: nothing changed")
        return
    output.say(f"graft: event {changed.event}; graft undo {changed.event} takes it back")
    talk_given_to(output, changed.given_to)
