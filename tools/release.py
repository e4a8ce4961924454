"""Make a release: all that it consists of, from a clean clone, or nothing.

    .venv/bin/python -m tools.release 0.2.0 --dry-run
    .venv/bin/python -m tools.release 0.2.0
    .venv/bin/python -m tools.release --files-only

In a clone of HEAD it writes the version and the changelog's heading, takes the protos for released,
builds the sdist and, from that alone, the wheel, twice, and compares them byte by byte; lists what
an installation with all extras consists of (SBOM, CycloneDX 1.6); and sums all up in SHA256SUMS.
Then the commit and the tag come back to this checkout and the files to dist/. With --dry-run they
stay in the clone, which is named. With --files-only there is no new version: dist/ gets what HEAD
would ship. Nothing is uploaded or pushed: the last lines say how.
"""

import argparse
import datetime as dt
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from packaging.version import InvalidVersion, Version
from tools.bootstrap import llama_wheel
from tools.released_protos import BreakingError, replace_image

ROOT = Path(__file__).resolve().parents[1]
BRANCH = "main"
DIST = "dist"
VERSION_LINE = re.compile(r'^version = "([^"]+)"$', re.MULTILINE)
UNRELEASED = "## [Unreleased]\n"
SUMS = "SHA256SUMS"


class ReleaseError(Exception):
    """There is to be no release; the message says why."""


def main() -> int:
    """Make a release of this checkout."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("version", nargs="?", help="of the release, such as 0.2.0")
    parser.add_argument("--breaking", action="store_true", help="it may break released protos")
    parser.add_argument("--dry-run", action="store_true", help="keep all of it in the clone")
    parser.add_argument("--files-only", action="store_true", help="build what HEAD would ship")
    options = parser.parse_args()
    if options.files_only == bool(options.version):
        parser.error("give either a version or --files-only")
    try:
        if options.files_only:
            with tempfile.TemporaryDirectory(prefix="graft-release-") as folder:
                make_files(clone_of(ROOT, Path(folder)), fresh(ROOT / DIST))
            return 0
        return release(ROOT, options)
    except (ReleaseError, BreakingError) as error:
        sys.stderr.write(f"no release: {error}\n")
        return 1


def release(root: Path, options: argparse.Namespace) -> int:
    """Make the release that was asked for; return the exit status.

    Raises:
        ReleaseError: there is to be none.
        BreakingError: the protos break what was released.
    """
    version = check(root, options.version)
    clone = clone_of(root, Path(tempfile.mkdtemp(prefix="graft-release-")))
    write_version(clone, version, dt.datetime.now(dt.UTC).date())
    replace_image(clone, breaking=options.breaking)
    commit(clone, version)
    make_files(clone, fresh(clone / DIST))
    if options.dry_run:
        say(f"nothing was changed here; the release is in {clone}")
        return 0
    take_over(root, clone, version)
    say(f"to publish it: git push origin {BRANCH} v{version}")
    say(f"and upload the wheel and the sdist of {DIST}/ to the package index, such as by twine")
    return 0


def clone_of(root: Path, folder: Path) -> Path:
    """Clone what HEAD of a checkout is into *folder*; return where."""
    clone = folder / "graft"
    git(root, "clone", "--quiet", str(root), str(clone))
    git(clone, "checkout", "--quiet", "-B", BRANCH, git(root, "rev-parse", "HEAD").strip())
    return clone


def fresh(folder: Path) -> Path:
    """Empty a folder, or make it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def check(root: Path, wanted: str) -> Version:
    """Return the version of the release that a checkout is fit for.

    Raises:
        ReleaseError: it is not, or the version cannot be.
    """
    try:
        version = Version(wanted)
    except InvalidVersion as error:
        raise ReleaseError(f"{wanted!r} is no version as PEP 440 has it, such as 0.2.0") from error
    now = Version(read_version(root))
    if version < now or f"v{version}" in git(root, "tag", "--list").split():
        raise ReleaseError(f"{version} is behind {now}, or has been released")
    branch = git(root, "branch", "--show-current").strip()
    if branch != BRANCH:
        raise ReleaseError(f"the checkout is on {branch!r}; releases are made from {BRANCH}")
    if changed := git(root, "status", "--porcelain").strip():
        raise ReleaseError(f"the checkout is changed; commit or stash this first:\n{changed}")
    if not read_news(root):
        raise ReleaseError("CHANGELOG.md says nothing under [Unreleased]")
    return version


def read_version(root: Path) -> str:
    """Return the version that pyproject.toml of a checkout names.

    Raises:
        ReleaseError: it names none, or more than one.
    """
    found = VERSION_LINE.findall((root / "pyproject.toml").read_text("utf-8"))
    if len(found) != 1:
        raise ReleaseError(
            f"pyproject.toml has {len(found)} lines with a version; one was expected"
        )
    return str(found[0])


def read_news(root: Path) -> str:
    """Return what the changelog says of what has not been released."""
    after = (root / "CHANGELOG.md").read_text("utf-8").partition(UNRELEASED)[2]
    return re.sub(r"^#+ .*$", "", after.partition("\n## ")[0], flags=re.MULTILINE).strip()


def write_version(root: Path, version: Version, day: dt.date) -> None:
    """Write the version into pyproject.toml and the changelog of a checkout."""
    project, news = root / "pyproject.toml", root / "CHANGELOG.md"
    project.write_text(VERSION_LINE.sub(f'version = "{version}"', project.read_text("utf-8")))
    heading = f"{UNRELEASED}\n## [{version}] - {day.isoformat()}\n"
    news.write_text(news.read_text("utf-8").replace(UNRELEASED, heading, 1))


def commit(clone: Path, version: Version) -> None:
    """Commit what was written, and tag it."""
    git(clone, "commit", "--quiet", "--all", "--message", f"Release {version}")
    git(clone, "tag", "--annotate", f"v{version}", "--message", f"Release {version}")


def make_files(clone: Path, into: Path) -> None:
    """Build what is published of a clean clone.

    Raises:
        ReleaseError: two builds of the same source differ, or one fails.
    """
    # Files in archives get the time of the commit, whenever they are built.
    epoch = git(clone, "log", "-1", "--format=%ct").strip()
    with tempfile.TemporaryDirectory() as folder:
        for each in (into, Path(folder)):
            build(clone, each, epoch)
        different = [
            path.name
            for path in into.iterdir()
            if path.read_bytes() != (Path(folder) / path.name).read_bytes()
        ]
    if different:
        raise ReleaseError(f"two builds of the same source differ: {', '.join(different)}")
    (wheel,) = into.glob("*.whl")
    write_sbom(wheel, into / f"{wheel.stem}.cdx.json")
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"
        for path in sorted(into.iterdir())
    ]
    (into / SUMS).write_text("\n".join([*lines, ""]))
    say(*lines)


def build(clone: Path, into: Path, epoch: str) -> None:
    """Build the sdist, and the wheel from what is in that and nothing else."""
    run([sys.executable, "-m", "build", "--outdir", str(into), str(clone)], epoch)


def write_sbom(wheel: Path, path: Path) -> None:
    """Write which packages an installation of *wheel* with all extras consists of, and licences."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        # llama.cpp as this machine has compiled it: the list tells its version, not its flags.
        run(
            [python, "-m", "pip", "install", "--quiet", str(llama_wheel()), f"{wheel}[all,starter]"]
        )
        run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "setuptools", "pip"])
        tool = [sys.executable, "-m", "cyclonedx_py", "environment", "--gather-license-texts"]
        shape = ["--sv", "1.6", "--of", "JSON", "--output-reproducible"]
        run([*tool, *shape, "--output-file", str(path), python])


def take_over(root: Path, clone: Path, version: Version) -> None:
    """Bring the release from the clone to the checkout."""
    git(root, "pull", "--quiet", "--ff-only", str(clone), BRANCH)
    git(root, "fetch", "--quiet", str(clone), f"refs/tags/v{version}:refs/tags/v{version}")
    shutil.rmtree(root / DIST, ignore_errors=True)
    shutil.copytree(clone / DIST, root / DIST)
    shutil.rmtree(clone.parent)
    say(f"released {version}: commit {git(root, 'rev-parse', '--short', 'HEAD').strip()}, {DIST}/")


def git(root: Path, *arguments: str) -> str:
    """Run git in a checkout and return what it prints.

    Raises:
        ReleaseError: git refuses.
    """
    done = subprocess.run(
        ["git", *arguments],  # noqa: S607 - whichever git the person has
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ReleaseError(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def run(command: list[str], epoch: str = "") -> None:
    """Run a program; its talk is shown when it fails.

    Raises:
        ReleaseError: it failed.
    """
    environ = {**os.environ, **({"SOURCE_DATE_EPOCH": epoch} if epoch else {})}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")


def say(*lines: str) -> None:
    """Tell the person at the terminal."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
