"""The asyncio twin of `graft_client.correcting`."""

from typing import Unpack

from graft_client.calling import AsyncCall
from graft_client.calls import Calls
from graft_client.requests import TimeFields
from graft_client.results import Changed


class AsyncCorrectCalls:
    """The verbs that change what a note is worth."""

    _calls: Calls
    _call: AsyncCall

    async def supersede(
        self, note_id: str, *, by: str, reason: str, request_id: str | None = None
    ) -> Changed:
        """Put the note *by* in the place of another, which no search shows any more."""
        return await self._call(self._calls.supersede(note_id, by, reason, request_id))

    async def retire(self, note_id: str, *, reason: str, request_id: str | None = None) -> Changed:
        """Take a note out of use."""
        return await self._call(self._calls.say("retire", note_id, reason, request_id))

    async def restore(self, note_id: str, *, reason: str, request_id: str | None = None) -> Changed:
        """Put a retired note to use again."""
        return await self._call(self._calls.say("restore", note_id, reason, request_id))

    async def reject(self, note_id: str, *, reason: str, request_id: str | None = None) -> Changed:
        """Say that a note was wrong: what it says is refused from now on."""
        return await self._call(self._calls.say("reject", note_id, reason, request_id))

    async def dispute(self, note_id: str, *, reason: str, request_id: str | None = None) -> Changed:
        """Say that a note may be wrong: it is at most a WEAK answer then."""
        return await self._call(self._calls.say("dispute", note_id, reason, request_id))

    async def mark_stale(
        self, note_id: str, *, reason: str, request_id: str | None = None
    ) -> Changed:
        """Say that what a note rests on has changed: it is at most WEAK then."""
        return await self._call(self._calls.say("mark-stale", note_id, reason, request_id))

    async def set_times(
        self,
        note_id: str,
        *,
        reason: str,
        request_id: str | None = None,
        **times: Unpack[TimeFields],
    ) -> Changed:
        """Set from when until when a note is true, and from when on it is not shown.

        Args:
            note_id: of an active note.
            reason: why.
            request_id: UUID that makes a repeated call safe over programs; None: a new one.
            times: *valid_from*, *valid_to*, *expires_at*; None takes one away, one that is not
                given stays.
        """
        return await self._call(self._calls.set_times(note_id, times, reason, request_id))

    async def undo(self, event: int, *, reason: str, request_id: str | None = None) -> Changed:
        """Take back the last change of a note, by the event that recorded it."""
        return await self._call(self._calls.undo(event, reason, request_id))
