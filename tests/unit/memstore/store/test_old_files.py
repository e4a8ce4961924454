"""Files that earlier versions of the program wrote: brought up to date, copied before, or refused.

``old/schema-NN.tar.gz`` hold the home of a memory as the program of that time left it: three notes
that stay, one of them rejected where it could be by then, and one that was erased.
"""

import shutil
import stat
import tarfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.fixtures_disk import SmallDisk
from tests.unit.memstore.room import WAIT_SECONDS, open_room

from graft.wire.errors import DiskFullError, SchemaTooNewError
from graft_memstore.deadline import Deadline
from graft_memstore.store.database import open_connection
from graft_memstore.store.migrate import migrations
from graft_memstore.store.migration_copies import copies_of
from graft_memstore.upkeep.housekeeper import Housekeeper

OLD = {path.name[7:9]: path for path in (Path(__file__).parent / "old").glob("schema-*.tar.gz")}
CRANE = "the quay crane is oiled on Tuesdays"


def old_home(schema: str, root: Path) -> Path:
    """Unpack a home of *schema*; return its database."""
    folder = root / "profiles" / "default"
    folder.mkdir(parents=True, mode=0o700)
    (root / "audit").mkdir(mode=0o700)
    with tarfile.open(OLD[schema]) as archive:
        archive.extractall(root / "unpacked", filter="data")
    shutil.move(root / "unpacked" / "graft.db", folder / "graft.db")
    for name in ("key", "default.head"):
        shutil.move(root / "unpacked" / name, root / "audit" / name)
    (root / "unpacked").rmdir()
    return folder / "graft.db"


def titles_in(path: Path) -> list[str]:
    with closing(open_connection(path, write=False)) as connection:
        return [row[0] for row in connection.execute("SELECT title FROM notes ORDER BY seq")]


def schema_of(path: Path) -> int:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        version = connection.pragma("user_version")
    assert isinstance(version, int)
    return version


def start_again(root: Path) -> None:
    """Open the profile, let the housekeeper see to it, and close it."""
    with open_room(root, watched=False) as room:
        room.tampered = True
        housekeeper = Housekeeper(room.profile, sweep=False)
        # It reads the errors of old notes last, and tells when that is done.
        deadline = Deadline(WAIT_SECONDS)
        while housekeeper.busy and deadline.left():
            deadline.wait(0.01)
        housekeeper.stop()


def test_there_are_files_of_several_versions() -> None:
    assert len(OLD) >= 4


@pytest.mark.parametrize("schema", sorted(OLD))
def test_an_old_file_is_brought_up_to_date_and_holds_what_it_held(
    tmp_path: Path, schema: str
) -> None:
    path = old_home(schema, tmp_path)
    before = titles_in(path)

    with open_room(tmp_path, watched=False) as room:
        added = room.insert("stored by the present version")
        report = room.verify()
        after = titles_in(path)

    assert before[0] == CRANE
    assert after == [*before, "stored by the present version"]
    assert schema_of(path) == max(migrations())
    assert added.id
    assert report.ok, report.summary


@pytest.mark.parametrize("schema", sorted(OLD))
def test_a_copy_of_before_lies_beside_it_for_its_owner_alone(tmp_path: Path, schema: str) -> None:
    path = old_home(schema, tmp_path)
    before = titles_in(path)

    with open_room(tmp_path, watched=False) as room:
        room.insert("stored by the present version")

        (copy,) = copies_of(path)

    assert copy.name == f"graft.db.schema-{int(schema)}"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert schema_of(copy) == int(schema)
    assert titles_in(copy) == before


def test_the_copy_can_be_put_back(tmp_path: Path) -> None:
    path = old_home("06", tmp_path)
    with open_room(tmp_path, watched=False) as room:
        assert room.profile.was_migrated
    (copy,) = copies_of(path)
    copy.replace(path)

    with open_room(tmp_path, watched=False) as room:
        found = room.verify()

    assert found.ok, found.summary
    assert titles_in(path)[0] == CRANE


def test_the_copy_stays_until_the_next_start_finds_the_profile_whole(tmp_path: Path) -> None:
    path = old_home("09", tmp_path)

    start_again(tmp_path)
    after_the_first = len(copies_of(path))
    start_again(tmp_path)

    assert (after_the_first, copies_of(path)) == (1, [])


def test_the_copy_stays_where_the_profile_is_not_whole(tmp_path: Path) -> None:
    path = old_home("09", tmp_path)
    start_again(tmp_path)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(
            "INSERT INTO note_uses (note_id, strong, got, last_at) VALUES ('nobody', 0, 0, 0)"
        )

    start_again(tmp_path)

    assert len(copies_of(path)) == 1


def test_what_is_erased_is_gone_from_the_copy_as_well(tmp_path: Path) -> None:
    path = old_home("09", tmp_path)
    with open_room(tmp_path, watched=False) as room:
        with room.profile.snapshot() as connection:
            rows = connection.execute("SELECT id FROM notes ORDER BY seq").fetchall()
        (copy,) = copies_of(path)
        held = CRANE.encode() in copy.read_bytes()

        deleted = room.delete(str(rows[0][0]))

    left = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert (held, deleted.outcome) == (True, "erased")
    assert [each for each in left if CRANE.encode() in each.read_bytes()] == []


def test_a_newer_file_is_refused_with_both_numbers_and_stays_as_it_is(tmp_path: Path) -> None:
    path = old_home("10", tmp_path)
    newest = max(migrations())
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(f"PRAGMA user_version = {newest + 3}")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
    before = path.read_bytes()

    with (
        open_room(tmp_path, watched=False) as room,
        pytest.raises(SchemaTooNewError, match=f"schema {newest + 3}, this one knows {newest}"),
    ):
        room.profile  # noqa: B018 - opens it

    assert path.read_bytes() == before
    assert copies_of(path) == []


def test_without_room_for_the_copy_nothing_is_migrated(small_disk: SmallDisk) -> None:
    path = old_home("06", small_disk.root / "home")

    with (
        open_room(small_disk.root / "home", watched=False) as room,
        pytest.raises(DiskFullError, match=r"a copy of .* before its schema is changed takes"),
    ):
        room.profile  # noqa: B018 - opens it

    assert schema_of(path) == 6
    assert copies_of(path) == []


def test_what_was_left_of_a_copy_that_was_killed_is_no_copy(tmp_path: Path) -> None:
    path = old_home("06", tmp_path)
    draft = path.with_name("graft.db.schema-6.draft")
    draft.write_bytes(b"half a copy")

    with open_room(tmp_path, watched=False) as room:
        room.profile  # noqa: B018 - opens it

        assert [each.name for each in copies_of(path)] == ["graft.db.schema-6"]
