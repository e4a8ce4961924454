from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from graft.memory.v1 import (
    analytics_service_pb2,
    audit_service_pb2,
    backups_service_pb2,
    daemon_service_pb2,
    lifecycle_service_pb2,
    note_pb2,
    notes_service_pb2,
    profiles_service_pb2,
    recall_service_pb2,
    review_service_pb2,
    scopes_service_pb2,
    sources_service_pb2,
    tokens_service_pb2,
    upkeep_service_pb2,
)
from graft_client import (
    access_operations,
    analytics_operations,
    audit_operations,
    backup_operations,
    gate_operations,
    lifecycle_operations,
    limits,
    operations,
    recall_operations,
    receipt_operations,
    replies,
    results,
    review_operations,
    reviews,
    scope_operations,
    source_operations,
    upkeep_operations,
)
from graft_client.access_reports import NewAccessToken
from graft_client.authority import Oracle, OracleKind
from graft_client.calls import BATCH_NOTES, batches
from graft_client.errors import InputError
from graft_client.notices import Happening
from graft_client.operation import Operation
from graft_client.operations import Listing
from graft_client.requests import KeywordChanges, NewNote, parse_source
from graft_client.results import Condition, Source
from graft_client.scope import ScopeChoice
from graft_client.times import to_milliseconds

CHANGES = KeywordChanges(add=["k"])
ANSWER = replies.query_answer(recall_service_pb2.QueryResponse())
USER = ScopeChoice(scopes=("user",))
APPROVAL = review_operations.Decision(item=1, decision="approve", note="", reason="r")
SERVICES = {
    f"/{service.full_name}/{method.name}": (
        method.input_type.full_name,
        method.output_type.full_name,
    )
    for module in (
        analytics_service_pb2,
        audit_service_pb2,
        backups_service_pb2,
        daemon_service_pb2,
        lifecycle_service_pb2,
        notes_service_pb2,
        profiles_service_pb2,
        recall_service_pb2,
        review_service_pb2,
        upkeep_service_pb2,
        scopes_service_pb2,
        sources_service_pb2,
        tokens_service_pb2,
    )
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


def every_operation() -> list[Operation]:  # type: ignore[type-arg] # of all kinds
    note = NewNote(title="t")
    return [
        operations.insert("p", note, request_id="r", wait=False),
        operations.insert_many("p", [note], request_id="r", wait=False),
        operations.get("p", "id"),
        operations.list_page("p", USER, operations.Listing(), ""),
        operations.delete("p", "id", reason="r", request_id="r"),
        operations.stats("p", USER),
        lifecycle_operations.supersede("p", "id", by="id", reason="r", request_id="r"),
        *(
            lifecycle_operations.say("p", verb, "id", reason="r", request_id="r")
            for verb in get_args(lifecycle_operations.Verb)
        ),
        lifecycle_operations.set_times("p", "id", {}, reason="r", request_id="r"),
        lifecycle_operations.set_keywords("p", "id", CHANGES, reason="r", request_id="r"),
        lifecycle_operations.undo("p", 1, reason="r", request_id="r"),
        review_operations.verify("p", "id", Oracle(kind="run"), reason="r", request_id="r"),
        review_operations.get_reviewer(),
        review_operations.set_reviewer("p", "phrase", ""),
        review_operations.open_session("p", "phrase"),
        review_operations.close_session("token"),
        review_operations.list_page("p", USER, (), decided=False, page_token=""),
        review_operations.get_item("p", 1),
        review_operations.decide("p", APPROVAL, request_id="r"),
        recall_operations.query("p", USER, "t", embed_tokens_max=0, context=()),
        recall_operations.retrieve("p", USER, recall_operations.Search(text="t")),
        recall_operations.explore("p", USER, recall_operations.Walk(text="t")),
        recall_operations.classify("p", USER, "t"),
        receipt_operations.explain("p", "id"),
        receipt_operations.misses("p", USER, limit=0),
        receipt_operations.clear_misses("p", USER, request_id="r"),
        source_operations.list_sources("p", source_operations.SourceListing(scope=USER), ""),
        source_operations.add_sources("p", "id", [], reason="r", request_id="r"),
        source_operations.report_sources("p", [], request_id="r"),
        source_operations.refresh_sources("p", [], reason="r", request_id="r"),
        source_operations.confirm("p", ANSWER, []),
        scope_operations.list_scopes("p", USER),
        scope_operations.move_scope("p", ("a", "b"), reason="r", request_id="r", dry_run=False),
        audit_operations.log_page("p", audit_operations.LogFilter(), 0),
        audit_operations.verify_log("p", None),
        audit_operations.log_head("p"),
        operations.profiles(),
        operations.add_profile("p"),
        operations.start_reindex("p", "m"),
        operations.get_reindex("p"),
        operations.status("/s"),
        operations.load_model("p"),
        analytics_operations.analytics("p", USER, since_ms=0),
        analytics_operations.clear_analytics("p", USER, request_id="r"),
        operations.stop(only_if_idle=True),
        access_operations.create_token("p", NewAccessToken(name="n")),
        access_operations.list_tokens(),
        access_operations.revoke_token("n"),
        operations.check_profile("p"),
        operations.repair_profile("p", dry_run=True),
        backup_operations.create("p", all_profiles=False),
        backup_operations.verify(),
        backup_operations.restore(backup_operations.RestoreWish()),
        gate_operations.measure_gate("p", apply=False),
        gate_operations.reset_gate("p"),
        upkeep_operations.look("p", USER),
        upkeep_operations.scan("p", USER, idle_days=None, limit=0),
        upkeep_operations.resolve("p", 1, "keep-both", keep="", reason="r", request_id="r"),
        upkeep_operations.apply_safe("p", USER, dry_run=True),
        upkeep_operations.events("p", limit=0, note_id=""),
        upkeep_operations.consolidate("p", USER, dry_run=True),
    ]


def test_every_method_of_the_protos_has_an_operation_with_its_messages() -> None:
    found = {
        each.path: (each.request.DESCRIPTOR.full_name, each.reply.DESCRIPTOR.full_name)
        for each in every_operation()
    }

    assert found == SERVICES


def test_the_words_for_states_kinds_and_sources_are_those_of_the_protos() -> None:
    states = {
        name.removeprefix("LIFECYCLE_").lower()
        for name in note_pb2.Lifecycle.DESCRIPTOR.values_by_name
    }
    fits = {name.removeprefix("FIT_").lower() for name in note_pb2.Fit.DESCRIPTOR.values_by_name}
    kinds = {
        name.removeprefix("NOTE_KIND_").lower().replace("_", "-")
        for name in note_pb2.NoteKind.DESCRIPTOR.values_by_name
    }
    sources = {
        name.removeprefix("SOURCE_KIND_").lower()
        for name in note_pb2.SourceKind.DESCRIPTOR.values_by_name
    }
    conditions = {
        name.removeprefix("NOTE_CONDITION_").lower().replace("_", " ")
        for name in note_pb2.NoteCondition.DESCRIPTOR.values_by_name
    }

    def words(enum: Any, prefix: str) -> set[str]:
        names = set(enum.DESCRIPTOR.values_by_name) - {f"{prefix}UNSPECIFIED"}
        return {name.removeprefix(prefix).lower().replace("_", "-") for name in names}

    assert set(get_args(OracleKind)) == words(note_pb2.OracleKind, "ORACLE_KIND_")
    kinds_of_items = words(review_service_pb2.ReviewKind, "REVIEW_KIND_")
    assert set(get_args(reviews.ReviewKind)) == kinds_of_items
    decisions = words(review_service_pb2.ReviewDecision, "REVIEW_DECISION_")
    assert set(get_args(reviews.ReviewDecision)) == decisions
    happenings = {
        name.removeprefix("HAPPENING_").lower()
        for name in note_pb2.Happening.DESCRIPTOR.values_by_name
    }

    assert set(get_args(Happening)) == happenings - {"unspecified"}
    assert set(get_args(Condition)) == conditions - {"unspecified"}
    assert set(results.STATES) == states - {"unspecified"}
    assert set(get_args(results.Fit)) == fits - {"unspecified"}
    assert set(results.KINDS) == kinds - {"unspecified"}
    assert set(results.SOURCE_KINDS) == sources - {"unspecified"}


def test_half_a_character_is_the_caller_s_error_and_named() -> None:
    with pytest.raises(InputError, match=r"udce9.*no valid Unicode"):
        recall_operations.query("p", USER, "caf\udce9", embed_tokens_max=0, context=())


def test_a_value_of_the_wrong_type_is_the_caller_s_error() -> None:
    with pytest.raises(InputError, match="cannot be sent"):
        operations.get("p", 7)  # type: ignore[arg-type] # the wrong type is the point


def test_a_text_in_place_of_a_time_is_the_caller_s_error() -> None:
    with pytest.raises(InputError, match="parse_time"):
        to_milliseconds("2026-01-01T00:00:00Z")  # type: ignore[arg-type] # the point


def test_a_state_that_there_is_none_of_is_refused_with_the_states() -> None:
    with pytest.raises(InputError, match=r"'gone'.*retired"):
        operations.list_page("p", USER, Listing(state="gone"), "")  # type: ignore[arg-type] # the point


def test_a_naive_time_in_a_note_is_refused() -> None:
    note = NewNote(title="t", valid_from=datetime(2026, 1, 1))  # noqa: DTZ001 - the point

    with pytest.raises(InputError, match="no offset"):
        operations.insert("p", note, request_id="r", wait=False)


def test_a_note_travels_whole() -> None:
    note = NewNote(
        title="t",
        body="b",
        keywords=["k"],
        kind="dead-end",
        scope="user",
        author="a",
        sources=[Source(kind="file", locator="a.py", project="host/o/n")],
        valid_from=datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
        applies_to=["npm:react@^18"],
    )

    request = operations.insert("p", note, request_id="r", wait=True).request

    assert request == notes_service_pb2.InsertNoteRequest(
        profile="p",
        request_id="r",
        wait_for_passages=True,
        note=notes_service_pb2.NewNote(
            title="t",
            body="b",
            keywords=["k"],
            kind=note_pb2.NOTE_KIND_DEAD_END,
            scope="user",
            author="a",
            sources=[
                note_pb2.Source(kind=note_pb2.SOURCE_KIND_FILE, locator="a.py", project="host/o/n")
            ],
            valid_from_ms=1000,
            applies_to=["npm:react@^18"],
        ),
    )


def test_a_text_where_a_list_belongs_is_refused() -> None:
    with pytest.raises(InputError, match="keywords must be a list"):
        NewNote(title="t", keywords="sqlite")
    with pytest.raises(InputError, match="applies_to must be a list"):
        NewNote(title="t", applies_to="os:linux")


@pytest.mark.parametrize("text", ["nothing", "file:", "ftp:x", ":x", ""])
def test_a_source_that_is_none_is_refused_with_the_kinds(text: str) -> None:
    with pytest.raises(InputError, match=r"KIND:LOCATOR.*conversation"):
        parse_source(text)


def test_a_source_s_locator_may_hold_colons() -> None:
    assert parse_source("url:https://x/y:z") == Source(kind="url", locator="https://x/y:z")


def test_batches_keep_the_order_and_both_limits() -> None:
    small = [NewNote(title=f"note {number}") for number in range(BATCH_NOTES + 1)]
    large = [replace(small[0], body="x" * limits.BODY_BYTES_MAX) for _ in range(20)]

    by_count = list(batches(small))
    by_size = list(batches(large))

    assert [len(batch) for batch in by_count] == [BATCH_NOTES, 1]
    assert [note for batch in by_count for note in batch] == small
    assert sum(len(batch) for batch in by_size) == 20
    assert max(len(batch) for batch in by_size) * limits.BODY_BYTES_MAX < limits.BATCH_BYTES_MAX
    assert list(batches([])) == []


def test_a_context_travels_and_is_a_list() -> None:
    request = recall_operations.query(
        "p", USER, "x", embed_tokens_max=0, context=("os:linux",)
    ).request

    assert request == recall_service_pb2.QueryRequest(
        profile="p",
        scope=note_pb2.ScopeFilter(scopes=["user"]),
        text="x",
        context=["os:linux"],
    )


def test_a_fit_that_a_newer_service_knows_is_taken_for_unknown() -> None:
    reply = recall_service_pb2.QueryResponse()
    # Field 20 holds an Applicability whose field 3, the fit, is 9.
    reply.MergeFromString(b"\xa2\x01\x02\x18\x09")

    answer = recall_operations.query("p", USER, "x", embed_tokens_max=0, context=()).read(reply)

    assert [each.fit for each in answer.applicability] == ["unknown"]
