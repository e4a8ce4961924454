"""Which files of a project tell versions, and who reads them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from graft.wire.ecosystems import Ecosystem
from graft_client.surroundings.json_files import (
    read_package_json,
    read_package_lock,
    read_pipfile_lock,
)
from graft_client.surroundings.line_files import (
    read_gemfile_lock,
    read_go_mod,
    read_go_sum,
    read_node_version,
    read_pnpm_lock,
    read_python_version,
    read_requirements,
    read_tool_versions,
    read_yarn_lock,
)
from graft_client.surroundings.pins import Pin
from graft_client.surroundings.toml_files import read_packages, read_pyproject

TEXT_BYTES_MAX = 16 << 20
"""Half a second of reading."""
TOML_BYTES_MAX = 4 << 20
"""A second and a half of reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A kind of file.

    Attributes:
        pattern: its name, "*" for any letters.
        ecosystems: whose names it tells.
        read: gives names and versions; a ValueError says what is wrong with the file.
    """

    pattern: str
    ecosystems: frozenset[Ecosystem]
    read: Callable[[str], Iterator[Pin]]
    bytes_max: int = TEXT_BYTES_MAX


def _of(
    pattern: str,
    read: Callable[[str], Iterator[Pin]],
    *ecosystems: Ecosystem,
    bytes_max: int = TEXT_BYTES_MAX,
) -> Format:
    return Format(pattern=pattern, ecosystems=frozenset(ecosystems), read=read, bytes_max=bytes_max)


def _with(read: Callable[[str], Iterator[Pin]], patterns: Iterable[str]) -> tuple[Format, ...]:
    return tuple(_of(each, read, Ecosystem.LANG, Ecosystem.TOOL) for each in patterns)


# What is said in an earlier one counts: a lock file before what it was made from.
FORMATS = (
    _of("uv.lock", read_packages, Ecosystem.PYPI, bytes_max=TOML_BYTES_MAX),
    _of("poetry.lock", read_packages, Ecosystem.PYPI, bytes_max=TOML_BYTES_MAX),
    _of("Pipfile.lock", read_pipfile_lock, Ecosystem.PYPI),
    _of("requirements*.txt", read_requirements, Ecosystem.PYPI),
    _of("pyproject.toml", read_pyproject, Ecosystem.PYPI, bytes_max=TOML_BYTES_MAX),
    _of("package-lock.json", read_package_lock, Ecosystem.NPM),
    _of("pnpm-lock.yaml", read_pnpm_lock, Ecosystem.NPM),
    _of("yarn.lock", read_yarn_lock, Ecosystem.NPM),
    _of("package.json", read_package_json, Ecosystem.NPM),
    _of("Cargo.lock", read_packages, Ecosystem.CARGO, bytes_max=TOML_BYTES_MAX),
    _of("go.mod", read_go_mod, Ecosystem.GO),
    _of("go.sum", read_go_sum, Ecosystem.GO),
    _of("Gemfile.lock", read_gemfile_lock, Ecosystem.GEM),
    *_with(read_python_version, (".python-version",)),
    *_with(read_node_version, (".node-version", ".nvmrc")),
    *_with(read_tool_versions, (".tool-versions",)),
)
