"""Keeping a memory in order, for programs: `Graft.maintenance` and its awaited twin."""

from collections.abc import AsyncIterator, Iterator

from graft_client import operations, upkeep_operations
from graft_client.calling import AsyncCall, AsyncStream, Call, Stream
from graft_client.calls import Calls
from graft_client.repairs import Repair
from graft_client.scope import AllScopes
from graft_client.upkeep_reports import (
    Applied,
    ConsolidateStep,
    Resolved,
    ScanStep,
    UpkeepDecision,
    UpkeepEvent,
    UpkeepStatus,
)

UPKEEP_SECONDS = 600.0
"""What a scan or making edges anew may take, or longer where calls may."""


class Maintenance:
    """Finds what somebody should judge, and does what loses nothing."""

    def __init__(self, calls: Calls, call: Call, stream: Stream) -> None:
        self._calls = calls
        self._call = call
        self._stream = stream

    def status(self, *, scope: str | AllScopes = "") -> UpkeepStatus:
        """Say what waits, and when upkeep was last done."""
        scopes = self._calls.read_scopes(scope)
        return self._call(upkeep_operations.look(self._calls.profile, scopes))

    def scan(
        self, *, idle_days: int | None = None, limit: int = 0, scope: str | AllScopes = ""
    ) -> Iterator[ScanStep]:
        """Look through the notes: a step for every page of them, then a report.

        Args:
            idle_days: for which a note may stay without an edge before it is found; None: 30.
            limit: things to return at most; 0: the service's own figure.
            scope: where to look; a pair is found where the scopes of both notes are looked at.
        """
        scopes = self._calls.read_scopes(scope)
        operation = upkeep_operations.scan(
            self._calls.profile, scopes, idle_days=idle_days, limit=limit
        )
        yield from self._stream(operation, UPKEEP_SECONDS)

    def resolve(
        self,
        item: int,
        decision: UpkeepDecision,
        *,
        reason: str,
        keep: str = "",
        request_id: str | None = None,
    ) -> Resolved:
        """Decide one thing that waits; with "supersede" *keep* names the note that stays."""
        return self._call(self._calls.resolve(item, decision, keep, reason, request_id))

    def apply_safe(self, *, dry_run: bool = False, scope: str | AllScopes = "") -> Applied:
        """Do what loses nothing, or with *dry_run* tell what that would be."""
        scopes = self._calls.read_scopes(scope)
        operation = upkeep_operations.apply_safe(self._calls.profile, scopes, dry_run=dry_run)
        return self._call(operation)

    def repair(self, *, profile: str = "", dry_run: bool = False) -> tuple[Repair, ...]:
        """Make anew what the profile's file derives from its notes, where that is wrong.

        Args:
            profile: another one than the client's.
            dry_run: only tell what would be done.
        """
        name = profile or self._calls.profile
        return self._call(operations.repair_profile(name, dry_run=dry_run))

    def log(self, *, limit: int = 0, note_id: str = "") -> tuple[UpkeepEvent, ...]:
        """List what upkeep did and what was decided of what it found, newest first."""
        operation = upkeep_operations.events(self._calls.profile, limit=limit, note_id=note_id)
        return self._call(operation)

    def consolidate(
        self, *, dry_run: bool = False, scope: str | AllScopes = ""
    ) -> Iterator[ConsolidateStep]:
        """Make all edges anew in the background, and watch how far that is."""
        scopes = self._calls.read_scopes(scope)
        operation = upkeep_operations.consolidate(self._calls.profile, scopes, dry_run=dry_run)
        yield from self._stream(operation, UPKEEP_SECONDS)


class AsyncMaintenance:
    """Finds what somebody should judge, and does what loses nothing."""

    def __init__(self, calls: Calls, call: AsyncCall, stream: AsyncStream) -> None:
        self._calls = calls
        self._call = call
        self._stream = stream

    async def status(self, *, scope: str | AllScopes = "") -> UpkeepStatus:
        """Say what waits, and when upkeep was last done."""
        scopes = self._calls.read_scopes(scope)
        return await self._call(upkeep_operations.look(self._calls.profile, scopes))

    async def scan(
        self, *, idle_days: int | None = None, limit: int = 0, scope: str | AllScopes = ""
    ) -> AsyncIterator[ScanStep]:
        """Look through the notes: a step for every page of them, then a report.

        Args:
            idle_days: for which a note may stay without an edge before it is found; None: 30.
            limit: things to return at most; 0: the service's own figure.
            scope: where to look; a pair is found where the scopes of both notes are looked at.
        """
        scopes = self._calls.read_scopes(scope)
        operation = upkeep_operations.scan(
            self._calls.profile, scopes, idle_days=idle_days, limit=limit
        )
        async for step in self._stream(operation, UPKEEP_SECONDS):
            yield step

    async def resolve(
        self,
        item: int,
        decision: UpkeepDecision,
        *,
        reason: str,
        keep: str = "",
        request_id: str | None = None,
    ) -> Resolved:
        """Decide one thing that waits; with "supersede" *keep* names the note that stays."""
        return await self._call(self._calls.resolve(item, decision, keep, reason, request_id))

    async def apply_safe(self, *, dry_run: bool = False, scope: str | AllScopes = "") -> Applied:
        """Do what loses nothing, or with *dry_run* tell what that would be."""
        scopes = self._calls.read_scopes(scope)
        operation = upkeep_operations.apply_safe(self._calls.profile, scopes, dry_run=dry_run)
        return await self._call(operation)

    async def repair(self, *, profile: str = "", dry_run: bool = False) -> tuple[Repair, ...]:
        """Make anew what the profile's file derives from its notes, where that is wrong.

        Args:
            profile: another one than the client's.
            dry_run: only tell what would be done.
        """
        name = profile or self._calls.profile
        return await self._call(operations.repair_profile(name, dry_run=dry_run))

    async def log(self, *, limit: int = 0, note_id: str = "") -> tuple[UpkeepEvent, ...]:
        """List what upkeep did and what was decided of what it found, newest first."""
        operation = upkeep_operations.events(self._calls.profile, limit=limit, note_id=note_id)
        return await self._call(operation)

    async def consolidate(
        self, *, dry_run: bool = False, scope: str | AllScopes = ""
    ) -> AsyncIterator[ConsolidateStep]:
        """Make all edges anew in the background, and watch how far that is."""
        scopes = self._calls.read_scopes(scope)
        operation = upkeep_operations.consolidate(self._calls.profile, scopes, dry_run=dry_run)
        async for step in self._stream(operation, UPKEEP_SECONDS):
            yield step
