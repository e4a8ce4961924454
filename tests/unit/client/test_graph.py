"""`graft explore` and `graft classify`, and the same two from Python."""

import asyncio
from pathlib import Path

import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import note_pb2, recall_service_pb2
from graft_client import AsyncGraft, Graft
from graft_client.settings import configure
from graft_client.walks import ExploredEdge, SuggestedKeyword

KEYWORD = recall_service_pb2.EDGE_KIND_KEYWORD
SEMANTIC = recall_service_pb2.EDGE_KIND_SEMANTIC


def note_id(number: int) -> str:
    return f"0193a7a0{number:024x}"


def node(
    number: int,
    title: str,
    *,
    depth: int = 0,
    cosine: float | None = 0.9,
    trust: "note_pb2.Trust.ValueType" = note_pb2.TRUST_OBSERVED,
) -> recall_service_pb2.ExploredNode:
    return recall_service_pb2.ExploredNode(
        id=note_id(number),
        title=title,
        score=-0.25,
        cosine=cosine,
        depth=depth,
        trust=trust,
        keywords=["tls"],
        scope="user",
    )


def edge(
    one: int, other: int, kind: "recall_service_pb2.EdgeKind.ValueType", keyword: str = ""
) -> recall_service_pb2.ExploredEdge:
    return recall_service_pb2.ExploredEdge(
        src=note_id(one), dst=note_id(other), kind=kind, keyword=keyword, weight=0.875
    )


def path(*numbers: int) -> recall_service_pb2.ExploredPath:
    return recall_service_pb2.ExploredPath(ids=[note_id(n) for n in numbers], score=-0.5)


def found() -> recall_service_pb2.ExploreResponse:
    """Return a walk from two notes; from the first it parts twice."""
    return recall_service_pb2.ExploreResponse(
        nodes=[
            node(1, "pip and the proxy"),
            node(2, "npm and the proxy", depth=1),
            node(3, "docker and the proxy", depth=2),
            node(4, "git and the proxy", depth=1, trust=note_pb2.TRUST_CANDIDATE),
            node(5, "certificates\x1b[2J", cosine=None),
        ],
        edges=[
            edge(1, 2, KEYWORD, "proxy"),
            edge(1, 2, KEYWORD, "tls"),
            edge(1, 2, SEMANTIC),
            edge(2, 3, SEMANTIC),
            edge(1, 4, SEMANTIC),
        ],
        paths=[path(1, 2, 3), path(1, 4), path(5)],
        scopes=["user"],
        notes_elsewhere=2,
    )


def test_explore_draws_its_paths_as_trees(command: Command, memstore: FakeState) -> None:
    memstore.explore_reply = found()

    done = command("explore", "proxy")

    assert done.out.splitlines() == [
        "00000001  pip and the proxy (0.90)",
        "├─ 00000002  npm and the proxy (proxy, tls 0.88)",
        "│  └─ 00000003  docker and the proxy (alike 0.88)",
        "└─ 00000004  git and the proxy [candidate] (alike 0.88)",
        "00000005  certificates\\x1b[2J",
    ]
    assert (done.code, done.err) == (0, "")


def test_explore_prints_the_documented_object(command: Command, memstore: FakeState) -> None:
    memstore.explore_reply = found()

    reply = command("explore", "proxy", "--json").json()

    assert set(reply) >= {"nodes", "edges", "paths", "hint", "degraded"}
    assert reply["nodes"][0] == {
        "id": note_id(1),
        "title": "pip and the proxy",
        "score": -0.25,
        "cosine": 0.9,
        "depth": 0,
        "trust": "observed",
        "trust_reason": "",
        "keywords": ["tls"],
        "scope": "user",
    }
    assert reply["nodes"][4]["cosine"] is None
    assert reply["edges"][0] == {
        "src": note_id(1),
        "dst": note_id(2),
        "kind": "KEYWORD",
        "keyword": "proxy",
        "weight": 0.875,
    }
    assert (reply["edges"][2]["kind"], reply["edges"][2]["keyword"]) == ("SEMANTIC", None)
    assert reply["paths"][1] == {"ids": [note_id(1), note_id(4)], "score": -0.5}
    assert reply["hint"] is None


def test_explore_sends_what_was_asked_for(command: Command, memstore: FakeState) -> None:
    arguments = ["--keyword", "a", "--keyword", "b", "--depth", "2", "--beam", "7"]
    command("explore", "-", *arguments, "--scope", "user", stdin="サンド".encode())
    command("explore", "x")

    request, default = memstore.requests("Explore")

    assert request == recall_service_pb2.ExploreRequest(
        profile="default",
        scope=note_pb2.ScopeFilter(scopes=["user"]),
        text="サンド",
        keywords=["a", "b"],
        depth=2,
        beam=7,
    )
    assert isinstance(default, recall_service_pb2.ExploreRequest)
    assert (default.depth, default.beam) == (3, 4)


def test_explore_tells_on_stderr_why_it_found_nothing(
    command: Command, memstore: FakeState
) -> None:
    memstore.explore_reply.hint = 'no note that can be seen from here carries the keyword "x"'
    memstore.explore_reply.scopes.append("user")
    memstore.explore_reply.degraded.append("vector")

    done = command("explore", "proxy", "--keyword", "x")

    assert (done.code, done.out) == (0, "")
    assert 'carries the keyword "x"' in done.err
    assert "nothing found; searched user" in done.err
    assert "answered without vector" in done.err


@pytest.mark.parametrize(
    "arguments", [["--depth", "0"], ["--depth", "9"], ["--beam", "0"], ["--beam", "33"], []]
)
def test_what_explore_cannot_do_is_wrong_usage(command: Command, arguments: list[str]) -> None:
    text = ["x"] if arguments else []

    assert command("explore", *text, *arguments).code == 2


def test_classify_lists_keywords_for_people_and_programs(
    command: Command, memstore: FakeState
) -> None:
    memstore.classify_reply.suggestions.add(keyword="proxy", score=1.0)
    memstore.classify_reply.suggestions.add(keyword="tls", score=0.5)

    people = command("classify", "--title", "pip and the proxy")
    programs = command("classify", "--title", "pip and the proxy", "--json")

    assert people.out == "proxy\t1.00\ntls\t0.50\n"
    assert programs.json()["suggestions"] == [
        {"keyword": "proxy", "score": 1.0},
        {"keyword": "tls", "score": 0.5},
    ]
    (request, _) = memstore.requests("Classify")
    assert isinstance(request, recall_service_pb2.ClassifyRequest)
    assert (request.title, list(request.scope.scopes)) == ("pip and the proxy", ["user"])


def test_classify_says_so_when_it_has_no_suggestion(command: Command, memstore: FakeState) -> None:
    memstore.classify_reply.degraded.append("vector")

    done = command("classify", "--title", "pip")

    assert (done.code, done.out) == (0, "")
    assert "no note near this title carries a keyword" in done.err
    assert "answered without vector" in done.err
    assert command("classify").code == 2


def test_both_clients_walk_and_suggest(
    graft: Graft, home: Path, memstore: FakeState, tmp_path: Path
) -> None:
    memstore.explore_reply = found()
    memstore.classify_reply.suggestions.add(keyword="proxy", score=1.0)

    async def ask() -> tuple[object, object]:
        configuration = configure(home=home, directory=tmp_path, environ={})
        async with AsyncGraft(configuration=configuration) as client:
            walked = await client.explore("q", keywords=["k"], depth=2, beam=3, scope="user")
            return walked, await client.classify("t", scope="user")

    explored = graft.explore("q", keywords=["k"], depth=2, beam=3, scope="user")
    classified = graft.classify("t", scope="user")

    assert asyncio.run(ask()) == (explored, classified)
    assert explored.edges[3] == ExploredEdge(
        src=note_id(2), dst=note_id(3), kind="SEMANTIC", keyword=None, weight=0.875
    )
    assert classified.suggestions == (SuggestedKeyword(keyword="proxy", score=1.0),)
    assert memstore.requests("Explore")[0] == memstore.requests("Explore")[1]
