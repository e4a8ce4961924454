"""The audit chain: what was done stays told, and what was changed from outside is seen."""

import stat
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.unit.memstore.room import Room, open_room

from graft_memstore.store.chain import ChainReport, audit_key

LIFT_UPDATE = "DROP TRIGGER events_never_change"
LIFT_DELETE = "DROP TRIGGER events_never_go"


def verify(room: Room) -> ChainReport:
    with room.profile.snapshot() as connection:
        return room.profile.chain.verify(connection)


def tamper(path: Path, *statements: str) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        for statement in statements:
            connection.execute(statement)


def three_notes(root: Path) -> Path:
    """Store three notes, close everything, and return the file."""
    with open_room(root, watched=False) as room:
        for number in range(3):
            room.insert(f"note {number}")
        return room.profile.path


def test_an_untouched_chain_agrees(still_room: Room) -> None:
    for number in range(3):
        still_room.insert(f"note {number}")

    report = verify(still_room)

    assert (report.ok, report.count) == (True, 3)


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        ((LIFT_UPDATE, "UPDATE events SET reason = 'x' WHERE seq = 2"), "event 2 was changed"),
        ((LIFT_UPDATE, "UPDATE events SET hash = zeroblob(32) WHERE seq = 1"), "event 1"),
        ((LIFT_DELETE, "DELETE FROM events WHERE seq = 2"), "events 2 to 2 are missing"),
        ((LIFT_DELETE, "DELETE FROM events WHERE seq = 3"), "does not hold event 3"),
        (("UPDATE note_states SET trust = 'verified' WHERE state_id = 2",), "the state of note"),
    ],
)
def test_a_change_from_outside_is_seen(
    tmp_path: Path, statements: tuple[str, ...], told: str
) -> None:
    path = three_notes(tmp_path)
    # The rows that point to an event must not stop who owns the file.
    tamper(path, "PRAGMA foreign_keys = OFF", *statements)

    with open_room(tmp_path, watched=False) as room:
        report = verify(room)

    assert not report.ok
    assert told in report.detail


def test_an_older_copy_of_the_file_is_seen(tmp_path: Path) -> None:
    path = three_notes(tmp_path)
    older = path.read_bytes()
    with open_room(tmp_path, watched=False) as room:
        room.insert("one more")
    path.write_bytes(older)

    with open_room(tmp_path, watched=False) as room:
        before = verify(room)
        room.insert("another one")
        after = verify(room)

    assert not before.ok
    assert not after.ok, "the head is the evidence and must not be written over"


def test_a_chain_that_is_ahead_of_its_head_advances_it(tmp_path: Path) -> None:
    three_notes(tmp_path)
    head = tmp_path / "audit" / "default.head"
    behind = head.read_bytes()
    with open_room(tmp_path, watched=False) as room:
        room.insert("written, but the head was not")
    head.write_bytes(behind)

    with open_room(tmp_path, watched=False) as room:
        report = verify(room)

    assert report.ok
    assert b'"count": 4' in head.read_bytes()


def test_a_head_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    three_notes(tmp_path)
    (tmp_path / "audit" / "default.head").write_text("[]")

    with open_room(tmp_path, watched=False) as room:
        report = verify(room)

    assert not report.ok
    assert "cannot be read" in report.detail


def test_another_key_is_seen(tmp_path: Path) -> None:
    three_notes(tmp_path)
    (tmp_path / "audit" / "key").write_bytes(bytes(32))

    with open_room(tmp_path, watched=False) as room:
        assert not verify(room).ok


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET reason = 'x'",
        "DELETE FROM events",
        """INSERT OR REPLACE INTO events (
            seq, at, actor, channel, door, action, digest, state_digest, reason, prev_hash, hash
        ) VALUES (1, 0, '', '', '', '', x'', x'', '', x'', x'')""",
    ],
)
def test_the_store_itself_cannot_change_what_happened(still_room: Room, statement: str) -> None:
    still_room.insert("a title")

    with pytest.raises(apsw.ConstraintError, match="append-only"):
        still_room.profile.run(lambda connection: connection.execute(statement))


def test_the_key_is_private_and_made_once(tmp_path: Path) -> None:
    first = audit_key(tmp_path, lambda size: b"a" * size)
    second = audit_key(tmp_path, lambda size: b"b" * size)

    assert first == second == b"a" * 32
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_a_broken_key_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"short")

    with pytest.raises(ValueError, match="not an audit key"):
        audit_key(tmp_path, lambda size: b"a" * size)


def test_events_hold_no_text_of_a_note(still_room: Room) -> None:
    still_room.insert("a xylophone title", "with a zebra in the body")

    with still_room.profile.snapshot() as connection:
        rows = connection.execute("SELECT * FROM events").fetchall()

    assert "xylophone" not in str(rows)
    assert "zebra" not in str(rows)
