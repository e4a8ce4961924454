"""ReviewService over a real socket: nobody decides without the passphrase, and with it all is."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from tests.unit.memstore.service.conftest import Stubs

from graft.memory.v1 import lifecycle_service_pb2, note_pb2, notes_service_pb2
from graft.memory.v1 import review_service_pb2 as pb
from graft.wire.errors import read_refusal
from graft_memstore.model import Decision, ItemKind, NoteId
from graft_memstore.service.reviewed import DECISIONS, KINDS
from graft_memstore.store.review_items import NewItem, evidence_of, open_item

SECONDS = 20
PHRASE = "correct horse battery staple"
OTHER = "something else"
NOWHERE = "x"
EVERYWHERE = note_pb2.ScopeFilter(all=True)
APPROVE, REJECT = pb.REVIEW_DECISION_APPROVE, pb.REVIEW_DECISION_REJECT
SUPERSEDE, KEEP_BOTH = pb.REVIEW_DECISION_SUPERSEDE, pb.REVIEW_DECISION_KEEP_BOTH

Metadata = tuple[tuple[str, str], ...]


def request_id() -> str:
    return str(uuid.UUID(int=uuid.uuid1().int))


def insert(stubs: Stubs, title: str, **fields: Any) -> notes_service_pb2.InsertedNote:
    request = notes_service_pb2.InsertNoteRequest(
        request_id=request_id(), note=notes_service_pb2.NewNote(title=title, **fields)
    )
    return stubs.notes.InsertNote(request, timeout=SECONDS).note


def get(stubs: Stubs, note_id: str) -> note_pb2.Note:
    request = notes_service_pb2.GetNoteRequest(id=note_id)
    return stubs.notes.GetNote(request, timeout=SECONDS).note


def change(stubs: Stubs, verb: str, metadata: Metadata = (), **fields: Any) -> Any:
    request = getattr(lifecycle_service_pb2, f"{verb}Request")(
        request_id=request_id(), reason="why", **fields
    )
    return getattr(stubs.lifecycle, verb)(request, timeout=SECONDS, metadata=metadata)


def waiting(stubs: Stubs, **fields: Any) -> list[pb.ReviewItem]:
    request = pb.ListReviewItemsRequest(scope=EVERYWHERE, **fields)
    return list(stubs.review.ListReviewItems(request, timeout=SECONDS).items)


def decide(stubs: Stubs, item: int, decision: Any, metadata: Metadata, **fields: Any) -> Any:
    request = pb.DecideReviewItemRequest(
        request_id=request_id(), item=item, decision=decision, reason="judged", **fields
    )
    return stubs.review.DecideReviewItem(request, timeout=SECONDS, metadata=metadata)


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(grpc.RpcError) as raised:
        call()
    return read_refusal(raised.value).reason


@pytest.fixture
def reviewer(stubs: Stubs) -> Metadata:
    """The metadata of a reviewer's session."""
    stubs.review.SetReviewer(pb.SetReviewerRequest(passphrase=PHRASE), timeout=SECONDS)
    opened = stubs.review.OpenReviewSession(
        pb.OpenReviewSessionRequest(passphrase=PHRASE), timeout=SECONDS
    )
    return (("graft-reviewer", opened.token),)


def verified(stubs: Stubs, title: str, reviewer: Metadata) -> str:
    note_id = insert(stubs, title).id
    oracle = note_pb2.Oracle(kind=note_pb2.ORACLE_KIND_REVIEWER)
    change(stubs, "VerifyNote", reviewer, id=note_id, oracle=oracle)
    return note_id


def held(stubs: Stubs) -> tuple[str, str]:
    """Store a note that looks like a rejected one; return both."""
    rejected = insert(stubs, "the staging pooler listens on port 6432").id
    change(stubs, "RejectNote", id=rejected)
    return rejected, insert(stubs, "on port 6432 the staging pooler listens").id


@pytest.mark.parametrize(
    "metadata",
    [
        (),
        (("graft-reviewer", "0" * 64),),
        (("graft-reviewer", PHRASE),),
        (("graft-door", "cli"), ("graft-session", "reviewer")),
    ],
)
def test_nobody_decides_without_a_session(
    stubs: Stubs, reviewer: Metadata, metadata: Metadata
) -> None:
    _, note_id = held(stubs)
    (item,) = waiting(stubs)

    assert refused(lambda: decide(stubs, item.item, APPROVE, metadata)) == "NOT_ALLOWED"
    assert get(stubs, note_id).trust == note_pb2.TRUST_HELD

    done = decide(stubs, item.item, APPROVE, reviewer)
    assert (done.outcome, done.note_id) == ("approved", note_id)
    assert get(stubs, note_id).trust == note_pb2.TRUST_OBSERVED


@pytest.mark.parametrize("door", ["mcp", "hook"])
def test_no_session_comes_through_an_agent_s_own_door(
    stubs: Stubs, reviewer: Metadata, door: str
) -> None:
    note_id = insert(stubs, "port 6432").id
    through: Metadata = (*reviewer, ("graft-door", door))
    opening = pb.OpenReviewSessionRequest(passphrase=PHRASE)
    setting = pb.SetReviewerRequest(passphrase=PHRASE, old_passphrase=PHRASE)

    assert refused(lambda: change(stubs, "RetireNote", through, id=note_id)) == "NOT_ALLOWED"
    assert refused(lambda: stubs.review.OpenReviewSession(opening, metadata=through)) == (
        "NOT_ALLOWED"
    )
    assert refused(lambda: stubs.review.SetReviewer(setting, metadata=through)) == "NOT_ALLOWED"


def test_a_wrong_passphrase_opens_nothing_and_slows_the_next_one_down(stubs: Stubs) -> None:
    stubs.review.SetReviewer(pb.SetReviewerRequest(passphrase=PHRASE), timeout=SECONDS)
    wrong = pb.OpenReviewSessionRequest(passphrase=OTHER)
    right = pb.OpenReviewSessionRequest(passphrase=PHRASE)

    assert refused(lambda: stubs.review.OpenReviewSession(wrong)) == "NOT_ALLOWED"
    assert refused(lambda: stubs.review.OpenReviewSession(right)) == "TOO_MANY_ATTEMPTS"
    status = stubs.review.GetReviewer(pb.GetReviewerRequest()).reviewer
    assert (status.exists, status.failures, status.profile) == (True, 1, "default")
    stubs.room.clock.ms += 1_000
    assert stubs.review.OpenReviewSession(right).token


def test_what_an_agent_proposes_is_done_when_a_reviewer_approves(
    stubs: Stubs, reviewer: Metadata
) -> None:
    note_id = verified(stubs, "port 6432", reviewer)

    assert refused(lambda: change(stubs, "RetireNote", id=note_id)) == "PROPOSED"
    assert get(stubs, note_id).lifecycle == note_pb2.LIFECYCLE_ACTIVE
    (item,) = waiting(stubs)
    assert (item.kind, item.reason, json.loads(item.detail)) == (
        pb.REVIEW_KIND_PROPOSAL,
        "why",
        {"verb": "retire"},
    )
    decide(stubs, item.item, APPROVE, reviewer)

    assert get(stubs, note_id).lifecycle == note_pb2.LIFECYCLE_RETIRED
    assert waiting(stubs) == []
    (decided,) = waiting(stubs, decided=True)
    assert decided.decision == APPROVE
    assert refused(lambda: decide(stubs, item.item, REJECT, reviewer)) == "WRONG_STATE"


def test_what_a_reviewer_retired_an_agent_s_proposal_brings_back(
    stubs: Stubs, reviewer: Metadata
) -> None:
    note_id = insert(stubs, "port 6432").id
    change(stubs, "RetireNote", reviewer, id=note_id)

    assert refused(lambda: change(stubs, "RestoreNote", id=note_id)) == "PROPOSED"
    assert get(stubs, note_id).lifecycle == note_pb2.LIFECYCLE_RETIRED
    (item,) = waiting(stubs)
    decide(stubs, item.item, APPROVE, reviewer)

    assert get(stubs, note_id).lifecycle == note_pb2.LIFECYCLE_ACTIVE


def test_proposed_times_and_undos_are_done_as_they_were_proposed(
    stubs: Stubs, reviewer: Metadata
) -> None:
    note_id = verified(stubs, "port 6432", reviewer)
    ends = lifecycle_service_pb2.NoteTime(at_ms=4_102_444_800_000)
    other = insert(stubs, "port 7000").id
    rejected = change(stubs, "RejectNote", id=other).note.event

    refused(lambda: change(stubs, "SetNoteTimes", id=note_id, valid_to=ends))
    refused(lambda: change(stubs, "UndoEvent", event=rejected))
    for item in waiting(stubs):
        decide(stubs, item.item, APPROVE, reviewer)

    assert get(stubs, note_id).valid_to_ms == 4_102_444_800_000
    assert get(stubs, other).trust == note_pb2.TRUST_OBSERVED
    assert insert(stubs, "Port 7000").trust == note_pb2.TRUST_OBSERVED


def test_an_approved_correction_takes_the_place_of_the_reviewed_note(
    stubs: Stubs, reviewer: Metadata
) -> None:
    old = verified(stubs, "port 6432", reviewer)
    new = insert(stubs, "port 7000", supersedes=old, reason="it moved")
    assert new.trust == note_pb2.TRUST_CANDIDATE
    assert not new.superseded

    decide(stubs, new.proposal, APPROVE, reviewer)

    assert get(stubs, old).superseded_by == new.id
    assert get(stubs, new.id).trust == note_pb2.TRUST_OBSERVED
    assert waiting(stubs) == []


def test_a_held_note_is_shown_beside_the_rejected_one_and_can_be_rejected_too(
    stubs: Stubs, reviewer: Metadata
) -> None:
    rejected, note_id = held(stubs)
    (item,) = waiting(stubs)

    shown = stubs.review.GetReviewItem(pb.GetReviewItemRequest(item=item.item)).item
    decide(stubs, item.item, REJECT, reviewer)

    assert (shown.note.id, shown.other.id) == (note_id, rejected)
    assert list(shown.decisions) == [APPROVE, REJECT]
    assert get(stubs, note_id).trust == note_pb2.TRUST_REJECTED


def test_a_rejection_that_somebody_ran_into_can_be_lifted(stubs: Stubs, reviewer: Metadata) -> None:
    note_id = insert(stubs, "port 6432").id
    change(stubs, "RejectNote", id=note_id)
    assert refused(lambda: insert(stubs, "PORT 6432")) == "REJECTED_TEXT"
    (item,) = waiting(stubs)
    shown = stubs.review.GetReviewItem(pb.GetReviewItemRequest(item=item.item)).item

    done = decide(stubs, item.item, APPROVE, reviewer)

    assert (shown.other.id, shown.measure, shown.scope) == (note_id, 1, "user")
    assert done.outcome == "lifted"
    assert insert(stubs, "PORT 6432").trust == note_pb2.TRUST_OBSERVED


def test_a_rejection_that_stays_does_not_come_back_to_the_queue(
    stubs: Stubs, reviewer: Metadata
) -> None:
    change(stubs, "RejectNote", id=insert(stubs, "port 6432").id)
    refused(lambda: insert(stubs, "PORT 6432"))

    decide(stubs, waiting(stubs)[0].item, REJECT, reviewer)

    assert refused(lambda: insert(stubs, "Port 6432")) == "REJECTED_TEXT"
    assert waiting(stubs) == []


@pytest.mark.parametrize("keep", ["first", "second", ""])
def test_of_a_pair_the_named_note_stays(stubs: Stubs, reviewer: Metadata, keep: str) -> None:
    first, second = insert(stubs, "port 6432").id, insert(stubs, "port 7000").id
    item = put_pair(stubs, ItemKind.CONTRADICTION, first, second)
    named = {"first": first, "second": second, "": ""}[keep]

    decide(stubs, item, SUPERSEDE, reviewer, note_id=named)

    loser, keeper = (second, first) if keep == "first" else (first, second)
    assert get(stubs, loser).superseded_by == keeper


def test_a_pair_is_settled_in_its_own_ways_alone(stubs: Stubs, reviewer: Metadata) -> None:
    first, second = insert(stubs, "port 6432").id, insert(stubs, "port 7000").id
    third = insert(stubs, "port 8000").id
    item = put_pair(stubs, ItemKind.CONTRADICTION, first, second)

    assert refused(lambda: decide(stubs, item, APPROVE, reviewer)) == "BAD_FIELD"
    assert refused(lambda: decide(stubs, item, REJECT, reviewer)) == "BAD_FIELD"
    assert refused(lambda: decide(stubs, item, REJECT, reviewer, note_id=third)) == "BAD_FIELD"
    decide(stubs, item, KEEP_BOTH, reviewer)

    assert get(stubs, first).condition == get(stubs, second).condition
    assert put_pair(stubs, ItemKind.CONTRADICTION, first, second) == item
    assert waiting(stubs) == []


def test_what_is_due_is_erased_unless_it_has_come_back(stubs: Stubs, reviewer: Metadata) -> None:
    gone, back = insert(stubs, "port 6432").id, insert(stubs, "port 7000").id
    items = []
    for note_id in (gone, back):
        change(stubs, "RetireNote", id=note_id)
        items.append(put_single(stubs, ItemKind.PURGE_DUE, note_id))
    change(stubs, "RestoreNote", id=back)

    done = decide(stubs, items[0], APPROVE, reviewer)

    assert done.outcome == "erased"
    assert refused(lambda: get(stubs, gone)) == "NOTE_NOT_FOUND"
    assert refused(lambda: decide(stubs, items[1], APPROVE, reviewer)) == "WRONG_STATE"
    assert get(stubs, back).lifecycle == note_pb2.LIFECYCLE_ACTIVE


@pytest.mark.parametrize("kind", [ItemKind.CHANGED_SOURCE, ItemKind.NEVER_USED])
def test_what_upkeep_finds_is_done_or_left(
    stubs: Stubs, reviewer: Metadata, kind: ItemKind
) -> None:
    done, left = insert(stubs, "port 6432").id, insert(stubs, "port 7000").id

    decide(stubs, put_single(stubs, kind, done), APPROVE, reviewer)
    decide(stubs, put_single(stubs, kind, left), REJECT, reviewer)

    after = get(stubs, done)
    assert (after.trust == note_pb2.TRUST_STALE) == (kind is ItemKind.CHANGED_SOURCE)
    assert (after.lifecycle == note_pb2.LIFECYCLE_RETIRED) == (kind is ItemKind.NEVER_USED)
    assert get(stubs, left).trust == note_pb2.TRUST_OBSERVED


def test_of_two_that_say_the_same_the_one_that_stays_gets_what_the_other_has(
    stubs: Stubs, reviewer: Metadata
) -> None:
    source = note_pb2.Source(kind=note_pb2.SOURCE_KIND_URL, locator="https://example.org/ports")
    loser = insert(stubs, "port 6432", keywords=["pool"], sources=[source]).id
    keeper = insert(stubs, "the port is 6432", keywords=["port"]).id

    decide(stubs, put_pair(stubs, ItemKind.DUPLICATE, loser, keeper), APPROVE, reviewer)

    kept = get(stubs, keeper)
    assert get(stubs, loser).superseded_by == keeper
    assert list(kept.keywords) == ["pool", "port"]
    assert [each.locator for each in kept.sources] == [source.locator]


def test_a_keyword_that_is_spelled_like_another_is_replaced_and_that_is_undone(
    stubs: Stubs, reviewer: Metadata
) -> None:
    note_id = insert(stubs, "port 6432", keywords=["pools"]).id
    new = NewItem(
        kind=ItemKind.KEYWORD_VARIANT,
        evidence=evidence_of("user", "pools", "pool"),
        scope="user",
        detail={"variant": "pools", "keep": "pool"},
    )
    item = stubs.room.profile.write(
        lambda transaction: open_item(transaction.connection, new, transaction.at_ms).item_id
    )

    done = decide(stubs, item, APPROVE, reviewer)

    assert done.outcome == "merged"
    assert list(get(stubs, note_id).keywords) == ["pool"]
    undo = lifecycle_service_pb2.UndoEventRequest(
        request_id=request_id(), event=done.event + 1, reason="they differ"
    )
    stubs.lifecycle.UndoEvent(undo, timeout=SECONDS, metadata=reviewer)
    assert list(get(stubs, note_id).keywords) == ["pools"]


def put_single(stubs: Stubs, kind: ItemKind, note_id: str) -> int:
    new = NewItem(kind=kind, evidence=evidence_of(kind, note_id), note_id=NoteId(note_id))
    return stubs.room.profile.write(
        lambda transaction: open_item(transaction.connection, new, transaction.at_ms).item_id
    )


def put_pair(stubs: Stubs, kind: ItemKind, first: str, second: str) -> int:
    new = NewItem(
        kind=kind,
        evidence=evidence_of(first, second),
        note_id=NoteId(first),
        other_id=NoteId(second),
    )
    return stubs.room.profile.write(
        lambda transaction: open_item(transaction.connection, new, transaction.at_ms).item_id
    )


def test_an_item_that_is_not_there_is_not_found(stubs: Stubs, reviewer: Metadata) -> None:
    assert refused(lambda: decide(stubs, 99, APPROVE, reviewer)) == "ITEM_NOT_FOUND"
    assert refused(lambda: decide(stubs, 2**64 - 1, APPROVE, reviewer)) == "ITEM_NOT_FOUND"
    for number in (0, 99, 2**64 - 1):
        request = pb.GetReviewItemRequest(item=number)
        assert refused(lambda request=request: stubs.review.GetReviewItem(request)) == (  # type: ignore[misc]
            "ITEM_NOT_FOUND"
        )


def test_the_queue_is_listed_in_pages_of_the_scopes_that_are_asked(stubs: Stubs) -> None:
    for number in range(3):
        change(stubs, "RejectNote", id=insert(stubs, f"port {number}").id)
        refused(lambda number=number: insert(stubs, f"Port {number}"))  # type: ignore[misc]

    first = stubs.review.ListReviewItems(pb.ListReviewItemsRequest(scope=EVERYWHERE, page_size=2))
    second = stubs.review.ListReviewItems(
        pb.ListReviewItemsRequest(scope=EVERYWHERE, page_size=2, page_token=first.next_page_token)
    )
    elsewhere = stubs.review.ListReviewItems(
        pb.ListReviewItemsRequest(scope=note_pb2.ScopeFilter(scopes=["other"]))
    )

    assert [len(first.items), len(second.items), len(elsewhere.items)] == [2, 1, 0]
    assert not second.next_page_token
    assert [(each.kind, each.count) for each in first.waiting] == [
        (pb.REVIEW_KIND_RESTATED_REJECTION, 3)
    ]
    bad = pb.ListReviewItemsRequest(scope=EVERYWHERE, page_token=NOWHERE)
    assert refused(lambda: stubs.review.ListReviewItems(bad)) == "BAD_PAGE_TOKEN"


def test_where_there_is_a_reviewer_only_they_erase(stubs: Stubs, reviewer: Metadata) -> None:
    outcomes = []
    for metadata in ((("graft-door", "cli"),), (("graft-door", "mcp"),), reviewer):
        request = notes_service_pb2.DeleteNoteRequest(
            request_id=request_id(), id=insert(stubs, f"port {metadata[0][1]}").id, reason="why"
        )
        outcomes.append(stubs.notes.DeleteNote(request, metadata=metadata).outcome)

    assert outcomes[:2] == [notes_service_pb2.DELETE_OUTCOME_RETIRED] * 2
    assert outcomes[2] in (
        notes_service_pb2.DELETE_OUTCOME_ERASED,
        notes_service_pb2.DELETE_OUTCOME_ERASING,
    )


def test_the_protos_have_the_kinds_and_decisions_of_the_model() -> None:
    def words(enum: Any, prefix: str) -> set[str]:
        names = set(enum.DESCRIPTOR.values_by_name) - {f"{prefix}UNSPECIFIED"}
        return {name.removeprefix(prefix).lower().replace("_", "-") for name in names}

    assert words(pb.ReviewKind, "REVIEW_KIND_") == set(ItemKind) == set(KINDS)
    assert words(pb.ReviewDecision, "REVIEW_DECISION_") == set(Decision) == set(DECISIONS)
