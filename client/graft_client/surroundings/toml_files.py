"""Reads versions from uv.lock, poetry.lock, Cargo.lock and, where exact, pyproject.toml."""

import tomllib
from collections.abc import Iterator

from graft_client.surroundings.json_values import item, items, texts
from graft_client.surroundings.pins import Pin, pinned_requirement, pinned_version


def read_packages(text: str) -> Iterator[Pin]:
    """Give each ``[[package]]`` that has a version.

    Raises:
        ValueError: it is no TOML.
    """
    for package in items(tomllib.loads(text), "package"):
        name, version = item(package, "name"), item(package, "version")
        if isinstance(name, str) and isinstance(version, str):
            yield name, version


def read_pyproject(text: str) -> Iterator[Pin]:
    """Give each dependency whose version is exact.

    Raises:
        ValueError: it is no TOML.
    """
    document = tomllib.loads(text)
    project = item(document, "project")
    listed = [*texts(item(project, "dependencies"))]
    for groups in (item(project, "optional-dependencies"), item(document, "dependency-groups")):
        if isinstance(groups, dict):
            listed += [each for group in groups.values() for each in texts(group)]
    for requirement in listed:
        pin = pinned_requirement(requirement)
        if pin is not None:
            yield pin
    yield from _of_poetry(item(item(item(document, "tool"), "poetry"), "dependencies"))


def _of_poetry(dependencies: object) -> Iterator[Pin]:
    if not isinstance(dependencies, dict):
        return
    for name, wanted in dependencies.items():
        text = item(wanted, "version") if isinstance(wanted, dict) else wanted
        version = pinned_version(text.removeprefix("==")) if isinstance(text, str) else None
        if version is not None:
            yield name, version
