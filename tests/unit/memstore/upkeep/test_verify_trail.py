"""Whoever changes the file behind the store's back: the row is named, and nothing else is."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.unit.memstore.room import AGENT, START_MS, Room, open_room

from graft_memstore.lifecycle import Verb
from graft_memstore.model import Lifecycle, NewNote, NoteKind, Source, SourceKind
from graft_memstore.store.chain import NO_LINK, AuditChain, ChainHead
from graft_memstore.store.database import open_connection
from graft_memstore.store.events import Link, read_events_after
from graft_memstore.store.meta import SITE
from graft_memstore.store.meta import read as read_meta
from graft_memstore.upkeep.check import check_profile
from graft_memstore.upkeep.trail_report import FLAWS_MAX, ExpectedHead, TrailReport
from graft_memstore.upkeep.verify_trail import verify_trail
from graft_memstore.write.change import Time, Times
from graft_memstore.write.hashes import content_hash
from graft_memstore.write.move_scope import MoveOrder, move_scope
from graft_memstore.write.state_change import Saying

PORT = NewNote(
    title="The staging pooler listens on port 6432",
    body="Since the move.",
    keywords=("staging", "port"),
    sources=(Source(kind=SourceKind.URL, locator="https://example.org/ports"),),
    applies_to=("os:linux",),
)
FREE = "DROP TRIGGER IF EXISTS events_never_change; DROP TRIGGER IF EXISTS events_never_go;"
PUT_IN = "f" * 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Ids:
    """The notes of the store that is tampered with."""

    port: str
    old: str
    new: str
    rejected: str
    erased: str


def fill(room: Room) -> Ids:
    """Do one of everything; 14 events."""
    port = room.insert(note=PORT).id
    old = room.insert("the cache listens on port 11211").id
    new = room.insert("the cache listens on port 6379").id
    rejected = room.insert("rsync has a flag --fast-copy").id
    erased = room.insert("the pin of the demo account is 4711").id
    room.insert(note=NewNote(title=PORT.title, body=PORT.body, keywords=("pooler",)))
    room.clock.ms += 10
    room.change(Verb.SUPERSEDE, old, by=new)
    room.change(Verb.REJECT, rejected)
    room.delete(erased)
    room.clock.ms += 10
    room.change(Verb.RETIRE, port)
    room.change(Verb.RESTORE, port)
    room.change(Verb.SET_TIMES, port, times=Times(valid_from=Time(at_ms=START_MS)))
    undone = room.change(Verb.DISPUTE, new)
    room.change(Verb.UNDO, event=undone.event)
    return Ids(port=port, old=old, new=new, rejected=rejected, erased=erased)


def tamper(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(FREE)
        connection.executescript(script)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """What is done to the file, and the row that must be named; {port} and the like are ids."""

    table: str
    row: str
    script: str


def of(table: str, row: str, script: str) -> Attack:
    return Attack(table=table, row=row, script=script)


def named(ids: Ids) -> dict[str, str]:
    return {name: getattr(ids, name) for name in Ids.__slots__}


def filled_in(text: str, ids: Ids) -> str:
    """Put ids into a text, and what needs no key to be made."""
    forged = content_hash(PORT.title, "It never moved.", NoteKind.NOTE).hex()
    return text.format_map(named(ids) | {"put_in": PUT_IN, "forged": forged})


ATTACKS = {
    "a body": of("notes", "{port}", "UPDATE notes SET body = 'x' WHERE id = '{port}'"),
    "a title": of("notes", "{new}", "UPDATE notes SET title = 'x' WHERE id = '{new}'"),
    "a kind": of("notes", "{new}", "UPDATE notes SET kind = 'dead-end' WHERE id = '{new}'"),
    "a kind that there is not": of(
        "notes",
        "{new}",
        "PRAGMA ignore_check_constraints = ON;UPDATE notes SET kind = 'sworn' WHERE id = '{new}'",
    ),
    "a number": of("notes", "{port}", "UPDATE notes SET seq = 99 WHERE id = '{port}'"),
    "a body with its hash": of(
        "notes",
        "{port}",
        "UPDATE notes SET body = 'It never moved.', content_hash = x'{forged}' WHERE id = '{port}'",
    ),
    "an author": of("notes", "{port}", "UPDATE notes SET author = 'x' WHERE id = '{port}'"),
    "a scope": of("notes", "{old}", "UPDATE notes SET scope = 'other' WHERE id = '{old}'"),
    "when it was stored": of(
        "notes", "{old}", "UPDATE notes SET recorded_at = 1 WHERE id = '{old}'"
    ),
    "a keyword taken away": of(
        "note_keywords",
        "{port}",
        "DELETE FROM note_keywords WHERE note_id = '{port}' AND keyword_id ="
        " (SELECT keyword_id FROM keywords WHERE keyword = 'staging')",
    ),
    "a keyword ended": of(
        "note_keywords", "{port}", "UPDATE note_keywords SET known_to = 5 WHERE note_id = '{port}'"
    ),
    "a keyword given": of(
        "note_keywords",
        "{new}",
        "INSERT INTO note_keywords SELECT '{new}', keyword_id, 'author', 1, NULL FROM keywords"
        " WHERE keyword = 'port'",
    ),
    "a keyword renamed": of(
        "note_keywords", "{port}", "UPDATE keywords SET keyword = 'x' WHERE keyword = 'port'"
    ),
    "an oracle that is none": of(
        "note_states", "1", "UPDATE note_states SET oracle = 'x' WHERE state_id = 1"
    ),
    "an oracle of no kind": of(
        "note_states", "1", "UPDATE note_states SET oracle = '{{}}' WHERE state_id = 1"
    ),
    "a trust that there is not": of(
        "note_states",
        "1",
        "PRAGMA ignore_check_constraints = ON;"
        "UPDATE note_states SET trust = 'sworn' WHERE state_id = 1",
    ),
    "a threshold that is none": of(
        "meta", "gate threshold", "INSERT INTO meta (name, value) VALUES ('gate_strong', 'x')"
    ),
    "a source": of("note_sources", "{port}", "UPDATE sources SET locator = 'x'"),
    "a fingerprint": of("note_sources", "{port}", "UPDATE note_sources SET fingerprint = 'x'"),
    "a range": of("note_applies", "{port}", "DELETE FROM note_applies"),
    "a successor": of("edges", "{old}", "DELETE FROM edges WHERE kind = 'SUPERSEDES'"),
    "another successor": of(
        "edges",
        "{old}",
        "UPDATE edges SET src = (SELECT seq FROM notes WHERE id = '{port}')"
        " WHERE kind = 'SUPERSEDES'",
    ),
    "trust": of("note_states", "1", "UPDATE note_states SET trust = 'verified' WHERE state_id = 1"),
    "times": of("note_states", "2", "UPDATE note_states SET valid_to = 99 WHERE state_id = 2"),
    "a state's reason": of(
        "note_states", "6", "UPDATE note_states SET reason = 'x' WHERE state_id = 6"
    ),
    "when a state ended": of(
        "note_states", "1", "UPDATE note_states SET known_to = known_to + 1 WHERE state_id = 1"
    ),
    "a state ended for good": of(
        "note_states", "3", "UPDATE note_states SET known_to = 99 WHERE state_id = 3"
    ),
    "the present state ended": of(
        "note_states", "12", "UPDATE note_states SET known_to = 99 WHERE state_id = 12"
    ),
    "a state taken away": of(
        "note_states", "of note {old}", "DELETE FROM note_states WHERE state_id = 2"
    ),
    "a state put in": of(
        "note_states",
        "99",
        "UPDATE note_states SET known_to = 99 WHERE note_id = '{old}';"
        "INSERT INTO note_states (state_id, note_id, lifecycle, trust, known_from, reason,"
        " event_id) VALUES (99, '{old}', 'active', 'observed', 99, '', 7)",
    ),
    "a note put in": of(
        "notes",
        "{put_in}",
        "INSERT INTO notes (id, title, body, kind, author, channel, scope, content_hash,"
        " value_hash, recorded_at, site, hlc) SELECT '{put_in}', title, body, kind, author,"
        " channel, scope, content_hash, value_hash, recorded_at, site, hlc FROM notes"
        " WHERE id = '{new}';"
        "INSERT INTO note_states (note_id, lifecycle, trust, known_from, reason, event_id)"
        " VALUES ('{put_in}', 'active', 'verified', 1, '', 3)",
    ),
    "a note taken away": of(
        "notes", "{port}", "PRAGMA foreign_keys = ON; DELETE FROM notes WHERE id = '{port}'"
    ),
    "an erased note put back": of(
        "notes",
        "{erased}",
        "INSERT INTO notes (id, title, body, kind, author, channel, scope, content_hash,"
        " value_hash, recorded_at, site, hlc) SELECT '{erased}', title, body, kind, author,"
        " channel, scope, content_hash, value_hash, recorded_at, site, hlc FROM notes"
        " WHERE id = '{new}'",
    ),
    "an event's reason": of("events", "7", "UPDATE events SET reason = 'x' WHERE seq = 7"),
    "an event's actor": of("events", "8", "UPDATE events SET actor = 'x' WHERE seq = 8"),
    "an event's count": of("events", "8", "UPDATE events SET count = 2 WHERE seq = 8"),
    "an event's hash": of("events", "3", "UPDATE events SET hash = zeroblob(32) WHERE seq = 3"),
    "what an event sealed": of("events", "6", "UPDATE events SET rows_digest = NULL WHERE seq = 6"),
    "an event taken out": of("events", "11", "DELETE FROM events WHERE seq = 11"),
    "events taken out": of("events", "10 to 11", "DELETE FROM events WHERE seq IN (10, 11)"),
    "the last events cut off": of("events", "13 to 14", "DELETE FROM events WHERE seq > 12"),
    "an event put in": of(
        "events",
        "15",
        "INSERT INTO events SELECT 15, at, actor, channel, door, action, note_id, digest,"
        " state_digest, reason, hash, zeroblob(32), rows_digest, tombstones, count FROM events"
        " WHERE seq = 14",
    ),
    "two events exchanged": of(
        "events",
        "10",
        "UPDATE events SET seq = 99 WHERE seq = 10; UPDATE events SET seq = 10 WHERE"
        " seq = 11; UPDATE events SET seq = 11 WHERE seq = 99",
    ),
    "a rejection of something else": of(
        "tombstones", "1", "UPDATE tombstones SET value_hash = zeroblob(32)"
    ),
    "a rejection's scope": of("tombstones", "1", "UPDATE tombstones SET scope = 'nowhere'"),
    "a rejection lifted": of(
        "tombstones", "1", "UPDATE tombstones SET lifted_at = at, lifted_by = 8"
    ),
    "a rejection taken away": of("tombstones", "1", "DELETE FROM tombstones"),
    "a rejection put in": of(
        "tombstones",
        "2",
        "INSERT INTO tombstones (value_hash, scope, reason, actor, at)"
        " VALUES (zeroblob(32), 'user', 'x', 'agent', 1)",
    ),
    "the gate's threshold": of(
        "meta",
        "gate threshold",
        'INSERT INTO meta VALUES (\'gate_strong\', \'{{"strong": 0.1, "gate": "", "model": ""}}\')',
    ),
}


def verified(root: Path) -> TrailReport:
    with open_room(root, watched=False) as room:
        room.tampered = True
        return room.verify()


@pytest.mark.parametrize("name", ATTACKS)
def test_the_row_that_was_tampered_with_is_named(tmp_path: Path, name: str) -> None:
    with open_room(tmp_path, watched=False) as room:
        ids, path = fill(room), room.profile.path
    attack = ATTACKS[name]
    row = filled_in(attack.row, ids)
    tamper(path, filled_in(attack.script, ids))

    report = verified(tmp_path)

    told = [(flaw.table, flaw.row) for flaw in report.flaws]
    assert (attack.table, row) in told, report
    assert told[0][0] == attack.table, report
    # Nobody is sent to look at notes that nobody touched.
    untouched = set(named(ids).values()) - {row}
    if attack.table != "events":
        assert not [each for _, each in told if each in untouched], report


def test_two_notes_that_exchanged_their_numbers_are_named(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        ids, path = fill(room), room.profile.path
    exchange = """
        UPDATE notes SET seq = 99 WHERE id = '{rejected}';
        UPDATE notes SET seq = 4 WHERE id = '{port}';
        UPDATE notes SET seq = 1 WHERE id = '{rejected}';
    """
    tamper(path, filled_in(exchange, ids))

    report = verified(tmp_path)

    told = {(flaw.table, flaw.row) for flaw in report.flaws}
    assert told == {("notes", ids.port), ("notes", ids.rejected)}


def test_doctor_names_a_note_whose_kind_is_none(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        ids, path = fill(room), room.profile.path
    tamper(path, filled_in(ATTACKS["a kind that there is not"].script, ids))

    with open_room(tmp_path, watched=False) as room:
        room.tampered = True
        findings = {each.name: each for each in check_profile(room.profile, "", "")}

    assert not findings["texts"].ok
    assert ids.new in findings["texts"].detail


def test_a_store_that_nobody_touched_agrees(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        fill(room)
        before = room.verify()
    tamper(tmp_path / "profiles" / "default" / "graft.db", "VACUUM; ANALYZE;")

    report = verified(tmp_path)

    assert (report.ok, report.events, report.notes) == (True, 14, 4)
    assert (report.flaws, report.more, report.uncovered) == ((), 0, ())
    assert before == report


def test_a_scope_that_was_moved_agrees_and_one_that_was_written_over_does_not(
    tmp_path: Path,
) -> None:
    with open_room(tmp_path, watched=False) as room:
        moved = room.insert(note=NewNote(title="port 6432", scope="project:old")).id
        rejected = room.insert(note=NewNote(title="port 80", scope="project:old")).id
        room.change(Verb.REJECT, rejected)
        order = MoveOrder(
            source="project:old",
            target="project:new",
            key=room.key("MoveScope"),
            saying=Saying(caller=AGENT, reason="renamed"),
            dry_run=False,
        )
        assert move_scope(room.profile, order, 10.0).rejections == 1
        room.change(Verb.DISPUTE, moved)
        assert room.verify().ok
        path = room.profile.path
    tamper(path, f"UPDATE notes SET scope = 'user' WHERE id = '{moved}'")  # noqa: S608
    tamper(path, "UPDATE tombstones SET scope = 'user' WHERE scope = 'project:new'")

    report = verified(tmp_path)

    told = [(flaw.table, flaw.row) for flaw in report.flaws]
    assert told == [("notes", moved), ("tombstones", "2")]


def test_a_rejection_that_comes_to_bind_a_scope_alone_is_on_record(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        text = NewNote(title="port 80", scope="project:old")
        gone = room.insert(note=text).id
        room.change(Verb.REJECT, gone)
        room.delete(gone)
        kept = room.insert(note=NewNote(title="port 443", scope="project:old"))
        there = room.insert(note=NewNote(title="port 443", scope="project:new")).id
        room.change(Verb.REJECT, there)
        order = MoveOrder(
            source="project:old",
            target="project:new",
            key=room.key("MoveScope"),
            saying=Saying(caller=AGENT, reason="renamed"),
            dry_run=False,
        )

        moved = move_scope(room.profile, order, 10.0)

        assert (moved.moved, moved.left, moved.rejections) == (0, 1, 1)
        assert moved.event
        assert room.note(kept.id).scope == "project:old"
        assert room.verify().ok


def test_both_of_two_exchanged_events_are_told_where_they_belong(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        fill(room)
        path = room.profile.path
    tamper(path, ATTACKS["two events exchanged"].script)

    report = verified(tmp_path)

    told = [(flaw.row, flaw.detail) for flaw in report.flaws]
    assert ("10", "is event 11, in another place") in told
    assert ("11", "is event 10, in another place") in told


def test_events_cut_off_while_the_store_runs_stay_noticed_after_the_next_change(
    tmp_path: Path,
) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.tampered = True
        for number in range(3):
            room.insert(f"note {number}")
        tamper(room.profile.path, "DELETE FROM events WHERE seq = 3")
        room.insert("the next change")
        running = room.verify()

    restarted = verified(tmp_path)

    assert not running.ok
    assert "3" in [flaw.row for flaw in restarted.flaws if flaw.table == "events"]


def test_erasing_a_note_within_a_chain_leaves_a_trail_that_agrees(still_room: Room) -> None:
    first, second, third = (
        still_room.insert(f"the cache listens on port {port}").id for port in (1, 2, 3)
    )
    still_room.change(Verb.SUPERSEDE, first, by=second)
    still_room.change(Verb.SUPERSEDE, second, by=third)

    still_room.delete(second)

    assert still_room.verify().ok
    assert still_room.note(first).superseded_by == third
    still_room.delete(third)
    assert still_room.verify().ok
    assert still_room.note(first).state.lifecycle is Lifecycle.SUPERSEDED


def test_a_head_that_was_kept_elsewhere_is_missed_by_a_trail_made_anew(tmp_path: Path) -> None:
    with open_room(tmp_path / "one", watched=False) as room:
        fill(room)
        with room.profile.snapshot() as connection:
            site = read_meta(connection, SITE)
        assert site is not None
        kept = room.profile.chain.read_head()
        assert kept is not None
        room.insert("one more")
        same = verify_trail(room.profile, ExpectedHead(link=kept, profile_id=site))
        other = verify_trail(room.profile, ExpectedHead(link=kept, profile_id="0" * 32))

    # Whoever has all the files, the key too, writes it all anew, and it agrees with itself.
    with open_room(tmp_path / "two", watched=False) as forged:
        fill(forged)
        alone = forged.verify()
        anew = verify_trail(forged.profile, ExpectedHead(link=kept))
        later = Link(count=99, hash=kept.hash)
        shorter = verify_trail(forged.profile, ExpectedHead(link=later))

    assert same.ok
    assert alone.ok
    assert "another event stands there" in anew.summary
    assert "the trail ends before it, with event 14" in shorter.summary
    assert "is of profile" in other.summary


def as_an_earlier_version_wrote_it(root: Path) -> None:
    """Seal every event anew without what only this version seals."""
    path, head = root / "profiles" / "default" / "graft.db", root / "audit" / "default.head"
    chain = AuditChain((root / "audit" / "key").read_bytes(), ChainHead(head))
    with closing(open_connection(path)) as connection:
        connection.execute(FREE)
        last = NO_LINK
        for event in read_events_after(connection, 0, 100):
            old = replace(event, rows_digest=None, tombstones=b"", prev_hash=last.hash)
            last = Link(count=event.seq, hash=chain.seal(old))
            connection.execute(
                "UPDATE events SET rows_digest = NULL, tombstones = NULL, prev_hash = ?, hash = ?"
                " WHERE seq = ?",
                (old.prev_hash, last.hash, event.seq),
            )
    ChainHead(head).write(last)


def test_what_an_earlier_version_stored_is_no_flaw_and_is_said_not_to_be_covered(
    tmp_path: Path,
) -> None:
    with open_room(tmp_path, watched=False) as room:
        ids, path = fill(room), room.profile.path
    as_an_earlier_version_wrote_it(tmp_path)

    with open_room(tmp_path, watched=False) as room:
        before = room.verify()
        room.change(Verb.DISPUTE, ids.port)
        after = room.verify()
    tamper(path, filled_in(ATTACKS["a keyword ended"].script, ids))
    tampered = verified(tmp_path)

    assert (before.ok, after.ok) == (True, True)
    assert [each.split()[0] for each in before.uncovered] == ["1", "4"]
    assert [each.split()[0] for each in after.uncovered] == ["1", "3"]
    assert [(flaw.table, flaw.row) for flaw in tampered.flaws] == [("note_keywords", ids.port)]


def test_of_many_rows_the_first_are_named_and_the_others_counted(tmp_path: Path) -> None:
    with open_room(tmp_path, watched=False) as room:
        room.insert_all([NewNote(title=f"note {number}") for number in range(FLAWS_MAX + 20)])
        path = room.profile.path
    tamper(path, "UPDATE notes SET body = 'x'")

    report = verified(tmp_path)

    assert (len(report.flaws), report.more) == (FLAWS_MAX, 20)
