"""Reads versions from lock files that programs write a line at a time.

pnpm's and yarn's files are YAML, which nothing that the client needs can read; but what matters of
them stands on lines of one shape, and reading those takes a fraction of the time.
"""

import re
from collections.abc import Iterator

from graft_client.surroundings.pins import (
    LINE_CHARS_MAX,
    Pin,
    pinned_requirement,
    pinned_version,
)

_PNPM_SECTION = re.compile(r"([A-Za-z]+):")
_PNPM_PACKAGE = re.compile(r"  '?/?((?:@[^/@\s']+/)?[^/@\s'()]+)[@/]([0-9][^(:'_\s]*)")
_YARN_VERSION = re.compile(r"\s+\"?version\"?:?\s+\"?([^\"\s]+)\"?\s*")
_GO_REQUIRE = re.compile(r"(?:require\s+)?(\S+)\s+(v\S+)\s*")
_GEM = re.compile(r" {4}([^\s()]+) \(([^\s()]+)\)")
_TOOL_NAMES = {"nodejs": "node", "golang": "go"}


def read_requirements(text: str) -> Iterator[Pin]:
    """Give each requirement whose version is exact."""
    for line in _lines(text):
        pin = pinned_requirement(line)
        if pin is not None:
            yield pin


def read_pnpm_lock(text: str) -> Iterator[Pin]:
    """Give each package, of every version of the format since 5."""
    listing = False
    for line in _lines(text):
        section = _PNPM_SECTION.match(line)
        if section is not None:
            listing = section[1] in {"packages", "snapshots"}
        package = _PNPM_PACKAGE.match(line) if listing else None
        if package is not None:
            yield package[1], package[2]


def read_yarn_lock(text: str) -> Iterator[Pin]:
    """Give each package, of yarn 1 and of those after it."""
    names: set[str] = set()
    for line in _lines(text):
        if line[:1] not in {"", " ", "#"}:
            names = {_yarn_name(each) for each in line.rstrip().rstrip(":").split(",")}
            continue
        version = _YARN_VERSION.fullmatch(line)
        if version is not None:
            yield from ((name, version[1]) for name in sorted(names))
            names = set()


def read_go_mod(text: str) -> Iterator[Pin]:
    """Give each module that is required."""
    block = ""
    for line in _lines(text):
        bare = line.partition("//")[0].strip()
        if bare.endswith("("):
            block = bare[:-1].strip()
        elif bare == ")":
            block = ""
        elif block == "require" or (not block and bare.startswith("require")):
            found = _GO_REQUIRE.fullmatch(bare)
            if found is not None:
                yield found[1], found[2]


def read_go_sum(text: str) -> Iterator[Pin]:
    """Give each module whose code has a checksum; of the others only go.mod was looked at."""
    for line in _lines(text):
        path, _, rest = line.partition(" ")
        version = rest.partition(" ")[0]
        if version and not version.endswith("/go.mod"):
            yield path, version


def read_gemfile_lock(text: str) -> Iterator[Pin]:
    """Give each gem."""
    for line in _lines(text):
        found = _GEM.fullmatch(line.rstrip())
        if found is not None:
            yield found[1], found[2]


def read_python_version(text: str) -> Iterator[Pin]:
    """Give Python's version where the file has it whole."""
    return _first_version("python", text)


def read_node_version(text: str) -> Iterator[Pin]:
    """Give Node's version where the file has it whole."""
    return _first_version("node", text)


def read_tool_versions(text: str) -> Iterator[Pin]:
    """Give the tools of asdf's and mise's file whose version is whole."""
    for line in _lines(text):
        words = line.partition("#")[0].split()
        version = pinned_version(words[1]) if words[1:] else None
        if version is not None:
            yield _TOOL_NAMES.get(words[0], words[0]), version


def _first_version(name: str, text: str) -> Iterator[Pin]:
    for line in _lines(text):
        version = pinned_version(line)
        if version is not None:
            yield name, version
            return


def _yarn_name(descriptor: str) -> str:
    """Return the name in ``react@^18``, ``"@types/node@npm:^20"`` and the like."""
    bare = descriptor.strip().strip('"')
    at = bare.find("@", 1)
    return bare if at < 0 else bare[:at]


def _lines(text: str) -> Iterator[str]:
    return (line[:LINE_CHARS_MAX] for line in text.split("\n"))
