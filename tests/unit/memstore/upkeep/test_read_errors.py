"""Notes that came in before the reader did are read once, in the background."""

from contextlib import closing
from pathlib import Path

from tests.unit.memstore.recall.store_builder import INSERT_NOTE
from tests.unit.memstore.room import WAIT_SECONDS, Room, open_room

from graft_memstore.deadline import Deadline
from graft_memstore.signature import signatures
from graft_memstore.store import meta
from graft_memstore.store.database import open_connection
from graft_memstore.store.migrate import migrate, migrations
from graft_memstore.store.notes import read_stored_after
from graft_memstore.store.signatures import READ, insert_signatures, read_until
from graft_memstore.store.transaction import Transaction
from graft_memstore.upkeep.join_notes import join_some
from graft_memstore.upkeep.read_errors import NOTES_IN_STEP, read_some
from graft_memstore.upkeep.resume import has_work

BODY = "ledger.errors.ClosedBookError: the book of {} is closed for writing"
COUNT = "SELECT count(*) FROM note_signatures"
NOTES_WITH = "SELECT count(DISTINCT seq) FROM note_signatures"


def forget(room: Room) -> None:
    """Leave the file as the migration leaves one with notes in it."""

    def take_away(transaction: Transaction) -> None:
        transaction.connection.execute("DELETE FROM note_signatures")
        meta.clear(transaction.connection, READ)

    room.profile.write(take_away)


def read_all(room: Room) -> int:
    steps = 1
    while read_some(room.profile):
        steps += 1
    return steps


def test_every_note_is_read_and_then_never_again(still_room: Room) -> None:
    for number in range(NOTES_IN_STEP + 1):
        still_room.insert(f"note {number}", BODY.format(number))
    before = still_room.count(COUNT)
    forget(still_room)

    steps = read_all(still_room)

    assert before == still_room.count(COUNT) > 0
    assert steps == 3
    commits = still_room.profile.changes.count
    assert not read_some(still_room.profile)
    assert still_room.profile.changes.count == commits


def test_reading_goes_on_where_it_was(still_room: Room) -> None:
    for number in range(NOTES_IN_STEP + 1):
        still_room.insert(f"note {number}", BODY.format(number))
    forget(still_room)

    read_some(still_room.profile)

    assert still_room.count(NOTES_WITH) == NOTES_IN_STEP
    read_all(still_room)
    assert still_room.count(NOTES_WITH) == NOTES_IN_STEP + 1


def test_a_note_that_was_deleted_meanwhile_gets_no_signatures(still_room: Room) -> None:
    stored = still_room.insert("a note", BODY.format(1))
    seq = still_room.count("SELECT seq FROM notes")
    still_room.delete(stored.id)

    still_room.profile.write(
        lambda transaction: insert_signatures(
            transaction.connection, seq, signatures(BODY.format(1))
        )
    )

    assert still_room.count(COUNT) == 0


def test_what_another_version_has_read_is_read_anew(still_room: Room) -> None:
    still_room.insert("a note", BODY.format(1))
    read_all(still_room)
    still_room.profile.write(lambda transaction: meta.write(transaction.connection, READ, "0:all"))

    with still_room.profile.snapshot() as connection:
        assert read_until(connection) == 0
    read_all(still_room)

    assert still_room.count(COUNT) > 0
    with still_room.profile.snapshot() as connection:
        assert read_until(connection) is None


def test_a_profile_with_notes_to_be_read_is_opened_after_a_restart(still_room: Room) -> None:
    still_room.insert(BODY.format(1))
    assert join_some(still_room.profile)
    forget(still_room)
    before = has_work(still_room.profile.path)
    read_all(still_room)

    assert before
    assert not has_work(still_room.profile.path)


def test_a_new_profile_has_nothing_to_be_read(still_room: Room) -> None:
    still_room.insert(BODY.format(1))

    with still_room.profile.snapshot() as connection:
        assert read_until(connection) is None


def test_a_file_of_the_first_schema_keeps_its_notes_and_has_them_to_be_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "graft.db"
    note = {"id": "0" * 32, "scope": "user", "at": 1, "title": "a note", "body": BODY}
    with closing(open_connection(path)) as connection:
        connection.execute(migrations()[1])
        connection.execute("PRAGMA user_version = 1")
        connection.execute(INSERT_NOTE, note)

        migrate(connection, path)

        assert read_until(connection) == 0
        assert [each.title for each in read_stored_after(connection, 0, 9)] == ["a note"]
        assert connection.execute(COUNT).fetchall() == [(0,)]


def test_a_watched_profile_is_read_by_itself(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.insert("a note", BODY.format(1))
        signed = room.count(COUNT)
        forget(room)

    with open_room(tmp_path) as room:
        wait_until_read(room)

        assert room.count(COUNT) == signed > 0


def wait_until_read(room: Room) -> None:
    deadline = Deadline(WAIT_SECONDS)
    while True:
        seen = room.profile.changes.count
        with room.profile.snapshot() as connection:
            if read_until(connection) is None:
                return
        assert deadline.left() > 0, "notes are still to be read"
        room.profile.changes.wait(seen, deadline.left())
