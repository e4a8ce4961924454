"""What follows where a new note holds what looks like a secret: told, refused, or meant."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.memstore.room import AGENT, PERSON, WAIT_SECONDS, Room

from graft.wire.errors import BadFieldError, DeadlinePassedError, SecretFoundError
from graft_memstore.deadline import Deadline
from graft_memstore.ids import IdMaker
from graft_memstore.leaks.scan import FINDINGS_MAX
from graft_memstore.model import Caller, NewNote, Source, SourceKind
from graft_memstore.recall.similar import SimilarNotes
from graft_memstore.store.events import Event, read_events_after
from graft_memstore.write.insert import Inserter, InsertOrder
from graft_memstore.write.insert_reply import InsertReply
from graft_memstore.write.screen import Screen, SecretsRule, SecretsWish

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
MASKED = f"{TOKEN[:4]}…{TOKEN[-4:]}"
STRICT, MEANT = SecretsWish(strict=True), SecretsWish(allow=True)
LEAKING = NewNote(title="how to clone", body=f"one\nuse {TOKEN}\n")
CLEAN = NewNote(title="how to build", body="make")
REVIEWER = Caller(actor="reviewer", door="cli")


def store(
    room: Room,
    *notes: NewNote,
    rule: SecretsRule = SecretsRule.WARN,
    wish: SecretsWish = SecretsWish(),  # noqa: B008 - frozen
    caller: Caller = AGENT,
    seconds: float = WAIT_SECONDS,
) -> InsertReply:
    inserter = Inserter(room.embedder, SimilarNotes(room.clock), IdMaker(os.urandom), secrets=rule)
    order = InsertOrder(
        notes=notes, key=room.key(), caller=caller, single=len(notes) == 1, secrets=wish
    )
    return inserter.insert(room.profile, order, Deadline(seconds))


def events(room: Room) -> list[Event]:
    with room.profile.snapshot() as connection:
        return read_events_after(connection, 0, 100)


def notes_stored(room: Room) -> int:
    return len([each for each in events(room) if each.action == "insert"])


def test_by_default_it_is_stored_and_told_with_its_place_masked(still_room: Room) -> None:
    reply = store(still_room, LEAKING)

    (finding,) = reply.notes[0].findings.first
    assert (finding.kind, finding.field, finding.line, finding.column, finding.excerpt) == (
        "GitHub Token",
        "body",
        2,
        5,
        MASKED,
    )
    assert still_room.note(reply.notes[0].id).body == LEAKING.body
    assert [each.action for each in events(still_room)] == ["insert"]


def test_every_text_of_a_note_is_looked_at(still_room: Room) -> None:
    note = NewNote(
        title=f"title {TOKEN}",
        body=TOKEN,
        keywords=("ok", TOKEN),
        sources=(Source(kind=SourceKind.URL, locator=f"https://x/?t={TOKEN}", project=TOKEN),),
        author=TOKEN,
        reason=TOKEN,
    )

    found = store(still_room, note).notes[0].findings.first

    assert [each.field for each in found] == [
        "title",
        "body",
        "keywords[1]",
        "sources[0].locator",
        "sources[0].project",
        "author",
        "reason",
    ]


def test_findings_are_bounded_and_the_others_counted(still_room: Room) -> None:
    note = NewNote(title="many", body=f"{TOKEN}\n" * (FINDINGS_MAX + 5))

    findings = store(still_room, note).notes[0].findings

    assert (len(findings.first), findings.more) == (FINDINGS_MAX, 5)


@pytest.mark.parametrize(
    ("rule", "wish"),
    [
        (SecretsRule.REFUSE, SecretsWish()),
        (SecretsRule.WARN, STRICT),
        (SecretsRule.REFUSE, STRICT),
        (SecretsRule.OFF, STRICT),
    ],
)
def test_a_refusal_says_what_and_where_and_never_the_secret(
    still_room: Room, rule: SecretsRule, wish: SecretsWish
) -> None:
    with pytest.raises(SecretFoundError) as raised:
        store(still_room, LEAKING, rule=rule, wish=wish)

    told = raised.value
    assert f"GitHub Token in body, line 2, column 5 ({MASKED})" in told.message
    assert "graft insert --allow-secret" in told.message
    assert told.metadata == {
        "findings": "1",
        "kind": "GitHub Token",
        "field": "body",
        "line": "2",
        "column": "5",
        "excerpt": MASKED,
    }
    assert TOKEN not in told.message
    assert events(still_room) == []
    assert still_room.embedder.embedded == []


def test_one_secret_refuses_a_batch_and_says_in_which_note(still_room: Room) -> None:
    with pytest.raises(SecretFoundError, match="in note 2 of 2, ") as raised:
        store(still_room, CLEAN, LEAKING, rule=SecretsRule.REFUSE)

    assert raised.value.metadata["note"] == "1"
    assert notes_stored(still_room) == 0


def test_what_holds_no_secret_is_stored_whatever_the_rule(still_room: Room) -> None:
    for rule in SecretsRule:
        store(still_room, replace(CLEAN, title=f"under {rule}"), rule=rule, wish=STRICT)

    assert notes_stored(still_room) == 3


def test_off_does_not_look(still_room: Room) -> None:
    assert not store(still_room, LEAKING, rule=SecretsRule.OFF).notes[0].findings


def test_what_is_meant_is_on_record_without_its_text(still_room: Room) -> None:
    reply = store(still_room, CLEAN, LEAKING, wish=MEANT)

    (meant,) = [each for each in events(still_room) if each.action == "allow-secret"]
    assert meant.note_id == reply.notes[1].id
    assert meant.reason == "meant: GitHub Token in body, line 2, column 5"
    assert (meant.door, meant.actor) == ("mcp", "agent")
    assert reply.notes[1].findings.first[0].excerpt == MASKED
    assert still_room.verify().ok


def test_saying_that_nothing_is_meant_leaves_no_record(still_room: Room) -> None:
    store(still_room, CLEAN, wish=MEANT)
    store(still_room, LEAKING)
    store(still_room, LEAKING, wish=MEANT)

    assert [each.action for each in events(still_room)] == ["insert", "insert"]


def test_a_secret_that_a_duplicate_brings_is_on_record_as_well(still_room: Room) -> None:
    store(still_room, CLEAN)

    store(still_room, replace(CLEAN, keywords=(TOKEN,)), wish=MEANT)

    assert [each.action for each in events(still_room)] == ["insert", "add", "allow-secret"]


@pytest.mark.parametrize(
    ("caller", "has_reviewer", "allowed"),
    [
        (PERSON, False, True),
        (PERSON, True, False),
        (REVIEWER, True, True),
        (AGENT, False, False),
        (AGENT, True, False),
        (Caller(door="hook"), False, False),
        (Caller(door="library"), False, False),
        (Caller(), False, False),
        (Caller(actor="reviewer", door="web"), True, True),
    ],
)
def test_who_may_erase_may_allow_what_the_rule_refuses_and_nobody_else(
    still_room: Room, caller: Caller, has_reviewer: bool, allowed: bool
) -> None:
    wish = replace(MEANT, has_reviewer=has_reviewer)

    if allowed:
        store(still_room, LEAKING, rule=SecretsRule.REFUSE, wish=wish, caller=caller)
    else:
        with pytest.raises(SecretFoundError) as raised:
            store(still_room, LEAKING, rule=SecretsRule.REFUSE, wish=wish, caller=caller)
        assert ("--as-reviewer" in raised.value.message) == has_reviewer

    assert notes_stored(still_room) == allowed


def test_strict_and_meant_exclude_each_other(still_room: Room) -> None:
    with pytest.raises(BadFieldError, match="allow_secret"):
        store(still_room, CLEAN, wish=SecretsWish(strict=True, allow=True))


def test_a_retry_is_told_the_same_and_nothing_of_it_is_kept(still_room: Room) -> None:
    key = still_room.key()
    order = InsertOrder(notes=[LEAKING], key=key, caller=AGENT, single=True)
    first = still_room.inserter.insert(still_room.profile, order, Deadline(WAIT_SECONDS))

    again = still_room.inserter.insert(still_room.profile, order, Deadline(WAIT_SECONDS))

    assert again.notes[0].findings == first.notes[0].findings
    assert (
        still_room.count("SELECT count(*) FROM requests WHERE instr(CAST(reply AS TEXT), 'ghp')")
        == 0
    )


def test_a_note_that_supersedes_is_looked_through_like_any_other(still_room: Room) -> None:
    old = store(still_room, CLEAN).notes[0].id
    new = replace(LEAKING, supersedes=old, reason="better")

    with pytest.raises(SecretFoundError):
        store(still_room, new, rule=SecretsRule.REFUSE)

    assert store(still_room, new).notes[0].findings
    assert still_room.note(old).state.lifecycle == "superseded"


def test_a_caller_that_has_gone_is_not_looked_for_any_longer() -> None:
    over = Deadline(10)
    over.cancel()

    with pytest.raises(DeadlinePassedError):
        Screen(SecretsRule.WARN).look([LEAKING], SecretsWish(), over)


def test_only_the_notes_own_file_holds_the_secret(still_room: Room) -> None:
    store(still_room, LEAKING, wish=MEANT)
    with pytest.raises(SecretFoundError):
        store(still_room, replace(LEAKING, title="again"), rule=SecretsRule.REFUSE)
    still_room.profiles.close()

    with_it = {
        each.name
        for each in Path(still_room.root).rglob("*")
        if each.is_file() and TOKEN.encode() in each.read_bytes()
    }

    assert with_it == {"graft.db"}
