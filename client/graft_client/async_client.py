"""Graft for asyncio programs: the verbs of `graft_client.client`, each to be awaited."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, Unpack

from google.protobuf.message import Message
from typing_extensions import override

from graft_client import gate_operations, operations, receipt_operations, upkeep
from graft_client.async_connection import AsyncConnection
from graft_client.async_correcting import AsyncCorrectCalls
from graft_client.async_logbook import AsyncLogCalls
from graft_client.async_reviewing import AsyncReviewCalls
from graft_client.calls import GATE_SECONDS, REINDEX_POLL_SECONDS, Calls, batches, new_request_id
from graft_client.connection import Connection
from graft_client.explanations import ClearedMisses, Explanation, Misses
from graft_client.filing import AsyncFiling
from graft_client.gate_reports import GateReset, GateStep
from graft_client.history import GotNote
from graft_client.maintenance import AsyncMaintenance
from graft_client.operation import Operation
from graft_client.operations import Listing
from graft_client.recall_operations import Search, Walk
from graft_client.requests import AsOfFields, NewNote, NoteFields, SecretsWish
from graft_client.results import (
    Check,
    Deleted,
    Inserted,
    Note,
    Profile,
    QueryAnswer,
    ReindexProgress,
    Retrieved,
    State,
    Stats,
    Status,
)
from graft_client.scope import AllScopes
from graft_client.services import Services
from graft_client.settings import Configuration, SettingFields, as_flags, configure
from graft_client.times import to_milliseconds
from graft_client.walks import Classified, Explored

ReplyT = TypeVar("ReplyT", bound=Message)
ResultT = TypeVar("ResultT")


class AsyncGraft(AsyncCorrectCalls, AsyncReviewCalls, AsyncLogCalls):
    """One memory, as one asyncio program sees it; what it does is what `Graft` does.

    Belongs to the event loop of its first call; close it, or use it in an ``async with``.

    Every method raises a `graft_client.errors.GraftError` when it cannot do its work.
    """

    def __init__(
        self,
        *,
        home: str | Path | None = None,
        configuration: Configuration | None = None,
        **settings: Unpack[SettingFields],
    ) -> None:
        """Read settings; nothing is called yet.

        Args:
            home: directory of the memory; None: GRAFT_HOME, else ``~/.graft``.
            configuration: all of it at once, instead of the others.
            settings: settings that beat the environment and the settings file: *profile*,
                *scope*, *author*, *timeout_seconds* of a call, *autostart* of the services.

        Raises:
            SettingsError: a setting has a value that cannot be used.
        """
        self._configuration = configuration or configure(home=home, flags=as_flags(settings))
        self._calls = Calls(self._configuration, new_request_id)
        self._seconds = self._configuration.timeout_seconds
        self._services = Services(self._configuration)
        self._reviewer_token = ""
        self._connection = AsyncConnection(self._services)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; the services go on."""
        await self._connection.close()

    @property
    def configuration(self) -> Configuration:
        """What its calls go by."""
        return self._configuration

    @property
    def filing(self) -> AsyncFiling:
        """Keywords, sources and scopes of notes."""
        return AsyncFiling(self._calls, self._call)

    @property
    def maintenance(self) -> AsyncMaintenance:
        """Keeping the memory in order."""
        return AsyncMaintenance(self._calls, self._call, self._stream)

    def within(self, seconds: float) -> Self:
        """Give a twin on the same connection whose calls may take *seconds*."""
        twin = copy(self)
        twin._seconds = seconds  # noqa: SLF001 - of our own class
        return twin

    async def insert(
        self,
        title: str,
        body: str = "",
        *,
        wait: bool = False,
        request_id: str | None = None,
        secrets: SecretsWish = "",
        **fields: Unpack[NoteFields],
    ) -> Inserted:
        """Store a note; the optional fields are those of `NewNote`."""
        note = NewNote(title=title, body=body, **fields)
        return await self.insert_note(note, wait=wait, request_id=request_id, secrets=secrets)

    async def insert_note(
        self,
        note: NewNote,
        *,
        wait: bool = False,
        request_id: str | None = None,
        secrets: SecretsWish = "",
    ) -> Inserted:
        """Store a note that has been put together before; see `insert`."""
        # It may look at the note's files; a thread does that, the loop goes on.
        made = await asyncio.to_thread(
            self._calls.insert, note, wait=wait, request_id=request_id, secrets=secrets
        )
        return await self._call(made)

    async def insert_many(
        self, notes: Iterable[NewNote], *, wait: bool = False, secrets: SecretsWish = ""
    ) -> tuple[Inserted, ...]:
        """Store many notes, in batches of which each is stored whole or not at all."""
        inserted: list[Inserted] = []
        for batch in batches(notes):
            made = await asyncio.to_thread(
                self._calls.insert_many, batch, wait=wait, secrets=secrets
            )
            stored = await self._call(made)
            inserted.extend(stored)
        return tuple(inserted)

    async def get(self, note_id: str, **instants: Unpack[AsOfFields]) -> GotNote:
        """Fetch one note by its id, or a prefix or suffix of 8 digits or more; see `query`."""
        return await self._call(operations.get(self._calls.profile, note_id, instants))

    async def list(
        self,
        *,
        keywords: Sequence[str] = (),
        state: State = "active",
        since: datetime | None = None,
        scope: str | AllScopes = "",
        bodies: bool = False,
        **instants: Unpack[AsOfFields],
    ) -> AsyncIterator[Note]:
        """List notes, newest first; pages are fetched as they are needed."""
        choice = self._calls.read_scopes(scope)
        since_ms = 0 if since is None else to_milliseconds(since)
        listing = Listing(
            keywords=tuple(keywords),
            state=state,
            since_ms=since_ms,
            instants=instants,
            bodies=bodies,
        )
        token = ""
        while True:
            page = await self._call(self._calls.list_page(choice, listing, token))
            for note in page.notes:
                yield note
            token = page.next_page_token
            if not token:
                return

    async def delete(self, note_id: str, *, reason: str, request_id: str | None = None) -> Deleted:
        """Take a note away: erased through the door cli, retired through any other."""
        return await self._call(self._calls.delete(note_id, reason=reason, request_id=request_id))

    async def stats(self, *, scope: str | AllScopes = "") -> Stats:
        """Count what the profile holds."""
        return await self._call(self._calls.stats(self._calls.read_scopes(scope)))

    async def query(
        self,
        text: str,
        *,
        scope: str | AllScopes = "",
        context: Sequence[str] = (),
        **instants: Unpack[AsOfFields],
    ) -> QueryAnswer:
        """Ask whether a problem has been seen before; all but STRONG is a hint at most.

        Args:
            text: the question.
            scope: only this scope, or `ALL_SCOPES`; empty: the default ones.
            context: what is there, such as ``pypi:django@5.1`` or ``os:linux``: a note whose
                range it lies outside is no STRONG answer.
            instants: *valid_at*, what was true then; *known_at*, what was known then.
        """
        choice = self._calls.read_scopes(scope)
        answer = await self._call(self._calls.query(text, choice, context, instants))
        if not answer.to_confirm:
            return answer
        return await self._call(await asyncio.to_thread(self._calls.confirm, answer))

    async def retrieve(
        self,
        text: str,
        *,
        top_k: int = 0,
        keywords: Sequence[str] = (),
        match_all: bool = False,
        scope: str | AllScopes = "",
        **instants: Unpack[AsOfFields],
    ) -> Retrieved:
        """Search by meaning and words together."""
        search = Search(
            text=text,
            top_k=top_k,
            keywords=tuple(keywords),
            match_all=match_all,
            instants=instants,
        )
        return await self._call(self._calls.retrieve(search, self._calls.read_scopes(scope)))

    async def explore(
        self,
        text: str,
        *,
        keywords: Sequence[str] = (),
        depth: int = 0,
        beam: int = 0,
        scope: str | AllScopes = "",
        **instants: Unpack[AsOfFields],
    ) -> Explored:
        """Walk from the notes nearest to a text along the edges that join notes."""
        walk = Walk(text=text, keywords=tuple(keywords), depth=depth, beam=beam, instants=instants)
        return await self._call(self._calls.explore(walk, self._calls.read_scopes(scope)))

    async def classify(self, title: str, *, scope: str | AllScopes = "") -> Classified:
        """Suggest keywords for a note that is not stored yet, from those of its neighbours."""
        return await self._call(self._calls.classify(title, self._calls.read_scopes(scope)))

    async def explain(self, receipt: str) -> Explanation:
        """Tell what an answer was made of, by its receipt or 8 digits or more of its ends."""
        return await self._call(receipt_operations.explain(self._calls.profile, receipt))

    async def misses(self, *, limit: int = 0, scope: str | AllScopes = "") -> Misses:
        """List questions that nothing answered, grouped by meaning, most asked first.

        Args:
            limit: groups wanted, at most 500; 0 means 50.
            scope: only this scope, or `ALL_SCOPES`; empty: the default ones. A question is told
                where every scope that it was asked in is looked at.
        """
        choice = self._calls.read_scopes(scope)
        return await self._call(receipt_operations.misses(self._calls.profile, choice, limit=limit))

    async def clear_misses(
        self, *, scope: str | AllScopes = "", request_id: str | None = None
    ) -> ClearedMisses:
        """Erase the questions that `misses` would list, however many there are."""
        choice = self._calls.read_scopes(scope)
        return await self._call(self._calls.clear_misses(choice, request_id))

    async def profiles(self) -> tuple[Profile, ...]:
        """List the profiles."""
        return await self._call(operations.profiles())

    async def add_profile(self, name: str) -> Profile:
        """Make a profile."""
        return await self._call(operations.add_profile(name))

    async def start_reindex(self, model: str) -> None:
        """Begin to move the profile to another model; it goes on in the background."""
        await self._call(self._calls.start_reindex(model))

    async def reindex_progress(self) -> AsyncIterator[ReindexProgress]:
        """Follow a reindex: what is seen twice a second until none runs, the end included."""
        while True:
            progress = await self._call(operations.get_reindex(self._calls.profile))
            yield progress
            if progress.state == "none":
                return
            await asyncio.sleep(REINDEX_POLL_SECONDS)

    async def check_profile(self, profile: str = "") -> tuple[Check, ...]:
        """Check a profile's file from inside, its own by default; repairs nothing."""
        return await self._call(operations.check_profile(profile or self._calls.profile))

    async def measure_gate(self, *, apply: bool = False) -> AsyncIterator[GateStep]:
        """Measure the gate on the profile's own notes: a step for each question, then a report.

        It may take ten minutes, or longer where the client's calls may.

        Args:
            apply: make the proposed threshold the profile's own if nothing speaks against it.
        """
        operation = gate_operations.measure_gate(self._calls.profile, apply=apply)
        async for step in self._stream(operation, GATE_SECONDS):
            yield step

    async def reset_gate(self) -> GateReset:
        """Take the profile's own threshold away; undoes what `measure_gate` applied."""
        return await self._call(gate_operations.reset_gate(self._calls.profile))

    async def status(self) -> Status:
        """Say how the services are; starts nothing."""
        return await asyncio.to_thread(self._read_status)

    async def start(self) -> Status:
        """Start the memstore, even where calls may not, and say how it is."""
        deadline = time.monotonic() + self._seconds
        await asyncio.to_thread(self._services.ensure, deadline, asked=True)
        return await self.status()

    async def load_model(self) -> str:
        """Make the profile's model ready; see `Graft.load_model`."""
        return await self._call(operations.load_model(self._calls.profile))

    async def stop(self, *, force: bool = False, only_if_idle: bool = False) -> int | None:
        """End the services; returns the memstore's process, None when none ran."""
        end = upkeep.End(force=force, only_if_idle=only_if_idle, seconds=self._seconds)
        return await asyncio.to_thread(self._stop, end)

    # Processes are looked after with blocking calls: they poll locks and connect to sockets.

    def _read_status(self) -> Status:
        connection = Connection(self._services)
        return upkeep.read_status(self._services, connection, self._seconds)

    def _stop(self, end: upkeep.End) -> int | None:
        return upkeep.stop_services(self._services, Connection(self._services), end)

    @override
    async def _call(self, operation: Operation[ReplyT, ResultT], /) -> ResultT:
        made = replace(operation, reviewer_token=self._reviewer_token)
        return await self._connection.call(made, self._seconds)

    def _stream(
        self, operation: Operation[ReplyT, ResultT], seconds_min: float, /
    ) -> AsyncIterator[ResultT]:
        made = replace(operation, reviewer_token=self._reviewer_token)
        return self._connection.stream(made, max(self._seconds, seconds_min))
