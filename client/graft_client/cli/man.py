"""`graft man`: manual pages of all commands, for `man`."""

from pathlib import Path

import click

from graft_client.cli.options import GraftCommand
from graft_client.cli.output import printable
from graft_client.cli.session import Session, with_session
from graft_client.cli.words import count_of
from graft_client.errors import GraftError
from graft_client.whole_files import write_whole

READABLE = 0o644  # others may read what the program can do


@click.command(cls=GraftCommand)
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@with_session
def man(session: Session, folder: Path) -> None:
    """Write a manual page for every command below DIR.

    They go to DIR/man1. Below ~/.local/share/man most systems find them by themselves; man graft
    then shows the first.

    \b
    Example:
        graft man ~/.local/share/man
    """
    # The whole help of all commands, which no other command needs.
    from graft_client.cli.manual import SECTION, pages  # noqa: PLC0415

    place = folder / f"man{SECTION}"
    written = []
    try:
        place.mkdir(parents=True, exist_ok=True)
        for page in pages(session.context.find_root().command, "graft"):
            name = f"{page.name}.{SECTION}"
            write_whole(place / name, page.text.encode(), mode=READABLE)
            written.append(name)
    except OSError as error:
        raise GraftError(f"{place} cannot be written: {error.strerror}") from error
    if session.output.as_json:
        session.output.record({"folder": str(place), "pages": written})
        return
    session.output.line(f"wrote {count_of(len(written), 'page')} to {printable(str(place))}")
    session.output.say(f"graft: read them with: man -M {folder} graft")
