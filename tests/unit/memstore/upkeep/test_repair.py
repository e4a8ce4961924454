"""Repairs of what a profile derives from its notes: each is broken by hand, then made anew."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.unit.memstore.room import PERSON, Room, open_room

from graft_memstore.lifecycle import Verb
from graft_memstore.store.database import Connection
from graft_memstore.upkeep.check import check_profile
from graft_memstore.upkeep.repair import Repair, repair_profile

SECONDS = 20.0


def repair(room: Room, *, dry_run: bool = False) -> dict[str, Repair]:
    done = repair_profile(room.profile, PERSON, SECONDS, dry_run=dry_run)
    return {each.name: each for each in done}


def found_by(room: Room, match: str) -> int:
    statement = "SELECT count(*) FROM notes_fts WHERE notes_fts MATCH ?"
    with room.profile.snapshot() as connection:
        return int(str(connection.execute(statement, (match,)).fetchall()[0][0]))


def filled(room: Room) -> Room:
    for number in range(4):
        room.insert(f"the crane number {number}", "is oiled on Tuesdays " * 20)
    room.change(Verb.REJECT, room.insert("the ferry is blue").id)
    room.delete(room.insert("the purser keeps zanzibar").id)
    room.wait_until_joined()
    return room


def untouched(room: Room) -> list[tuple[object, ...]]:
    """Return all that no repair may touch, less the events that repairs record."""
    with room.profile.snapshot() as connection:
        return [
            row
            for statement in (
                "SELECT * FROM notes ORDER BY seq",
                "SELECT * FROM note_states ORDER BY state_id",
                "SELECT * FROM tombstones ORDER BY tombstone_id",
                "SELECT * FROM events WHERE action != 'repair' ORDER BY seq",
                "SELECT * FROM chunks ORDER BY chunk_id",
            )
            for row in connection.execute(statement)
        ]


def lose_words(connection: Connection) -> None:
    connection.execute("DELETE FROM notes_fts WHERE rowid = 2")
    connection.execute("DELETE FROM notes_pieces WHERE rowid = 3")


def other_words(connection: Connection) -> None:
    connection.execute("UPDATE notes_fts SET title = 'another' WHERE rowid = 1")


def words_of_nobody(connection: Connection) -> None:
    connection.execute("INSERT INTO notes_fts (rowid, title) VALUES (6, 'the purser zanzibar')")


def lose_bits(connection: Connection) -> None:
    connection.execute("DELETE FROM vec_bits_1 WHERE chunk_id = 1")


def lose_all_bits(connection: Connection) -> None:
    connection.execute("DROP TABLE vec_bits_1")


def break_bits(connection: Connection) -> None:
    connection.execute("DELETE FROM vec_bits_1_rowids")


BROKEN: dict[str, tuple[Callable[[Connection], None], str]] = {
    "words that are lost": (lose_words, "words"),
    "words that are others": (other_words, "words"),
    "words of a note that was erased": (words_of_nobody, "words"),
    "signs that are lost": (lose_bits, "bits"),
    "all signs": (lose_all_bits, "bits"),
    "a damaged table of signs": (break_bits, "bits"),
}


def test_a_profile_that_is_whole_has_nothing_to_repair(room: Room) -> None:
    events = filled(room).count("SELECT count(*) FROM events")

    done = repair(room)

    assert {name: (each.found, each.repaired) for name, each in done.items()} == {
        "indexes": (0, False),
        "words": (0, False),
        "bits": (0, False),
        "pending": (0, False),
    }
    assert room.count("SELECT count(*) FROM events") == events


@pytest.mark.parametrize("what", sorted(BROKEN))
def test_what_was_broken_is_made_anew_and_nothing_else_touched(room: Room, what: str) -> None:
    break_it, name = BROKEN[what]
    filled(room)
    before = untouched(room)
    room.profile.write(lambda transaction: break_it(transaction.connection))

    shown = repair(room, dry_run=True)[name]
    first = repair(room)
    second = repair(room)

    assert (shown.found > 0, shown.repaired) == (True, False)
    assert (first[name].found, first[name].repaired) == (shown.found, True)
    assert [each.found for other, each in first.items() if other != name] == [0, 0, 0]
    assert [each.found for each in second.values()] == [0, 0, 0, 0]
    assert untouched(room) == before
    assert room.count("SELECT count(*) FROM events WHERE action = 'repair'") == 1
    assert found_by(room, "crane") == 4
    assert found_by(room, "zanzibar") == 0
    assert all(each.ok for each in check_profile(room.profile, "", ""))


def test_a_note_without_a_vector_waits_for_one_again(still_room: Room) -> None:
    room = still_room
    room.insert("the crane is oiled")
    room.profile.write(
        lambda transaction: transaction.connection.execute("DELETE FROM chunks").fetchall()
    )
    room.profile.write(
        lambda transaction: transaction.connection.execute("DELETE FROM vec_bits_1").fetchall()
    )

    done = repair(room)

    assert (done["pending"].found, done["pending"].repaired) == (1, True)
    assert room.count("SELECT count(*) FROM pending WHERE what = 'title'") == 1


def test_an_index_of_sqlite_s_own_is_made_anew(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.insert("in the index")
    path = tmp_path / "profiles" / "default" / "graft.db"
    # While nobody knows of the index, a note comes in.
    row = schema_row(path, "SELECT * FROM sqlite_schema WHERE name = 'notes_by_time'")
    schema_row(path, "DELETE FROM sqlite_schema WHERE name = 'notes_by_time'")
    with open_room(tmp_path, watched=False) as room:
        note = room.insert("not in the index").id
    schema_row(path, "INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", row)

    with open_room(tmp_path, watched=False) as room:
        shown = repair(room, dry_run=True)
        first = repair(room)["indexes"]
        second = repair(room)["indexes"]
        by_index = "SELECT count(*) FROM notes INDEXED BY notes_by_time WHERE recorded_at > 0"
        counted = room.count(by_index)

    assert list(shown) == ["indexes"]
    assert "notes_by_time" in shown["indexes"].detail
    assert (first.found > 0, first.repaired) == (True, True)
    assert (second.found, counted) == (0, 2)
    assert note


def schema_row(path: Path, statement: str, row: tuple[object, ...] = ()) -> tuple[object, ...]:
    """Read or change the table of tables as no program should."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        connection.execute("PRAGMA writable_schema = ON")
        return next(iter(connection.execute(statement, row).fetchall()), ())


def test_a_note_whose_number_was_changed_by_hand_is_left_for_a_person_to_see(room: Room) -> None:
    filled(room)
    room.tampered = True

    def move(connection: Connection) -> None:
        connection.execute("PRAGMA defer_foreign_keys = ON")
        connection.execute("UPDATE edges SET src = 900 WHERE src = 4")
        connection.execute("DELETE FROM edges WHERE dst = 4 OR src = 900")
        connection.execute("DELETE FROM background_samples")
        connection.execute("UPDATE notes SET seq = 900 WHERE seq = 4")

    room.profile.write(lambda transaction: move(transaction.connection))
    before = room.verify().flaws

    done = repair(room)["words"]

    assert before
    assert (done.found, done.repaired) == (1, False)
    assert "changed by hand" in done.detail
    assert room.verify().flaws == before


def test_a_file_that_cannot_be_mended_says_what_to_do(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        for number in range(40):
            room.insert(f"note {number}", "b" * 4_000)
    path = tmp_path / "profiles" / "default" / "graft.db"
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        sql = "SELECT pageno FROM dbstat WHERE name = 'notes' AND pagetype = 'overflow'"
        pages = [row[0] for row in connection.execute(sql)]
    content = bytearray(path.read_bytes())
    for page in pages[:3]:
        content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(content)

    with open_room(tmp_path, watched=False) as room:
        room.tampered = True
        shown = repair(room)["indexes"]

    assert (shown.found > 0, shown.repaired) == (True, False)
    assert "graft backup restore" in shown.detail
