"""What a person sees while a model is being prepared, and which model that is, told once."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import graft_client
from graft.wire.models import BGE_M3, STARTER, RegistryError, default_model_name
from graft_client.cli.output import Output, ProgressLine
from graft_client.cli.session import Session
from graft_client.errors import GraftError
from graft_client.results import EmbedderStatus
from graft_client.settings import Configuration

FIRST_LOOK_SECONDS = 0.5
LOOK_SECONDS = 0.25
ANSWER_SECONDS = 2.0
TOLD_FILE = "model-told"

_PHRASES = {
    "starting": "starting the embedder",
    "converting": "writing the model {model}",
    "loading": "loading the model {model}",
}


@contextmanager
def model_shown(session: Session) -> Iterator[None]:
    """Draw how far the model is while the block's call waits for it; then name it, once."""
    with watching(session.graft, session.output):
        yield
    if not session.output.quiet and session.configuration.target is None:
        tell_default_model(session.configuration, session.output)


@contextmanager
def watching(graft: "graft_client.Graft", output: Output) -> Iterator[None]:
    """Draw how far the model is while the block runs, on a terminal."""
    if not output.talks_to_terminal:
        yield
        return
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(graft, output, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join(ANSWER_SECONDS)


def tell_default_model(configuration: Configuration, output: Output) -> None:
    """Say which model notes are embedded with by default, the first time in this home."""
    told = configuration.home.root / TOLD_FILE
    try:
        if told.exists():
            return
        os.close(os.open(told, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        model = default_model_name(configuration.home, configuration.settings.text("model"))
    except (OSError, RegistryError):
        return  # somebody else says it, or nothing can be said; the call itself was answered
    text = f"notes are embedded with the model {model} by default"
    if model == STARTER:
        text += f"; a larger one is fetched with: graft model pull {BGE_M3}"
    output.say(f"graft: {text}")


def describe(embedder: EmbedderStatus) -> str:
    """Say in one line how far a model is; empty when there is nothing to wait for."""
    phrase = _PHRASES.get(embedder.state)
    if phrase is None:
        return ""
    percent = f" {embedder.percent} %" if embedder.percent else ""
    return phrase.format(model=embedder.model) + percent


def _watch(graft: "graft_client.Graft", output: Output, done: threading.Event) -> None:
    line = ProgressLine(output)
    pause = FIRST_LOOK_SECONDS
    while not done.wait(pause):
        pause = LOOK_SECONDS
        with suppress(GraftError):
            embedder = graft.within(ANSWER_SECONDS).status().embedder
            text = describe(embedder) if embedder is not None else ""
            if text:
                line.draw(f"graft: {text}")
            else:
                line.clear()
    line.clear()
