"""RecallService as a client meets it, with a fake embedder."""

from dataclasses import replace

import pytest
from tests.unit.memstore.recall.served import SECONDS, TITLE, USER, Served, refusal_of

from graft.memory.v1 import note_pb2
from graft.memory.v1 import recall_service_pb2 as pb
from graft_memstore.model import NewNote, NoteKind, Source, SourceKind

# text "x", scope user, match 9.
UNKNOWN_MATCH = pb.RetrieveRequest(text="x", scope=USER).SerializeToString() + b"\x30\x09"
NOTE = NewNote(
    title=TITLE,
    body="Set `HTTPS_PROXY`.",
    keywords=("pip", "proxy"),
    sources=(Source(kind=SourceKind.URL, locator="https://example.org"),),
)
DEAD_END = NewNote(
    title="pip behind the company firewall: --proxy cannot see the proxy",
    body="It is read too late.",
    kind=NoteKind.DEAD_END,
    applies_to=("pypi:pip<20",),
)


def test_strong_hands_out_the_whole_note(served: Served) -> None:
    note_id = served.room.insert(note=NOTE, wait=True).id

    reply = served.query(TITLE)

    assert (reply.hit, reply.note.id) == (pb.HIT_STRONG, note_id)
    assert reply.note.body == "Set `HTTPS_PROXY`."
    assert reply.note.sources[0].locator == "https://example.org"
    assert (list(reply.near), list(reply.degraded), list(reply.scopes)) == ([], [], ["user"])
    assert reply.service_ms >= reply.embed_ms > 0
    assert reply.signals[0].name == "title"


def test_weak_hands_out_no_body_and_no_sources(served: Served) -> None:
    note_id = served.room.insert(note=NOTE, wait=True).id
    served.room.embedder.away["fake"] = "it is being fetched"

    reply = served.query(TITLE)

    assert (reply.hit, reply.note.id, reply.note.title) == (pb.HIT_WEAK, note_id, TITLE)
    assert (reply.note.body, list(reply.note.sources)) == ("", [])
    assert list(reply.degraded) == ["vector"]


def test_a_miss_names_near_titles_and_no_note(served: Served) -> None:
    served.room.insert(note=NOTE, wait=True)

    reply = served.query("rotate a picture")

    assert (reply.hit, reply.HasField("note")) == (pb.HIT_MISS, False)
    assert [near.title for near in reply.near] == [TITLE]
    assert reply.near[0].why


def test_an_empty_profile_misses_and_nothing_is_missing(served: Served) -> None:
    reply = served.query("anything")

    assert (reply.hit, list(reply.near), list(reply.degraded)) == (pb.HIT_MISS, [], [])


def test_a_note_that_waits_for_its_vector_is_found_by_its_words(served: Served) -> None:
    served.room.embedder.away["fake"] = "it is being fetched"
    note_id = served.room.insert(note=NOTE).id

    reply = served.query(TITLE)
    ranked = served.retrieve()

    assert (reply.hit, reply.note.id, list(reply.degraded)) == (pb.HIT_WEAK, note_id, ["vector"])
    assert [result.id for result in ranked.results] == [note_id]


def test_vectors_of_another_file_are_never_compared(served: Served) -> None:
    served.room.insert(note=NOTE, wait=True)
    served.room.embedder.files["fake"] = "another file of that name"

    reply = served.query(TITLE)

    assert (reply.hit, list(reply.degraded)) == (pb.HIT_WEAK, ["vector"])


def test_outside_its_range_a_note_comes_without_body_and_with_the_reason(served: Served) -> None:
    note_id = served.room.insert(note=replace(NOTE, applies_to=("pypi:pip>=22,<24",)), wait=True).id

    unknown = served.query(TITLE)
    outside = served.query(TITLE, context=["pypi:Pip@24.1", "os:linux"])

    assert (unknown.hit, list(unknown.context_wanted)) == (pb.HIT_STRONG, ["pypi:pip"])
    assert unknown.applicability[0].fit == note_pb2.FIT_UNKNOWN
    assert (outside.hit, outside.note.id, outside.note.body) == (pb.HIT_WEAK, note_id, "")
    assert list(outside.note.applies_to) == ["pypi:pip>=22,<24"]
    assert outside.applicability[0] == note_pb2.Applicability(
        name="pypi:pip",
        range=">=22,<24",
        fit=note_pb2.FIT_OUTSIDE,
        here=["24.1"],
        words="applies to pip >=22,<24; here is 24.1",
    )


def test_a_dead_end_comes_beside_the_answer_by_its_title(served: Served) -> None:
    served.room.insert(note=NOTE, wait=True)
    tried = served.room.insert(note=DEAD_END, wait=True).id

    reply = served.query(TITLE, context=["pypi:pip@24"])
    ranked = served.retrieve()

    assert (reply.hit, reply.note.title) == (pb.HIT_STRONG, TITLE)
    (dead_end,) = reply.dead_ends
    assert (dead_end.id, dead_end.title, dead_end.trust) == (
        tried,
        DEAD_END.title,
        note_pb2.TRUST_OBSERVED,
    )
    assert dead_end.applicability[0].words == "applies to pip <20; here is 24"
    assert {each.id: each.kind for each in ranked.results}[tried] == note_pb2.NOTE_KIND_DEAD_END
    assert [list(each.applies_to) for each in ranked.results if each.id == tried] == [
        ["pypi:pip<20"]
    ]


def test_an_erased_dead_end_comes_beside_nothing(served: Served) -> None:
    served.room.insert(note=NOTE, wait=True)
    tried = served.room.insert(note=DEAD_END, wait=True).id
    before = served.query(TITLE)

    served.room.delete(tried)
    after = served.query(TITLE)

    assert [each.id for each in before.dead_ends] == [tried]
    assert (list(after.dead_ends), list(after.context_wanted)) == ([], [])


def test_retrieve_tells_what_each_arm_said(served: Served) -> None:
    note_id = served.room.insert(note=NOTE, wait=True).id
    served.room.insert("something else", "entirely", wait=True)

    reply = served.retrieve()

    best = reply.results[0]
    assert (best.id, best.title, list(best.keywords), best.scope) == (
        note_id,
        TITLE,
        ["pip", "proxy"],
        "user",
    )
    assert {arm.arm: arm.rank for arm in best.arms} == {"vector": 1, "words": 1}
    assert best.trust == note_pb2.TRUST_OBSERVED
    assert len(served.retrieve(top_k=1).results) == 1


def test_keywords_are_matched_in_their_stored_form(served: Served) -> None:
    note_id = served.room.insert(note=NOTE, wait=True).id

    def found(keywords: list[str], match: int) -> list[str]:
        reply = served.retrieve(keywords=keywords, match=match)
        return [result.id for result in reply.results]

    assert found([" pip ", "absent"], pb.KEYWORD_MATCH_ANY) == [note_id]
    assert found(["pip", "proxy"], pb.KEYWORD_MATCH_ALL) == [note_id]
    assert found(["pip", "absent"], pb.KEYWORD_MATCH_ALL) == []


def test_what_lies_elsewhere_is_counted(served: Served) -> None:
    served.room.insert(note=NewNote(title=TITLE, scope="project:b"), wait=True)

    assert served.query(TITLE).notes_elsewhere == 1
    assert served.retrieve().notes_elsewhere == 1


def test_an_expired_note_is_gone_from_the_instant_on(served: Served) -> None:
    later = served.room.clock.ms + 1_000
    served.room.insert(note=NewNote(title=TITLE, expires_at_ms=later), wait=True)
    before = served.query(TITLE).hit

    served.room.clock.ms = later

    assert (before, served.query(TITLE).hit) == (pb.HIT_STRONG, pb.HIT_MISS)


def test_a_clock_that_goes_back_hides_nothing(served: Served) -> None:
    served.room.insert(note=NOTE, wait=True)

    served.room.clock.ms -= 10**9

    assert served.query(TITLE).hit == pb.HIT_STRONG


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.QueryRequest(text="", scope=USER), "text"),
        (pb.QueryRequest(text=" \n\t", scope=USER), "text"),
        (pb.QueryRequest(text="\u200b\u2060\ufe0f\x07", scope=USER), "text"),
        (pb.QueryRequest(text="é" * 32_769, scope=USER), "text"),
        (pb.QueryRequest(text="x"), "scope"),
        (pb.QueryRequest(text="x", scope=USER, embed_tokens_max=8_193), "embed_tokens_max"),
        (pb.QueryRequest(text="x", scope=USER, embed_tokens_max=15), "embed_tokens_max"),
        (pb.QueryRequest(text="x", scope=USER, context=["os:linux"] * 1_025), "context"),
        (pb.QueryRequest(text="x", scope=USER, context=["django@5"]), "context"),
    ],
    ids=[
        "empty",
        "blank",
        "invisible",
        "too long",
        "no scope",
        "many tokens",
        "few tokens",
        "too much context",
        "context without ecosystem",
    ],
)
def test_a_query_over_a_limit_is_refused_and_the_field_named(
    served: Served, request_: pb.QueryRequest, field: str
) -> None:
    refusal = refusal_of(lambda: served.recall.Query(request_, timeout=SECONDS))

    assert (refusal.reason, [each.field for each in refusal.violations]) == ("BAD_FIELD", [field])


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.RetrieveRequest(text="x", scope=USER, top_k=257), "top_k"),
        (pb.RetrieveRequest(text="x", scope=USER, keywords=["k"] * 3 + [""]), "keywords"),
        (pb.RetrieveRequest.FromString(UNKNOWN_MATCH), "match"),
    ],
    ids=["too many results", "empty keyword", "unknown match"],
)
def test_a_search_over_a_limit_is_refused_and_the_field_named(
    served: Served, request_: pb.RetrieveRequest, field: str
) -> None:
    refusal = refusal_of(lambda: served.recall.Retrieve(request_, timeout=SECONDS))

    assert (refusal.reason, [each.field for each in refusal.violations]) == ("BAD_FIELD", [field])


@pytest.mark.parametrize("text", ["", "\u200b\u200d", "\ufffd"])
def test_where_there_is_nothing_to_look_for_that_is_said_and_no_arm_is_blamed(
    served: Served, text: str
) -> None:
    served.room.insert(note=NOTE, wait=True)
    served.room.embedder.refused.add(text)

    query = refusal_of(lambda: served.query(text))
    search = refusal_of(lambda: served.retrieve(text))

    assert "nothing to look for" in query.message
    assert query == search


def test_what_the_model_refuses_is_looked_for_by_its_words(served: Served) -> None:
    note_id = served.room.insert(note=NOTE, wait=True).id
    served.room.embedder.refused.add(TITLE)

    reply = served.query(TITLE)

    assert (reply.hit, reply.note.id, list(reply.degraded)) == (pb.HIT_WEAK, note_id, ["vector"])


@pytest.mark.parametrize("text", ["💥", "a\x00b", "x" * 65_536, "C++", "a AND", '"', "修复", "-"])
def test_any_text_within_the_limits_is_answered(served: Served, text: str) -> None:
    served.room.insert(note=NOTE, wait=True)

    assert served.query(text).hit in (pb.HIT_STRONG, pb.HIT_WEAK, pb.HIT_MISS)
    assert list(served.retrieve(text).degraded) == []


def test_of_a_paste_with_an_error_the_telling_part_is_embedded(served: Served) -> None:
    served.room.insert(note=NOTE, wait=True)
    noise = "\n".join(
        f"07:08:{number:02} INFO loader: part {number} is read" for number in range(60)
    )
    paste = f"{noise}\nshop.errors.TillJammedError: drawer 7 does not open\n{noise}"

    served.query(paste)
    served.retrieve(paste)
    served.query("Why does the drawer not open?")

    told = "TillJammedError: drawer 7 does not open"
    assert served.room.embedder.asked == [told, told, "Why does the drawer not open?"]
