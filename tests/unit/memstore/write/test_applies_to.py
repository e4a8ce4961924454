"""What a note applies to is stored with it, replaced by name, and goes with it."""

import pytest
from tests.unit.memstore.room import AGENT, Room

from graft.wire.ecosystems import Ecosystem
from graft.wire.errors import BadFieldError
from graft_memstore.applicability import format_applies_to
from graft_memstore.errors import BadFieldsError
from graft_memstore.model import NewNote
from graft_memstore.write.limits import APPLIES_TO_MAX, CONTEXT_MAX, SPEC_CHARS_MAX
from graft_memstore.write.validate import check_context, check_note

DJANGO = "pypi:django>=4.2,<5"


def note(*applies_to: str) -> NewNote:
    return NewNote(title="a title", applies_to=applies_to)


def applies_to(room: Room, note_id: str) -> list[str]:
    return [format_applies_to(each) for each in room.note(note_id).applies_to]


def refused(*specs: str) -> str:
    with pytest.raises(BadFieldsError) as refusal:
        check_note(note(*specs))
    (violation,) = refusal.value.violations
    assert violation.field == "note.applies_to"
    return violation.description


def test_it_is_stored_once_each_in_its_one_form(room: Room) -> None:
    stored = room.insert(
        note=note("PyPI: Django >= 4.2 , < 5", "npm:React@ ^18", DJANGO, "os:darwin|linux")
    )

    assert applies_to(room, stored.id) == ["npm:react@^18", "os:linux|macos", DJANGO]


def test_a_duplicate_replaces_the_ranges_of_a_name_and_keeps_the_other_names(room: Room) -> None:
    first = room.insert(note=note(DJANGO, "os:linux", "tool:git>=2", "tool:git<3"))
    room.clock.ms += 5

    again = room.insert(note=note("pypi:django>=4.2,<6", "tool:git>=2.39"))

    assert (again.id, again.duplicate) == (first.id, True)
    assert again.event > first.event
    assert applies_to(room, first.id) == ["os:linux", "pypi:django>=4.2,<6", "tool:git>=2.39"]
    assert room.count("SELECT count(*) FROM note_applies WHERE known_to IS NOT NULL") == 3
    assert room.count("SELECT max(known_to - known_from) FROM note_applies") == 5


@pytest.mark.parametrize("specs", [(), (DJANGO,), ("os:linux", DJANGO)])
def test_a_duplicate_that_says_nothing_new_changes_nothing(
    room: Room, specs: tuple[str, ...]
) -> None:
    first = room.insert(note=note(DJANGO, "os:linux"))

    again = room.insert(note=note(*specs))

    assert (again.duplicate, again.event) == (True, 0)
    assert applies_to(room, first.id) == ["os:linux", DJANGO]


def test_what_is_said_last_in_one_transaction_holds(room: Room) -> None:
    ranges = ("pypi:a<1", "pypi:a<2", "pypi:a<1")

    stored = room.insert_all([note(each) for each in ranges]).notes

    assert len({each.id for each in stored}) == 1
    assert applies_to(room, stored[0].id) == ["pypi:a<1"]
    assert room.count("SELECT count(*) FROM note_applies") == 1


def test_it_is_no_part_of_what_makes_a_text_the_same(room: Room) -> None:
    first = room.insert(note=note(DJANGO))
    room.delete(first.id, caller=AGENT)

    with pytest.raises(Exception, match="was retired"):
        room.insert(note=note("pypi:django>=5"))


def test_an_erased_note_takes_its_ranges_along(room: Room) -> None:
    stored = room.insert(note=note("tool:quokkatool<2"))
    before = content_of(room)

    room.delete(stored.id)

    assert b"quokkatool" in before
    assert b"quokkatool" not in content_of(room)
    assert room.count("SELECT count(*) FROM note_applies") == 0


def content_of(room: Room) -> bytes:
    return b"".join(path.read_bytes() for path in room.profile.path.parent.iterdir())


def test_a_range_that_cannot_be_read_is_refused_with_the_part_named() -> None:
    assert "'latest' is no range of versions" in refused("npm:react@latest")
    assert "'brew' is no ecosystem" in refused(DJANGO, "brew:wget")
    assert "os:linux|windows for any of them" in refused("os:linux", "os:windows")
    assert "U+0000" in refused("pypi:a\x00>=1")
    assert "is no ecosystem" in refused("\ud800:a")


def test_ranges_are_limited_in_number_and_length() -> None:
    most = [f"pypi:a{number}" for number in range(APPLIES_TO_MAX)]
    longest = "pypi:" + "a" * (SPEC_CHARS_MAX - 5)

    assert check_note(note(*most)).applies_to == tuple(most)
    assert check_note(note(longest)).applies_to == (longest,)
    assert "16 at most" in refused(*most, "pypi:b")
    assert "256 at most" in refused(longest + "a")


def test_a_context_is_limited_and_read() -> None:
    most = [f"npm:a{number}@1.0.0" for number in range(CONTEXT_MAX)]

    assert len(check_context(most)) == CONTEXT_MAX
    assert check_context(["os:darwin"]) == {(Ecosystem.OS, "os"): ("macos",)}
    for entries, told in ((most + most[:1], "1024 at most"), (["npm:a"], "names no version")):
        with pytest.raises(BadFieldError, match=told):
            check_context(entries)
