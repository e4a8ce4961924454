"""Explore and Classify as a client meets them, with a fake embedder."""

from collections.abc import Sequence

import pytest
from tests.unit.memstore.recall.served import SECONDS, TITLE, USER, Served, refusal_of
from tests.unit.memstore.room import Room

from graft.memory.v1 import note_pb2, recall_service_pb2_grpc
from graft.memory.v1 import recall_service_pb2 as pb
from graft_memstore.model import EdgeKind, NewNote
from graft_memstore.service.walks import EDGE_KINDS

Stub = recall_service_pb2_grpc.RecallServiceStub


@pytest.fixture
def stub(served: Served) -> Stub:
    return served.recall


def fill(room: Room) -> Sequence[str]:
    """Store notes on two subjects, and return the ids of those on the first."""
    on_proxies = [
        room.insert(note=NewNote(title=f"{tool} cannot see the proxy", keywords=("proxy", tool))).id
        for tool in ("pip", "npm", "docker", "git")
    ]
    for number in range(8):
        room.insert(note=NewNote(title=f"button {number} colour wrong", keywords=("css",)))
    room.wait_until_joined()
    return on_proxies


def test_notes_are_joined_after_they_are_stored_and_a_walk_finds_them(
    room: Room, stub: Stub
) -> None:
    on_proxies = fill(room)

    request = pb.ExploreRequest(text="pip cannot see the proxy", scope=USER, beam=1)
    reply = stub.Explore(request, timeout=SECONDS)

    nodes = {each.id: each for each in reply.nodes}
    assert len(nodes) >= 2
    assert set(nodes) <= set(on_proxies)
    first = reply.nodes[0]
    assert (first.id, first.title, first.depth) == (on_proxies[0], "pip cannot see the proxy", 0)
    assert first.cosine == pytest.approx(1.0)
    assert (first.trust, list(first.keywords), first.scope) == (
        note_pb2.TRUST_OBSERVED,
        ["pip", "proxy"],
        "user",
    )
    assert [path.ids[0] for path in reply.paths] == [on_proxies[0]]
    assert {note for path in reply.paths for note in path.ids} == set(nodes)
    edge = next(each for each in reply.edges if each.kind == pb.EDGE_KIND_KEYWORD)
    assert {edge.src, edge.dst} <= set(nodes)
    assert (edge.keyword, 0.0 < edge.weight <= 1.0) == ("proxy", True)
    assert (list(reply.degraded), list(reply.scopes), reply.hint) == ([], ["user"], "")
    assert reply.service_ms >= reply.embed_ms > 0


def test_zeros_mean_the_documented_depth_and_beam(room: Room, stub: Stub) -> None:
    fill(room)

    default = stub.Explore(pb.ExploreRequest(text=TITLE, scope=USER), timeout=SECONDS)
    named = stub.Explore(
        pb.ExploreRequest(text=TITLE, scope=USER, depth=3, beam=4), timeout=SECONDS
    )

    assert (list(default.nodes), list(default.paths)) == (list(named.nodes), list(named.paths))


def test_an_unknown_keyword_writes_nothing(room: Room, stub: Stub) -> None:
    fill(room)
    before = room.profile.changes.count

    request = pb.ExploreRequest(text=TITLE, scope=USER, keywords=[" absent "])
    reply = stub.Explore(request, timeout=SECONDS)

    assert (len(reply.nodes), len(reply.edges), len(reply.paths)) == (0, 0, 0)
    assert '"absent"' in reply.hint
    assert room.profile.changes.count == before
    assert room.count("SELECT count(*) FROM keywords WHERE keyword = 'absent'") == 0


def test_a_walk_never_leaves_the_scopes_that_were_asked_for(room: Room, stub: Stub) -> None:
    for scope in ("user", "project:a", "project:b"):
        for number in range(4):
            room.insert(note=NewNote(title=f"pip proxy {number}", scope=scope, keywords=("k",)))
    room.wait_until_joined()

    def scopes(*wanted: str) -> set[str]:
        asked = note_pb2.ScopeFilter(scopes=wanted, all=not wanted)
        request = pb.ExploreRequest(text="pip proxy 1", scope=asked, beam=8, depth=8)
        reply = stub.Explore(request, timeout=SECONDS)
        assert reply.notes_elsewhere == 12 - 4 * (len(wanted) or 3)
        return {each.scope for each in reply.nodes}

    assert scopes("project:a") == {"project:a"}
    assert scopes("project:a", "user") == {"project:a", "user"}
    assert scopes() == {"user", "project:a", "project:b"}


def test_without_the_model_words_say_where_to_begin(room: Room, stub: Stub) -> None:
    on_proxies = fill(room)
    room.embedder.away["fake"] = "it is being fetched"

    explored = stub.Explore(pb.ExploreRequest(text="npm proxy", scope=USER), timeout=SECONDS)
    classified = stub.Classify(
        pb.ClassifyRequest(title="npm behind a proxy", scope=USER), timeout=SECONDS
    )

    assert explored.nodes[0].id == on_proxies[1]
    assert not explored.nodes[0].HasField("cosine")
    assert list(explored.degraded) == list(classified.degraded) == ["vector"]
    assert "proxy" in [each.keyword for each in classified.suggestions]


def test_keywords_are_suggested_for_a_draft(room: Room, stub: Stub) -> None:
    fill(room)

    request = pb.ClassifyRequest(title="cargo cannot see the proxy", scope=USER)
    reply = stub.Classify(request, timeout=SECONDS)

    assert reply.suggestions[0].keyword == "proxy"
    assert reply.suggestions[0].score == 1.0
    assert (list(reply.degraded), list(reply.scopes)) == ([], ["user"])
    assert reply.service_ms >= reply.embed_ms > 0
    # A draft is compared as a stored title is, not as a question.
    assert ("fake", "cargo cannot see the proxy") in room.embedder.embedded


def test_an_empty_profile_has_nothing_to_suggest_and_nowhere_to_begin(stub: Stub) -> None:
    explored = stub.Explore(pb.ExploreRequest(text=TITLE, scope=USER), timeout=SECONDS)
    classified = stub.Classify(pb.ClassifyRequest(title=TITLE, scope=USER), timeout=SECONDS)

    assert (len(explored.nodes), list(explored.degraded), explored.hint) == (0, [], "")
    assert (len(classified.suggestions), list(classified.degraded)) == (0, [])


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.ExploreRequest(text=" \n", scope=USER), "text"),
        (pb.ExploreRequest(text="é" * 32_769, scope=USER), "text"),
        (pb.ExploreRequest(text="x"), "scope"),
        (pb.ExploreRequest(text="x", scope=USER, depth=9), "depth"),
        (pb.ExploreRequest(text="x", scope=USER, beam=33), "beam"),
        (pb.ExploreRequest(text="x", scope=USER, keywords=[""]), "keywords"),
        (pb.ExploreRequest(text="x", scope=USER, keywords=["a\x00b"]), "keywords"),
        (
            pb.ExploreRequest(text="x", scope=USER, keywords=[f"{n}" for n in range(65)]),
            "keywords",
        ),
        (pb.ExploreRequest(text="x", scope=USER, embed_tokens_max=8_193), "embed_tokens_max"),
    ],
    ids=["blank", "long", "nowhere", "deep", "wide", "empty", "control", "many", "tokens"],
)
def test_a_walk_over_a_limit_is_refused_and_the_field_named(
    stub: Stub, request_: pb.ExploreRequest, field: str
) -> None:
    refusal = refusal_of(lambda: stub.Explore(request_, timeout=SECONDS))

    assert (refusal.reason, [each.field for each in refusal.violations]) == ("BAD_FIELD", [field])


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.ClassifyRequest(title="", scope=USER), "title"),
        (pb.ClassifyRequest(title=" \u200b ", scope=USER), "title"),
        (pb.ClassifyRequest(title="two\nlines", scope=USER), "title"),
        (pb.ClassifyRequest(title="a\x00b", scope=USER), "title"),
        (pb.ClassifyRequest(title="x" * 1_025, scope=USER), "title"),
        (pb.ClassifyRequest(title="x"), "scope"),
    ],
    ids=["empty", "invisible", "lines", "control", "long", "nowhere"],
)
def test_a_draft_that_could_not_be_stored_is_refused_and_the_field_named(
    stub: Stub, request_: pb.ClassifyRequest, field: str
) -> None:
    refusal = refusal_of(lambda: stub.Classify(request_, timeout=SECONDS))

    assert (refusal.reason, [each.field for each in refusal.violations]) == ("BAD_FIELD", [field])


@pytest.mark.parametrize("text", ["💥", "a\x00b", "x" * 65_536, "C++", "a AND", '"', "修复", "-"])
def test_a_walk_from_any_text_is_answered(room: Room, stub: Stub, text: str) -> None:
    room.insert(note=NewNote(title=TITLE, keywords=("pip",)), wait=True)

    reply = stub.Explore(
        pb.ExploreRequest(text=text, scope=USER, depth=8, beam=32), timeout=SECONDS
    )

    assert [each.title for each in reply.nodes] == [TITLE]


def test_every_kind_of_edge_has_its_own_word_on_the_wire() -> None:
    assert set(EDGE_KINDS) == set(EdgeKind)
    assert {pb.EdgeKind.Name(number) for number in EDGE_KINDS.values()} == {
        f"EDGE_KIND_{kind}" for kind in EdgeKind
    }
