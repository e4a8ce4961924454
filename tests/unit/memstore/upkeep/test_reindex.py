"""Moving a profile to another model: everything anew, then all at once, never a mix."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.memstore.room import WAIT_SECONDS, Room, open_room

from graft.wire.errors import ModelNotReadyError, ReindexStateError
from graft_memstore.deadline import Deadline
from graft_memstore.model import ModelRole, NewNote
from graft_memstore.store.models import read_model
from graft_memstore.upkeep.embed_pending import embed_some
from graft_memstore.upkeep.reindex import (
    abandon_target,
    ask_for_reindex,
    move_on,
    read_progress,
    switch,
)


def fill(room: Room) -> None:
    room.insert_all([NewNote(title=f"note {number}", body="a body") for number in range(20)])
    while embed_some(room.profile, room.embedder, ModelRole.SERVING, Deadline(10)):
        pass


def target_step(room: Room) -> bool:
    return embed_some(room.profile, room.embedder, ModelRole.TARGET, Deadline(10)) or move_on(
        room.profile, room.embedder, Deadline(10)
    )


def models_of_vectors(room: Room) -> list[tuple[str, int]]:
    with room.profile.snapshot() as connection:
        rows: list[Any] = connection.execute(
            "SELECT models.name, count(*) FROM chunks JOIN models USING (model_id)"
            " GROUP BY models.name ORDER BY models.name"
        ).fetchall()
    return [(str(name), int(count)) for name, count in rows]


def serving_name(room: Room) -> str:
    with room.profile.snapshot() as connection:
        model = read_model(connection, ModelRole.SERVING)
    return "" if model is None else model.name


def wait_until_moved(room: Room) -> None:
    deadline = Deadline(WAIT_SECONDS)
    while read_progress(room.profile).target:
        seen = room.profile.changes.count
        assert deadline.left() > 0, "the profile is still being moved"
        if read_progress(room.profile).target:
            room.profile.changes.wait(seen, deadline.left())


def test_the_old_model_serves_until_every_note_is_known_to_the_new_one(still_room: Room) -> None:
    fill(still_room)
    ask_for_reindex(still_room.profile, "new")
    seen = []

    while target_step(still_room):
        progress = read_progress(still_room.profile)
        seen.append((progress.serving, progress.target, progress.done))

    assert {step for step in seen if step[0] == "fake"} == set(seen[:-1])
    assert seen[-1] == ("new", "", 20)
    assert [done for _, _, done in seen] == sorted(done for _, _, done in seen)
    assert models_of_vectors(still_room) == [("new", 40)]
    assert still_room.count("SELECT count(*) FROM pending") == 0
    assert still_room.profile.index is not None
    assert still_room.profile.serving_model is not None
    assert still_room.profile.index.model_id == still_room.profile.serving_model.model_id


def test_without_a_reindex_what_waits_for_the_serving_model_is_not_done(still_room: Room) -> None:
    fill(still_room)
    still_room.insert("waits", "a body that waits")

    progress = read_progress(still_room.profile)

    assert (progress.target, progress.done, progress.total) == ("", 20, 21)


def test_nothing_is_done_before_the_target_is_loaded(still_room: Room) -> None:
    fill(still_room)
    ask_for_reindex(still_room.profile, "new")

    progress = read_progress(still_room.profile)

    assert (progress.target, progress.done, progress.total) == ("new", 0, 20)


def test_a_note_that_comes_in_meanwhile_is_embedded_for_both(still_room: Room) -> None:
    fill(still_room)
    ask_for_reindex(still_room.profile, "new")
    assert target_step(still_room)

    still_room.insert("in between", "a body")
    while embed_some(still_room.profile, still_room.embedder, ModelRole.SERVING, Deadline(10)):
        pass
    before = dict(models_of_vectors(still_room))
    while target_step(still_room):
        pass

    assert before["fake"] == 42
    assert models_of_vectors(still_room) == [("new", 42)]


def test_a_note_right_before_the_switch_is_embedded_first(still_room: Room) -> None:
    fill(still_room)
    ask_for_reindex(still_room.profile, "new")
    assert move_on(still_room.profile, still_room.embedder, Deadline(10))
    while embed_some(still_room.profile, still_room.embedder, ModelRole.TARGET, Deadline(10)):
        pass

    still_room.insert("at the last moment")

    assert not move_on(still_room.profile, still_room.embedder, Deadline(10))
    while target_step(still_room):
        pass
    assert models_of_vectors(still_room) == [("new", 41)]


def test_it_goes_on_after_a_restart(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        fill(room)
        ask_for_reindex(room.profile, "new")
        for _ in range(3):
            assert target_step(room)

    with open_room(tmp_path) as room:
        room.profiles.open("")
        wait_until_moved(room)

        assert serving_name(room) == "new"
        assert models_of_vectors(room) == [("new", 40)]


def test_it_runs_in_the_background(room: Room) -> None:
    room.insert("a title", "a body", wait=True)

    ask_for_reindex(room.profile, "new")
    wait_until_moved(room)

    assert models_of_vectors(room) == [("new", 2)]


def test_asking_for_the_model_that_serves_gives_a_move_up(still_room: Room) -> None:
    fill(still_room)
    ask_for_reindex(still_room.profile, "new")
    for _ in range(3):
        assert target_step(still_room)

    ask_for_reindex(still_room.profile, "fake")
    while target_step(still_room):
        pass

    assert read_progress(still_room.profile).target == ""
    assert models_of_vectors(still_room) == [("fake", 40)]
    assert still_room.count("SELECT count(*) FROM pending") == 0


def test_a_move_that_has_not_begun_can_go_elsewhere(still_room: Room) -> None:
    fill(still_room)
    ask_for_reindex(still_room.profile, "new")

    ask_for_reindex(still_room.profile, "newer")
    while target_step(still_room):
        pass

    assert serving_name(still_room) == "newer"


def test_a_move_that_is_redirected_while_its_model_loads_goes_there(still_room: Room) -> None:
    fill(still_room)
    ask_for_reindex(still_room.profile, "new")

    def redirect(_: str) -> None:
        still_room.embedder.before = lambda _: None
        ask_for_reindex(still_room.profile, "newer")

    still_room.embedder.before = redirect
    while target_step(still_room):
        pass

    assert models_of_vectors(still_room) == [("newer", 40)]


def test_a_move_given_up_right_before_the_switch_loses_no_vector(still_room: Room) -> None:
    fill(still_room)
    ask_for_reindex(still_room.profile, "new")
    assert move_on(still_room.profile, still_room.embedder, Deadline(10))
    while embed_some(still_room.profile, still_room.embedder, ModelRole.TARGET, Deadline(10)):
        pass
    with still_room.profile.snapshot() as connection:
        target = read_model(connection, ModelRole.TARGET)
    assert target is not None

    ask_for_reindex(still_room.profile, "fake")
    still_room.profile.write(lambda transaction: switch(transaction, target))

    assert models_of_vectors(still_room) == [("fake", 40)]
    assert serving_name(still_room) == "fake"


def test_moving_to_the_model_that_serves_mends_what_has_no_vector(still_room: Room) -> None:
    fill(still_room)
    still_room.embedder.refused |= {"no vector yet", "no vector yet\n\na body"}
    still_room.insert("no vector yet", "a body")
    while embed_some(still_room.profile, still_room.embedder, ModelRole.SERVING, Deadline(10)):
        pass
    before = models_of_vectors(still_room)

    still_room.embedder.refused.clear()
    ask_for_reindex(still_room.profile, "fake")
    assert target_step(still_room)
    while embed_some(still_room.profile, still_room.embedder, ModelRole.SERVING, Deadline(10)):
        pass

    assert before == [("fake", 40)]
    assert models_of_vectors(still_room) == [("fake", 42)]


def test_asking_again_is_safe_and_asking_for_another_is_refused(still_room: Room) -> None:
    fill(still_room)
    ask_for_reindex(still_room.profile, "new")
    assert target_step(still_room)
    ask_for_reindex(still_room.profile, "new")

    with pytest.raises(ReindexStateError, match="being moved to new"):
        ask_for_reindex(still_room.profile, "newer")


def test_moving_to_the_model_that_serves_changes_nothing(still_room: Room) -> None:
    fill(still_room)
    ask_for_reindex(still_room.profile, "fake")

    assert target_step(still_room)

    assert not target_step(still_room)
    assert read_progress(still_room.profile).target == ""
    assert models_of_vectors(still_room) == [("fake", 40)]


def test_a_profile_without_vectors_takes_the_model_at_once(still_room: Room) -> None:
    ask_for_reindex(still_room.profile, "new")

    assert target_step(still_room)

    assert serving_name(still_room) == "new"
    still_room.insert("a title")
    assert models_of_vectors(still_room) == [("new", 1)]


def test_a_profile_whose_model_is_gone_can_move_to_another(room: Room) -> None:
    room.insert("a title", "a body", wait=True)
    room.embedder.away["fake"] = "its file is gone"
    room.insert("stored meanwhile", "a body")

    ask_for_reindex(room.profile, "new")
    wait_until_moved(room)

    assert models_of_vectors(room) == [("new", 4)]
    assert room.count("SELECT count(*) FROM pending") == 0


def test_a_target_that_is_away_leaves_everything_as_it_is(still_room: Room) -> None:
    fill(still_room)
    still_room.embedder.away["new"] = "pull it first"
    ask_for_reindex(still_room.profile, "new")

    with pytest.raises(ModelNotReadyError, match="pull it first"):
        target_step(still_room)

    assert serving_name(still_room) == "fake"
    assert read_progress(still_room.profile).target == "new"


def test_a_target_whose_file_changes_is_begun_anew(still_room: Room) -> None:
    fill(still_room)
    ask_for_reindex(still_room.profile, "new")
    for _ in range(3):
        assert target_step(still_room)
    still_room.embedder.files["new"] = "another file"
    with pytest.raises(ModelNotReadyError):
        target_step(still_room)

    abandon_target(still_room.profile)
    while target_step(still_room):
        pass

    assert models_of_vectors(still_room) == [("new", 40)]
    with still_room.profile.snapshot() as connection:
        model = read_model(connection, ModelRole.SERVING)
    assert model is not None
    assert model.identity == "another file"
