"""A release is made whole, from a checkout that is fit for one, or not at all.

The files themselves are built by `.ci/run`, which then installs them.
"""

import argparse
import datetime as dt
from pathlib import Path

import pytest
from packaging.version import Version
from tools import release
from tools.release import ReleaseError, check, clone_of, git, read_news, write_version

PROJECT = '[project]\nname = "x"\nversion = "0.1.0"\ndependencies = ["a>=1"]\n'
NEWS = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n"
DAY = dt.date(2026, 12, 3)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository that is fit for a release."""
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "CHANGELOG.md").write_text(NEWS)
    git(root, "init", "--quiet", "--initial-branch", "main")
    for name, value in (("user.email", "somebody@example.org"), ("user.name", "Somebody")):
        git(root, "config", name, value)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "Begin")
    return root


def as_wished(version: str, *, dry_run: bool = False) -> argparse.Namespace:
    return argparse.Namespace(version=version, breaking=False, dry_run=dry_run, files_only=False)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The parts that take minutes and a network leave a file each instead of what they build."""
    monkeypatch.setattr(release, "make_files", lambda _, into: (into / "a.whl").write_text("w"))
    monkeypatch.setattr(release, "replace_image", lambda *_, **__: None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.org")


@pytest.mark.usefixtures("made")
def test_a_release_is_a_commit_a_tag_and_files(checkout: Path) -> None:
    status = release.release(checkout, as_wished("0.2.0"))

    assert status == 0
    assert 'version = "0.2.0"' in git(checkout, "show", "v0.2.0:pyproject.toml")
    assert git(checkout, "rev-parse", "v0.2.0^{commit}") == git(checkout, "rev-parse", "main")
    assert (checkout / "dist" / "a.whl").read_text() == "w"
    assert "## [Unreleased]\n\n## [0.2.0] - " in (checkout / "CHANGELOG.md").read_text()


@pytest.mark.usefixtures("made")
def test_a_dry_run_leaves_the_checkout_as_it_was(checkout: Path) -> None:
    before = git(checkout, "rev-parse", "HEAD")

    release.release(checkout, as_wished("0.2.0", dry_run=True))

    assert git(checkout, "rev-parse", "HEAD") == before
    assert (git(checkout, "tag"), git(checkout, "status", "--porcelain")) == ("", "")
    assert not (checkout / "dist").exists()


@pytest.mark.usefixtures("made")
def test_what_fails_on_the_way_leaves_the_checkout_as_it_was(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ReleaseError("two builds of the same source differ: a.whl")

    monkeypatch.setattr(release, "make_files", fail)
    before = git(checkout, "rev-parse", "HEAD")

    with pytest.raises(ReleaseError, match="differ"):
        release.release(checkout, as_wished("0.2.0"))

    assert (git(checkout, "rev-parse", "HEAD"), git(checkout, "tag")) == (before, "")


@pytest.mark.parametrize(
    ("wanted", "why"),
    [("0.0.9", "behind 0.1.0"), ("next", "'next' is no version"), ("0.3.0", "has been released")],
)
def test_a_version_that_cannot_be_is_refused(checkout: Path, wanted: str, why: str) -> None:
    git(checkout, "tag", "v0.3.0")

    with pytest.raises(ReleaseError, match=why):
        check(checkout, wanted)
    assert check(checkout, "0.2.0") == Version("0.2.0")


def test_a_checkout_that_is_not_fit_is_refused(checkout: Path) -> None:
    (checkout / "new").write_text("x")
    with pytest.raises(ReleaseError, match="commit or stash this first"):
        check(checkout, "0.2.0")
    (checkout / "new").unlink()

    git(checkout, "switch", "--quiet", "--create", "side")
    with pytest.raises(ReleaseError, match="'side'"):
        check(checkout, "0.2.0")
    git(checkout, "switch", "--quiet", "main")

    (checkout / "CHANGELOG.md").write_text(NEWS.replace("- A thing.\n", ""))
    git(checkout, "commit", "--quiet", "--all", "--message", "Forget")
    with pytest.raises(ReleaseError, match="says nothing"):
        check(checkout, "0.2.0")


def test_the_version_is_written_in_its_place_alone(checkout: Path) -> None:
    write_version(checkout, Version("0.2.0"), DAY)

    assert (checkout / "pyproject.toml").read_text() == PROJECT.replace("0.1.0", "0.2.0")
    changed = (checkout / "CHANGELOG.md").read_text()
    assert changed.count("## [0.2.0] - 2026-12-03\n\n### Added\n\n- A thing.\n") == 1
    assert read_news(checkout) == ""


def test_a_clone_is_of_the_commit_that_is_checked_out(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "switch", "--quiet", "--detach")

    clone = clone_of(checkout, tmp_path)

    assert git(clone, "rev-parse", "HEAD") == git(checkout, "rev-parse", "HEAD")
    assert git(clone, "branch", "--show-current").strip() == "main"


def test_this_checkout_names_one_version() -> None:
    assert Version(release.read_version(release.ROOT)) >= Version("0.1.0")
