"""Reads versions from package-lock.json, Pipfile.lock and, where they are exact, package.json."""

import json
from collections.abc import Iterator

from graft_client.surroundings.json_values import item, pairs
from graft_client.surroundings.pins import Pin, pinned_version

MODULES = "node_modules/"


def read_package_lock(text: str) -> Iterator[Pin]:
    """Give each package once: the one that the project itself gets, else those further in.

    Raises:
        ValueError: it is no JSON.
    """
    document = json.loads(text)
    placed = [*_of_packages(document)] or [*_of_dependencies(document)]
    top = {name for depth, name, _ in placed if not depth}
    for depth, name, version in placed:
        if not depth or name not in top:
            yield name, version


def read_pipfile_lock(text: str) -> Iterator[Pin]:
    """Give each package of Pipfile.lock.

    Raises:
        ValueError: it is no JSON.
    """
    document = json.loads(text)
    for section in ("default", "develop"):
        for name, package in pairs(document, section):
            version = item(package, "version")
            if isinstance(version, str) and version.startswith("=="):
                yield name, version.lstrip("=")


def read_package_json(text: str) -> Iterator[Pin]:
    """Give each dependency whose version is exact.

    Raises:
        ValueError: it is no JSON.
    """
    document = json.loads(text)
    for section in ("dependencies", "devDependencies", "optionalDependencies"):
        for name, wanted in pairs(document, section):
            version = pinned_version(wanted) if isinstance(wanted, str) else None
            if version is not None:
                yield name, version


_Placed = tuple[int, str, str]
"""How many packages a package lies in, its name and its version."""


def _of_packages(document: object) -> Iterator[_Placed]:
    for place, package in pairs(document, "packages"):
        version = item(package, "version")
        if MODULES in place and isinstance(version, str):
            yield place.count(MODULES) - 1, place.rpartition(MODULES)[2], version


def _of_dependencies(document: object) -> Iterator[_Placed]:
    """Read what npm wrote before its version 7, where dependencies lie in each other."""
    waiting = [(0, document)]
    while waiting:
        depth, holder = waiting.pop()
        for name, package in pairs(holder, "dependencies"):
            version = item(package, "version")
            if isinstance(version, str):
                yield depth, name, version
            waiting.append((depth + 1, package))
