"""DaemonService and ProfilesService as a client meets them."""

import os
from collections.abc import Callable
from contextlib import closing

import apsw
import grpc
import pytest
from tests.unit.memstore.room import WAIT_SECONDS
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import daemon_service_pb2 as daemon
from graft.memory.v1 import profiles_service_pb2 as profiles
from graft.wire.errors import Refusal, read_refusal
from graft_memstore.deadline import Deadline
from graft_memstore.model import NewNote

SECONDS = 20
CHECKS = [
    "schema",
    "modes",
    "disk",
    "journal",
    "write lock",
    "integrity",
    "foreign keys",
    "audit chain",
    "texts",
    "vectors",
    "pending",
    "edges",
    "gate",
    "erasing",
]


def refusal_of(call: Callable[[], object]) -> Refusal:
    with pytest.raises(grpc.RpcError) as raised:
        call()
    return read_refusal(raised.value)


def checks(stubs: Stubs) -> dict[str, tuple[bool, str]]:
    reply = stubs.daemon.CheckProfile(daemon.CheckProfileRequest(), timeout=SECONDS)
    return {each.name: (each.ok, each.detail) for each in reply.checks}


def wait_until_quiet(stubs: Stubs) -> None:
    deadline = Deadline(WAIT_SECONDS)
    while stubs.room.upkeep.busy():
        assert deadline.left() > 0, "upkeep is still busy"
        deadline.wait(0.01)


def test_a_model_is_loaded_without_a_question(stubs: Stubs) -> None:
    loaded = stubs.daemon.LoadModel(daemon.LoadModelRequest(), timeout=SECONDS)
    stubs.room.embedder.away["fake"] = "its file is gone"

    refused = refusal_of(lambda: stubs.daemon.LoadModel(daemon.LoadModelRequest(), timeout=SECONDS))

    assert loaded.model == "fake"
    assert (refused.reason, stubs.room.embedder.asked) == ("MODEL_NOT_READY", [])


def test_status_opens_and_starts_nothing(stubs: Stubs) -> None:
    status = stubs.daemon.GetStatus(daemon.GetStatusRequest(), timeout=SECONDS)

    assert status.pid == os.getpid()
    assert status.uptime_ms == 1234
    assert status.settings == {"idle_minutes": "30"}
    assert not status.profiles
    assert stubs.room.profiles.names() == []
    assert stubs.room.embedder.embedded == []


def test_status_tells_of_open_profiles_and_their_embedders(stubs: Stubs) -> None:
    stubs.room.insert("a title", "a body", wait=True)
    stubs.room.wait_until_joined()
    stubs.process.calls = 3

    status = stubs.daemon.GetStatus(daemon.GetStatusRequest(), timeout=SECONDS)

    (profile,) = status.profiles
    assert (profile.name, profile.pending, profile.vectors) == ("default", 0, 2)
    assert profile.index in ("bits", "int8")
    assert (status.calls, status.pending, status.erasing) == (3, 0, 0)
    assert [(each.model, each.state) for each in status.embedders] == [("fake", "ready")]
    assert stubs.asked_for == [["fake"]]


def test_notes_that_wait_for_their_edges_are_pending_work(stubs: Stubs) -> None:
    stubs.room.insert("a title")
    stubs.room.wait_until_joined()
    wait_until_quiet(stubs)
    # Not a commit that the worker hears of: the note goes on waiting.
    stubs.room.profile.run(
        lambda connection: connection.execute("INSERT INTO edges_pending (seq) VALUES (1)")
    )

    status = stubs.daemon.GetStatus(daemon.GetStatusRequest(), timeout=SECONDS)

    assert (status.pending, status.profiles[0].pending) == (1, 1)
    assert checks(stubs)["edges"] == (True, "0 between notes; notes that wait for theirs: 1")


def test_a_busy_process_is_stopped_only_on_demand(stubs: Stubs) -> None:
    stubs.process.calls = 1
    careful = daemon.StopRequest(only_if_idle=True)

    refusal = refusal_of(lambda: stubs.daemon.Stop(careful, timeout=SECONDS))
    refused = stubs.process.stopped
    stubs.daemon.Stop(daemon.StopRequest(), timeout=SECONDS)

    assert refusal.reason == "WRONG_STATE"
    assert (refused, stubs.process.stopped) == (False, True)


def test_an_idle_process_stops(stubs: Stubs) -> None:
    stubs.room.insert("a title")
    wait_until_quiet(stubs)

    reply = stubs.daemon.Stop(daemon.StopRequest(only_if_idle=True), timeout=SECONDS)

    assert reply.pid == os.getpid()
    assert stubs.process.stopped


def test_a_sound_profile_passes_every_check(stubs: Stubs) -> None:
    stubs.room.insert("a title", "a body", wait=True)

    found = checks(stubs)

    assert list(found) == CHECKS
    assert [name for name, (ok, _) in found.items() if not ok] == []


@pytest.mark.parametrize(
    ("statement", "check", "told"),
    [
        ("UPDATE notes SET body = 'changed'", "texts", "was changed from outside"),
        ("DELETE FROM chunks", "vectors", "graft reindex"),
        ("UPDATE note_states SET reason = 'x'", "audit chain", "note_states 1: of note"),
        ("DELETE FROM keywords", "foreign keys", "points to nothing"),
    ],
)
def test_a_change_from_outside_fails_its_check(
    stubs: Stubs, statement: str, check: str, told: str
) -> None:
    stubs.room.insert_all([_note("a title"), _note("another")], wait=True)
    stubs.room.tampered = True
    with closing(apsw.Connection(str(stubs.room.profile.path))) as foreign:
        foreign.execute(statement)

    ok, detail = checks(stubs)[check]

    assert not ok
    assert told in detail


def test_a_write_lock_that_another_program_holds_fails_its_check(stubs: Stubs) -> None:
    stubs.room.insert("a title")
    wait_until_quiet(stubs)
    with closing(apsw.Connection(str(stubs.room.profile.path))) as foreign:
        foreign.execute("BEGIN IMMEDIATE")

        ok, detail = checks(stubs)["write lock"]

    assert not ok
    assert "another program" in detail
    assert checks(stubs)["write lock"] == (True, "free")


def test_the_process_is_in_use_while_a_profile_is_checked(stubs: Stubs) -> None:
    stubs.room.insert("a title")
    wait_until_quiet(stubs)
    status = stubs.daemon.GetStatus.future(daemon.GetStatusRequest(), timeout=SECONDS)
    seen_by_status = calls_until(stubs, status.done)
    with closing(apsw.Connection(str(stubs.room.profile.path))) as foreign:
        foreign.execute("BEGIN IMMEDIATE")  # the check waits for it, so it takes a while

        check = stubs.daemon.CheckProfile.future(daemon.CheckProfileRequest(), timeout=SECONDS)
        seen_by_check = calls_until(stubs, check.done)

    assert check.result().checks
    assert 1 not in seen_by_status
    assert 1 in seen_by_check


def calls_until(stubs: Stubs, done: Callable[[], bool]) -> set[int]:
    """Return every number of calls in use that was seen; the calls themselves have deadlines."""
    seen = {stubs.activity.calls}
    while not done():
        seen.add(stubs.activity.calls)
        Deadline(1).wait(0.001)
    return seen


def _note(title: str) -> NewNote:
    return NewNote(title=title, body="a body", keywords=("k",))


def test_a_file_that_others_may_read_fails_its_check(stubs: Stubs) -> None:
    stubs.room.insert("a title")
    # A connection that is opened meanwhile would close the file to others again.
    wait_until_quiet(stubs)
    stubs.room.profile.path.chmod(0o640)

    ok, detail = checks(stubs)["modes"]

    assert not ok
    assert "chmod 600" in detail


def test_pending_texts_that_cannot_be_embedded_fail_their_check(stubs: Stubs) -> None:
    stubs.room.embedder.away["fake"] = "no file; pull it"
    stubs.room.insert("a title")
    wait_until_quiet(stubs)

    assert checks(stubs)["pending"] == (False, "1 texts wait for vectors; no file; pull it")


def test_profiles_are_made_and_listed(stubs: Stubs) -> None:
    stubs.room.insert("a title")
    stubs.profiles.AddProfile(profiles.AddProfileRequest(name="work"), timeout=SECONDS)

    listed = stubs.profiles.ListProfiles(profiles.ListProfilesRequest(), timeout=SECONDS)
    again = refusal_of(
        lambda: stubs.profiles.AddProfile(profiles.AddProfileRequest(name="work"), timeout=SECONDS)
    )

    assert [(each.name, each.model, each.dimensions) for each in listed.profiles] == [
        ("default", "fake", 32),
        ("work", "", 0),
    ]
    assert again.reason == "PROFILE_EXISTS"


def test_a_damaged_profile_is_listed_all_the_same(stubs: Stubs) -> None:
    path = stubs.room.profiles.path("broken")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database " * 500)

    listed = stubs.profiles.ListProfiles(profiles.ListProfilesRequest(), timeout=SECONDS)

    assert [each.name for each in listed.profiles] == ["broken"]


def test_a_reindex_is_begun_told_and_ended(stubs: Stubs) -> None:
    stubs.room.insert("a title", "a body", wait=True)
    stubs.room.embedder.away["new"] = "pull it first"
    request = profiles.StartReindexRequest(model="new")

    stubs.profiles.StartReindex(request, timeout=SECONDS)
    wait_until_quiet(stubs)
    waiting = stubs.profiles.GetReindex(profiles.GetReindexRequest(), timeout=SECONDS)
    stubs.room.embedder.away.clear()
    deadline = Deadline(WAIT_SECONDS)
    while True:
        ended = stubs.profiles.GetReindex(profiles.GetReindexRequest(), timeout=SECONDS)
        if ended.state == profiles.REINDEX_STATE_NONE:
            break
        assert deadline.left() > 0, "the reindex does not end"
        deadline.wait(0.05)

    assert waiting.state == profiles.REINDEX_STATE_WAITING
    assert (waiting.target_model, waiting.serving_model) == ("new", "fake")
    assert "pull it first" in waiting.problem
    assert ended.serving_model == "new"


def test_a_reindex_that_is_asked_for_anew_does_not_wait_for_the_last_failure(
    stubs: Stubs,
) -> None:
    stubs.room.insert("a title", "a body", wait=True)
    stubs.room.embedder.away["new"] = "pull it first"
    stubs.profiles.StartReindex(profiles.StartReindexRequest(model="new"), timeout=SECONDS)
    wait_until_quiet(stubs)
    worker = stubs.room.upkeep.worker("default")
    assert worker is not None
    worker._target._until += 1_000.0  # as after many failures

    stubs.profiles.StartReindex(profiles.StartReindexRequest(model="fake"), timeout=SECONDS)

    deadline = Deadline(5.0)
    while (
        told := stubs.profiles.GetReindex(profiles.GetReindexRequest(), timeout=SECONDS)
    ).state != profiles.REINDEX_STATE_NONE:
        assert deadline.left() > 0, told.problem
        deadline.wait(0.05)


def test_a_damaged_registry_is_told_in_words(stubs: Stubs) -> None:
    stubs.registry_problems.append("models.json is not a JSON object; move it away")
    request = profiles.StartReindexRequest(model="new")

    refusal = refusal_of(lambda: stubs.profiles.StartReindex(request, timeout=SECONDS))

    assert refusal.reason == "MODEL_NOT_FOUND"
    assert "move it away" in refusal.message


def test_an_unknown_model_is_not_found(stubs: Stubs) -> None:
    request = profiles.StartReindexRequest(model="nobody")

    refusal = refusal_of(lambda: stubs.profiles.StartReindex(request, timeout=SECONDS))

    assert refusal.reason == "MODEL_NOT_FOUND"
    assert "fake, new" in refusal.message
