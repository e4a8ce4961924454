"""How `graft delete --keyword` takes notes away: counted first, within scopes, one by one."""

from collections import Counter
from dataclasses import dataclass

from graft_client.cli.as_reviewer import acting
from graft_client.cli.inputs import confirm
from graft_client.cli.output import Output, printable
from graft_client.cli.session import Session
from graft_client.cli.words import count_of
from graft_client.errors import InputError
from graft_client.results import Note, short_id
from graft_client.scope import ALL_SCOPES


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """Why notes go, whether to ask, and whether only to show which they are."""

    reason: str
    yes: bool
    dry_run: bool


def delete_by_keyword(session: Session, keywords: tuple[str, ...], bulk: Bulk) -> None:
    """Erase the active notes that carry all *keywords* in the scopes of a read.

    Raises:
        InputError: a keyword is empty, which would be no filter, or all scopes are asked for.
        GraftError: the answer was no.
    """
    if not all(keyword.strip() for keyword in keywords):
        raise InputError("--keyword is empty, and nothing is deleted without a filter; name one")
    if session.read_scope is ALL_SCOPES:
        raise InputError(
            "--all-scopes does not go with --keyword, so that nothing goes by mistake elsewhere;"
            " name a scope with --scope"
        )
    found = list(session.graft.list(keywords=keywords, scope=session.read_scope))
    named = " and ".join(printable(each) for each in keywords)
    if bulk.dry_run:
        _show(session.output, found, named)
    elif not found:
        session.output.say(f"graft: no active note here carries {named}")
    else:
        if not bulk.yes:
            confirm(session.output, verb="delete", what=f"{_counted(found)} with {named}")
        _delete(session, found, bulk.reason)


def _delete(session: Session, notes: list[Note], reason: str) -> None:
    output = session.output
    outcomes: Counter[str] = Counter()
    # Where there is a reviewer, nobody else erases.
    with acting(session, as_reviewer=session.graft.reviewer().exists) as graft:
        for note in notes:
            deleted = graft.delete(note.id, reason=reason)
            outcomes[deleted.outcome] += 1
            if output.as_json:
                output.record(deleted)
    if not output.as_json:
        output.line(", ".join(f"{word} {count_of(n, 'note')}" for word, n in outcomes.items()))


def _show(output: Output, notes: list[Note], named: str) -> None:
    for note in notes:
        if output.as_json:
            shown = {"id": note.id, "title": note.title, "scope": note.scope, "dry_run": True}
            output.record(shown)
        else:
            output.line(f"would delete {short_id(note.id)} {printable(note.title)}")
    output.say(f"graft: would delete {_counted(notes)} with {named}")


def _counted(notes: list[Note]) -> str:
    scopes = Counter(note.scope for note in notes)
    where = ", ".join(f"{count:,} in {printable(scope)}" for scope, count in scopes.items())
    return count_of(len(notes), "note") + (f" ({where})" if where else "")
