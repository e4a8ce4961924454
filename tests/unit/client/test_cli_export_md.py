"""`graft export-md`: what is written, what is left alone."""

import json
import stat
from pathlib import Path

import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import notes_service_pb2
from graft_client.markdown.folder import LEDGER


@pytest.fixture
def folder(place: Path) -> Path:
    """Where notes are exported to; not there yet."""
    return place / "deep" / "notes"


def save(command: Command, title: str, *arguments: str) -> str:
    saved = command("insert", "--title", title, "--scope", "user", "--json", *arguments).json()
    return str(saved["id"])


def files(folder: Path) -> dict[str, str]:
    return {each.name: each.read_text() for each in sorted(folder.glob("*.md"))}


def outcomes(out: str) -> list[str]:
    return [line.split()[0] for line in out.splitlines()]


def test_every_note_becomes_a_file_of_its_own(
    command: Command, memstore: FakeState, folder: Path
) -> None:
    for number in range(5):
        save(command, f"note {number}", "--body", "b", "--keyword", "k")

    done = command("export-md", str(folder))

    assert (done.code, outcomes(done.out)) == (0, ["written"] * 5)
    assert [text.split("\n")[1] for text in files(folder).values()] == [
        f"title: note {number}" for number in range(5)
    ]
    assert {stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "graft: 5 written" in done.err
    listed = memstore.requests("ListNotes")
    assert all(
        isinstance(each, notes_service_pb2.ListNotesRequest) and each.with_bodies for each in listed
    )
    assert memstore.requests("GetNote") == []


def test_programs_are_told_which_note_is_in_which_file(
    command: Command, memstore: FakeState, folder: Path
) -> None:
    note_id = save(command, "a note")

    done = command("export-md", str(folder), "--json")

    told = json.loads(done.out)
    assert (folder / told.pop("file")).is_file()
    assert told == {
        "outcome": "written",
        "id": note_id,
        "title": "a note",
        "scope": "user",
        "dry_run": False,
    }
    assert done.err == ""
    assert len(memstore.notes) == 1


def test_a_second_export_writes_what_has_changed_and_nothing_else(
    command: Command, memstore: FakeState, folder: Path
) -> None:
    changed = save(command, "changed")
    save(command, "same")
    command("export-md", str(folder))
    memstore.notes[changed].keywords.append("new")
    before = {each.name: each.stat().st_ino for each in folder.glob("same*")}

    done = command("export-md", str(folder))

    assert sorted(outcomes(done.out)) == ["unchanged", "updated"]
    assert "keywords:\n- new\n" in next(
        text for name, text in files(folder).items() if name.startswith("changed")
    )
    assert {each.name: each.stat().st_ino for each in folder.glob("same*")} == before


@pytest.mark.parametrize("what", ["edited", "foreign", "link", "folder"])
def test_what_graft_did_not_write_stays_unless_it_is_forced(
    command: Command, memstore: FakeState, folder: Path, place: Path, what: str
) -> None:
    save(command, "a note", "--body", "ours")
    command("export-md", str(folder))
    (path,) = folder.glob("*.md")
    outside = place / "outside.md"
    outside.write_text("outside")
    if what == "edited":
        path.write_text("mine")
    elif what == "foreign":
        path.write_text("mine")
        (folder / LEDGER).unlink()
    else:
        path.unlink()
        path.symlink_to(outside) if what == "link" else path.mkdir()

    kept = command("export-md", str(folder))
    forced = command("export-md", str(folder), "--force")

    assert (kept.code, outcomes(kept.out)) == (1, ["kept"])
    assert "--force overwrites it" in kept.out
    assert outside.read_text() == "outside"
    if what == "folder":
        assert forced.code == 1
        assert f"{path.name} cannot be written" in forced.err
        assert path.is_dir()
    else:
        assert (forced.code, outcomes(forced.out)) == (0, ["updated"])
        assert not path.is_symlink()
        assert path.read_text().endswith("\nours\n")
    assert len(memstore.notes) == 1


def test_a_kept_file_that_is_put_back_is_known_again(
    command: Command, memstore: FakeState, folder: Path
) -> None:
    note_id = save(command, "a note")
    command("export-md", str(folder))
    (path,) = folder.glob("*.md")
    written = path.read_text()
    path.write_text("mine")
    memstore.notes[note_id].keywords.append("new")

    kept = command("export-md", str(folder))
    path.write_text(written)
    put_back = command("export-md", str(folder))

    assert (outcomes(kept.out), outcomes(put_back.out)) == (["kept"], ["updated"])


def test_files_of_notes_that_are_gone_stay_until_they_are_pruned(
    command: Command, memstore: FakeState, folder: Path
) -> None:
    for title in ("stays", "goes", "goes changed"):
        save(command, title)
    command("export-md", str(folder))
    (edited,) = folder.glob("goes-changed-*.md")
    edited.write_text("mine")
    for note_id in [each.id for each in memstore.notes.values() if each.title != "stays"]:
        del memstore.notes[note_id]

    left = command("export-md", str(folder))
    shown = command("export-md", str(folder), "--prune", "--dry-run")
    names = sorted(files(folder))
    pruned = command("export-md", str(folder), "--prune")

    assert (left.code, outcomes(left.out)) == (0, ["unchanged"])
    assert "2 files of earlier exports" in left.err
    assert "--prune removes them" in left.err
    assert outcomes(shown.out) == ["unchanged", "removed", "kept"]
    assert len(names) == 3
    assert pruned.code == 1
    assert sorted(name.rpartition("-")[0] for name in files(folder)) == ["goes-changed", "stays"]


def test_a_dry_run_writes_nothing(command: Command, memstore: FakeState, folder: Path) -> None:
    save(command, "a note")

    done = command("export-md", str(folder), "--dry-run", "--json")

    assert (json.loads(done.out)["outcome"], json.loads(done.out)["dry_run"]) == ("written", True)
    assert not folder.exists()
    assert len(memstore.notes) == 1


@pytest.mark.parametrize(
    "ledger", ["", "[", "[]", '{"files": 7}', '{"files": {"../x.md": "0"}}', "[" * 9_999]
)
def test_a_ledger_that_is_none_makes_every_file_somebody_s(
    command: Command, memstore: FakeState, folder: Path, ledger: str
) -> None:
    save(command, "a note")
    command("export-md", str(folder))
    (path,) = folder.glob("*.md")
    path.write_text("mine")
    (folder / LEDGER).write_text(ledger)
    (folder.parent / "x.md").write_text("theirs")

    done = command("export-md", str(folder), "--prune")

    assert (done.code, outcomes(done.out)) == (1, ["kept"])
    assert (folder.parent / "x.md").read_text() == "theirs"
    assert len(memstore.notes) == 1


def test_a_folder_that_cannot_be_one_is_named(
    command: Command, memstore: FakeState, place: Path
) -> None:
    (place / "file").write_text("x")

    done = command("export-md", str(place / "file" / "notes"))

    assert done.code == 2
    assert "cannot be made a folder: Not a directory" in done.err
    assert memstore.notes == {}
