"""What is answered when notes were stored: what is remembered of it, and what is read anew."""

from collections.abc import Sequence
from dataclasses import dataclass

from graft_memstore.leaks.scan import NOTHING_FOUND, Findings
from graft_memstore.model import Lifecycle, NoteId, ScopeFilter, SimilarNote, Trust
from graft_memstore.store.database import Connection
from graft_memstore.store.notes import read_titles
from graft_memstore.store.notices import NOBODY, GivenTo
from graft_memstore.store.pending import count_of_notes
from graft_memstore.visibility import View
from graft_memstore.write.coverage import uncovered_from
from graft_memstore.write.receipts import Reply, given_to_of
from graft_memstore.write.store_note import StoredReply


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertedNote:
    """What became of one note.

    Attributes:
        event: number of the event that recorded it; 0 when nothing changed.
        uncovered_from_char: first character of the body that is found by words alone; 0 when
            all of it has vectors, or will have.
        answers: earlier questions in vain that it may answer.
        superseded: the note that it replaced, by *superseded_event*.
        restored: it was there, retired, and is in force again.
        proposal: item of the review queue that is to let it replace another; 0 for none.
        recalled: it is a piece of a note that its session was given, and was not stored.
        given_to: sessions that were given the note that it replaced, and will be told.
        findings: what looks like a secret in it.
    """

    id: NoteId
    duplicate: bool
    lifecycle: Lifecycle
    trust: Trust
    scope: str
    event: int
    pending: int
    similar: tuple[SimilarNote, ...]
    uncovered_from_char: int
    answers: int
    superseded: NoteId | None
    superseded_event: int
    restored: bool
    proposal: int = 0
    recalled: bool = False
    given_to: GivenTo = NOBODY
    findings: Findings = NOTHING_FOUND


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertReply:
    """What became of an order; *degraded* names what could not be had."""

    notes: tuple[InsertedNote, ...]
    degraded: tuple[str, ...]


def receipt_of(stored: StoredReply) -> dict[str, object]:
    """Return what is remembered of a stored note: no text, its scope's name being none."""
    return {
        "id": stored.id,
        "duplicate": stored.duplicate,
        "lifecycle": stored.state.lifecycle,
        "trust": stored.state.trust,
        "scope": stored.scope,
        "event": stored.event,
        "similar": [[each.note_id, each.similarity] for each in stored.similar],
        "answers": stored.answers,
        "superseded": stored.superseded,
        "superseded_event": stored.superseded_event,
        "restored": stored.restored,
        "recalled": stored.recalled,
        "given_to": [stored.given_to.count, list(stored.given_to.sessions)],
        "proposal": stored.proposal,
    }


def full_reply(
    connection: Connection, remembered: Reply, findings: Sequence[Findings], now_ms: int
) -> InsertReply:
    """Complete what is remembered with titles and with how far the vectors are.

    Similar notes that have been hidden since are left out. What looks like a secret is found anew
    in what was sent: receipts hold none of it, masked or not.
    """
    note_ids = [NoteId(each["id"]) for each in remembered["notes"]]
    alike = [NoteId(note_id) for each in remembered["notes"] for note_id, _ in each["similar"]]
    titles = read_titles(connection, alike, View(scope=ScopeFilter(all=True), now_ms=now_ms))
    pending = count_of_notes(connection, note_ids)
    return InsertReply(
        notes=tuple(
            InsertedNote(
                id=NoteId(each["id"]),
                duplicate=each["duplicate"],
                lifecycle=Lifecycle(each["lifecycle"]),
                trust=Trust(each["trust"]),
                scope=each["scope"],
                event=each["event"],
                pending=pending.get(NoteId(each["id"]), 0),
                similar=tuple(
                    SimilarNote(note_id=note_id, title=titles[note_id], similarity=similarity)
                    for note_id, similarity in each["similar"]
                    if note_id in titles
                ),
                uncovered_from_char=uncovered_from(connection, NoteId(each["id"])),
                # A reply that an earlier version of the program remembers knows of none.
                answers=each.get("answers", 0),
                superseded=each.get("superseded"),
                superseded_event=each.get("superseded_event", 0),
                restored=each.get("restored", False),
                recalled=each.get("recalled", False),
                given_to=given_to_of(each),
                proposal=each.get("proposal", 0),
                findings=found,
            )
            for each, found in zip(remembered["notes"], findings, strict=True)
        ),
        degraded=tuple(remembered["degraded"]),
    )
