"""A swap that a process began is finished by the next one, wherever the first was killed."""

import json
import os
import subprocess
import sys
from pathlib import Path

from graft_memstore.store.chain import ChainHead
from graft_memstore.store.drafts import DRAFTS, Drafts, Swap
from graft_memstore.store.events import Link
from graft_memstore.store.reviewer_file import ReviewerFiles, StoredReviewer

NEW = Link(count=7, hash=b"n" * 32)
OLD = Link(count=9, hash=b"o" * 32)
REVIEWER = StoredReviewer(salt="00", hash="11", set_at_ms=1, profile="one", event=8)

KILLED = """
import os, sys
from pathlib import Path
from graft_memstore.store import drafts
from graft_memstore.store.reviewer_file import StoredReviewer

left = 0

def count(event, arguments):
    # Every change of a folder, and every file that is opened, is a step.
    global left
    if event in ("os.rename", "os.remove", "os.mkdir", "open"):
        left -= 1
        if left < 0:
            os._exit(9)

swaps = [drafts.Swap(name="one", folder="0"), drafts.Swap(name="two", folder="1")]
reviewer = StoredReviewer(salt="00", hash="11", set_at_ms=1, profile="one", event=8)
for step, name in enumerate(sys.argv[1:]):
    root, left = Path(name), step
    child = os.fork()
    if child == 0:
        store = drafts.Drafts(root / "profiles", root / "audit", os.urandom)
        sys.addaudithook(count)
        store.swap(root / "profiles" / ".drafts" / "a", swaps, reviewer)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status))
"""
STEPS_MAX = 80


def home(root: Path) -> Path:
    """Make a home whose profile "one" is to be replaced and "two" is to be made; give the draft."""
    (root / "profiles" / "one").mkdir(parents=True)
    (root / "audit").mkdir()
    (root / "profiles" / "one" / "graft.db").write_text("old")
    ChainHead(root / "audit" / "one.head").write(OLD)
    (root / "audit" / "key").write_bytes(b"h" * 32)
    draft = root / "profiles" / DRAFTS / "a"
    for folder, key in (("0", b"h" * 32), ("1", b"f" * 32)):
        (draft / folder).mkdir(parents=True)
        (draft / folder / "graft.db").write_text(f"new {folder}")
        (draft / folder / "draft.key").write_bytes(key)
        ChainHead(draft / folder / "draft.head").write(NEW)
    return draft


def drafts_of(root: Path) -> Drafts:
    return Drafts(root / "profiles", root / "audit", os.urandom)


def content(root: Path) -> dict[str, object]:
    names = ("one", "two")
    databases = {name: root / "profiles" / name / "graft.db" for name in names}
    return {
        "databases": {n: path.read_text() for n, path in databases.items() if path.exists()},
        "heads": {name: ChainHead(root / "audit" / f"{name}.head").read() for name in names},
        "keys": {path.name: path.read_bytes() for path in (root / "audit").glob("*.key")},
        "reviewer": ReviewerFiles(root / "audit").read(),
    }


BEFORE = {
    "databases": {"one": "old"},
    "heads": {"one": OLD, "two": None},
    "keys": {},
    "reviewer": None,
}
AFTER = {
    "databases": {"one": "new 0", "two": "new 1"},
    "heads": {"one": NEW, "two": NEW},
    "keys": {"two.key": b"f" * 32},
    "reviewer": REVIEWER,
}


def test_a_swap_brings_everything_to_its_place(tmp_path: Path) -> None:
    draft = home(tmp_path)

    drafts_of(tmp_path).swap(
        draft, [Swap(name="one", folder="0"), Swap(name="two", folder="1")], REVIEWER
    )
    drafts_of(tmp_path).sweep()

    assert content(tmp_path) == AFTER
    assert not (tmp_path / "profiles" / DRAFTS).exists()


def test_killed_anywhere_it_is_as_before_or_as_after_and_never_in_between(tmp_path: Path) -> None:
    roots = [tmp_path / str(step) for step in range(STEPS_MAX)]
    for root in roots:
        home(root)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *roots], check=True, timeout=60, stdout=subprocess.PIPE
    )

    seen = []
    for root in roots:
        drafts_of(root).sweep()
        found = content(root)
        assert found in (BEFORE, AFTER), (root.name, found)
        assert not (root / "profiles" / DRAFTS).exists()
        seen.append(found == AFTER)

    ended = done.stdout.split()
    assert set(ended) == {b"9", b"0"}, "it takes more steps than were tried"
    # Both were seen, and once it is as after it stays so.
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (False, True)


def test_the_log_of_what_was_replaced_is_not_taken_for_the_new_one_s(tmp_path: Path) -> None:
    draft = home(tmp_path)
    leftovers = [tmp_path / "profiles" / "one" / f"graft.db-{end}" for end in ("wal", "shm")]
    for each in leftovers:
        each.write_text("of the old one")

    drafts_of(tmp_path).swap(draft, [Swap(name="one", folder="0")])

    assert [each.exists() for each in leftovers] == [False, False]


def test_a_draft_without_a_list_is_swept_and_changes_nothing(tmp_path: Path) -> None:
    draft = home(tmp_path)
    (draft / "swaps.json.draft").write_text(json.dumps({"swaps": []}))

    drafts_of(tmp_path).sweep()

    assert content(tmp_path) == BEFORE
    assert not draft.exists()
