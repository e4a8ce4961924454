"""`graft hook`: what coding agents run at their events."""

import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import click

from graft.wire.setting_list import HOOK_MS_MAX
from graft_client.cli.exits import DONE
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import talk
from graft_client.cli.session import Session, with_session
from graft_client.settings import SESSION_VARIABLE, Configuration

MS_IN_SECOND = 1_000
MARGIN_SECONDS = 0.02
"""Nothing is waited for so shortly before the end, so that what was found can still be told."""
READ_BYTES = 1 << 16
STARTS_SERVICES = "session-start"


@click.command(
    cls=GraftCommand,
    # An agent must never be told that its prompt is refused because a hook was called wrongly.
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("event", required=False, default="")
@click.option("--agent", default="", metavar="AGENT", help="The agent whose hook it is.")
@with_session
def hook(session: Session, event: str, agent: str) -> None:
    """Tell a coding agent what the memory knows, at one of its events; agents run this.

    EVENT is session-start, prompt, post-tool or stop; what happened is read from stdin as the agent
    writes it. It ends with 0 whatever happens, within GRAFT_HOOK_MS, says nothing where there is
    nothing to say, and nothing at all with GRAFT_HOOKS=0. session-start alone starts the services.
    `graft setup` puts it into agents' settings.

    \b
    Example:
        graft hook prompt --agent claude-code < event.json
    """
    # What is loaded leaves nothing to collect, and looking for it takes a tenth of a hook's time.
    gc.disable()
    began = time.monotonic()
    if event != STARTS_SERVICES:  # which it is to do on a busy machine as well
        began -= _age_seconds()
    # The settings lie in the home, which may be where nothing answers.
    with _ended_at(began + HOOK_MS_MAX / MS_IN_SECOND):
        configuration, _ = session.configured_with_what_is_good()
    if not configuration.settings.flag("hooks"):
        return
    end = began + configuration.settings.integer("hook_ms") / MS_IN_SECOND
    with _ended_at(end):
        try:
            text = _answer(configuration, event, agent, end - MARGIN_SECONDS)
        except Exception as error:  # noqa: BLE001 - a hook's root: whatever goes wrong, the agent goes on
            text = ""
            talk(f"graft hook: {type(error).__name__}")
        with suppress(OSError):
            sys.stdout.write(text)
            sys.stdout.flush()


def _answer(configuration: Configuration, event: str, agent: str, deadline: float) -> str:
    # Loaded under the bound, and not before it is known that hooks are wanted.
    from graft_client.hooks.events import INPUT_BYTES_MAX, read_event  # noqa: PLC0415

    happened = read_event(event, agent, _read_stdin(INPUT_BYTES_MAX))
    if happened is None:
        return ""
    from graft_client.hooks.run import Hook  # noqa: PLC0415

    named = happened.session or configuration.environ.get(SESSION_VARIABLE, "")
    happened = replace(happened, session=named)
    as_hook = replace(configuration, door="hook", agent=agent)
    return Hook(event=happened, configuration=as_hook, deadline=deadline).output()


def _read_stdin(bytes_max: int) -> bytes:
    told = b""
    while len(told) < bytes_max:
        piece = os.read(0, READ_BYTES)
        if not piece:
            break
        told += piece
    return told


@contextmanager
def _ended_at(end: float) -> Iterator[None]:
    """End the process, with nothing said, where the block takes longer than until *end*.

    It may hang where no time limit reaches: on a network's disk, on a stdin that nobody closes, on
    a stdout that nobody reads.
    """
    done = threading.Event()

    def watch() -> None:
        if not done.wait(max(end - time.monotonic(), 0)):
            os._exit(DONE)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _age_seconds() -> float:
    """Return for how long this process runs: who waits for a hook waits for its imports as well."""
    used = time.process_time()
    with suppress(OSError, ValueError, IndexError, AttributeError):
        # The name in parentheses may hold anything; the time since boot is the 20th after it.
        after_name = Path("/proc/self/stat").read_text("utf-8", "replace").rpartition(")")[2]
        started = int(after_name.split()[19]) / os.sysconf("SC_CLK_TCK")
        return max(time.clock_gettime(time.CLOCK_BOOTTIME) - started, used)
    return used
