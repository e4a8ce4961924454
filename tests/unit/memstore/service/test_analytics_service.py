"""AnalyticsService as a client meets it: what was given, without a word of what was asked."""

from uuid import UUID

import grpc
import pytest
from tests.unit.memstore.room import START_MS
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import analytics_service_pb2 as pb
from graft.memory.v1 import note_pb2, recall_service_pb2
from graft.wire.errors import read_refusal
from graft.wire.metadata import CallMetadata
from graft_memstore.model import NewNote, ScopeFilter
from graft_memstore.store.answers import ANSWERS_MAX, delete_answers
from graft_memstore.store.transaction import Transaction

SECONDS = 20
TITLE = "pip cannot see the proxy behind the company firewall"
OURS, USER = "project:ours", "user"
EVERYWHERE = note_pb2.ScopeFilter(all=True)
MINUTE_MS = 60_000


def scopes(*names: str) -> note_pb2.ScopeFilter:
    return note_pb2.ScopeFilter(scopes=names)


def ask(
    stubs: Stubs, text: str, *names: str, door: str = "mcp", agent: str = "codex"
) -> recall_service_pb2.QueryResponse:
    request = recall_service_pb2.QueryRequest(text=text, scope=scopes(*(names or (USER,))))
    told = CallMetadata(door=door, agent=agent).to_pairs()
    return stubs.recall.Query(request, timeout=SECONDS, metadata=told)


def gave(
    stubs: Stubs, scope: note_pb2.ScopeFilter = EVERYWHERE, since_ms: int = 0
) -> pb.GetAnalyticsResponse:
    request = pb.GetAnalyticsRequest(scope=scope, since_ms=since_ms)
    return stubs.analytics.GetAnalytics(request, timeout=SECONDS)


def counts(hits: pb.HitCounts) -> tuple[int, int, int]:
    return hits.strong, hits.weak, hits.miss


def clear(stubs: Stubs, scope: note_pb2.ScopeFilter, number: int) -> int:
    request = pb.ClearAnalyticsRequest(scope=scope, request_id=str(UUID(int=number)))
    return stubs.analytics.ClearAnalytics(request, timeout=SECONDS).answers


def test_answers_are_counted_at_once_by_level_scope_agent_and_door(stubs: Stubs) -> None:
    note = stubs.room.insert(note=NewNote(title=TITLE, scope=USER)).id
    ask(stubs, TITLE)
    ask(stubs, TITLE, OURS, USER, door="cli", agent="")
    ask(stubs, "quokkas vortexquestion")
    ask(stubs, "quokkas vortexquestion", door="hook", agent="claude-code")

    reply = gave(stubs)

    assert counts(reply.hits) == (2, 0, 1)
    assert [(each.name, counts(each.hits)) for each in reply.scopes] == [
        (USER, (1, 0, 1)),
        (OURS, (1, 0, 0)),
    ]
    assert [(each.name, counts(each.hits)) for each in reply.agents] == [
        ("codex", (1, 0, 1)),
        ("", (1, 0, 0)),
    ]
    assert {each.name: counts(each.hits) for each in reply.doors} == {
        "mcp": (1, 0, 1),
        "cli": (1, 0, 0),
        "hook": (0, 0, 1),
    }
    assert [(each.id, each.title, each.count) for each in reply.reused] == [(note, TITLE, 2)]
    assert (reply.notes_given, reply.degraded, reply.first_at_ms) == (1, 0, START_MS)
    assert (reply.misses_open, reply.misses_closed, reply.misses_kept) == (1, 0, True)
    assert 0 < reply.service.p50_ms <= reply.service.p99_ms


def test_a_miss_that_a_note_answers_is_closed(stubs: Stubs) -> None:
    ask(stubs, TITLE)
    open_before = gave(stubs).misses_open
    stubs.room.insert(note=NewNote(title=TITLE, scope=USER))
    stubs.room.wait_until_joined()

    reply = gave(stubs)

    assert open_before == 1
    assert (reply.misses_open, reply.misses_closed) == (0, 1)


def test_scopes_and_the_instant_narrow_what_is_counted(stubs: Stubs) -> None:
    note = stubs.room.insert(note=NewNote(title=TITLE, scope=OURS)).id
    ask(stubs, TITLE, OURS)
    stubs.room.clock.ms += MINUTE_MS
    ask(stubs, "quokkas vortexquestion", USER)

    ours, user = gave(stubs, scopes(OURS)), gave(stubs, scopes(USER))
    later = gave(stubs, since_ms=START_MS + MINUTE_MS)

    assert (counts(ours.hits), counts(user.hits), counts(later.hits)) == (
        (1, 0, 0),
        (0, 0, 1),
        (0, 0, 1),
    )
    assert [each.id for each in ours.reused] == [note]
    assert list(user.reused) == []


def test_a_note_that_is_hidden_since_is_counted_without_its_title(stubs: Stubs) -> None:
    note = stubs.room.insert(note=NewNote(title=TITLE, scope=OURS)).id
    ask(stubs, TITLE, OURS)
    stubs.room.delete(note)

    (reused,) = gave(stubs).reused

    assert (reused.id, reused.title, reused.count) == (note, "", 1)


def test_a_bound_caller_is_told_of_its_own_scopes_alone(stubs: Stubs) -> None:
    ask(stubs, "quokkas vortexquestion", USER)
    ask(stubs, "quokkas vortexquestion", OURS)
    bound = CallMetadata(door="mcp", bound=(OURS,)).to_pairs()

    request = pb.GetAnalyticsRequest(scope=EVERYWHERE)
    reply = stubs.analytics.GetAnalytics(request, timeout=SECONDS, metadata=bound)

    assert [each.name for each in reply.scopes] == [OURS]
    assert counts(reply.hits) == (0, 0, 1)


def test_figures_are_forgotten_by_scope_once_and_on_record(stubs: Stubs) -> None:
    ask(stubs, "quokkas vortexquestion", USER)
    ask(stubs, "quokkas vortexquestion", OURS)

    first = clear(stubs, scopes(OURS), 1)
    again = clear(stubs, scopes(OURS), 1)
    left = counts(gave(stubs).hits)
    rest = clear(stubs, EVERYWHERE, 2)

    assert (first, again, left, rest) == (1, 1, (0, 0, 1), 1)
    assert gave(stubs).hits == pb.HitCounts()
    recorded = stubs.room.count("SELECT count(*) FROM events WHERE action = 'clear-analytics'")
    assert recorded == 2


def test_no_word_of_a_question_is_kept_with_the_figures(stubs: Stubs) -> None:
    ask(stubs, "quokkas vortexquestion")
    gave(stubs)

    with stubs.room.profile.snapshot() as connection:
        rows = connection.execute("SELECT * FROM answers").fetchall()

    assert len(rows) == 1
    assert "vortexquestion" not in str(rows)


def test_only_the_last_answers_are_kept(stubs: Stubs) -> None:
    ask(stubs, "quokkas vortexquestion")
    gave(stubs)

    def grow(transaction: Transaction) -> None:
        transaction.connection.execute("UPDATE answers SET seq = ?", (-ANSWERS_MAX + 1,)).fetchall()

    stubs.room.profile.write(grow)
    ask(stubs, "quokkas vortexquestion")
    gave(stubs)

    assert stubs.room.count("SELECT count(*) FROM answers") == 1


def test_what_cannot_be_meant_is_refused(stubs: Stubs) -> None:
    for request in (
        pb.GetAnalyticsRequest(scope=EVERYWHERE, since_ms=-1),
        pb.GetAnalyticsRequest(),
    ):
        with pytest.raises(grpc.RpcError) as raised:
            stubs.analytics.GetAnalytics(request, timeout=SECONDS)
        assert read_refusal(raised.value).reason == "BAD_FIELD"


def test_forgetting_looks_at_scopes_as_reading_does(stubs: Stubs) -> None:
    ask(stubs, "quokkas vortexquestion", USER)
    gave(stubs)

    def forget(transaction: Transaction) -> int:
        return delete_answers(transaction.connection, ScopeFilter(scopes=(OURS,)))

    assert stubs.room.profile.write(forget) == 0
    assert counts(gave(stubs).hits) == (0, 0, 1)
