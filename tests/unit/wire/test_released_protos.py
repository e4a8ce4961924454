"""A change of the protos that breaks what was released is refused by what `make lint` runs."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools.released_protos import IMAGE, BreakingError, find_breaks, replace_image

ROOT = Path(__file__).parents[3]
NOTES = "notes_service.proto"
RECALL = "recall_service.proto"
ERRORS = "errors.proto"

STATS = "  rpc GetStats(GetStatsRequest) returns (GetStatsResponse);"

BREAKING = {
    "a field removed": (RECALL, "  string receipt = 11;", ""),
    "a field removed and reserved": (RECALL, "  string receipt = 11;", "  reserved 11;"),
    "a field renamed": (RECALL, "  string receipt = 11;", "  string receipt_id = 11;"),
    "a field retyped": (RECALL, "  string receipt = 11;", "  bytes receipt = 11;"),
    "a field renumbered": (RECALL, "  string receipt = 11;", "  string receipt = 111;"),
    "a field made repeated": (RECALL, "  string receipt = 11;", "  repeated string receipt = 11;"),
    "an rpc removed": (NOTES, STATS, ""),
    "an rpc that streams": (NOTES, "(GetStatsResponse);", "(stream GetStatsResponse);"),
    "a reason renumbered": (ERRORS, "ERROR_REASON_BUSY = 40;", "ERROR_REASON_BUSY = 140;"),
    "a reason renamed": (ERRORS, "ERROR_REASON_BUSY = 40;", "ERROR_REASON_QUEUE_FULL = 40;"),
}
ADDED = {
    "a field added": (RECALL, "  string receipt = 11;", "  string receipt = 11;\n  bool new = 99;"),
    "an rpc added": (
        NOTES,
        STATS,
        f"{STATS}\n  rpc CountNotes(GetStatsRequest) returns (GetStatsResponse);",
    ),
    "a reason added": (
        ERRORS,
        "ERROR_REASON_BUSY = 40;",
        "ERROR_REASON_BUSY = 40;\n  ERROR_REASON_NEW = 99;",
    ),
}
Change = tuple[str, str, str]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What `buf` reads of a checkout."""
    shutil.copytree(ROOT / "protos", tmp_path / "protos", ignore=shutil.ignore_patterns("*.py*"))
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    return tmp_path


def make(checkout: Path, change: Change) -> None:
    name, old, new = change
    path = checkout / "protos/graft/memory/v1" / name
    text = path.read_text("utf-8")
    assert text.count(old) == 1, "the change is made in one place"
    path.write_text(text.replace(old, new), "utf-8")


def lint(checkout: Path) -> "subprocess.CompletedProcess[str]":
    """Run the line of the Makefile's target lint, as it stands there."""
    lines = (ROOT / "Makefile").read_text("utf-8").splitlines()
    (line,) = (each for each in lines if each.startswith("\t$(BIN)/buf breaking"))
    command = shlex.split(line.replace("$(BIN)", str(Path(sys.executable).parent)))
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


def test_the_protos_of_this_checkout_break_nothing(checkout: Path) -> None:
    done = lint(checkout)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("change", BREAKING.values(), ids=BREAKING)
def test_what_breaks_is_refused(checkout: Path, change: Change) -> None:
    make(checkout, change)

    done = lint(checkout)

    assert done.returncode == 100, done.stderr
    assert f"protos/graft/memory/v1/{change[0]}" in done.stdout


@pytest.mark.parametrize("change", ADDED.values(), ids=ADDED)
def test_what_is_added_is_taken(checkout: Path, change: Change) -> None:
    make(checkout, change)

    done = lint(checkout)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_release_takes_what_was_added_and_then_holds_it(checkout: Path) -> None:
    make(checkout, ADDED["a field added"])
    replace_image(checkout)
    make(checkout, (RECALL, "  bool new = 99;", ""))

    assert "new" in find_breaks(checkout)


def test_a_release_that_breaks_leaves_the_image_until_it_says_so(checkout: Path) -> None:
    before = (checkout / IMAGE).read_bytes()
    make(checkout, BREAKING["a field removed"])

    with pytest.raises(BreakingError, match="receipt"):
        replace_image(checkout)
    assert (checkout / IMAGE).read_bytes() == before

    replace_image(checkout, breaking=True)
    assert lint(checkout).returncode == 0
