"""`graft token`: who may call from other machines."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from graft_client.access_reports import AccessToken, NewAccessToken, Right
from graft_client.cli.as_reviewer import acting
from graft_client.cli.inputs import UNTIL, confirm
from graft_client.cli.options import GraftCommand, GraftGroup
from graft_client.cli.output import printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import day_and_time
from graft_client.errors import InputError
from graft_client.limits import (
    CALLS_AT_ONCE_DEFAULT,
    CALLS_AT_ONCE_MAX,
    CALLS_PER_MINUTE_DEFAULT,
    CALLS_PER_MINUTE_MAX,
    TOKEN_DAYS,
)
from graft_client.scope import ALL_SCOPES
from graft_client.whole_files import write_whole

EXPIRES_AFTER = timedelta(days=TOKEN_DAYS)


@click.group(cls=GraftGroup)
def token() -> None:
    """Let callers from other machines in: make, list and revoke their tokens.

    A memstore listens for them where `graft start --listen` or the setting listen says.

    \b
    Example:
        graft token create ci --scope team:web --right read
    """


@token.command(cls=GraftCommand)
@click.argument("name")
@click.option(
    "--right",
    "rights",
    multiple=True,
    type=click.Choice(("read", "write", "manage")),
    help="Kind of calls that it may make; may be given again.  [default: read, write]",
)
@click.option(
    "--expires",
    type=UNTIL,
    metavar="WHEN",
    help="Until when it lets calls in: in 30d, 12h or 2w, or an instant.  [default: 90d]",
)
@click.option("--never-expires", is_flag=True, help="Let it hold until it is revoked.")
@click.option(
    "--calls-per-minute",
    type=click.IntRange(1, CALLS_PER_MINUTE_MAX),
    default=CALLS_PER_MINUTE_DEFAULT,
    show_default=True,
    help="Calls a minute; more are refused for a moment.",
)
@click.option(
    "--calls-at-once",
    type=click.IntRange(1, CALLS_AT_ONCE_MAX),
    default=CALLS_AT_ONCE_DEFAULT,
    show_default=True,
    help="Calls at once; more are refused for a moment.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write it to FILE, for its owner alone (0600), instead of printing it.",
)
@with_session
def create(  # noqa: PLR0913 - each is an option of its own
    session: Session,
    *,
    name: str,
    rights: tuple[Right, ...],
    expires: datetime | None,
    never_expires: bool,
    calls_per_minute: int,
    calls_at_once: int,
    out: Path | None,
) -> None:
    """Make the token NAME and print it, the one time that it is told.

    It opens one profile, as an agent, and with --scope nothing but that scope; a token for every
    scope takes --all-scopes. Where a reviewer has been set up it asks for the passphrase.

    \b
    Example:
        graft token create ci --scope team:web --expires 30d --out ci.token
    """
    if never_expires and expires is not None:
        raise InputError("--expires and --never-expires cannot both be meant; leave one out")
    chosen = session.chosen_scope
    if not chosen and session.read_scope is not ALL_SCOPES:
        raise InputError(
            "a token is for one scope, --scope SCOPE, or for all that the profile holds,"
            " --all-scopes; say which"
        )
    if out is not None and out.exists():
        raise InputError(f"{out} is there already; name another file")
    until = None if never_expires else expires or datetime.now(UTC) + EXPIRES_AFTER
    wanted = NewAccessToken(
        name=name,
        scopes=(chosen,) if chosen else (),
        rights=rights or ("read", "write"),
        expires_at=until,
        calls_per_minute=calls_per_minute,
        calls_at_once=calls_at_once,
    )
    with acting(session, as_reviewer=session.graft.reviewer().exists) as graft:
        made = graft.access.create(wanted)
    if out is not None:
        write_whole(out, f"{made.secret}\n".encode())
    output = session.output
    if output.as_json:
        shown = {} if out is not None else {"secret": made.secret}
        output.record({"token": made.token, **shown})
        return
    output.line(str(out) if out is not None else made.secret)
    output.say(f"graft: {_in_words(made.token)}")
    if out is None:
        output.say("graft: nobody can tell it to you again; its hash alone is kept")


@token.command("list", cls=GraftCommand)
@with_session
def list_tokens(session: Session) -> None:
    """List the tokens of the home; of their secrets nobody knows any more.

    \b
    Example:
        graft token list
    """
    tokens = session.graft.access.tokens()
    output = session.output
    if output.as_json:
        for each in tokens:
            output.record(each)
        return
    if not tokens:
        output.say("graft: there are none; make one with: graft token create NAME --scope SCOPE")
        return
    output.table(
        ("id", "name", "profile", "scopes", "rights", "expires", "last used"),
        (
            (
                each.id,
                each.name,
                each.profile,
                printable(", ".join(each.scopes)) or "all",
                ", ".join(each.rights),
                _expiry(each),
                "" if each.last_used_at is None else day_and_time(each.last_used_at),
            )
            for each in tokens
        ),
    )


@token.command(cls=GraftCommand)
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_session
def revoke(session: Session, *, name: str, yes: bool) -> None:
    """Take the token NAME away, by its name or id; the next call with it is refused.

    \b
    Example:
        graft token revoke ci --yes
    """
    if not yes:
        confirm(session.output, verb="revoke", what=f"the token {printable(name)}")
    revoked = session.graft.access.revoke(name)
    if session.output.as_json:
        session.output.record(revoked)
    else:
        session.output.line(f"revoked {revoked.name} ({revoked.id})")


def _expiry(token: AccessToken) -> str:
    if token.expires_at is None:
        return "never"
    past = token.expires_at <= datetime.now(UTC)
    return f"{'expired ' if past else ''}{day_and_time(token.expires_at)}"


def _in_words(token: AccessToken) -> str:
    where = printable(", ".join(token.scopes)) or "every scope"
    until = "until it is revoked" if token.expires_at is None else f"until {_expiry(token)}"
    return (
        f"{token.name} may {' and '.join(token.rights)} in {where} of the profile {token.profile}"
        f" {until}"
    )
