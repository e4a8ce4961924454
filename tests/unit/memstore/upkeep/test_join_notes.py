"""Notes are joined in the background: by what stands out, where both can be seen, and anew."""

import re
from pathlib import Path

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.memstore.fake_embedder import vector_of
from tests.unit.memstore.room import AGENT, WAIT_SECONDS, Room, open_room

from graft_memstore.deadline import Deadline
from graft_memstore.diversity import choose_diverse
from graft_memstore.model import ModelRole, NewNote, NoteId
from graft_memstore.recall.background import thresholds_of
from graft_memstore.recall.neighbours import (
    KEYWORD_NEIGHBOURS_MAX,
    POOL_MAX,
    RELEVANCE_SHARE,
    SEMANTIC_NEIGHBOURS_MAX,
)
from graft_memstore.store.background_samples import read_sample
from graft_memstore.store.edges_pending import (
    AskedEdges,
    ask_for_edges,
    count_asked,
    delete_asked,
    read_asked,
)
from graft_memstore.store.migrate import migrations
from graft_memstore.store.models import read_model
from graft_memstore.upkeep.embed_pending import embed_some
from graft_memstore.upkeep.join_notes import NOTES_IN_STEP, REMADE_TITLES_MAX, join_some
from graft_memstore.upkeep.reindex import ask_for_reindex, move_on
from graft_memstore.upkeep.resume import has_work

TOPICS = ("proxy", "deadlock", "certificate", "cache", "migration", "timeout")


def fill(room: Room, count: int = 24, *, first: int = 0, scope: str = "user") -> None:
    """Store notes of which every sixth is about the same thing."""
    room.insert_all(
        [
            NewNote(
                title=f"{TOPICS[number % 6]} trouble number{number} in {TOPICS[number % 6]} code",
                keywords=(TOPICS[number % 6],) if number % 2 else (),
                scope=scope,
            )
            for number in range(first, first + count)
        ]
    )


def join_all(room: Room) -> int:
    steps = 0
    while join_some(room.profile):
        steps += 1
    return steps


def edges(room: Room, kind: str = "SEMANTIC") -> set[tuple[int, int]]:
    with room.profile.snapshot() as connection:
        rows = connection.execute("SELECT src, dst FROM edges WHERE kind = ?", (kind,))
        return {(int(str(src)), int(str(dst))) for src, dst in rows}


def titles(room: Room, identity: str = "file of fake") -> NDArray[np.float32]:
    """Return the vectors of all titles in the order of their seqs, which begin at 1."""
    with room.profile.snapshot() as connection:
        rows = connection.execute("SELECT title FROM notes ORDER BY seq").fetchall()
    return np.array([np.frombuffer(vector_of(str(row[0]), identity), "<f4") for row in rows])


def expected_semantic(room: Room) -> set[tuple[int, int]]:
    """Return the pairs that stand out, by comparing everything with everything."""
    with room.profile.snapshot() as connection:
        model = read_model(connection, ModelRole.SERVING)
        assert model is not None
        least = thresholds_of(read_sample(connection, model.model_id)).semantic
    vectors = titles(room, model.identity)
    cosines = vectors @ vectors.T
    pairs = set()
    for one in range(len(vectors)):
        near = [other for other in range(len(vectors)) if cosines[one, other] >= least]
        pool = sorted(set(near) - {one}, key=lambda other: (-cosines[one, other], -other))
        pool = pool[:POOL_MAX]
        alike = cosines[np.ix_(pool, pool)]
        picked = choose_diverse(
            [RELEVANCE_SHARE * float(cosines[one, other]) for other in pool],
            lambda place, alike=alike: alike[place].tolist(),  # type: ignore[misc] # bound here
            SEMANTIC_NEIGHBOURS_MAX,
            1 - RELEVANCE_SHARE,
        )
        pairs |= {(min(one, pool[at]) + 1, max(one, pool[at]) + 1) for at in picked}
    return pairs


@pytest.mark.parametrize("count", [5, 24, 100])
def test_the_notes_that_stand_out_are_joined_and_no_others(still_room: Room, count: int) -> None:
    fill(still_room, count)

    join_all(still_room)

    assert edges(still_room) == expected_semantic(still_room)
    assert edges(still_room)


def test_an_edge_is_kept_once_from_the_older_note_with_the_cosine_as_its_weight(
    still_room: Room,
) -> None:
    fill(still_room)
    join_all(still_room)

    vectors = titles(still_room)
    with still_room.profile.snapshot() as connection:
        rows = connection.execute("SELECT src, dst, kind, keyword_id, weight FROM edges").fetchall()
    assert len({row[:4] for row in rows}) == len(rows) > 0
    for src, dst, _, _, weight in rows:
        assert int(str(src)) < int(str(dst))
        cosine = float(vectors[int(str(src)) - 1] @ vectors[int(str(dst)) - 1])
        assert weight == pytest.approx(cosine, abs=1e-6)


def test_notes_that_share_a_keyword_are_joined_by_it_from_a_lower_cosine_on(
    still_room: Room,
) -> None:
    fill(still_room)
    join_all(still_room)

    joined = edges(still_room, "KEYWORD")
    assert joined
    assert all((dst - src) % 6 == 0 and src % 2 == 0 for src, dst in joined)
    assert joined - edges(still_room)


def test_in_a_store_too_small_to_tell_a_shared_keyword_joins_and_likeness_does_not(
    still_room: Room,
) -> None:
    still_room.insert(note=NewNote(title="proxy one", keywords=("shared",)))
    still_room.insert(note=NewNote(title="proxy two", keywords=("shared", "alone")))
    still_room.insert("proxy three")

    join_all(still_room)

    assert edges(still_room, "KEYWORD") == {(1, 2)}
    assert edges(still_room) == set()


def test_the_known_past_of_an_edge_begins_with_the_newer_of_its_notes(still_room: Room) -> None:
    fill(still_room, 12)
    still_room.clock.ms += 1_000
    fill(still_room, 12, first=12)
    still_room.clock.ms += 1_000

    join_all(still_room)

    assert still_room.count("SELECT count(*) FROM edges") > 0
    wrong = """
        SELECT count(*) FROM edges
        JOIN notes AS newer ON newer.seq = edges.dst
        WHERE known_from <> newer.recorded_at OR known_to IS NOT NULL
    """
    assert still_room.count(wrong) == 0


def test_notes_of_two_projects_are_never_joined_and_each_is_with_those_of_user(
    still_room: Room,
) -> None:
    for scope in ("project:a", "project:b", "user"):
        for number in range(4):
            still_room.insert(
                note=NewNote(
                    title=f"proxy trouble in proxy code of {scope} {number}",
                    keywords=("proxy",),
                    scope=scope,
                )
            )
    fill(still_room, 24)

    join_all(still_room)

    with still_room.profile.snapshot() as connection:
        rows = connection.execute(
            "SELECT one.scope, other.scope FROM edges"
            " JOIN notes AS one ON one.seq = src JOIN notes AS other ON other.seq = dst"
        ).fetchall()
    joined = {tuple(sorted((str(one), str(other)))) for one, other in rows}
    assert ("project:a", "project:b") not in joined
    assert joined >= {
        ("project:a", "project:a"),
        ("project:b", "project:b"),
        ("project:a", "user"),
        ("project:b", "user"),
        ("user", "user"),
    }


def test_hidden_notes_do_not_take_the_places_of_those_that_can_be_seen(
    still_room: Room,
) -> None:
    still_room.insert_all([NewNote(title=f"one{n} two{n} three{n}") for n in range(40)])
    seen = still_room.insert(note=NewNote(title="alpha beta gamma eta", keywords=("k",)))
    hidden = [
        still_room.insert(
            note=NewNote(title="alpha beta gamma delta", body=f"{n}", keywords=("k",))
        )
        for n in range(KEYWORD_NEIGHBOURS_MAX + 2)
    ]
    for each in hidden:
        still_room.delete(each.id, caller=AGENT)

    still_room.insert(note=NewNote(title="alpha beta gamma delta", keywords=("k",)))
    join_all(still_room)

    new = still_room.count("SELECT max(seq) FROM notes")
    assert (seq_of(still_room, seen.id), new) in edges(still_room, "KEYWORD")


def seq_of(room: Room, note_id: str) -> int:
    return room.count(f"SELECT seq FROM notes WHERE id = '{note_id}'")  # noqa: S608


def note_id_of(room: Room, seq: int) -> str:
    with room.profile.snapshot() as connection:
        ((note_id,),) = connection.execute("SELECT id FROM notes WHERE seq = ?", (seq,))
    return str(note_id)


def test_edges_go_with_a_deleted_note_and_so_does_its_part_in_the_background(
    still_room: Room,
) -> None:
    fill(still_room)
    join_all(still_room)
    gone = max(edges(still_room))[1]
    about = f"(src = {gone} OR dst = {gone})"
    before = [
        still_room.count(f"SELECT count(*) FROM {table} WHERE {about}")  # noqa: S608
        for table in ("edges", "background_samples")
    ]
    others = still_room.count(f"SELECT count(*) FROM edges WHERE NOT {about}")  # noqa: S608

    still_room.delete(note_id_of(still_room, gone))

    assert min(before) > 0
    for table in ("edges", "background_samples"):
        assert still_room.count(f"SELECT count(*) FROM {table} WHERE {about}") == 0  # noqa: S608
    assert still_room.count("SELECT count(*) FROM edges") == others > 0


def test_a_note_that_is_deleted_before_its_turn_is_left_alone(still_room: Room) -> None:
    fill(still_room, 6)
    still_room.delete(note_id_of(still_room, 3))

    join_all(still_room)

    assert not any(3 in pair for pair in edges(still_room))
    assert still_room.count("SELECT count(*) FROM edges_pending") == 0


def test_a_keyword_that_is_added_later_joins_the_note_by_it(still_room: Room) -> None:
    for number in range(5):
        still_room.insert(note=NewNote(title=f"proxy trouble {number}", keywords=("net",)))
    still_room.insert("proxy trouble 9")
    join_all(still_room)
    before = edges(still_room, "KEYWORD")

    still_room.insert(note=NewNote(title="proxy trouble 9", keywords=("net",)))
    join_all(still_room)

    added = edges(still_room, "KEYWORD") - before
    assert added
    assert all(6 in pair for pair in added)


def test_a_note_that_is_asked_for_again_meanwhile_goes_on_waiting(still_room: Room) -> None:
    note_id = NoteId(still_room.insert("a title").id)
    with still_room.profile.snapshot() as connection:
        asked = read_asked(connection, 5)

    still_room.profile.write(lambda transaction: ask_for_edges(transaction.connection, note_id))
    still_room.profile.write(lambda transaction: delete_asked(transaction.connection, asked))

    with still_room.profile.snapshot() as connection:
        assert read_asked(connection, 5) == [AskedEdges(seq=1, asked=2)]


def test_a_small_store_is_joined_anew_as_it_grows_just_as_if_all_had_come_at_once(
    still_room: Room, tmp_path: Path
) -> None:
    for number in range(20):
        fill(still_room, 1, first=number)
        join_all(still_room)
    # The sample was last drawn at 17 titles; three more make it grow by a quarter.
    fill(still_room, 2, first=20)
    join_all(still_room)

    with open_room(tmp_path / "other", watched=False) as other:
        fill(other, 22)
        join_all(other)
        assert edges(still_room) == edges(other)
        assert edges(still_room, "KEYWORD") == edges(other, "KEYWORD")


def test_a_large_store_keeps_its_edges_and_gets_those_of_new_notes(still_room: Room) -> None:
    for first in range(0, REMADE_TITLES_MAX + 44, 100):
        fill(still_room, 100, first=first)
    join_all(still_room)
    last = still_room.count("SELECT max(edge_id) FROM edges")
    before = still_room.count("SELECT count(*) FROM edges")

    fill(still_room, 1, first=300)
    steps = join_all(still_room)

    new = still_room.count(f"SELECT count(*) FROM edges WHERE edge_id > {last}")  # noqa: S608
    assert (steps, new > 0) == (1, True)
    assert still_room.count("SELECT count(*) FROM edges") == before + new
    per_note = (
        "SELECT max(n) FROM (SELECT count(*) AS n FROM edges WHERE edge_id > {} GROUP BY dst)"
    )
    assert still_room.count(per_note.format(last)) <= SEMANTIC_NEIGHBOURS_MAX + 5


def test_a_large_store_is_joined_a_few_notes_at_a_time_and_goes_on_after_a_restart(
    tmp_path: Path,
) -> None:
    with open_room(tmp_path, watched=False) as room:
        for first in range(0, 300, 100):
            fill(room, 100, first=first)
        assert join_some(room.profile)
        left = room.count("SELECT count(*) FROM edges_pending")
        first = room.count("SELECT min(dst) FROM edges")
        path = room.profile.path
    waits = has_work(path)

    with open_room(tmp_path) as room:
        room.wait_until_joined()
        joined = edges(room)

    assert left == 300 - NOTES_IN_STEP
    # The newest come first.
    assert first > 300 - 2 * NOTES_IN_STEP
    assert waits
    assert not has_work(path)
    assert len({note for pair in joined for note in pair}) > 250


def test_notes_that_were_there_before_edges_were_get_them_in_the_background(
    tmp_path: Path,
) -> None:
    with open_room(tmp_path, watched=False) as room:
        fill(room)
        path = room.profile.path
    connection = apsw.Connection(str(path))
    for table in ("edges", "edges_pending", "background_samples"):
        connection.execute(f"DROP TABLE {table}")
    for column in ("sampled_titles", "sampled_pairs"):
        connection.execute(f"ALTER TABLE models DROP COLUMN {column}")
    connection.execute(migrations()[4])
    # What later migrations did to the table.
    later = [migrations()[number] for number in migrations() if number > 4]
    changes = r"^(?:CREATE INDEX \w+ ON edges|ALTER TABLE edges)\b[^;]*;"
    for statement in re.findall(changes, "\n".join(later), re.MULTILINE):
        connection.execute(statement)
    connection.close()

    with open_room(tmp_path, watched=False) as room:
        with room.profile.snapshot() as snapshot:
            waiting = count_asked(snapshot)
        join_all(room)
        joined = edges(room)

        assert waiting == 24
        assert joined == expected_semantic(room)


def test_edges_are_made_anew_when_another_model_serves(still_room: Room) -> None:
    fill(still_room)
    join_all(still_room)
    before = edges(still_room)

    ask_for_reindex(still_room.profile, "new")
    while embed_some(
        still_room.profile, still_room.embedder, ModelRole.TARGET, Deadline(WAIT_SECONDS)
    ) or move_on(still_room.profile, still_room.embedder, Deadline(WAIT_SECONDS)):
        assert edges(still_room) in (before, set())
    at_the_switch = edges(still_room)
    join_all(still_room)

    assert before
    assert at_the_switch == set()
    assert edges(still_room) == expected_semantic(still_room) != before
    assert still_room.count("SELECT count(DISTINCT model_id) FROM background_samples") == 1


def test_a_title_without_a_vector_waits_for_that_first(still_room: Room) -> None:
    still_room.embedder.away["fake"] = "no file"
    fill(still_room, 8)
    nothing = join_some(still_room.profile)
    still_room.embedder.away.clear()
    while embed_some(
        still_room.profile, still_room.embedder, ModelRole.SERVING, Deadline(WAIT_SECONDS)
    ):
        pass

    join_all(still_room)

    assert not nothing
    assert edges(still_room) == expected_semantic(still_room)


def test_the_threads_join_notes_by_themselves(room: Room) -> None:
    fill(room)

    room.wait_until_joined()

    assert edges(room) == expected_semantic(room)
    worker = room.upkeep.worker("default")
    assert worker is not None
    assert worker.edges_problem == ""
