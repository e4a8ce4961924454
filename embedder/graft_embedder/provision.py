"""Have one model here before it is served: fetched, written or taken from a file, told in a log.

What a container runs once before the embedder's; run again it finds all done and says so.
"""

import logging
import os
import shutil
from dataclasses import replace
from pathlib import Path

from graft.wire.events import event
from graft.wire.models import BGE_M3, MODEL_NAME, MODEL_NAME_RULE, STARTER
from graft.wire.paths import Home
from graft.wire.settings import Settings
from graft_embedder import registry
from graft_embedder.catalogue import BY_NAME, Entry
from graft_embedder.commands import Output, Registration, register_model
from graft_embedder.errors import ModelFileError
from graft_embedder.file_check import check_file
from graft_embedder.files import locked, make_models_folder
from graft_embedder.model_files import is_there, path_of, pull

STEP_PERCENT = 5
"""How much further it must be before that is told."""

CHUNK_BYTES = 4 * 1024 * 1024

log = logging.getLogger(__name__)


class Steps:
    """Tells in the log how far something is, a few times and not for each piece of it."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._told = -STEP_PERCENT

    def show(self, done: int, total: int | None) -> None:
        """Tell that *done* of *total* is there, if that is news."""
        if not total:
            return
        percent = 100 * done // total
        if percent >= self._told + STEP_PERCENT:
            self._told = percent - percent % STEP_PERCENT
            log.info(event("getting the model", model=self._model, percent=percent))


def provide(home: Home, settings: Settings, wanted: Registration) -> None:
    """Make the wanted model servable.

    Args:
        home: whose models.
        settings: name the model where *wanted* does not, and the mirror.
        wanted: its name and, where its path is a file with content, that file and how to read it.

    Raises:
        ModelFileError: it cannot be had; says what to do.
        RegistryError: the registry of models cannot be read.
    """
    name = wanted.name or settings.text("model") or BGE_M3
    if not MODEL_NAME.fullmatch(name):
        raise ModelFileError(f"{name!r} is no name of a model: {MODEL_NAME_RULE}")
    # An empty file is what stands in for none where something has to be mounted.
    given = wanted.path.is_file() and wanted.path.stat().st_size > 0
    steps = Steps(name)
    if given and name in BY_NAME:
        path = _take_known(home, BY_NAME[name], wanted.path, steps)
    elif given:
        path = _take(home, replace(wanted, name=name), steps)
    else:
        entry = registry.find(home, name)
        if not is_there(home, entry):
            log.info(event("getting the model", model=name, about=entry.about))
        path = pull(home, entry, settings.text("model_mirror"), steps.show)
    log.info(event("the model is here", model=name, path=path, bytes=path.stat().st_size))


def _take_known(home: Home, entry: Entry, given: Path, steps: Steps) -> Path:
    """Take the file of a model that the catalogue knows, if its hash is right."""
    if entry.name == STARTER:
        raise ModelFileError(
            f"{STARTER} is written and not taken from a file; give {given} a name of its own"
            " (GRAFT_MODEL)"
        )
    path = path_of(home, entry)
    if is_there(home, entry):
        return path
    found = check_file(entry, given)
    if not found.ok:
        raise ModelFileError(
            f"{given} is not the file of {entry.name} ({found.detail.split(';')[0]}); give a model"
            " of your own a name of its own (GRAFT_MODEL)"
        )
    _copy(home, given, path, steps)
    return path


def _take(home: Home, wanted: Registration, steps: Steps) -> Path:
    """Take a file of the caller's and register it; one that was taken before is left alone."""
    target = home.models / f"{wanted.name}.gguf"
    if wanted.name in registry.registered(home) and _same(wanted.path, target):
        return target
    _copy(home, wanted.path, target, steps)
    output = Output(
        data=lambda line: log.info(event("registered", model=wanted.name, about=line)),
        talk=lambda line: log.info(event("registering", model=wanted.name, about=line)),
        as_json=False,
    )
    register_model(home, replace(wanted, path=target), output)
    return target


def _copy(home: Home, source: Path, target: Path, steps: Steps) -> None:
    """Copy a file with its time, put in place by rename."""
    make_models_folder(home.models)
    part = target.with_name(f".{target.name}.part")
    total = source.stat().st_size
    with locked(home.models / f".{target.name}.lock", 0.0, lambda: None):
        try:
            with source.open("rb") as reader, part.open("wb") as writer:
                while piece := reader.read(CHUNK_BYTES):
                    writer.write(piece)
                    steps.show(writer.tell(), total)
                writer.flush()
                os.fsync(writer.fileno())
            shutil.copystat(source, part)
            part.chmod(0o600)
            part.replace(target)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise ModelFileError(
                f"cannot copy {source} to {target}: {error.strerror or error}"
            ) from error


def _same(one: Path, other: Path) -> bool:
    """Tell whether two files are of one size and time, as a copy made here is."""
    if not other.is_file():
        return False
    ours, theirs = one.stat(), other.stat()
    return (ours.st_size, int(ours.st_mtime)) == (theirs.st_size, int(theirs.st_mtime))
