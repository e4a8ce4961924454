"""Which note is meant by an id, or by a piece of one."""

import re

from graft.wire.errors import AmbiguousIdError, BadFieldError, NoteNotFoundError
from graft_memstore.model import NoteId, ScopeFilter
from graft_memstore.store.database import Connection
from graft_memstore.store.note_ids import find_ids

ID_PIECE = re.compile(r"[0-9a-f]{8,32}")
SHOWN_CHARS_MAX = 80


def check_piece(piece: str, field: str) -> str:
    """Return an id or a piece of one in its stored form.

    Raises:
        BadFieldError: *piece* is neither 32 hex digits nor 8 or more of them.
    """
    wanted = piece.strip().lower()
    if not ID_PIECE.fullmatch(wanted):
        raise BadFieldError(
            field,
            f"{piece[:SHOWN_CHARS_MAX]!r} is no id; give its 32 hex digits, or its first or last "
            "8 or more",
        )
    return wanted


def find_note(
    connection: Connection, piece: str, field: str = "id", within: ScopeFilter | None = None
) -> NoteId:
    """Return the note whose id *piece*, given in *field*, is, or begins or ends.

    Where it is to lie *within* scopes, one of another scope is as one that is nowhere.

    Raises:
        BadFieldError: *piece* is neither 32 hex digits nor 8 or more of them.
        AmbiguousIdError: it fits several notes.
        NoteNotFoundError: it fits none.
    """
    wanted = check_piece(piece, field)
    found = find_ids(connection, wanted, within)
    if not found:
        raise NoteNotFoundError(f"no note has the id {wanted}; see: graft list")
    if len(found) > 1:
        raise AmbiguousIdError(f"{wanted} fits several notes; give more digits of the id")
    return found[0]
