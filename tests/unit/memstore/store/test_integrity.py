"""What is whole is called whole, and what is not is named."""

from pathlib import Path

from tests.unit.memstore.room import open_room

from graft_memstore.store.integrity import integrity_problems


def test_a_file_that_was_written_to_since_the_last_look_is_whole(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        found = []
        for number in range(5):
            room.insert(f"note {number}", "another body", wait=False)
            with room.profile.snapshot() as connection:
                found.append(integrity_problems(connection))

    assert found == [[]] * 5


def test_words_that_are_lost_are_found_missing(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.insert("a note", "its body")
        room.profile.run(
            lambda connection: connection.execute("DELETE FROM notes_fts_data WHERE id > 10")
        )
        with room.profile.snapshot() as connection:
            found = integrity_problems(connection)

    assert any("notes_fts" in problem for problem in found)
