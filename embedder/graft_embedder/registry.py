"""Know every model by name: the catalogue's, and those that a person registered."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graft.wire.models import MODEL_NAME, MODEL_NAME_RULE, RegistryError, read_registry
from graft.wire.paths import Home
from graft_embedder.catalogue import BY_NAME, CATALOGUE, CosineBackground, Entry, Pooling
from graft_embedder.errors import ModelFileError
from graft_embedder.files import locked, replace_text

LOCK_SECONDS = 10.0
REGISTERED_MAX = 64
"""Models that one home may have registered."""


def find(home: Home, name: str) -> Entry:
    """Return the entry of *name*.

    Raises:
        ModelFileError: no model has this name, or the registry cannot be read.
    """
    entry = BY_NAME.get(name) or registered(home).get(name)
    if entry is None:
        known = ", ".join(known_entry.name for known_entry in entries(home))
        raise ModelFileError(
            f"no model is called {name!r} (known: {known}); register a file with"
            " `graft model use PATH`"
        )
    return entry


def entries(home: Home) -> list[Entry]:
    """Return the catalogue's models, then those registered, by name."""
    return [*CATALOGUE, *sorted(registered(home).values(), key=lambda entry: entry.name)]


def registered(home: Home) -> dict[str, Entry]:
    """Return what was registered.

    Raises:
        ModelFileError: the registry cannot be read.
    """
    kept = _read(home).get("registered", {})
    if not isinstance(kept, dict):
        raise ModelFileError(_broken(home))
    return {name: _from_json(home, name, fields) for name, fields in kept.items()}


def set_default(home: Home, name: str) -> None:
    """Make *name* the model of profiles without vectors.

    Raises:
        ModelFileError: the registry cannot be read or written.
    """
    _change(home, {"default": name})


def register(home: Home, entry: Entry) -> None:
    """Keep *entry* and make it the model of profiles without vectors.

    Raises:
        ModelFileError: its name is taken by the catalogue or malformed, or the registry is full
            or cannot be read or written.
    """
    if entry.name in BY_NAME or not MODEL_NAME.fullmatch(entry.name):
        raise ModelFileError(
            f"a model cannot be called {entry.name!r}; choose --name: {MODEL_NAME_RULE}, and not"
            f" {' or '.join(BY_NAME)}"
        )
    kept = registered(home)
    if entry.name not in kept and len(kept) >= REGISTERED_MAX:
        raise ModelFileError(
            f"{REGISTERED_MAX} models are registered; remove some from {home.models_file}"
        )
    kept[entry.name] = entry
    _change(
        home,
        {
            "default": entry.name,
            "registered": {name: _to_json(each) for name, each in sorted(kept.items())},
        },
    )


def _change(home: Home, values: Mapping[str, object]) -> None:
    path = home.models_file
    with locked(path.with_suffix(".lock"), LOCK_SECONDS, lambda: None):
        content = {**_read(home), **values}
        try:
            replace_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        except OSError as error:
            raise ModelFileError(f"cannot write {path}: {error.strerror or error}") from error


def _read(home: Home) -> dict[str, Any]:
    try:
        return dict(read_registry(home))
    except RegistryError as error:
        raise ModelFileError(str(error)) from error


def _broken(home: Home) -> str:
    return f"{home.models_file} is damaged; move it away and register again"


def _to_json(entry: Entry) -> dict[str, object]:
    return {
        "path": entry.file,
        "pooling": entry.pooling.value,
        "query_prefix": entry.query_prefix,
        "passage_prefix": entry.passage_prefix,
        "background": {
            "mean": entry.background.mean,
            "deviation": entry.background.deviation,
            "count": entry.background.count,
        },
        "about": entry.about,
    }


def _from_json(home: Home, name: str, fields: Any) -> Entry:
    try:
        background = CosineBackground(
            mean=_finite(fields["background"]["mean"]),
            deviation=_finite(fields["background"]["deviation"]),
            count=_finite(fields["background"]["count"]),
        )
        return Entry(
            name=name,
            file=str(Path(fields["path"])),
            pooling=Pooling(fields["pooling"]),
            query_prefix=str(fields["query_prefix"]),
            passage_prefix=str(fields["passage_prefix"]),
            background=background,
            download=None,
            about=str(fields["about"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(_broken(home)) from error


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number
