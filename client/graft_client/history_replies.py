"""How replies that tell what became of notes turn into plain results."""

from dataclasses import fields

from graft.memory.v1 import notes_service_pb2
from graft_client import replies
from graft_client.history import GotNote, Uses
from graft_client.results import Note
from graft_client.times import from_milliseconds


def got_note(reply: notes_service_pb2.GetNoteResponse) -> GotNote:
    """Read a note that was asked for by its id."""
    note = replies.note(reply.note)
    facts = {each.name: getattr(note, each.name) for each in fields(Note)}
    return GotNote(**facts, uses=_uses(reply.uses))


def _uses(reply: notes_service_pb2.NoteUses) -> Uses:
    last_used = from_milliseconds(reply.last_at_ms) if reply.HasField("last_at_ms") else None
    return Uses(strong=reply.strong, got=reply.got, last_used=last_used)
