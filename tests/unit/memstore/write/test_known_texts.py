"""What comes back: texts that were superseded, retired or rejected, in whatever spelling."""

import unicodedata

import pytest
from tests.unit.memstore.room import PERSON, Room

from graft.wire.errors import KnownTextError, RejectedTextError, WrongStateError
from graft_memstore.lifecycle import Verb
from graft_memstore.model import Lifecycle, NewNote, NoteKind, Trust
from graft_memstore.write.hashes import other_value_hashes

TITLE = "The staging pooler does not listen on port 6432"
BODY = "Run `pgbouncer -d` with --Auth=md5 before PostgreSQL 15 starts."

UNSEEN = (
    "\u2800\u3164\u115f\u1160\uffa0\u034f\ufe0f\U000e0041\U000e01ef\u00ad\u061c\u180e\u200e"
    "\u202e\u2066\u2069"
)


def in_small_capitals(text: str) -> str:
    names = ((each, f"LATIN LETTER SMALL CAPITAL {each.upper()}") for each in text)
    return "".join(unicodedata.lookup(name) if each in "eilnoprt" else each for each, name in names)


RESPELLED = [
    (TITLE, BODY),
    (TITLE.upper(), BODY),
    (TITLE.lower(), BODY),
    (f"  {TITLE}  ", BODY.replace(" ", "  ", 1)),
    (TITLE.replace("staging", "stag\u200bing"), BODY),
    (TITLE.replace("port", "po\u00adrt"), BODY),
    (TITLE.replace("6432", "\uff16\uff14\uff13\uff12"), BODY),
    (TITLE.replace("pooler", "p\u043e\u043eler"), BODY),
    (TITLE.replace("listen", "l\u0456st\u0435n"), BODY.replace("before", "befor\u0435")),
    ("".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in TITLE), BODY),
    (TITLE, f"\u2060{BODY}\ufeff"),
    (in_small_capitals(TITLE), BODY),
    (TITLE.replace("port", "p\u0585rt"), BODY),
    (TITLE.replace("does", "\u13a0o\u13ac\u13da"), BODY),
    (TITLE.replace("not", "n\u03bf\u03c4"), BODY),
    (TITLE.replace("port", "\U0001d429o\U0001d42bt"), BODY),
    (TITLE.replace(" ", "\u2800"), BODY),
    *((TITLE.replace("oo", f"o{mark}o"), BODY) for mark in UNSEEN),
    (TITLE.replace("not", "no\u0442"), BODY.replace("\n", "\r\n")),
]
"""Ways to say the very same."""

REARRANGED = [
    ("On port 6432 the staging pooler does not listen", BODY),
    (TITLE, "Before PostgreSQL 15 starts, run `pgbouncer -d` with --Auth=md5."),
    (f"{TITLE}.", BODY),
    (TITLE, f"{BODY} So it is."),
    ("The staging pooler of ours, it does not listen on the port 6432", BODY),
    (BODY, TITLE),
    (TITLE.replace("6432", "**6432**"), BODY),
    (f"However, it's the staging pooler: {TITLE}", BODY),
]
"""The same words in another order, or with words added that say nothing."""

INNOCENT = [
    (TITLE.replace("6432", "7000"), BODY),
    (TITLE.replace("does not listen", "listens"), BODY),
    (TITLE.replace("staging", "production"), BODY),
    (TITLE, BODY.replace("before", "after")),
    (TITLE, BODY.replace("-d", "-D")),
    (TITLE, BODY.replace("--Auth", "--auth")),
    (TITLE, BODY.replace("PostgreSQL 15", "PostgreSQL 16")),
    ("Connections to the test cluster's pooler on 6432 are refused", BODY),
    (TITLE, ""),
    (TITLE, f"{BODY} Restart pgcat afterwards."),
    ("The staging pooler does not listen on ports 6432 and 6433", BODY),
    ("The staging database does not listen on port 6432", BODY),
]
"""Neighbours, corrections and honest paraphrases."""


def rejected(room: Room, scope: str = "user") -> str:
    note_id = room.insert(note=NewNote(title=TITLE, body=BODY, scope=scope)).id
    room.change(Verb.REJECT, note_id, reason="it does listen")
    return note_id


def test_a_rejected_text_is_refused_however_it_is_spelled(still_room: Room) -> None:
    rejected(still_room)

    for title, body in RESPELLED:
        note = NewNote(title=title, body=body, author="somebody else", keywords=("new",))
        with pytest.raises(RejectedTextError) as refusal:
            still_room.insert(note=note)
        assert refusal.value.metadata == {"state": "rejected"}

    assert still_room.count("SELECT count(*) FROM notes") == 1


def test_a_rejected_text_in_another_order_is_held(still_room: Room) -> None:
    rejected(still_room)

    trusts = {text: still_room.insert(*text).trust for text in REARRANGED}

    assert trusts == dict.fromkeys(REARRANGED, Trust.HELD)


def test_what_says_something_else_is_taken(still_room: Room) -> None:
    rejected(still_room)

    trusts = {text: still_room.insert(*text).trust for text in INNOCENT}

    assert trusts == dict.fromkeys(INNOCENT, Trust.OBSERVED)


def test_a_rejected_text_stays_refused_when_its_note_is_erased(still_room: Room) -> None:
    still_room.delete(rejected(still_room), caller=PERSON)

    with pytest.raises(RejectedTextError):
        still_room.insert(TITLE, BODY)
    assert still_room.insert(*REARRANGED[0]).trust is Trust.HELD


def test_what_an_earlier_version_rejected_stays_refused_as_it_was_spelled(
    still_room: Room,
) -> None:
    title = in_small_capitals(TITLE)
    note = still_room.insert(title)
    still_room.change(Verb.REJECT, note.id)
    still_room.delete(note.id)
    # As that version spelled it, which took small capitals for other letters.
    (before,) = other_value_hashes(title, "")
    still_room.tampered = True
    still_room.profile.write(
        lambda transaction: transaction.connection.execute(
            "UPDATE tombstones SET value_hash = ?, words_hash = NULL", (before,)
        )
    )

    with pytest.raises(RejectedTextError):
        still_room.insert(title)
    assert still_room.insert(TITLE).trust is Trust.OBSERVED


def test_a_rejection_binds_its_scope_and_one_of_user_every_scope(still_room: Room) -> None:
    rejected(still_room, "project:a")

    still_room.insert(note=NewNote(title=TITLE, body=BODY, scope="project:b"))
    elsewhere = still_room.insert(TITLE, BODY)
    still_room.change(Verb.REJECT, elsewhere.id)

    for scope in ("project:a", "project:b", "project:c", "user"):
        with pytest.raises(RejectedTextError):
            still_room.insert(note=NewNote(title=TITLE, body=BODY, scope=scope))


def test_notes_that_say_the_same_are_rejected_together(still_room: Room) -> None:
    first = still_room.insert(TITLE, BODY)
    again = still_room.insert(TITLE.lower(), BODY)
    other = still_room.insert(note=NewNote(title=TITLE, body=BODY, scope="project:b"))

    reply = still_room.change(Verb.REJECT, first.id)

    assert reply.others == 2
    for note_id in (first.id, again.id, other.id):
        assert still_room.note(note_id).state.trust is Trust.REJECTED
    assert still_room.count("SELECT count(*) FROM events WHERE action = 'reject'") == 3


def test_an_old_value_is_not_rejected_while_it_is_the_present_one(still_room: Room) -> None:
    first = still_room.insert("port 6432")
    second = still_room.insert(note=NewNote(title="port 7000", supersedes=first.id, reason="r"))
    still_room.insert(note=NewNote(title="port 6432", supersedes=second.id, reason="back"))

    with pytest.raises(WrongStateError, match="says the same"):
        still_room.change(Verb.REJECT, first.id)

    still_room.change(Verb.REJECT, second.id)
    with pytest.raises(RejectedTextError):
        still_room.insert("port 7000")


def test_a_held_note_takes_the_place_of_none(still_room: Room) -> None:
    rejected(still_room)
    other = still_room.insert("The staging pooler listens on port 6432")
    title, body = REARRANGED[0]

    with pytest.raises(RejectedTextError, match="order"):
        still_room.insert(
            note=NewNote(title=title, body=body, supersedes=other.id, reason="really")
        )

    assert still_room.note(other.id).state.lifecycle is Lifecycle.ACTIVE
    held = still_room.insert(title, body)
    with pytest.raises(KnownTextError, match="held"):
        still_room.insert(title.upper(), body)
    with pytest.raises(WrongStateError, match="held"):
        still_room.change(Verb.SUPERSEDE, other.id, by=held.id)


def test_a_superseded_text_is_refused_naming_its_last_successor(still_room: Room) -> None:
    first = still_room.insert(TITLE, BODY)
    second = still_room.insert(note=NewNote(title="port 7000", supersedes=first.id, reason="r"))
    third = still_room.insert(note=NewNote(title="port 8000", supersedes=second.id, reason="r"))

    facts = {"state": "superseded", "note_id": first.id, "head": third.id}
    for title, body in RESPELLED:
        with pytest.raises(KnownTextError, match=third.id) as refusal:
            still_room.insert(title, body)
        assert refusal.value.metadata == facts


def test_a_value_changes_back_by_superseding_the_head(still_room: Room) -> None:
    first = still_room.insert("port 6432")
    second = still_room.insert(note=NewNote(title="port 7000", supersedes=first.id, reason="r"))
    unrelated = still_room.insert("port of the cache")
    for wrong in (unrelated.id, ""):
        with pytest.raises(KnownTextError, match=second.id):
            still_room.insert(note=NewNote(title="port 6432", supersedes=wrong, reason="r"))

    third = still_room.insert(note=NewNote(title="port 6432", supersedes=second.id, reason="r"))
    fourth = still_room.insert(note=NewNote(title="Port 7000", supersedes=third.id, reason="r"))

    assert not third.duplicate
    assert still_room.note(first.id).superseded_by == fourth.id
    assert still_room.note(fourth.id).state.lifecycle is Lifecycle.ACTIVE


def test_a_retired_text_comes_back_when_that_is_asked_for(still_room: Room) -> None:
    first = still_room.insert(TITLE, BODY)
    still_room.change(Verb.RETIRE, first.id)
    with pytest.raises(KnownTextError, match="--restore") as refusal:
        still_room.insert(TITLE.lower(), BODY)

    stored = still_room.insert(
        note=NewNote(title=TITLE, body=BODY, keywords=("new",), restore=True, reason="again")
    )

    assert refusal.value.metadata == {"state": "retired", "note_id": first.id}
    assert (stored.id, stored.restored, stored.duplicate) == (first.id, True, False)
    assert still_room.note(first.id).state.lifecycle is Lifecycle.ACTIVE
    assert still_room.note(first.id).state.reason == "again"
    assert still_room.note(first.id).keywords == ("new",)


def test_restore_changes_nothing_where_nothing_was_retired(still_room: Room) -> None:
    stored = still_room.insert(note=NewNote(title=TITLE, restore=True, reason="again"))

    assert (stored.restored, stored.duplicate, stored.trust) == (False, False, Trust.OBSERVED)


def test_the_same_text_of_another_kind_is_another_statement(still_room: Room) -> None:
    first = still_room.insert(TITLE, BODY)
    still_room.change(Verb.RETIRE, first.id)

    dead_end = still_room.insert(note=NewNote(title=TITLE, body=BODY, kind=NoteKind.DEAD_END))

    assert dead_end.trust is Trust.OBSERVED


def test_a_superseding_note_is_saved_where_the_old_one_is(still_room: Room) -> None:
    old = still_room.insert(note=NewNote(title="port 1", scope="project:a"))

    new = still_room.insert(
        note=NewNote(title="port 2", scope="", supersedes=old.id[-8:], reason="moved")
    )

    assert (new.scope, new.superseded, new.superseded_event) == ("project:a", old.id, 3)
    assert all(each.note_id != old.id for each in new.similar)


def test_a_text_that_is_there_supersedes_as_it_is(still_room: Room) -> None:
    old, new = still_room.insert("port 1"), still_room.insert("port 2")

    stored = still_room.insert(note=NewNote(title="port 2", supersedes=old.id, reason="moved"))

    assert (stored.id, stored.duplicate) == (new.id, True)
    assert still_room.note(old.id).superseded_by == new.id


def test_a_batch_that_supersedes_is_stored_whole_or_not_at_all(still_room: Room) -> None:
    old = still_room.insert("port 1")
    both = [
        NewNote(title=title, supersedes=old.id, reason="moved") for title in ("port 2", "port 3")
    ]

    with pytest.raises(Exception, match="superseded already"):
        still_room.insert_all(both)

    assert still_room.count("SELECT count(*) FROM notes") == 1
    assert still_room.note(old.id).state.lifecycle is Lifecycle.ACTIVE
