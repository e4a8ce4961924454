"""Which build of the program this is: version and newest change of its files."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("graft", "graft_client", "graft_embedder", "graft_memstore")
DISTRIBUTION = "graft-memory"
READ_AT_START = (".py", ".json", ".sql")
"""Endings of what a service has in memory: code, the gate's model, migrations."""
BYTECODE = "__pycache__"


def version_text() -> str:
    """Return the version of the installed distribution, "0" when it is not installed.

    Read from the name of its metadata's folder: importlib.metadata would take 50 ms to load, and
    every call of the command line needs the version.
    """
    pattern = f"{DISTRIBUTION.replace('-', '_')}-*.dist-info"
    for folder in sys.path:
        for found in Path(folder).glob(pattern):
            return found.name.removesuffix(".dist-info").partition("-")[2]
    return "0"


def build_id() -> str:
    """Return "<version>+<newest modification time of any file of ours, in seconds>".

    A service and a client of one installation have the same one; after a reinstallation the
    new client's is greater, which is how it knows an old daemon.
    """
    specs = [find_spec(package) for package in PACKAGES]
    folders = [
        location
        for spec in specs
        for location in (spec.submodule_search_locations or [] if spec else [])
    ]
    return f"{version_text()}+{max(map(newest_change, folders), default=0)}"


def newest_change(folder: str) -> int:
    """Return when the newest file below *folder* that a service reads was changed, in seconds."""
    newest = 0
    # Not pathlib, which takes twice as long: every call of the command line waits for this.
    for place, folders, names in os.walk(folder):
        if BYTECODE in folders:
            folders.remove(BYTECODE)
        for name in names:
            if name.endswith(READ_AT_START):
                newest = max(newest, int(os.stat(f"{place}/{name}").st_mtime))  # noqa: PTH116
    return newest
