"""Asks the gate with what is there: this machine's system and, if need be, locked versions."""

from collections.abc import Sequence
from dataclasses import replace

from graft_client.cli.output import printable
from graft_client.cli.session import Session
from graft_client.limits import CONTEXT_MAX
from graft_client.requests import AsOfFields
from graft_client.results import QueryAnswer
from graft_client.surroundings.system import system_here


def ask_here(
    session: Session, question: str, given: Sequence[str], instants: AsOfFields | None = None
) -> QueryAnswer:
    """Ask with the context that was *given* and what the directory's project adds to it.

    The answer names what it would have to know; only then are lock files read, and only for
    those names, and the question is asked again. So a question that no note with a range comes
    near costs nothing more.
    """
    context = (*given, *system_here(given))
    when = instants or AsOfFields()
    answer = session.graft.query(question, scope=session.read_scope, context=context, **when)
    if not answer.context_wanted:
        return answer
    # tomllib and the readers, which few questions need.
    from graft_client.surroundings.find import find_versions  # noqa: PLC0415

    output = session.output
    found = find_versions(
        session.configuration.directory,
        answer.context_wanted,
        lambda text: output.say(f"graft: {printable(text)}"),
    )
    added = found[: max(CONTEXT_MAX - len(context), 0)]
    if not added:
        return answer
    context = (*context, *added)
    again = session.graft.query(question, scope=session.read_scope, context=context, **when)
    # What the first answer told is told once, and this one is shown alone.
    return replace(again, notices=answer.notices + again.notices)
