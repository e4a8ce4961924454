import threading
from datetime import UTC, datetime
from pathlib import Path

import grpc
import pytest
from tests.unit.client.fake_memstore import FakeState, serving

from graft.memory.v1 import note_pb2, profiles_service_pb2, recall_service_pb2
from graft.wire.errors import BusyError, DatabaseLockedError, StoppingError
from graft_client import ALL_SCOPES, Graft, NewNote
from graft_client.errors import (
    DeadlineError,
    GraftError,
    InputError,
    NobodyAnsweredError,
    NotFoundError,
    NotReadyError,
    ServiceBugError,
    SettingsError,
)
from graft_client.results import Source
from graft_client.settings import configure


def test_a_note_comes_back_as_it_was_stored(graft: Graft) -> None:
    stored = graft.insert(
        "CI needs Node 20",
        "Node 18 lacks fetch.",
        keywords=["node", "ci"],
        kind="dead-end",
        author="me",
        sources=[Source(kind="url", locator="https://x")],
        valid_from=datetime(2026, 1, 1, tzinfo=UTC),
    )

    note = graft.get(stored.id[-8:])

    assert (note.id, note.title, note.body) == (
        stored.id,
        "CI needs Node 20",
        "Node 18 lacks fetch.",
    )
    assert (note.keywords, note.kind, note.author) == (("ci", "node"), "dead-end", "me")
    assert (note.scope, note.state, note.trust) == ("user", "active", "observed")
    assert note.valid_from == datetime(2026, 1, 1, tzinfo=UTC)
    assert (note.valid_to, note.superseded_by) == (None, None)
    assert note.sources == (Source(kind="url", locator="https://x"),)


def test_every_mutation_has_a_request_id_of_its_own_that_a_caller_may_choose(
    graft: Graft, memstore: FakeState
) -> None:
    first = graft.insert("one")
    graft.insert("two")
    graft.insert("three", request_id="mine")
    graft.insert_many([NewNote(title="four")])
    graft.delete(first.id, reason="done")

    ids = [
        request.request_id  # type: ignore[attr-defined] # the fake keeps requests of all kinds
        for name in ("InsertNote", "InsertNotes", "DeleteNote")
        for request in memstore.requests(name)
    ]
    assert len(set(ids)) == 5
    assert "mine" in ids


def test_every_call_says_who_calls(graft: Graft, memstore: FakeState) -> None:
    graft.stats()

    sent = memstore.metadata[0]
    assert sent["graft-door"] == "library"
    assert sent["graft-protocol"].startswith("1;")


def test_a_call_that_met_a_stopping_service_is_made_again_with_the_same_request_id(
    graft: Graft, memstore: FakeState
) -> None:
    memstore.failures += [StoppingError("stopping"), grpc.StatusCode.UNAVAILABLE]

    graft.insert("kept over retries")

    ids = {request.request_id for request in memstore.requests("InsertNote")}  # type: ignore[attr-defined] # as above
    assert len(memstore.requests("InsertNote")) == 3
    assert len(ids) == 1


def test_a_busy_service_is_waited_for(graft: Graft, memstore: FakeState) -> None:
    memstore.failures += [BusyError("full", retry_after_ms=10)] * 3

    graft.query("anything")

    assert len(memstore.requests("Query")) == 4


def test_a_locked_database_is_told_at_once(graft: Graft, memstore: FakeState) -> None:
    memstore.failures += [DatabaseLockedError("another program holds the lock of x")]

    with pytest.raises(NotReadyError, match="another program") as caught:
        graft.insert("x")

    assert caught.value.reason == "DATABASE_LOCKED"
    assert isinstance(caught.value.__cause__, grpc.RpcError)
    assert len(memstore.requests("InsertNote")) == 1


def test_making_a_profile_is_never_repeated(graft: Graft, memstore: FakeState) -> None:
    memstore.failures += [grpc.StatusCode.UNAVAILABLE]

    with pytest.raises(NobodyAnsweredError):
        graft.add_profile("work")

    assert len(memstore.requests("AddProfile")) == 1


def test_the_transport_s_own_words_never_reach_the_caller(
    graft: Graft, memstore: FakeState
) -> None:
    memstore.failures += [grpc.StatusCode.INTERNAL]

    with pytest.raises(ServiceBugError) as caught:
        graft.stats()

    assert "words of the transport" not in str(caught.value)
    assert "memstore.log" in str(caught.value)


def test_a_service_that_hangs_is_given_up_at_the_deadline(
    graft: Graft, memstore: FakeState
) -> None:
    memstore.hold = True

    with pytest.raises(DeadlineError, match=r"within 0\.3 s"):
        graft.within(0.3).query("x")


def test_nobody_there_is_said_with_the_socket(home: Path, place: Path) -> None:
    with (
        Graft(configuration=configure(home=home, environ={})) as graft,
        pytest.raises(NobodyAnsweredError, match=rf"{place}/fake.sock.*unset it to use"),
    ):
        graft.within(5).get("1234abcd")


def test_a_restarted_service_is_found_again_by_the_same_client(home: Path, place: Path) -> None:
    with Graft(configuration=configure(home=home, environ={})) as graft:
        with serving(place / "fake.sock", FakeState()):
            graft.insert("before")
        with serving(place / "fake.sock", FakeState()) as second:
            graft.insert("after")

    assert [note.title for note in second.notes.values()] == ["after"]


def test_a_listing_walks_through_all_pages(graft: Graft, memstore: FakeState) -> None:
    graft.insert_many([NewNote(title=f"note {number}") for number in range(5)])

    titles = [note.title for note in graft.list(keywords=["k"], scope=ALL_SCOPES)]

    assert titles == [f"note {number}" for number in (4, 3, 2, 1, 0)]
    pages = memstore.requests("ListNotes")
    assert [page.page_token for page in pages] == ["", "2", "4"]  # type: ignore[attr-defined] # as above
    assert all(page.scope.all for page in pages)  # type: ignore[attr-defined] # as above


def test_a_title_only_note_has_no_body(graft: Graft, memstore: FakeState) -> None:
    memstore.query_reply = recall_service_pb2.QueryResponse(
        hit=recall_service_pb2.HIT_WEAK,
        probability=0.5,
        note=note_pb2.Note(id="a" * 32, title="t"),
        signals=[recall_service_pb2.Signal(name="cosine", value=0.9)],
    )

    answer = graft.query("q")

    assert answer.note is not None
    assert (answer.hit, answer.note.body, answer.signals) == ("WEAK", None, {"cosine": 0.9})


def test_results_of_a_search_carry_what_each_arm_said(graft: Graft, memstore: FakeState) -> None:
    memstore.retrieve_reply = recall_service_pb2.RetrieveResponse(
        results=[
            recall_service_pb2.RetrievedNote(
                id="a" * 32,
                title="t",
                score=0.5,
                arms=[recall_service_pb2.ArmScore(arm="vector", rank=1, score=0.9)],
            )
        ]
    )

    found = graft.retrieve("q", top_k=3, keywords=["k"], match_all=True)

    assert found.results[0].arms["vector"].rank == 1
    (request,) = memstore.requests("Retrieve")
    assert isinstance(request, recall_service_pb2.RetrieveRequest)
    assert (request.top_k, list(request.keywords)) == (3, ["k"])
    assert request.match == recall_service_pb2.KEYWORD_MATCH_ALL


def test_a_reindex_is_followed_to_its_end(graft: Graft, memstore: FakeState) -> None:
    running = profiles_service_pb2.GetReindexResponse(
        state=profiles_service_pb2.REINDEX_STATE_RUNNING, target_model="m", done=1, total=2
    )
    memstore.reindex_replies = [
        running,
        profiles_service_pb2.GetReindexResponse(
            state=profiles_service_pb2.REINDEX_STATE_NONE, serving_model="m"
        ),
    ]

    graft.start_reindex("m")
    seen = list(graft.reindex_progress())

    assert [(each.state, each.done) for each in seen] == [("running", 1), ("none", 0)]


def test_an_unknown_note_is_not_found(graft: Graft) -> None:
    with pytest.raises(NotFoundError, match="12345678") as caught:
        graft.get("12345678")

    assert caught.value.reason == "NOTE_NOT_FOUND"


def test_threads_may_share_one_client(graft: Graft, memstore: FakeState) -> None:
    threads = [threading.Thread(target=graft.insert, args=(f"note {n}",)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert len(memstore.notes) == 16


def test_a_closed_client_says_so(graft: Graft) -> None:
    graft.stats()
    graft.close()

    with pytest.raises(GraftError, match="closed"):
        graft.stats()


def test_the_file_of_a_commit_belongs_to_the_directory_s_project(
    home: Path, memstore: FakeState, tmp_path: Path
) -> None:
    git = tmp_path / ".git"
    (git / "objects").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\nurl = git@host:o/n.git\n')
    configuration = configure(home=home, directory=tmp_path, environ={})

    with Graft(configuration=configuration) as graft:
        stored = graft.insert("t", sources=[Source(kind="file", locator="a.py")])
        graft.query("q")

    assert stored.scope == "project:host/o/n"
    (note,) = memstore.notes.values()
    assert note.sources[0].project == "host/o/n"
    (request,) = memstore.requests("Query")
    assert isinstance(request, recall_service_pb2.QueryRequest)
    assert list(request.scope.scopes) == [
        "project:host/o/n",
        f"project:{tmp_path.resolve()}",
        "user",
    ]


def test_settings_come_from_arguments_then_environment_then_file(home: Path) -> None:
    (home / "config.toml").write_text('profile = "file"\nauthor = "file"\nscope = "file"\n')

    found = configure(
        home=home,
        flags={"profile": "flag"},
        environ={"GRAFT_PROFILE": "env", "GRAFT_AUTHOR": "env"},
    ).settings

    assert [found.text(name) for name in ("profile", "author", "scope")] == ["flag", "env", "file"]


def test_a_target_that_is_no_socket_is_refused(home: Path) -> None:
    with pytest.raises(SettingsError, match=r"'example.org:7000'; it must be .*a socket"):
        configure(home=home, flags={"target": "example.org:7000"}, environ={})


def test_nothing_is_started_where_that_is_forbidden(place: Path) -> None:
    configuration = configure(home=place / "new", environ={"GRAFT_AUTOSTART": "0"})

    with (
        Graft(configuration=configuration) as graft,
        pytest.raises(NobodyAnsweredError, match="graft start"),
    ):
        graft.query("x")

    assert not (place / "new").exists()


def test_the_status_of_a_home_where_nothing_runs_is_empty(place: Path) -> None:
    with Graft(configuration=configure(home=place / "new", environ={})) as graft:
        status = graft.status()
        stopped = graft.stop()

    assert (status.memstore, status.embedder, status.embedders) == (None, None, ())
    assert stopped is None


def test_a_question_says_what_is_there_and_the_answer_what_that_means(
    graft: Graft, memstore: FakeState
) -> None:
    memstore.query_reply.context_wanted.append("pypi:django")
    memstore.query_reply.dead_ends.add(id="1", title="tried", trust=note_pb2.TRUST_OBSERVED)

    answer = graft.query("x", context=["npm:react@18.2.0"])

    (request,) = memstore.requests("Query")
    assert list(request.context) == ["npm:react@18.2.0"]  # type: ignore[attr-defined] # the fake keeps all kinds
    assert answer.context_wanted == ("pypi:django",)
    assert [(each.title, each.trust) for each in answer.dead_ends] == [("tried", "observed")]
    with pytest.raises(InputError, match="context must be a list"):
        graft.query("x", context="os:linux")
