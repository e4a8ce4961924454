"""How notes are filed, for programs: `Graft.filing` and its awaited twin.

Their keywords, the sources that they rest on, the scopes that they are in.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence

from graft_client import scope_operations
from graft_client.calling import AsyncCall, Call
from graft_client.calls import Calls
from graft_client.filing_reports import (
    LookedAtSource,
    NoteSource,
    ScopeMoved,
    ScopeSummary,
    SourcesAdded,
    SourcesDiff,
    SourcesRefreshed,
)
from graft_client.limits import FINDINGS_MAX
from graft_client.requests import KeywordChanges
from graft_client.results import Changed, Source
from graft_client.scope import ALL_SCOPES, AllScopes
from graft_client.source_operations import SourceListing, SourceLook
from graft_client.sources import look_at_all, spend_on_looking


class Filing:
    """Keywords, sources and scopes of notes."""

    def __init__(self, calls: Calls, call: Call) -> None:
        self._calls = calls
        self._call = call

    def set_keywords(
        self,
        note_id: str,
        *,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        reason: str,
        request_id: str | None = None,
    ) -> Changed:
        """Give an active note keywords and take others away; `Graft.undo` takes that back."""
        changes = KeywordChanges(add=add, remove=remove)
        return self._call(self._calls.set_keywords(note_id, changes, reason, request_id))

    def sources(
        self, note_id: str = "", *, scope: str | AllScopes = "", mine: bool = False
    ) -> Iterator[NoteSource]:
        """List what notes rest on; pages are fetched as they are needed.

        Args:
            note_id: only of this note; empty: of all that searches show.
            scope: only this scope, or `ALL_SCOPES`; empty: the default ones.
            mine: only what belongs to the working directory's project.
        """
        listing = _listing(self._calls, note_id, scope, mine=mine)
        token = ""
        while True:
            page = self._call(self._calls.list_sources(listing, token))
            yield from page.sources
            token = page.next_page_token
            if not token:
                return

    def add_sources(
        self,
        note_id: str,
        sources: Sequence[Source],
        *,
        reason: str = "",
        request_id: str | None = None,
    ) -> SourcesAdded:
        """Give an active note further sources, with the fingerprints that they have now."""
        return self._call(self._calls.add_sources(note_id, sources, reason, request_id))

    def diff_sources(self, note_id: str = "", *, scope: str | AllScopes = "") -> SourcesDiff:
        """Look at the sources of this project, and put before the reviewer what has changed."""
        looked: tuple[LookedAtSource, ...] = ()
        waiting = 0
        for batch in _batches(_look(self._calls, self.sources(note_id, scope=scope, mine=True))):
            told = self._call(self._calls.report_sources(batch))
            looked += told.sources
            waiting += told.waiting
        return SourcesDiff(sources=looked, waiting=waiting)

    def refresh_sources(
        self, note_id: str = "", *, reason: str, scope: str | AllScopes = ""
    ) -> SourcesRefreshed:
        """Look at the sources of this project, and take what they are for what holds."""
        looked: tuple[LookedAtSource, ...] = ()
        events: tuple[int, ...] = ()
        for batch in _batches(_look(self._calls, self.sources(note_id, scope=scope, mine=True))):
            done = self._call(self._calls.refresh_sources(batch, reason))
            looked += done.sources
            events += done.events
        return SourcesRefreshed(sources=looked, events=events)

    def scopes(self, *, scope: str | AllScopes = ALL_SCOPES) -> tuple[ScopeSummary, ...]:
        """List the scopes that hold notes, all of them unless one is named."""
        choice = self._calls.read_scopes(scope)
        operation = scope_operations.list_scopes(self._calls.profile, choice)
        return self._call(operation)

    def move_scope(
        self,
        source: str,
        target: str,
        *,
        reason: str,
        dry_run: bool = False,
        request_id: str | None = None,
    ) -> ScopeMoved:
        """Move every note of one scope to another, or with *dry_run* count them."""
        move = self._calls.move_scope(source, target, reason, request_id, dry_run=dry_run)
        return self._call(move)


class AsyncFiling:
    """Keywords, sources and scopes of notes."""

    def __init__(self, calls: Calls, call: AsyncCall) -> None:
        self._calls = calls
        self._call = call

    async def set_keywords(
        self,
        note_id: str,
        *,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        reason: str,
        request_id: str | None = None,
    ) -> Changed:
        """Give an active note keywords and take others away; `Graft.undo` takes that back."""
        changes = KeywordChanges(add=add, remove=remove)
        return await self._call(self._calls.set_keywords(note_id, changes, reason, request_id))

    async def sources(
        self, note_id: str = "", *, scope: str | AllScopes = "", mine: bool = False
    ) -> AsyncIterator[NoteSource]:
        """List what notes rest on; pages are fetched as they are needed.

        Args:
            note_id: only of this note; empty: of all that searches show.
            scope: only this scope, or `ALL_SCOPES`; empty: the default ones.
            mine: only what belongs to the working directory's project.
        """
        listing = _listing(self._calls, note_id, scope, mine=mine)
        token = ""
        while True:
            page = await self._call(self._calls.list_sources(listing, token))
            for each in page.sources:
                yield each
            token = page.next_page_token
            if not token:
                return

    async def add_sources(
        self,
        note_id: str,
        sources: Sequence[Source],
        *,
        reason: str = "",
        request_id: str | None = None,
    ) -> SourcesAdded:
        """Give an active note further sources, with the fingerprints that they have now."""
        # It looks at files; a thread does that, the loop goes on.
        made = await asyncio.to_thread(
            self._calls.add_sources, note_id, sources, reason, request_id
        )
        return await self._call(made)

    async def diff_sources(self, note_id: str = "", *, scope: str | AllScopes = "") -> SourcesDiff:
        """Look at the sources of this project, and put before the reviewer what has changed."""
        looked: tuple[LookedAtSource, ...] = ()
        waiting = 0
        listed = [each async for each in self.sources(note_id, scope=scope, mine=True)]
        for batch in _batches(await asyncio.to_thread(_look, self._calls, listed)):
            told = await self._call(self._calls.report_sources(batch))
            looked += told.sources
            waiting += told.waiting
        return SourcesDiff(sources=looked, waiting=waiting)

    async def refresh_sources(
        self, note_id: str = "", *, reason: str, scope: str | AllScopes = ""
    ) -> SourcesRefreshed:
        """Look at the sources of this project, and take what they are for what holds."""
        looked: tuple[LookedAtSource, ...] = ()
        events: tuple[int, ...] = ()
        listed = [each async for each in self.sources(note_id, scope=scope, mine=True)]
        for batch in _batches(await asyncio.to_thread(_look, self._calls, listed)):
            done = await self._call(self._calls.refresh_sources(batch, reason))
            looked += done.sources
            events += done.events
        return SourcesRefreshed(sources=looked, events=events)

    async def scopes(self, *, scope: str | AllScopes = ALL_SCOPES) -> tuple[ScopeSummary, ...]:
        """List the scopes that hold notes, all of them unless one is named."""
        choice = self._calls.read_scopes(scope)
        operation = scope_operations.list_scopes(self._calls.profile, choice)
        return await self._call(operation)

    async def move_scope(
        self,
        source: str,
        target: str,
        *,
        reason: str,
        dry_run: bool = False,
        request_id: str | None = None,
    ) -> ScopeMoved:
        """Move every note of one scope to another, or with *dry_run* count them."""
        move = self._calls.move_scope(source, target, reason, request_id, dry_run=dry_run)
        return await self._call(move)


def _listing(calls: Calls, note_id: str, scope: str | AllScopes, *, mine: bool) -> SourceListing:
    return SourceListing(
        scope=calls.read_scopes(scope),
        note_id=note_id,
        projects=calls.surveyor.projects if mine else (),
    )


def _look(calls: Calls, listed: Iterator[NoteSource] | Sequence[NoteSource]) -> list[SourceLook]:
    """Look at files and commits; of anything else nobody can say what it is now."""
    found = [each for each in listed if each.source.kind in {"file", "commit"}]
    looks = look_at_all(calls.surveyor, [each.source for each in found], spend_on_looking())
    return [SourceLook(listed=each, look=look) for each, look in zip(found, looks, strict=True)]


def _batches(looks: Sequence[SourceLook]) -> Iterator[Sequence[SourceLook]]:
    for start in range(0, len(looks), FINDINGS_MAX):
        yield looks[start : start + FINDINGS_MAX]
