"""The limits that the client documents are the ones that the services keep."""

import pytest

from graft.wire import setting_list
from graft.wire.errors import FieldViolation
from graft.wire.server import REMOTE_THREADS
from graft_client import limits as told
from graft_client.surroundings import find
from graft_embedder import limits as embedder
from graft_memstore import access, applicability, beam, embedding
from graft_memstore.errors import BadFieldsError
from graft_memstore.model import NewNote
from graft_memstore.recall import classify, handed_out
from graft_memstore.review import passphrase, reviewer
from graft_memstore.service import confirming, given, questions
from graft_memstore.service import misses as service_misses
from graft_memstore.service import upkeep as service_upkeep
from graft_memstore.store import database, notices, receipts
from graft_memstore.store import misses as store_misses
from graft_memstore.traces import failures, lines
from graft_memstore.upkeep import refusals, scan, trail_report
from graft_memstore.write import limits as kept
from graft_memstore.write import misses as write_misses
from graft_memstore.write import notices as write_notices
from graft_memstore.write import retelling
from graft_memstore.write.validate import check_note

SHARED = sorted(set(vars(told)) & set(vars(kept)) - {"Limit"})


@pytest.mark.parametrize("name", [name for name in SHARED if name.isupper()])
def test_client_and_memstore_name_the_same_limit(name: str) -> None:
    assert getattr(told, name) == getattr(kept, name)


def test_the_names_were_found() -> None:
    assert {"TITLE_CHARS_MAX", "BODY_BYTES_MAX", "BATCH_NOTES_MAX"} <= set(SHARED)


def test_questions_have_the_documented_limits() -> None:
    assert told.QUERY_BYTES_MAX == questions.TEXT_BYTES_MAX
    assert (told.TOP_K, told.TOP_K_MAX) == (questions.TOP_K_DEFAULT, questions.TOP_K_MAX)


def test_errors_are_read_within_the_documented_limits() -> None:
    assert told.ERRORS_MAX == failures.FAILURES_MAX
    assert told.ERRORS_CHARS_MAX == lines.READ_CHARS_MAX


def test_a_lock_is_waited_for_as_long_as_is_told() -> None:
    assert told.LOCK_WAIT_SECONDS * 1_000 == database.LOCK_WAIT_MS


def test_sources_are_told_of_within_the_documented_limits() -> None:
    assert told.CONFIRM_WITHIN_SECONDS * 1_000 == confirming.CONFIRM_MS
    assert told.GIVEN_SECONDS == handed_out.GIVEN_SECONDS
    assert told.RETOLD_CHARS_MAX == retelling.RETOLD_CHARS_MAX


def test_a_scan_finds_and_shows_as_much_as_is_told() -> None:
    assert told.FOUND_MAX == scan.FOUND_MAX
    assert (told.IDLE_DAYS, told.IDLE_DAYS_MAX) == (scan.IDLE_DAYS, service_upkeep.IDLE_DAYS_MAX)
    assert told.UPKEEP_ITEMS_MAX == service_upkeep.ITEMS_MAX
    assert told.UPKEEP_EVENTS_MAX == service_upkeep.EVENTS_MAX


def test_as_many_receipts_and_misses_are_kept_as_is_told() -> None:
    assert told.RECEIPTS_MAX == receipts.RECEIPTS_MAX
    assert told.MISSES_MAX == store_misses.MISSES_MAX
    assert told.MISSES == service_misses.GROUPS_DEFAULT
    assert told.QUESTION_CHARS_MAX == write_misses.QUESTION_CHARS_MAX


def test_the_log_and_notices_have_the_documented_limits() -> None:
    assert told.FLAWS_MAX == trail_report.FLAWS_MAX
    assert (told.REFUSALS_MAX, refusals.WINDOW_SECONDS) == (refusals.KINDS_MAX, 60)
    assert told.GIVEN_NOTES_MAX == notices.GIVEN_NOTES_MAX
    assert told.NOTICES_MAX == notices.NOTICES_MAX
    assert told.NOTICES_TOLD_MAX == given.NOTICES_TOLD_MAX
    assert told.SESSIONS_NAMED_MAX == write_notices.SESSIONS_NAMED_MAX


@pytest.mark.parametrize(
    "value",
    [
        *("user", "team:web", "project:github.com/a/b", "project:/home/ü", "plain name", "日本"),
        *(" user", "user\n", "a\tb", "a\u2028b", "\x7f", "\u200b", "project:", "team: "),
        *("s" * kept.SCOPE_CHARS_MAX, "s" * (kept.SCOPE_CHARS_MAX + 1)),
    ],
)
def test_a_scope_can_be_set_where_a_note_can_have_it(value: str) -> None:
    assert setting_list.BY_NAME["scope"].rule.accepts(value) == (problems(scope=value) == [])


@pytest.mark.parametrize(
    "value",
    ["", "A. Person <a@b.c>", "two\nlines", *("a" * (kept.AUTHOR_CHARS_MAX + n) for n in (0, 1))],
)
def test_an_author_can_be_set_where_a_note_can_have_it(value: str) -> None:
    assert setting_list.BY_NAME["author"].rule.accepts(value) == (problems(author=value) == [])


def problems(*, scope: str = "user", author: str = "") -> list[FieldViolation]:
    try:
        check_note(NewNote(title="a title", scope=scope, author=author))
    except BadFieldsError as error:
        return list(error.violations)
    return []


def test_a_setting_s_tokens_are_enough_for_the_embedder() -> None:
    assert setting_list.EMBED_TOKENS_MIN == embedder.WINDOW_TOKENS_MIN


def test_walks_and_suggestions_have_the_documented_limits() -> None:
    assert (told.DEPTH, told.DEPTH_MAX) == (beam.DEPTH_DEFAULT, beam.DEPTH_MAX)
    assert (told.BEAM, told.BEAM_MAX) == (beam.BEAM_DEFAULT, beam.BEAM_MAX)
    assert (told.SUGGESTED_MIN, told.SUGGESTED_MAX) == (
        classify.SUGGESTED_MIN,
        classify.SUGGESTED_MAX,
    )


def test_the_embedder_takes_what_the_memstore_stores() -> None:
    assert embedder.TEXT_BYTES_MAX >= kept.BODY_BYTES_MAX
    assert embedder.TEXTS_MAX >= kept.BATCH_NOTES_MAX
    assert embedder.WINDOWS_MAX >= told.PASSAGES_MAX == embedding.PASSAGES_MAX


def test_a_project_gives_no_more_versions_of_a_name_than_are_taken() -> None:
    assert find.VERSIONS_MAX == applicability.VERSIONS_MAX


def test_the_reviewer_s_passphrase_and_session_have_the_documented_limits() -> None:
    assert told.PASSPHRASE_CHARS_MIN == passphrase.PASSPHRASE_CHARS_MIN
    assert told.PASSPHRASE_CHARS_MAX == passphrase.PASSPHRASE_CHARS_MAX
    assert told.REVIEW_MINUTES * 60 == reviewer.SESSION_SECONDS
    assert (reviewer.FIRST_DELAY_MS, reviewer.DELAY_MS_MAX) == (1_000, 300_000)


@pytest.mark.parametrize(
    "name",
    [
        "TOKENS_MAX",
        "CALLS_PER_MINUTE_DEFAULT",
        "CALLS_PER_MINUTE_MAX",
        "CALLS_AT_ONCE_DEFAULT",
        "CALLS_AT_ONCE_MAX",
    ],
)
def test_tokens_have_the_documented_limits(name: str) -> None:
    assert getattr(told, name) == getattr(access, name)
    assert told.REMOTE_CALLS_MAX == REMOTE_THREADS
