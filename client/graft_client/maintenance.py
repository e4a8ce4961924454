"""Keeping a memory in order, for programs: `Graft.maintenance` and its awaited twin."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import TypeVar

from google.protobuf.message import Message

from graft_client import upkeep_operations
from graft_client.async_connection import AsyncConnection
from graft_client.calls import Calls
from graft_client.connection import Connection
from graft_client.operation import Operation
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

ReplyT = TypeVar("ReplyT", bound=Message)
ResultT = TypeVar("ResultT")

UPKEEP_SECONDS = 600.0
"""What a scan or making edges anew may take, or longer where calls may."""


class Maintenance:
    """Finds what somebody should judge, and does what loses nothing."""

    def __init__(
        self, connection: Connection, calls: Calls, seconds: float, reviewer_token: str = ""
    ) -> None:
        self._connection = connection
        self._calls = calls
        self._seconds = seconds
        self._reviewer_token = reviewer_token

    def status(self, *, scope: str | AllScopes = "") -> UpkeepStatus:
        """Say what waits, and when upkeep was last done."""
        scopes = self._calls.read_scopes(scope)
        return self._connection.call(
            upkeep_operations.look(self._calls.profile, scopes), self._seconds
        )

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
        yield from self._connection.stream(operation, max(self._seconds, UPKEEP_SECONDS))

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
        operation = upkeep_operations.resolve(
            self._calls.profile,
            item,
            decision,
            keep=keep,
            reason=reason,
            request_id=self._calls.request_id(request_id),
        )
        return self._call(operation)

    def apply_safe(self, *, dry_run: bool = False, scope: str | AllScopes = "") -> Applied:
        """Do what loses nothing, or with *dry_run* tell what that would be."""
        scopes = self._calls.read_scopes(scope)
        operation = upkeep_operations.apply_safe(self._calls.profile, scopes, dry_run=dry_run)
        return self._call(operation)

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
        yield from self._connection.stream(operation, max(self._seconds, UPKEEP_SECONDS))

    def _call(self, operation: Operation[ReplyT, ResultT]) -> ResultT:
        made = replace(operation, reviewer_token=self._reviewer_token)
        return self._connection.call(made, self._seconds)


class AsyncMaintenance:
    """Finds what somebody should judge, and does what loses nothing."""

    def __init__(
        self, connection: AsyncConnection, calls: Calls, seconds: float, reviewer_token: str = ""
    ) -> None:
        self._connection = connection
        self._calls = calls
        self._seconds = seconds
        self._reviewer_token = reviewer_token

    async def status(self, *, scope: str | AllScopes = "") -> UpkeepStatus:
        """Say what waits, and when upkeep was last done."""
        scopes = self._calls.read_scopes(scope)
        return await self._connection.call(
            upkeep_operations.look(self._calls.profile, scopes), self._seconds
        )

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
        async for step in self._connection.stream(operation, max(self._seconds, UPKEEP_SECONDS)):
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
        operation = upkeep_operations.resolve(
            self._calls.profile,
            item,
            decision,
            keep=keep,
            reason=reason,
            request_id=self._calls.request_id(request_id),
        )
        return await self._call(operation)

    async def apply_safe(self, *, dry_run: bool = False, scope: str | AllScopes = "") -> Applied:
        """Do what loses nothing, or with *dry_run* tell what that would be."""
        scopes = self._calls.read_scopes(scope)
        operation = upkeep_operations.apply_safe(self._calls.profile, scopes, dry_run=dry_run)
        return await self._call(operation)

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
        async for step in self._connection.stream(operation, max(self._seconds, UPKEEP_SECONDS)):
            yield step

    async def _call(self, operation: Operation[ReplyT, ResultT]) -> ResultT:
        made = replace(operation, reviewer_token=self._reviewer_token)
        return await self._connection.call(made, self._seconds)
