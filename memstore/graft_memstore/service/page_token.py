"""Where the next page of a listing begins, as a token that only this listing can use."""

import base64
import json
from dataclasses import replace

from blake3 import blake3

from graft.wire.errors import BadPageTokenError
from graft_memstore.canonical import encode_fields
from graft_memstore.model import Note
from graft_memstore.store.notes import AFTER_EVERY_ID, END_OF_TIME_MS, PageFilter

CHECK_BYTES = 8


def token_after(note: Note, wanted: PageFilter) -> str:
    """Return the token of the page that follows *note* in the listing *wanted*."""
    place = [note.recorded_at_ms, note.id]
    content = json.dumps([*place, _check(wanted, note.recorded_at_ms, note.id)])
    return base64.urlsafe_b64encode(content.encode()).decode()


def page_of(wanted: PageFilter, token: str) -> PageFilter:
    """Return *wanted* from where *token* says; from the beginning when it is empty.

    Raises:
        BadPageTokenError: the token is none, or another listing's.
    """
    if not token:
        return wanted
    try:
        content = json.loads(base64.urlsafe_b64decode(token.encode()))
        before_at_ms, before_id, check = content
        good = check == _check(wanted, int(before_at_ms), str(before_id))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise _refusal() from error
    if not good:
        raise _refusal()
    return replace(wanted, before_at_ms=int(before_at_ms), before_id=str(before_id))


def _refusal() -> BadPageTokenError:
    return BadPageTokenError(
        "the page token is not one that this listing gave out; "
        "send next_page_token with the same other fields, or begin anew without one"
    )


def _check(wanted: PageFilter, before_at_ms: int, before_id: str) -> str:
    """Return a digest of the listing and the place in it."""
    first = replace(wanted, before_at_ms=END_OF_TIME_MS, before_id=AFTER_EVERY_ID)
    fields = encode_fields(repr(first), before_at_ms, before_id)
    return blake3(fields).hexdigest(length=CHECK_BYTES)
