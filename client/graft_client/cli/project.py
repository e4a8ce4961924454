"""`graft project`: how far an agent has learned the project of the working directory."""

import click

from graft_client.cli.inputs import confirm
from graft_client.cli.options import GraftCommand, GraftGroup
from graft_client.cli.output import printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of, day_and_time
from graft_client.errors import InputError
from graft_client.json_output import as_json
from graft_client.learning import TOPIC_STATES, Learned, LearningFile, TopicState, now

DROPPED = "dropped"


@click.group(cls=GraftGroup)
def project() -> None:
    """Keep how far an agent has learned a project: its topics, over sessions.

    \b
    Example:
        graft project status
    """


@project.command(cls=GraftCommand)
@with_session
def status(session: Session) -> None:
    """Show the topics of this directory's project, and which is next; starts nothing.

    \b
    Example:
        graft project status
    """
    file = _file(session)
    learned = file.read()
    _write(session, learned)


@project.command(cls=GraftCommand)
@click.argument("topics", nargs=-1, required=True, metavar="TOPIC...")
@click.option(
    "--state",
    type=click.Choice((*TOPIC_STATES, DROPPED)),
    default="done",
    show_default=True,
    help="What the topics are now; dropped takes them out.",
)
@click.option("--remark", metavar="TEXT", help="Kept with them, such as where it was left off.")
@with_session
def mark(session: Session, topics: tuple[str, ...], state: TopicState, remark: str | None) -> None:
    """Put topics of this directory's project into a state; new ones are added.

    \b
    Example:
        graft project mark "how it is deployed" --state open
    """
    file = _file(session)
    with file.locked():
        learned = file.read()
        if state in TOPIC_STATES:
            learned = learned.marked(topics, state, remark, now())
        else:
            learned = learned.without(topics)
        file.write(learned)
    _write(session, learned)


@project.command(cls=GraftCommand)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would be forgotten, and forget nothing.")
@with_session
def reset(session: Session, yes: bool, dry_run: bool) -> None:
    """Forget the topics of this directory's project; notes stay as they are.

    \b
    Example:
        graft project reset --dry-run
    """
    file = _file(session)
    there = file.exists()
    if there and not dry_run:
        if not yes:
            confirm(session.output, verb="forget", what="how far this project is learned")
        with file.locked():
            file.remove()
    if session.output.as_json:
        session.output.record({"removed": there and not dry_run, "file": str(file.path)})
    elif there:
        session.output.line(f"{'would forget' if dry_run else 'forgot'} {file.path}")
    else:
        session.output.line("there was nothing to forget")


def _file(session: Session) -> LearningFile:
    found = session.configuration.project()
    if found is None:
        raise InputError(
            f"{session.configuration.directory} lies in no repository; go to the one to be learned"
        )
    return LearningFile(session.home, session.configuration.profile, found)


def _write(session: Session, learned: Learned) -> None:
    output = session.output
    counts = {state: learned.count(state) for state in TOPIC_STATES}
    if output.as_json:
        topics = as_json(learned)
        assert isinstance(topics, dict), "it is a dataclass"
        output.record({**topics, **counts, "next": learned.next})
        return
    if not learned.topics:
        output.line(f"nothing is marked in {printable(learned.scope)} yet")
        return
    output.table(
        ("topic", "state", "since", "remark"),
        (
            (
                printable(each.name),
                each.state,
                day_and_time(each.updated_at),
                printable(each.remark),
            )
            for each in learned.topics
        ),
    )
    output.line(f"{counts['done']} of {count_of(len(learned.topics), 'topic')} done")
    if learned.next is not None:
        output.line(f"next: {printable(learned.next)}")
