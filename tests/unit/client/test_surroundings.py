"""Versions are found in a project's files, and no file is an error."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft.wire.ecosystems import Ecosystem, canonical_name, system_of
from graft_client.surroundings import find
from graft_client.surroundings.find import find_versions
from graft_client.surroundings.formats import FORMATS, TOML_BYTES_MAX, Format

UV = """version = 1
requires-python = ">=3.11"

[[package]]
name = "mine"
source = { virtual = "." }

[[package]]
name = "django"
version = "5.1"
source = { registry = "https://pypi.example/simple" }
dependencies = [
    { name = "sqlparse" },
]

[[package]]
name = "numpy"
version = "1.26.4"
resolution-markers = ["python_full_version < '3.12'"]

[[package]]
name = "numpy"
version = "2.1.0"
"""
POETRY = """[[package]]
name = "Ruamel.Yaml"
version = "0.18.6"
optional = false

[package.dependencies]
other = ">=1"
"""
CARGO = """version = 3

[[package]]
name = "serde_json"
version = "1.0.140"
dependencies = [
 "itoa",
]
"""
PYPROJECT = """[project]
name = "mine"
dependencies = ["django[argon2]==5.1", "flask>=3", "numpy == 2.1 ; python_version > '3'"]
[project.optional-dependencies]
dev = ["pytest===8.3", "ruff==0.*", "mypy==1.2,!=1.3"]
[dependency-groups]
test = ["tox==4.2", {include-group = "dev"}]
[tool.poetry.dependencies]
python = "^3.11"
celery = "5.4.0"
redis = {version = "==5.0.1", extras = ["hiredis"]}
"""
PACKAGE_LOCK = {
    "lockfileVersion": 3,
    "packages": {
        "": {"name": "mine", "version": "1.0.0"},
        "node_modules/react": {"version": "19.0.0"},
        "node_modules/@types/node": {"version": "20.4.2"},
        "node_modules/old/node_modules/react": {"version": "17.0.2"},
        "node_modules/old/node_modules/only-there": {"version": "1.2.3"},
        "node_modules/linked": {"resolved": "packages/linked", "link": True},
    },
}
OLD_PACKAGE_LOCK = {
    "lockfileVersion": 1,
    "dependencies": {
        "react": {"version": "19.0.0", "dependencies": {"inner": {"version": "0.1.0"}}},
        "old": {"version": "1.0.0", "dependencies": {"react": {"version": "17.0.2"}}},
    },
}
PNPM_9 = """lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      react:
        specifier: ^18
        version: 18.2.0

packages:

  '@babel/core@7.24.0':
    resolution: {integrity: sha512-x}
    engines: {node: '>=6'}

  react@18.2.0:
    resolution: {integrity: sha512-y}

snapshots:

  react-dom@18.2.0(react@18.2.0):
    dependencies:
      react: 18.2.0
"""
PNPM_5 = """lockfileVersion: 5.4
dependencies:
  react: 18.2.0
packages:
  /@babel/core/7.24.0:
    dev: true
  /react-dom/18.2.0_react@18.2.0:
    dev: false
"""
YARN_1 = """# yarn lockfile v1


"@types/node@*", "@types/node@^20.0.0":
  version "20.4.2"
  resolved "https://registry.example/node.tgz#abc"

react@^18.0.0, react@^18.2.0:
  version "18.2.0"
  dependencies:
    loose-envify "^1.1.0"
"""
YARN_4 = """__metadata:
  version: 8
  cacheKey: 10

"@types/node@npm:*, @types/node@npm:^20.0.0":
  version: 20.4.2
  resolution: "@types/node@npm:20.4.2"

"mine@workspace:.":
  version: 0.0.0-use.local
"""
GO_MOD = """module example.org/mine

go 1.22

require github.com/One/alone v1.0.0

require (
\tgolang.org/x/net v0.20.0 // indirect
\tgithub.com/a/b/v2 v2.1.3
)

replace golang.org/x/net => ../net

exclude (
\tgithub.com/a/c v0.1.0
)
"""
GO_SUM = """golang.org/x/net v0.19.0/go.mod h1:x=
golang.org/x/net v0.20.0 h1:y=
golang.org/x/net v0.20.0/go.mod h1:z=
"""
GEMFILE = """GEM
  remote: https://gems.example/
  specs:
    nokogiri (1.16.3-x86_64-linux)
      racc (~> 1.4)
    rails (7.1.3)

PLATFORMS
  x86_64-linux

DEPENDENCIES
  rails (~> 7.1)
"""
REQUIREMENTS = """# compiled
-r other.txt
Django==5.1 \\
    --hash=sha256:aaaa
flask>=3
uvicorn[standard] == 0.30.1  # why not
ruff==0.*
mypy==1.2,!=1.3
numpy==2.1.0;python_version>'3'
"""


def everything_of(name: str, text: str) -> set[tuple[str, str]]:
    kind = next(each for each in FORMATS if Path(name).match(each.pattern))
    return set(kind.read(text))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("uv.lock", UV, {("django", "5.1"), ("numpy", "1.26.4"), ("numpy", "2.1.0")}),
        ("poetry.lock", POETRY, {("Ruamel.Yaml", "0.18.6")}),
        ("Cargo.lock", CARGO, {("serde_json", "1.0.140")}),
        (
            "pyproject.toml",
            PYPROJECT,
            {
                *(("django", "5.1"), ("numpy", "2.1"), ("pytest", "8.3"), ("tox", "4.2")),
                *(("celery", "5.4.0"), ("redis", "5.0.1")),
            },
        ),
        (
            "Pipfile.lock",
            json.dumps({"default": {"django": {"version": "==5.1"}, "a": {"git": "x"}}}),
            {("django", "5.1")},
        ),
        (
            "requirements-dev.txt",
            REQUIREMENTS,
            {("Django", "5.1"), ("uvicorn", "0.30.1"), ("numpy", "2.1.0")},
        ),
        (
            "package-lock.json",
            json.dumps(PACKAGE_LOCK),
            {("react", "19.0.0"), ("@types/node", "20.4.2"), ("only-there", "1.2.3")},
        ),
        (
            "package-lock.json",
            json.dumps(OLD_PACKAGE_LOCK),
            {("react", "19.0.0"), ("inner", "0.1.0"), ("old", "1.0.0")},
        ),
        (
            "package.json",
            json.dumps({"dependencies": {"a": "^1"}, "devDependencies": {"b": "v1.2.3-rc.1"}}),
            {("b", "1.2.3-rc.1")},
        ),
        (
            "pnpm-lock.yaml",
            PNPM_9,
            {("@babel/core", "7.24.0"), ("react", "18.2.0"), ("react-dom", "18.2.0")},
        ),
        ("pnpm-lock.yaml", PNPM_5, {("@babel/core", "7.24.0"), ("react-dom", "18.2.0")}),
        ("yarn.lock", YARN_1, {("@types/node", "20.4.2"), ("react", "18.2.0")}),
        (
            "yarn.lock",
            YARN_4,
            {("__metadata", "8"), ("@types/node", "20.4.2"), ("mine", "0.0.0-use.local")},
        ),
        (
            "go.mod",
            GO_MOD,
            {
                *(("github.com/One/alone", "v1.0.0"), ("golang.org/x/net", "v0.20.0")),
                ("github.com/a/b/v2", "v2.1.3"),
            },
        ),
        ("go.sum", GO_SUM, {("golang.org/x/net", "v0.20.0")}),
        ("Gemfile.lock", GEMFILE, {("nokogiri", "1.16.3-x86_64-linux"), ("rails", "7.1.3")}),
        (".python-version", "3.12.1\n", {("python", "3.12.1")}),
        (".python-version", "3.12\n", set()),
        (".nvmrc", "v20.11.1", {("node", "20.11.1")}),
        (".node-version", "lts/iron", set()),
        (
            ".tool-versions",
            "nodejs 20.11.1 # web\npython 3.12.1 system\nruby latest\n",
            {("node", "20.11.1"), ("python", "3.12.1")},
        ),
    ],
)
def test_each_kind_of_file_is_read(name: str, text: str, expected: set[tuple[str, str]]) -> None:
    assert everything_of(name, text) == expected
    assert everything_of(name, text.replace("\n", "\r\n")) == expected


any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["packages", "dependencies", "default", "version", "node_modules/a", "a"]
            ),
            inner,
            max_size=3,
        )
    ),
)
any_lines = st.lists(
    st.sampled_from(
        [
            line
            for text in (UV, PNPM_9, YARN_1, GO_MOD, GEMFILE, REQUIREMENTS)
            for line in text.split("\n")
        ]
    )
    | st.text(max_size=20),
    max_size=12,
).map("\n".join)


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.pattern)
@given(text=st.text() | any_json.map(json.dumps) | any_lines)
def test_whatever_a_file_holds_is_read_or_refused_as_broken(kind: Format, text: str) -> None:
    try:
        pins = list(kind.read(text))
    except (ValueError, RecursionError):
        return

    assert all({type(name), type(version)} == {str} for name, version in pins)


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.pattern)
@pytest.mark.parametrize(
    "unit", ["[", "{", "a = [", '{"dependencies":', " ", "a==", "==", "  /", "@", "require (", "\n"]
)
def test_a_file_made_to_be_slow_is_not(kind: Format, unit: str) -> None:
    """The limit on a test's time is what would tell."""
    text = unit * (200_000 // len(unit))

    try:
        pins = list(kind.read(text))
    except (ValueError, RecursionError):
        return
    assert len(pins) < 200_000


class Told:
    """Remembers what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a folder inside a folder."""
    (tmp_path / "top" / ".git").mkdir(parents=True)
    (tmp_path / "top" / "web" / "src").mkdir(parents=True)
    return tmp_path / "top"


def test_only_what_is_wanted_is_given_by_its_one_name(repository: Path, told: Told) -> None:
    (repository / "uv.lock").write_text(UV + POETRY)

    found = find_versions(repository, ["pypi:ruamel-yaml", "pypi:numpy", "os", "pypi:absent"], told)

    assert set(found) == {
        "pypi:ruamel-yaml@0.18.6",
        "pypi:numpy@1.26.4",
        "pypi:numpy@2.1.0",
    }
    assert told.lines == []


def test_the_nearest_file_that_knows_a_name_decides(repository: Path, told: Told) -> None:
    (repository / "package.json").write_text('{"dependencies": {"a": "1.0.0", "b": "1.0.0"}}')
    (repository / "web" / "package.json").write_text('{"dependencies": {"a": "2.0.0"}}')

    found = find_versions(repository / "web" / "src", ["npm:a", "npm:b"], told)

    assert found == ("npm:a@2.0.0", "npm:b@1.0.0")


def test_a_lock_file_counts_before_what_it_was_made_from(repository: Path, told: Told) -> None:
    (repository / "pyproject.toml").write_text('[project]\ndependencies = ["django==4.0"]')
    (repository / "requirements.txt").write_text("django==4.1")
    (repository / "uv.lock").write_text(UV)

    assert find_versions(repository, ["pypi:django"], told) == ("pypi:django@5.1",)


def test_nothing_above_the_repository_is_looked_at(repository: Path, told: Told) -> None:
    (repository.parent / "uv.lock").write_text(UV)

    assert find_versions(repository / "web", ["pypi:django"], told) == ()


def test_outside_a_repository_only_the_directory_is(tmp_path: Path, told: Told) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "uv.lock").write_text(UV)

    assert find_versions(tmp_path, ["pypi:django"], told) == ("pypi:django@5.1",)
    assert find_versions(tmp_path / "inner", ["pypi:django"], told) == ()
    assert find_versions(tmp_path / "gone", ["pypi:django"], told) == ()


def test_a_worktree_s_top_is_where_its_git_file_lies(tmp_path: Path, told: Told) -> None:
    (tmp_path / "linked" / "src").mkdir(parents=True)
    (tmp_path / "linked" / ".git").write_text("gitdir: elsewhere")
    (tmp_path / "linked" / "uv.lock").write_text(UV)

    assert find_versions(tmp_path / "linked" / "src", ["pypi:django"], told) == ("pypi:django@5.1",)


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.write_text("<<<<<<< HEAD\n"), "broken"),
        (lambda path: path.write_text("a = " + "[" * 100_000), "broken"),
        (lambda path: path.write_bytes(b"a = '\xff'"), "no UTF-8 (byte 5)"),
        (lambda path: path.write_bytes(b"#" * (TOML_BYTES_MAX + 1)), "larger than 4 MiB"),
        (make_pipe, "no regular file"),
        (make_folder, "Is a directory"),
        (make_loop, "Too many levels"),
    ],
    ids=["no TOML", "deep", "no UTF-8", "large", "pipe", "folder", "loop"],
)
def test_a_file_that_cannot_be_used_is_left_out_with_a_word(
    repository: Path, told: Told, make: Callable[[Path], object], why: str
) -> None:
    make(repository / "uv.lock")
    (repository / "requirements.txt").write_text("\ufeffdjango==5.1")

    found = find_versions(repository, ["pypi:django"], told)

    assert found == ("pypi:django@5.1",)
    (line,) = told.lines
    assert str(repository / "uv.lock") in line
    assert why in line


def test_a_file_of_another_ecosystem_is_not_opened(repository: Path, told: Told) -> None:
    (repository / "uv.lock").write_text("broken [")
    (repository / "Gemfile.lock").write_text(GEMFILE)

    assert find_versions(repository, ["gem:rails"], told) == ("gem:rails@7.1.3",)
    assert told.lines == []


def test_languages_and_tools_come_from_version_files(repository: Path, told: Told) -> None:
    (repository / ".python-version").write_text("3.12.1")
    (repository / ".tool-versions").write_text("nodejs 20.11.1")

    found = find_versions(repository, ["lang:python", "tool:node"], told)

    assert set(found) == {"lang:python@3.12.1", "tool:node@20.11.1"}


def test_no_further_file_is_begun_when_it_takes_too_long(repository: Path, told: Told) -> None:
    (repository / "uv.lock").write_text(UV)
    readings: Iterator[float] = iter([0.0, find.SECONDS_MAX + 1])

    assert find_versions(repository, ["pypi:django"], told, lambda: next(readings)) == ()
    assert "too long" in told.lines[0]


def test_what_the_service_would_refuse_is_not_given(repository: Path, told: Told) -> None:
    pins = [f"a=={version}" for version in ("1." * 200 + "0", *range(find.VERSIONS_MAX + 5))]
    (repository / "requirements.txt").write_text("\n".join(pins))
    (repository / "yarn.lock").write_text('b@^1:\n  version "1.0\x1b[31m"\n')

    found = find_versions(repository, ["pypi:a", "npm:b"], told)

    assert found == tuple(f"pypi:a@{version}" for version in range(find.VERSIONS_MAX))


def test_only_some_of_many_requirement_files_are_read(repository: Path, told: Told) -> None:
    for number in range(find.FILES_MAX + 2):
        (repository / f"requirements-{number:02}.txt").write_text(f"a{number}==1")
    wanted = [f"pypi:a{number}" for number in range(find.FILES_MAX + 2)]

    assert len(find_versions(repository, wanted, told)) == find.FILES_MAX


@pytest.mark.parametrize(
    ("ecosystem", "name", "expected"),
    [
        (Ecosystem.PYPI, "Ruamel__Yaml.-x", "ruamel-yaml-x"),
        (Ecosystem.NPM, "@Types/Node_x", "@types/node_x"),
        (Ecosystem.CARGO, "Serde_JSON", "serde-json"),
        (Ecosystem.GO, "github.com/BurntSushi/toml", "github.com/BurntSushi/toml"),
        (Ecosystem.GEM, "RedCloth", "RedCloth"),
        (Ecosystem.TOOL, "Docker-Compose", "docker-compose"),
        (Ecosystem.OS, "Darwin", "macos"),
    ],
)
def test_a_name_has_one_form(ecosystem: Ecosystem, name: str, expected: str) -> None:
    assert canonical_name(ecosystem, name) == expected


def test_the_system_is_known_by_python_s_name_for_it() -> None:
    names = ("linux", "linux2", "darwin", "win32", "cygwin", "freebsd14")

    assert [system_of(name) for name in names] == [
        *("linux", "linux", "macos", "windows", "windows", None)
    ]
