"""Which build of the program this is: version and newest change of its files."""

import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("graft", "graft_client", "graft_embedder", "graft_memstore")
DISTRIBUTION = "graft-memory"


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
    """Return "<version>+<newest modification time of any module of ours, in seconds>".

    A service and a client of one installation have the same one; after a reinstallation the
    new client's is greater, which is how it knows an old daemon.
    """
    newest = 0
    for package in PACKAGES:
        spec = find_spec(package)
        for location in (spec.submodule_search_locations or []) if spec else []:
            for path in Path(location).rglob("*.py"):
                newest = max(newest, int(path.stat().st_mtime))
    return f"{version_text()}+{newest}"
