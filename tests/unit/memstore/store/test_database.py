"""Opening database files, whatever state they and their disk are in."""

import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.unit.memstore.room import Room, open_room

from graft.wire.errors import (
    DatabaseDamagedError,
    DatabaseLockedError,
    DiskFullError,
    SchemaTooNewError,
    WrongStateError,
)
from graft_memstore.model import NewNote
from graft_memstore.store.database import journal_mode, open_connection
from graft_memstore.store.filesystem import file_system_of, write_ahead_log_is_safe
from graft_memstore.store.migrate import migrate, migrations, schema_version

MOUNTS = """\
21 1 259:1 / / rw,relatime - ext4 /dev/nvme0n1p1 rw
35 21 0:30 / /srv/share rw - nfs4 server:/export rw
36 21 0:31 / /mnt/with\\040space rw shared:1 - fuse.sshfs me@there: rw
37 35 0:32 / /srv/share/local rw - xfs /dev/sdb1 rw
38 21 0:33 / /mnt/c rw - 9p drvfs rw
"""


def foreign_count(path: Path) -> int:
    """Return how many rows of meta another program sees, which then closes the file.

    The standard library's SQLite takes the log away whenever it believes to be the last user.
    """
    script = (
        "import sqlite3, sys; connection = sqlite3.connect(sys.argv[1]);"
        "print(connection.execute('SELECT count(*) FROM meta').fetchone()[0]); connection.close()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def test_a_new_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "graft.db"

    open_connection(path).close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_others_may_read_loses_that(tmp_path: Path) -> None:
    path = tmp_path / "graft.db"
    path.touch(mode=0o644)
    path.chmod(0o644)

    open_connection(path).close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_another_program_that_looks_into_the_file_takes_nothing_away(tmp_path: Path) -> None:
    path = tmp_path / "graft.db"

    with closing(open_connection(path)) as writer:
        migrate(writer, path)
        with closing(open_connection(path, write=False)):
            before = foreign_count(path)
            writer.execute("INSERT INTO meta (name, value) VALUES ('test', 'x')")
            after = foreign_count(path)

        assert path.with_name("graft.db-wal").exists()

    assert after == before + 1


@pytest.mark.parametrize("write", [True, False])
def test_every_connection_has_what_the_store_relies_on(tmp_path: Path, *, write: bool) -> None:
    open_connection(tmp_path / "graft.db").close()
    with closing(open_connection(tmp_path / "graft.db", write=write)) as connection:
        found = {
            name: connection.pragma(name)
            for name in (
                "foreign_keys",
                "synchronous",
                "secure_delete",
                "recursive_triggers",
                "journal_mode",
                "query_only",
            )
        }

        assert found == {
            "foreign_keys": 1,
            "synchronous": 2,
            "secure_delete": 1,
            "recursive_triggers": 1,
            "journal_mode": "wal",
            "query_only": int(not write),
        }
        assert connection.execute("SELECT vec_version()").fetchone() is not None


def test_a_reader_cannot_change_anything(tmp_path: Path) -> None:
    path = tmp_path / "graft.db"
    with closing(open_connection(path)) as writer:
        migrate(writer, path)

        with closing(open_connection(path, write=False)) as reader, pytest.raises(apsw.Error):
            reader.execute("DELETE FROM meta")


def test_a_file_that_is_no_database_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "graft.db"
    path.write_bytes(b"these are four thousand bytes of something else. " * 90)

    with pytest.raises(DatabaseDamagedError, match="graft doctor"):
        open_connection(path)


def test_a_folder_in_the_file_s_place_is_a_refusal(tmp_path: Path) -> None:
    with pytest.raises(WrongStateError, match="cannot be opened"):
        open_connection(tmp_path)


def test_a_file_of_a_newer_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "graft.db"
    newest = max(migrations())
    with closing(open_connection(path)) as connection:
        migrate(connection, path)
        connection.pragma("user_version", newest + 1)

        with pytest.raises(SchemaTooNewError, match=f"schema {newest + 1}"):
            migrate(connection, path)

        assert schema_version(connection) == newest + 1


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/me/.graft", "ext4"),
        ("/srv/share/home", "nfs4"),
        ("/srv/share/local/home", "xfs"),
        ("/srv/shared", "ext4"),
        ("/mnt/with space/home", "fuse.sshfs"),
    ],
)
def test_the_innermost_mount_tells_the_file_system(path: str, expected: str) -> None:
    assert file_system_of(Path(path), MOUNTS) == expected


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs", "virtiofs"])
def test_the_log_is_not_used_where_memory_cannot_be_shared(kind: str) -> None:
    assert not write_ahead_log_is_safe(kind)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuseblk", ""])
def test_the_log_is_used_everywhere_else(kind: str) -> None:
    assert write_ahead_log_is_safe(kind)


def test_a_database_on_a_network_file_system_gets_the_rollback_journal() -> None:
    assert journal_mode(Path("/srv/share/graft.db"), MOUNTS) == "delete"
    assert journal_mode(Path("/home/graft.db"), MOUNTS) == "wal"


def test_writes_wait_for_a_foreign_writer_and_reads_go_on(room: Room) -> None:
    first = room.insert("before the lock")
    replies: list[str] = []
    foreign = apsw.Connection(str(room.profile.path))
    foreign.set_busy_timeout(10_000)  # the note's own vector may be on its way in
    foreign.execute("BEGIN IMMEDIATE")
    waiting = threading.Thread(target=lambda: replies.append(room.insert("behind the lock").id))
    waiting.start()

    read_meanwhile = room.note(first.id).title
    written_meanwhile = list(replies)
    foreign.execute("COMMIT")
    foreign.close()
    waiting.join(20)

    assert read_meanwhile == "before the lock"
    assert written_meanwhile == []
    assert room.note(replies[0]).title == "behind the lock"


def test_a_lock_that_is_held_too_long_is_a_refusal_and_nothing_is_stored(
    still_room: Room,
) -> None:
    still_room.insert("before the lock")
    with closing(apsw.Connection(str(still_room.profile.path))) as foreign:
        foreign.execute("BEGIN IMMEDIATE")

        with pytest.raises(DatabaseLockedError, match="another program"):
            still_room.insert_all([NewNote(title="behind the lock")], seconds=1.0)

    assert still_room.count("SELECT count(*) FROM notes") == 1
    assert still_room.insert("after the lock").event == 2


def test_a_full_disk_is_a_refusal_and_nothing_is_lost(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.insert("before the disk was full")
        room.profile.run(lambda connection: connection.execute("PRAGMA max_page_count = 1"))

        with pytest.raises(DiskFullError, match="no room left"):
            room.insert_all([NewNote(title="too much", body="words " * 100_000)])

        assert room.count("SELECT count(*) FROM notes") == 1
        room.profile.run(lambda connection: connection.execute("PRAGMA max_page_count = 1000000"))
        assert room.insert("after room was made").event == 2
