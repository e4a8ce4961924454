"""Every statement of a search reads by an index: no table is walked that need not be."""

import json

import apsw
import pytest
from tests.unit.memstore.recall.store_builder import MODEL, NoteStore

from graft_memstore.lexical import COLUMN_WEIGHTS
from graft_memstore.store import (
    applies,
    edges,
    folded,
    keywords,
    search,
    signatures,
    successors,
    term_counts,
    titles,
    values,
    vectors,
)
from graft_memstore.visibility import Timed

PRESENT = {
    name: statement
    for module in (
        *(applies, edges, folded, keywords, search, signatures, successors, term_counts),
        *(titles, values, vectors),
    )
    for name, statement in vars(module).items()
    if name.startswith(("SELECT_", "COUNT_")) and isinstance(statement, str)
}
PAST = {
    f"{name} of the past": statement.then
    for name, statement in PRESENT.items()
    if isinstance(statement, Timed)
}
STATEMENTS = PRESENT | PAST
PARAMETERS = {
    "match": '"a"',
    "matches": json.dumps(['"a"']),
    "weights": COLUMN_WEIGHTS,
    "count_max": 5,
    "chars_max": 5,
    "model_id": int(MODEL),
    "after": 0,
    "until": 9,
    "note_id": "0",
    "note_ids": '["0"]',
    "seq": 1,
    "part_max": 9,
    "keyword": "a",
    "keyword_id": 1,
    "keyword_ids": "[]",
    "chunk_ids": "[1]",
    "seqs": "[1]",
    "digests": "[1]",
    "elsewhere_than": '["user"]',
    "scopes": '["user"]',
    "all_scopes": 0,
    "now": 1,
    "valid_at": 1,
    "known_at": 1,
    "old_id": "0",
    "known_to": 1,
    "steps_max": 9,
    "value_hash": bytes(32),
    "scope": "user",
    "kind": "note",
    "every_scope": 0,
    "keywords": '["a"]',
    "keywords_min": 1,
    "without": 0,
    "bits": bytes(32),
}
# Virtual tables decide themselves how they are read; what is counted here is read from an index.
ALLOWED_SCANS = (
    "VIRTUAL TABLE INDEX",
    "USING COVERING INDEX",
    "USING INDEX note_states_hiding",
    "SCAN CONSTANT ROW",
    "SCAN asked",
    "SCAN (subquery",
    # The newest of the notes that carry a keyword, cut at a limit.
    "SCAN carried",
    # What a recursion has found so far.
    "SCAN later",
    "SCAN earlier",
)
LOOKS_AT_EACH_NOTE = ("COUNT_ELSEWHERE of the past",)
"""No index tells which notes the past may have hidden."""


def plan(connection: apsw.Connection, statement: str) -> list[str]:
    rows = connection.execute("EXPLAIN QUERY PLAN " + statement.format(MODEL), PARAMETERS)
    return [str(detail) for _, _, _, detail in rows]


def test_there_are_statements_to_look_at() -> None:
    assert len(STATEMENTS) >= 29


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_no_table_is_walked(store: NoteStore, name: str) -> None:
    steps = plan(store.connection, STATEMENTS[name])

    walked = [
        step
        for step in steps
        if step.startswith("SCAN") and not any(allowed in step for allowed in ALLOWED_SCANS)
    ]
    assert bool(walked) == (name in LOOKS_AT_EACH_NOTE)


@pytest.mark.parametrize(
    "name",
    ["SELECT_WORDS", "SELECT_PIECES", "SELECT_WORDS of the past", "SELECT_PIECES of the past"],
)
def test_rows_come_in_the_order_of_their_rank_and_stop_at_the_limit(
    store: NoteStore, name: str
) -> None:
    steps = plan(store.connection, STATEMENTS[name])

    assert not any("TEMP B-TREE" in step for step in steps)
    assert steps[0].startswith("SCAN notes_")


def test_what_may_hide_a_note_is_read_from_its_own_index(store: NoteStore) -> None:
    steps = plan(store.connection, search.COUNT_ELSEWHERE)

    assert any("note_states_hiding" in step for step in steps)


def test_the_edges_of_a_note_come_in_the_order_of_their_weight_and_stop_at_the_limit(
    store: NoteStore,
) -> None:
    steps = plan(store.connection, edges.SELECT_HEAVIEST)

    assert "MERGE (UNION ALL)" in steps
    assert not any("TEMP B-TREE" in step for step in steps)
