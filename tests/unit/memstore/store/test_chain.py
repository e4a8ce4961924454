"""The audit chain: what was done stays told, and what was changed from outside is seen."""

import stat
from pathlib import Path

import apsw
import pytest
from tests.unit.memstore.room import Room, open_room

from graft_memstore.store.chain import audit_key


def three_notes(root: Path) -> Path:
    """Store three notes, close everything, and return the file."""
    with open_room(root, watched=False) as room:
        for number in range(3):
            room.insert(f"note {number}")
        return room.profile.path


def test_an_older_copy_of_the_file_is_seen(tmp_path: Path) -> None:
    path = three_notes(tmp_path)
    older = path.read_bytes()
    with open_room(tmp_path, watched=False) as room:
        room.insert("one more")
    path.write_bytes(older)

    with open_room(tmp_path, watched=False) as room:
        room.tampered = True
        before = room.verify()
        room.insert("another one")
        after = room.verify()

    assert [(each.table, each.row) for each in before.flaws] == [("events", "4")]
    assert not after.ok, "the head is the evidence and must not be written over"


def test_a_chain_that_is_ahead_of_its_head_advances_it(tmp_path: Path) -> None:
    three_notes(tmp_path)
    head = tmp_path / "audit" / "default.head"
    behind = head.read_bytes()
    with open_room(tmp_path, watched=False) as room:
        room.insert("written, but the head was not")
    head.write_bytes(behind)

    with open_room(tmp_path, watched=False) as room:
        report = room.verify()

    assert report.ok
    assert b'"count": 4' in head.read_bytes()


def test_a_head_that_cannot_be_written_for_a_while_is_no_damage(tmp_path: Path) -> None:
    three_notes(tmp_path)
    with open_room(tmp_path, watched=False) as room:
        in_the_way = tmp_path / "audit" / "default.fresh"
        in_the_way.mkdir()
        for number in range(2):
            room.insert(f"written, but the head was not {number}")
        behind = room.verify()
        in_the_way.rmdir()
        room.insert("and now it is")

        assert behind.ok
        assert room.verify().ok
        assert b'"count": 6' in (tmp_path / "audit" / "default.head").read_bytes()


def test_a_head_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    three_notes(tmp_path)
    (tmp_path / "audit" / "default.head").write_text("[]")

    with open_room(tmp_path, watched=False) as room:
        room.tampered = True
        (flaw,) = room.verify().flaws

    assert flaw.table == "head"
    assert "cannot be read" in flaw.detail


def test_another_key_is_seen(tmp_path: Path) -> None:
    three_notes(tmp_path)
    (tmp_path / "audit" / "key").write_bytes(bytes(32))

    with open_room(tmp_path, watched=False) as room:
        room.tampered = True
        assert room.verify().flaws[0].table == "key"


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
