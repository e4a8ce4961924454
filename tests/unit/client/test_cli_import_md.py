"""`graft import-md`: what is read, what is saved, and what each file is told."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.client.conftest import Command, Ran
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import notes_service_pb2
from graft.wire.errors import DiskFullError, RejectedTextError
from graft_client.limits import MARKDOWN_DEPTH_MAX, MARKDOWN_FILE_BYTES_MAX

Import = Callable[..., Ran]


@pytest.fixture
def folder(place: Path) -> Path:
    """A folder with Markdown files in it."""
    path = place / "notes"
    path.mkdir()
    return path


def told(done: Ran) -> dict[str, dict[str, Any]]:
    records = [json.loads(line) for line in done.out.splitlines()]
    return {record.pop("file"): record for record in records}


def sent(memstore: FakeState) -> list[notes_service_pb2.NewNote]:
    return [
        note
        for each in memstore.requests("InsertNotes")
        if isinstance(each, notes_service_pb2.InsertNotesRequest)
        for note in each.notes
    ]


def test_files_of_a_folder_and_its_folders_become_candidates(
    command: Command, memstore: FakeState, folder: Path
) -> None:
    (folder / "sub").mkdir()
    (folder / "b.md").write_text("# B\n\nbody of b\n")
    (folder / "sub" / "a.MARKDOWN").write_text("---\ntitle: A\nscope: team:x\n---\n")
    (folder / "other.txt").write_text("no Markdown")

    done = command("import-md", str(folder))

    assert done.code == 0
    assert [(each.title, each.body, each.scope) for each in sent(memstore)] == [
        ("B", "body of b", "user"),
        ("A", "", "team:x"),
    ]
    assert all(each.candidate for each in sent(memstore))
    assert done.out.splitlines() == [
        "imported     b.md: 00000000 to user, seen everywhere",
        "imported     sub/a.MARKDOWN: 00000001 to team:x, seen where that scope is asked for",
    ]
    assert "graft: 2 imported" in done.err
    assert "at most a WEAK answer until a reviewer approves" in done.err


def test_importing_again_says_duplicate(
    command: Command, memstore: FakeState, folder: Path
) -> None:
    (folder / "a.md").write_text("# A\n")

    first = told(command("import-md", str(folder), "--json"))["a.md"]
    again = told(command("import-md", str(folder), "--json"))["a.md"]

    assert (first["outcome"], again["outcome"]) == ("imported", "duplicate")
    assert (again["id"], again["event"]) == (first["id"], None)
    assert len(memstore.notes) == 1


def test_a_bad_file_is_named_and_stops_none_of_the_others(
    command: Command, memstore: FakeState, folder: Path, place: Path
) -> None:
    outside = place / "secret"
    outside.write_text("# a secret")
    (folder / "good.md").write_text("# good\n")
    (folder / "bad.md").write_text("---\ntitle: [\n---\n")
    (folder / "huge.md").write_bytes(b"x" * (MARKDOWN_FILE_BYTES_MAX + 1))
    (folder / "latin.md").write_bytes("é".encode("latin-1"))
    (folder / "empty.md").write_text(" \n")
    (folder / "link.md").symlink_to(outside)
    (folder / "folder.md").symlink_to(place)
    (folder / ".hidden.md").write_text("# hidden")
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "x.md").write_text("# hidden")
    os.mkfifo(folder / "pipe.md")

    done = command("import-md", str(folder), "--json")

    records = told(done)
    assert done.code == 1
    assert {name: each["outcome"] for name, each in records.items()} == {
        "good.md": "imported",
        "bad.md": "refused",
        "huge.md": "refused",
        "latin.md": "refused",
        "pipe.md": "refused",
        "empty.md": "skipped",
        "link.md": "skipped",
        "folder.md": "skipped",
    }
    assert "4,194,304 bytes" in records["huge.md"]["message"]
    assert "iconv" in records["latin.md"]["message"]
    assert "regular file" in records["pipe.md"]["message"]
    assert [each.title for each in memstore.notes.values()] == ["good"]


def test_what_the_service_refuses_is_told_of_its_file_alone(
    command: Command, memstore: FakeState, folder: Path
) -> None:
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(f"# {name}\n")
    memstore.refused_titles["b"] = RejectedTextError("it was rejected; see graft log")

    done = command("import-md", str(folder), "--json")

    records = told(done)
    assert done.code == 1
    assert [records[f"{name}.md"]["outcome"] for name in ("a", "b", "c")] == [
        *("imported", "refused", "imported"),
    ]
    assert records["b.md"]["reason"] == "REJECTED_TEXT"
    assert [each.title for each in memstore.notes.values()] == ["a", "c"]


def test_a_failure_that_is_no_note_s_ends_the_command_with_what_was_saved(
    command: Command, memstore: FakeState, folder: Path
) -> None:
    for number in range(70):
        (folder / f"{number:02}.md").write_text(f"# note {number}\n")
    memstore.refused_titles["note 69"] = DiskFullError("the disk is full; make room")

    done = command("import-md", str(folder), "--json")

    assert done.code == 1
    assert "(64 notes of the files before are saved)" in done.error()["message"]
    assert done.error()["details"]["saved"] == "64"
    assert len(memstore.notes) == 64


def test_a_scope_that_is_named_beats_the_file_s(
    command: Command, memstore: FakeState, folder: Path
) -> None:
    (folder / "a.md").write_text("---\ntitle: A\nscope: team:x\n---\n")

    command("import-md", str(folder), "--scope", "user")
    refused = command("import-md", str(folder), "--all-scopes")

    assert [each.scope for each in memstore.notes.values()] == ["user"]
    assert refused.code == 2


def test_a_dry_run_reads_and_asks_nobody(command: Command, folder: Path) -> None:
    (folder / "a.md").write_text("---\ntitle: A\nlayout: x\nscope: user\n---\n")
    (folder / "b.md").write_text("---\ntitle: [\n---\n")

    done = command("import-md", str(folder), "--dry-run")
    as_json = command("import-md", str(folder), "--dry-run", "--json")

    assert done.code == 1
    assert done.out.splitlines()[0] == 'readable     a.md: "A" in user; passed over: layout'
    assert told(as_json)["a.md"] == {
        "outcome": "readable",
        "title": "A",
        "scope": "user",
        "passed_over": ["layout"],
        "dry_run": True,
    }


def test_one_file_may_be_named_and_a_link_to_it(
    command: Command, memstore: FakeState, place: Path
) -> None:
    (place / "a.md").write_text("# A\n")
    (place / "link.md").symlink_to("a.md")

    assert command("import-md", str(place / "a.md")).code == 0
    assert "duplicate    link.md" in command("import-md", str(place / "link.md")).out
    assert len(memstore.notes) == 1


def test_a_folder_without_markdown_is_no_failure_and_no_folder_is(
    command: Command, folder: Path
) -> None:
    nothing = command("import-md", str(folder))

    assert (nothing.code, nothing.out) == (0, "")
    assert "there is no Markdown file in" in nothing.err
    assert command("import-md", str(folder / "none")).code == 2


def test_a_folder_that_never_ends_is_given_up(command: Command, folder: Path) -> None:
    path = folder
    for _ in range(MARKDOWN_DEPTH_MAX + 1):
        path /= "d"
    path.mkdir(parents=True)

    done = command("import-md", str(folder))

    assert done.code == 2
    assert "more than 32 folders deep" in done.err


def test_a_name_that_is_no_text_is_refused_and_the_others_saved(
    command: Command, memstore: FakeState, folder: Path
) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md")).write_text("no heading")
    (folder / "a.md").write_text("# A\n")

    done = command("import-md", str(folder))

    assert done.code == 1
    assert "refused      \\udcff.md" in done.out
    assert [each.title for each in memstore.notes.values()] == ["A"]
