"""The commands `model list|pull|use`: what they do and what they print."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graft.wire.models import BGE_M3, MODEL_NAME, STARTER, default_model_name
from graft.wire.paths import Home
from graft.wire.settings import Settings
from graft_embedder import registry
from graft_embedder.catalogue import BY_NAME, CosineBackground, Entry, Pooling
from graft_embedder.errors import ModelFileError
from graft_embedder.file_check import FileCheck, check_file
from graft_embedder.model_files import is_there, path_of, pull, read_facts
from graft_embedder.progress import Bar
from graft_embedder.trial import try_model

NAME_LENGTH_MAX = 40

Write = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Where a command's data and talk go.

    Attributes:
        data: takes a line for programs or, without JSON, for people.
        talk: takes a line about what is happening.
        as_json: whether data are JSON objects, one a line, and nothing is drawn.
    """

    data: Write
    talk: Write
    as_json: bool

    def show(self, record: dict[str, object], line: str) -> None:
        """Print *record* for programs or *line* for people."""
        self.data(json.dumps(record, ensure_ascii=False) if self.as_json else line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A model file to register.

    Attributes:
        path: the file.
        name: short name; empty for one made of the file's.
        pooling: how token vectors become one; None for what the file says.
        query_prefix: put before every query.
        passage_prefix: put before every passage.
    """

    path: Path
    name: str
    pooling: Pooling | None
    query_prefix: str
    passage_prefix: str


def list_models(home: Home, settings: Settings, output: Output) -> None:
    """Print every model that is known, whether its file is here, and which is the default."""
    default = default_model_name(home, settings.text("model"))
    for entry in registry.entries(home):
        path = path_of(home, entry)
        there = is_there(home, entry)
        record: dict[str, object] = {
            "name": entry.name,
            "here": there,
            "default": entry.name == default,
            "path": str(path),
            "bytes": path.stat().st_size if there else None,
            "pooling": entry.pooling.value,
            "query_prefix": entry.query_prefix,
            "passage_prefix": entry.passage_prefix,
            "about": entry.about,
        }
        mark = "*" if entry.name == default else " "
        state = "here" if there else "not here"
        output.show(record, f"{mark} {entry.name:<12} {state:<9} {entry.about}")
    if not output.as_json:
        output.talk("* is the model of profiles that have no vectors yet")


def check_models(home: Home, settings: Settings, output: Output) -> None:
    """Print, for the default model and every other whose file is here, whether its hash is right.

    Reads the files whole. `graft doctor` asks this.
    """
    default = default_model_name(home, settings.text("model"))
    for entry in registry.entries(home):
        path = path_of(home, entry)
        if is_there(home, entry) or path.exists():
            found = check_file(entry, path)
        elif entry.name != default:
            continue
        elif entry.name == STARTER:
            found = FileCheck(ok=True, detail=f"{path} is not written yet; its first use writes it")
        else:
            found = FileCheck(
                ok=False,
                detail=f"the default, but {path} is not there; {_way_back(entry.name)}, or run:"
                f" graft model use {STARTER}",
            )
        _show_check(output, entry.name, found)
    if default not in {entry.name for entry in registry.entries(home)}:
        detail = f"the default, but no model is called so; run: graft model use {STARTER}"
        if settings.source("model") != "default":
            detail = (
                "no model is called so, but the setting model (GRAFT_MODEL) names it; see the"
                " names with: graft model list"
            )
        _show_check(output, default, FileCheck(ok=False, detail=detail))


def _show_check(output: Output, name: str, found: FileCheck) -> None:
    record: dict[str, object] = {"name": name, "ok": found.ok, "detail": found.detail}
    output.show(record, f"{name}: {found.detail}")


def _way_back(name: str) -> str:
    if name in BY_NAME:
        return f"run: graft model pull {name}"
    return "put it back, or run: graft model use PATH"


def pull_model(home: Home, settings: Settings, name: str, output: Output) -> None:
    """Fetch or write the file of the model *name*.

    Raises:
        ModelFileError: it cannot be had; says what to do.
    """
    entry = registry.find(home, name)
    if is_there(home, entry):
        output.talk(f"{name} is here already")
    before = default_model_name(home, settings.text("model"))
    bar = Bar(name, sys.stderr, shown=not output.as_json)
    try:
        if name == STARTER:
            show: Callable[[int, int | None], None] = lambda done, _all: bar.percent(done)  # noqa: E731
        else:
            show = bar.bytes
        path = pull(home, entry, settings.text("model_mirror"), show)
    finally:
        bar.close()
    record = {"name": name, "path": str(path), "bytes": path.stat().st_size}
    output.show(record, f"{name}: {path}")
    after = default_model_name(home, settings.text("model"))
    if after != before:
        output.talk(_default_sentence(after))


def use_model(home: Home, name: str, output: Output) -> None:
    """Make the known model *name* the one of profiles without vectors.

    Raises:
        ModelFileError: it is not known, or its file is not here and cannot be written.
    """
    entry = registry.find(home, name)
    if not is_there(home, entry) and name != STARTER:
        fix = f"`graft model pull {name}`" if name == BGE_M3 else "`graft model use PATH`"
        raise ModelFileError(f"the file of {name} is not here ({path_of(home, entry)}); run {fix}")
    registry.set_default(home, name)
    output.show({"name": name, "default": True}, _default_sentence(name))


def register_model(home: Home, registration: Registration, output: Output) -> None:
    """Register a GGUF file of an embedding model and make it the default.

    Raises:
        ModelFileError: it is no embedding model that llama.cpp can load; says what to do.
    """
    path = registration.path.expanduser().resolve()
    if not path.is_file():
        raise ModelFileError(f"no file {path}; give a model's name or the path of a GGUF file")
    facts = read_facts(path)
    pooling = registration.pooling or facts.pooling
    if pooling is None:
        raise ModelFileError(
            f"{path} does not say how its token vectors become one; look it up in the model's"
            " description and give --pooling mean, cls or last"
        )
    entry = Entry(
        name=registration.name or _name_of(path),
        file=str(path),
        pooling=pooling,
        query_prefix=registration.query_prefix,
        passage_prefix=registration.passage_prefix,
        background=CosineBackground(mean=0.0, deviation=1.0, count=0.0),
        download=None,
        about=facts.name or facts.architecture,
    )
    output.talk(f"trying {path}")
    dimensions, background = try_model(path, entry)
    about = f"{entry.about}, {dimensions} dimensions, {pooling.value} pooling"
    registry.register(home, _measured(entry, background, about))
    record: dict[str, object] = {
        "name": entry.name,
        "default": True,
        "path": str(path),
        "dimensions": dimensions,
        "pooling": pooling.value,
        "query_prefix": entry.query_prefix,
        "passage_prefix": entry.passage_prefix,
    }
    output.show(record, f"{entry.name}: {about}")
    output.talk(_default_sentence(entry.name))


def is_known(home: Home, name: str) -> bool:
    """Tell whether *name* is a model's name rather than a path."""
    return name in BY_NAME or name in registry.registered(home)


def _measured(entry: Entry, background: CosineBackground, about: str) -> Entry:
    return Entry(
        name=entry.name,
        file=entry.file,
        pooling=entry.pooling,
        query_prefix=entry.query_prefix,
        passage_prefix=entry.passage_prefix,
        background=background,
        download=None,
        about=about,
    )


def _name_of(path: Path) -> str:
    """Make a model's name of a file's: lower case, dashes for everything else."""
    name = re.sub(r"[^a-z0-9._-]+", "-", path.stem.lower()).strip("._-")[:NAME_LENGTH_MAX]
    if not name:
        raise ModelFileError(f"no name can be made of {path.name!r}; give one with --name")
    if not MODEL_NAME.fullmatch(name):
        name = f"{name.removesuffix('.start')}-start"
    return f"{name}-file"[:NAME_LENGTH_MAX] if name in BY_NAME else name


def _default_sentence(name: str) -> str:
    return (
        f"{name} is the model of profiles that have no vectors yet; the others keep theirs"
        f" (`graft reindex --model {name}` moves one)"
    )
