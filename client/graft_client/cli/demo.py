"""`graft demo`: the main job on real notes, in a home of its own that is gone afterwards."""

import shutil
import signal
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from types import TracebackType

import click

import graft_client
from graft.wire.models import RegistryError, default_model_name
from graft.wire.paths import Home
from graft_client.cli.demo_notes import NOTES, QUESTIONS, Question
from graft_client.cli.options import GraftCommand
from graft_client.cli.output import Output
from graft_client.cli.session import Session, with_session
from graft_client.cli.waiting import watching
from graft_client.cli.words import count_of, hit_style
from graft_client.errors import GraftError
from graft_client.results import QueryAnswer, short_id
from graft_client.settings import Configuration, configure

CALL_SECONDS = 600.0
IDLE_MINUTES = "2"
EXCERPT_CHARACTERS = 160
SIGNAL_EXIT = 128
START_SECONDS = 5.0
STOP_SECONDS = 15.0
POLL_SECONDS = 0.1

# What belongs to the person's own memory and must not lead the demonstration there.
_NOT_TAKEN_ALONG = frozenset({"GRAFT_RUNTIME", "GRAFT_SESSION"})
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@click.command(cls=GraftCommand)
@with_session
def demo(session: Session) -> None:
    """Show what graft does, with answers and times.

    Saves a dozen notes and asks what a person would ask. Works in a temporary home with the
    models of the real one, and removes it at the end.

    \b
    Example:
        graft demo
    """
    with ExitStack() as stack:
        stack.enter_context(_ended_by_signals())
        configuration = stack.enter_context(_temporary_home(session.configuration))
        graft = stack.enter_context(graft_client.Graft(configuration=configuration))
        stack.push(partial(_stop, graft))
        _show(session.output, graft)


def _show(output: Output, graft: "graft_client.Graft") -> None:
    _prepare(output, graft)
    _save(output, graft)
    for question in QUESTIONS:
        _ask(output, graft, question)
    if not output.as_json:
        output.line()
        output.line("That was a temporary home; it is gone now. In your own:", dim=True)
        output.line('  graft insert --title "what was learned" --body "how it works"')
        output.line('  graft query "the problem at hand"')


def _prepare(output: Output, graft: "graft_client.Graft") -> None:
    """Start the services and wait for the model, which is written first where there is none."""
    name = _model_name(graft.configuration)
    if not output.as_json:
        output.line(f"Starting the services with the model {name} …", bold=True)
    started = time.monotonic()
    with watching(graft, output):
        graft.query("is there anything yet")
    passed = time.monotonic() - started
    if output.as_json:
        output.record({"step": "started", "model": name, "milliseconds": _rounded(passed)})
    else:
        output.line(f"ready after {passed:.1f} s", dim=True)


def _save(output: Output, graft: "graft_client.Graft") -> None:
    started = time.monotonic()
    with watching(graft, output):
        saved = graft.insert_many(NOTES, wait=True)
    passed = time.monotonic() - started
    if output.as_json:
        output.record({"step": "saved", "notes": len(saved), "milliseconds": _rounded(passed)})
        return
    output.line()
    output.line(
        f"Saved what an agent learned in some weeks: {count_of(len(saved), 'note')}", bold=True
    )
    for note in NOTES:
        output.line(f"  {note.title}")
    output.line(f"saved and embedded in {passed:.2f} s", dim=True)
    output.line()
    output.line("Asking whether a problem has been seen before:", bold=True)


def _ask(output: Output, graft: "graft_client.Graft", question: Question) -> None:
    started = time.monotonic()
    answer = graft.query(question.text)
    passed = time.monotonic() - started
    if output.as_json:
        output.record(
            {"question": question.text, "milliseconds": _rounded(passed), **_facts(answer)}
        )
        return
    output.line()
    output.line(f"? {question.text}", fg="cyan")
    output.line(f"  {question.shows}", dim=True)
    sure = f" {answer.probability:.0%}" if answer.note else ""
    output.line(f"  {answer.hit}{sure} in {passed * 1000:.0f} ms", **hit_style(answer.hit))
    if answer.note is not None:
        output.line(f"  {answer.note.title}", bold=True)
    if answer.note is not None and answer.note.body:
        output.line(f"  {_excerpt(answer.note.body)}")
    elif answer.note is not None:
        output.line(f"  only its title is offered; graft get {short_id(answer.note.id)} opens it")
    for near in answer.near[:2]:
        output.line(f"  nearest: {near.title}", dim=True)


def _facts(answer: QueryAnswer) -> dict[str, object]:
    note = answer.note
    return {
        "hit": answer.hit,
        "probability": answer.probability,
        "note": note and {"id": note.id, "title": note.title},
        "near": [near.title for near in answer.near],
        "degraded": answer.degraded,
    }


@contextmanager
def _temporary_home(own: Configuration) -> Iterator[Configuration]:
    """Make a home that borrows the models and settings of *own*, and remove it at the end."""
    root = Path(tempfile.mkdtemp(prefix="graft-demo-"))
    try:
        _borrow(own.home, Home(root=root))
        environ = {
            name: value for name, value in own.environ.items() if name not in _NOT_TAKEN_ALONG
        }
        # Should this process be killed, the services of the demonstration end by themselves soon.
        environ["GRAFT_IDLE_MINUTES"] = IDLE_MINUTES
        flags = {"autostart": "1", "target": "", "profile": "default", "scope": "user"}
        yield configure(
            home=root,
            flags={**flags, "timeout_seconds": str(CALL_SECONDS)},
            door="cli",
            directory=root,
            environ=environ,
        )
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _borrow(own: Home, temporary: Home) -> None:
    """Link the models, so that one which is written now is there for the real home too."""
    for file in (own.config_file, own.models_file):
        with suppress(FileNotFoundError):
            shutil.copyfile(file, temporary.root / file.name)
    try:
        own.create()
        own.models.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return  # the real home cannot be written: the model goes with the temporary one
    temporary.models.symlink_to(own.models.resolve(), target_is_directory=True)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP end the block once; what comes then is put away in peace."""

    def end(number: int, _: object) -> None:
        for each in _ENDING_SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(SIGNAL_EXIT + number)

    before = {number: signal.signal(number, end) for number in _ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(
    graft: "graft_client.Graft",
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> None:
    """End the services; a memstore that was being started is waited for and ended as well."""
    del error, trace
    patient = graft.within(STOP_SECONDS)
    pause = threading.Event()
    deadline = time.monotonic() + (START_SECONDS if _interrupted(kind) else 0)
    stopped = None
    while stopped is None:
        with suppress(GraftError):
            stopped = patient.stop()
        with suppress(GraftError):
            stopped = stopped or patient.stop(force=True)
        if stopped is None and (time.monotonic() > deadline or pause.wait(POLL_SECONDS)):
            return


def _interrupted(kind: type[BaseException] | None) -> bool:
    return kind is not None and issubclass(kind, (KeyboardInterrupt, SystemExit))


def _model_name(configuration: Configuration) -> str:
    try:
        return default_model_name(configuration.home, configuration.settings.text("model"))
    except RegistryError:
        return "default"  # the embedder says what is wrong with the registry


def _excerpt(body: str) -> str:
    return textwrap.shorten(body, EXCERPT_CHARACTERS, placeholder=" …")


def _rounded(seconds: float) -> float:
    return round(seconds * 1000, 1)
