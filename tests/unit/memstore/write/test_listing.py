"""Listing notes: filters, order, pages."""

import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.memstore.room import AGENT, Room

from graft.wire.errors import BadPageTokenError
from graft_memstore.model import Lifecycle, NewNote, Note, ScopeFilter, Trust
from graft_memstore.service.page_token import page_of, token_after
from graft_memstore.store.full_notes import read_full_page
from graft_memstore.store.notes import PageFilter
from graft_memstore.visibility import VISIBLE, View

EVERYWHERE = PageFilter(scope=ScopeFilter(all=True))


def page(room: Room, wanted: PageFilter, count: int = 100) -> list[Note]:
    with room.profile.snapshot() as connection:
        return read_full_page(
            connection, wanted, now_ms=room.profile.now_ms(connection), count_max=count
        )


def titles(room: Room, wanted: PageFilter) -> list[str]:
    return [note.title for note in page(room, wanted)]


def test_the_newest_comes_first_without_its_body(still_room: Room) -> None:
    for number in range(3):
        still_room.clock.ms += 1
        still_room.insert(f"note {number}", "a body")

    notes = page(still_room, EVERYWHERE)

    assert [note.title for note in notes] == ["note 2", "note 1", "note 0"]
    assert {note.body for note in notes} == {""}


def test_filters_narrow_the_listing(still_room: Room) -> None:
    still_room.insert(note=NewNote(title="a", scope="project:a", keywords=("k", "l")))
    still_room.insert(note=NewNote(title="b", scope="project:b", keywords=("k",)))
    still_room.clock.ms += 10
    still_room.insert(note=NewNote(title="c", scope="user"))
    retired = still_room.insert("gone")
    still_room.delete(retired.id, caller=AGENT)

    scopes = ScopeFilter(scopes=("project:a", "user", "user"))
    assert titles(still_room, PageFilter(scope=scopes)) == ["c", "a"]
    everywhere = ScopeFilter(all=True)
    assert titles(still_room, PageFilter(scope=everywhere, keywords=("k",))) == ["b", "a"]
    assert titles(still_room, PageFilter(scope=everywhere, keywords=("k", "l"))) == ["a"]
    assert titles(still_room, PageFilter(scope=everywhere, keywords=("none",))) == []
    since = still_room.clock.ms
    assert titles(still_room, PageFilter(scope=everywhere, since_ms=since)) == ["c"]
    retired_only = PageFilter(scope=everywhere, lifecycle=Lifecycle.RETIRED)
    assert titles(still_room, retired_only) == ["gone"]
    assert titles(still_room, PageFilter(scope=everywhere, trust=Trust.VERIFIED)) == []


@settings(
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=12))
def test_pages_put_together_are_the_listing(still_room: Room, sizes: list[int]) -> None:
    if not titles(still_room, EVERYWHERE):
        # Several in one millisecond, so that ids must break the tie.
        still_room.insert_all([NewNote(title=f"note {number}") for number in range(9)])
    found: list[str] = []
    token, turn = "", 0
    while True:
        size = sizes[turn % len(sizes)]
        notes = page(still_room, page_of(EVERYWHERE, token), size + 1)
        found += [note.title for note in notes[:size]]
        if len(notes) <= size:
            break
        token, turn = token_after(notes[size - 1], EVERYWHERE), turn + 1

    assert found == titles(still_room, EVERYWHERE)


def test_a_listing_reads_no_bodies(still_room: Room) -> None:
    for number in range(4):
        still_room.insert(f"note {number}", "word " * 50_000)

    tracemalloc.start()
    notes = page(still_room, EVERYWHERE)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert [note.body for note in notes] == [""] * 4
    assert most < 200_000


@pytest.mark.parametrize(
    "token",
    ["x", "e30=", "WzEsMiwzXQ==", "WzFd", "\u00e9", "WzFlNDAwLCJhIiwiYiJd", "W1tb" * 50_000],
)
def test_what_is_no_page_token_is_refused(token: str) -> None:
    with pytest.raises(BadPageTokenError):
        page_of(EVERYWHERE, token)


def test_a_page_token_belongs_to_its_listing(still_room: Room) -> None:
    still_room.insert("a title")
    token = token_after(page(still_room, EVERYWHERE)[0], EVERYWHERE)

    with pytest.raises(BadPageTokenError):
        page_of(PageFilter(scope=ScopeFilter(scopes=("user",))), token)


SET_STATE = """
UPDATE note_states SET
    lifecycle = :lifecycle, trust = :trust, expires_at = :expires_at, valid_from = :valid_from,
    valid_to = :valid_to
"""


def set_state(room: Room, state: dict[str, str | int | None]) -> None:
    room.tampered = True
    room.profile.run(lambda connection: connection.execute(SET_STATE, state))


@pytest.mark.parametrize("trust", list(Trust))
@pytest.mark.parametrize("lifecycle", list(Lifecycle))
def test_a_listing_shows_exactly_what_a_search_may_see(
    still_room: Room, lifecycle: Lifecycle, trust: Trust
) -> None:
    still_room.insert("a title")
    now = still_room.clock.ms
    times = [(None, None, None), (now, None, None), (None, now + 1, None), (None, None, now)]
    shown, visible = [], []
    for expires_at, valid_from, valid_to in times:
        state: dict[str, str | int | None] = {
            "lifecycle": lifecycle,
            "trust": trust,
            "expires_at": expires_at,
            "valid_from": valid_from,
            "valid_to": valid_to,
        }
        set_state(still_room, state)
        shown.append(len(titles(still_room, EVERYWHERE)))
        with still_room.profile.snapshot() as connection:
            rows = connection.execute(
                "WITH " + VISIBLE + "SELECT title FROM visible",  # noqa: S608
                View(scope=ScopeFilter(all=True), now_ms=now).parameters(),
            )
            visible.append(len(rows.fetchall()))

    assert shown == visible
