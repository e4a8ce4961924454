import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.client.fake_memstore import FakeState

from graft_client import Graft
from graft_client.gitfiles import remote_urls
from graft_client.scope import (
    ALL_SCOPES,
    Project,
    ScopeChoice,
    find_project,
    normal_remote,
    read_scopes,
    write_scope,
)
from graft_client.settings import configure


def git(directory: Path, *arguments: str) -> None:
    around = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # noqa: TID251
    identity = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "protocol.file.allow=always")
    subprocess.run(
        ["git", *identity, *arguments], cwd=directory, env=around, check=True, capture_output=True
    )


def repository(path: Path, **remotes: str) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "--quiet")
    for name, url in remotes.items():
        git(path, "remote", "add", name, url)
    return path


def scope_of(directory: Path) -> str:
    project = find_project(directory)
    assert project is not None
    return project.scope


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:Owner/Name.git",
        "github.com:Owner/Name",
        "ssh://git@GitHub.com/Owner/Name.git",
        "ssh://git@github.com:22/Owner/Name",
        "https://user:token@github.com/Owner/Name.git/",
        "https://github.com:443//Owner/Name",
        "http://github.com:80/Owner/Name.git",
        "git://github.com:9418/Owner/Name.git",
        "git+ssh://git@github.com/Owner/Name",
        "https://github.com/Owner/Name.git?token=secret#main",
        "https://github.com./Owner/Name",
    ],
)
def test_every_way_to_write_an_address_is_one_project(url: str) -> None:
    assert normal_remote(url) == "github.com/Owner/Name"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("ssh://git@host:2222/a/b.git", "host:2222/a/b"),
        ("https://[2001:DB8::1]:8443/a", "[2001:db8::1]:8443/a"),
        ("git@[2001:db8::1]:a/b", "[2001:db8::1]/a/b"),
        ("host:~me/repo.git", "host/~me/repo"),
        ("/srv/git/name.git", ""),
        ("../name", ""),
        ("./odd:name", ""),
        ("file:///srv/name.git", ""),
        ("codecommit::eu-west-1://name", ""),
        ("ext::sh -c cat", ""),
        ("https://host:port/x", ""),
        ("https://host", ""),
        ("https://host/a\nb", ""),
        ("", ""),
    ],
)
def test_ports_of_their_own_stay_and_what_has_no_host_is_no_remote(url: str, expected: str) -> None:
    assert normal_remote(url) == expected


@given(st.text(max_size=60))
def test_a_normal_address_holds_no_password_and_no_control_character(text: str) -> None:
    for url in (text, f"https://user:pass@{text}", f"git@host:{text}", f"ssh://h/{text}"):
        result = normal_remote(url)
        assert "user:pass" not in result
        assert result.isprintable()


def test_outside_a_repository_there_is_no_project(tmp_path: Path) -> None:
    assert find_project(tmp_path) is None


def test_a_repository_without_a_remote_is_its_real_path(tmp_path: Path) -> None:
    repository(tmp_path / "repo")
    (tmp_path / "repo" / "deep").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "repo" / "deep")

    found = find_project(tmp_path / "link")

    path = f"project:{(tmp_path / 'repo').resolve()}"
    assert found == Project(scope=path, path_scope=path)


def test_two_repositories_of_one_name_are_two_projects(tmp_path: Path) -> None:
    one, two = repository(tmp_path / "a" / "my-app"), repository(tmp_path / "b" / "my-app")

    assert scope_of(one) != scope_of(two)


def test_origin_counts_then_the_only_remote_then_the_first_by_name(tmp_path: Path) -> None:
    three = repository(tmp_path / "3", a="https://a.x/r", origin="https://o.x/r", z="https://z.x/r")
    one = repository(tmp_path / "1", upstream="https://u.x/r")
    two = repository(tmp_path / "2", zeta="https://z.x/r", beta="https://b.x/r")

    assert scope_of(three) == "project:o.x/r"
    assert scope_of(one) == "project:u.x/r"
    assert scope_of(two) == "project:b.x/r"


def test_a_remote_that_is_a_path_gives_the_repository_s_own_path(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", origin="/srv/git/name.git")

    assert scope_of(repo) == f"project:{repo.resolve()}"


def test_a_linked_worktree_is_the_project_of_its_repository(tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    git(main, "commit", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "--quiet", str(tmp_path / "elsewhere"))
    assert scope_of(tmp_path / "elsewhere") == scope_of(main)

    git(main, "remote", "add", "origin", "git@host:o/n.git")

    assert scope_of(tmp_path / "elsewhere") == "project:host/o/n"


def test_a_worktree_of_a_bare_repository_is_that_repository(tmp_path: Path) -> None:
    source = repository(tmp_path / "source")
    git(source, "commit", "--allow-empty", "-m", "first")
    git(tmp_path, "clone", "--quiet", "--bare", str(source), "bare.git")
    git(tmp_path / "bare.git", "remote", "remove", "origin")
    git(tmp_path / "bare.git", "worktree", "add", "--quiet", str(tmp_path / "tree"))

    assert scope_of(tmp_path / "tree") == f"project:{(tmp_path / 'bare.git').resolve()}"
    assert scope_of(tmp_path / "bare.git") == scope_of(tmp_path / "tree")


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner")
    git(inner, "commit", "--allow-empty", "-m", "first")
    outer = repository(tmp_path / "outer", origin="https://host/outer")
    git(outer, "submodule", "--quiet", "add", str(inner), "part")

    assert scope_of(outer / "part") == f"project:{(outer / 'part').resolve()}"
    git(outer / "part", "remote", "set-url", "origin", "https://host/part.git")
    assert scope_of(outer / "part") == "project:host/part"


def test_the_inside_of_git_s_own_directory_is_the_same_project(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")

    assert scope_of(repo / ".git" / "refs") == scope_of(repo)


def test_a_directory_called_git_that_is_no_repository_is_passed_over(tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer")
    (outer / "inner" / ".git").mkdir(parents=True)

    assert scope_of(outer / "inner") == scope_of(outer)


def test_a_path_that_is_no_utf8_is_written_out(tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    repo = repository(Path(odd))

    assert scope_of(repo).endswith("/caf\\xe9")


def test_the_config_is_read_as_git_reads_it(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        '[core]\n\turl = not a remote\n[remote "a"] url = "https://x/a;b" ; comment\n'
        '\turl = https://second/ignored\n[Remote "b \\"q\\""]\n\tURL = https://x/\\\nb # comment\n'
        '[remote.c]\nurl=https://x/c\t\n[remote]\nurl = none\n[remote "d"]\nurl\n'
    )

    assert remote_urls(config) == {
        "a": "https://x/a;b",
        'b "q"': "https://x/b",
        "c": "https://x/c",
    }


def test_a_note_goes_to_the_chosen_scope_else_the_project_else_user() -> None:
    project = Project(scope="project:host/o/n", path_scope="project:/src")

    assert write_scope(project, "team:core") == "team:core"
    assert write_scope(project, "") == "project:host/o/n"
    assert write_scope(None, "") == "user"


def test_a_read_sees_both_forms_of_the_project_and_user_unless_narrowed_or_widened() -> None:
    project = Project(scope="project:host/o/n", path_scope="project:/src")
    bare = Project(scope="project:/src", path_scope="project:/src")

    assert read_scopes(project, "").scopes == ("project:host/o/n", "project:/src", "user")
    assert read_scopes(bare, "").scopes == ("project:/src", "user")
    assert read_scopes(None, "").scopes == ("user",)
    assert read_scopes(project, "team:core") == ScopeChoice(scopes=("team:core",))
    assert read_scopes(project, ALL_SCOPES) == ScopeChoice(all=True)


def test_a_bound_caller_tells_so_with_every_call_and_asks_for_nothing_else(
    home: Path, memstore: FakeState, tmp_path: Path
) -> None:
    scopes = ("project:example.org/ours", "team:ü")
    configuration = configure(
        home=home, directory=tmp_path, environ={}, door="mcp", bound_scopes=scopes
    )

    with Graft(configuration=configuration) as graft:
        graft.insert("a note")
        graft.query("a question")

    (inserted,) = memstore.requests("InsertNote")
    (asked,) = memstore.requests("Query")
    assert inserted.note.scope == ""  # type: ignore[attr-defined]
    assert tuple(asked.scope.scopes) == scopes  # type: ignore[attr-defined]
    assert {each["graft-bound-scope"] for each in memstore.metadata} == {"team:%C3%BC"}
