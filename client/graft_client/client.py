"""Graft for programs: store notes and ask for them, one blocking call for each verb."""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, Unpack

from google.protobuf.message import Message
from typing_extensions import override

from graft_client import gate_operations, operations, receipt_operations, upkeep
from graft_client.backup_calls import BackupCalls
from graft_client.calls import GATE_SECONDS, REINDEX_POLL_SECONDS, Calls, batches, new_request_id
from graft_client.connection import Connection
from graft_client.correcting import CorrectCalls
from graft_client.explanations import ClearedMisses, Explanation, Misses
from graft_client.filing import Filing
from graft_client.gate_reports import GateReset, GateStep
from graft_client.history import GotNote
from graft_client.logbook import LogCalls
from graft_client.maintenance import Maintenance
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
from graft_client.reviewing import ReviewCalls
from graft_client.scope import AllScopes
from graft_client.services import Services
from graft_client.settings import Configuration, SettingFields, as_flags, configure
from graft_client.times import to_milliseconds
from graft_client.walks import Classified, Explored

ReplyT = TypeVar("ReplyT", bound=Message)
ResultT = TypeVar("ResultT")


class Graft(CorrectCalls, ReviewCalls, LogCalls, BackupCalls):
    """One memory, as one caller sees it.

    The services are found and, where nothing answers, started at the first call. Every call has
    a deadline and is repeated where that is safe. May be used from several threads at once;
    close it, or use it in a ``with`` statement.

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
        self._connection = Connection(self._services)
        self._closed = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the services go on."""
        self._closed.set()
        self._connection.close()

    @property
    def configuration(self) -> Configuration:
        """What its calls go by."""
        return self._configuration

    @property
    def filing(self) -> Filing:
        """Keywords, sources and scopes of notes."""
        return Filing(self._calls, self._call)

    @property
    def maintenance(self) -> Maintenance:
        """Keeping the memory in order."""
        return Maintenance(self._calls, self._call, self._stream)

    def within(self, seconds: float) -> Self:
        """Give a twin on the same connection whose calls may take *seconds*."""
        twin = copy(self)
        twin._seconds = seconds  # noqa: SLF001 - of our own class
        return twin

    def insert(
        self,
        title: str,
        body: str = "",
        *,
        wait: bool = False,
        request_id: str | None = None,
        secrets: SecretsWish = "",
        **fields: Unpack[NoteFields],
    ) -> Inserted:
        """Store a note; the optional fields are those of `NewNote`.

        Args:
            title: what it is about, one line.
            body: Markdown.
            wait: wait until all its passages are embedded, not only the title.
            request_id: UUID that makes a repeated call safe over programs; None: a new one.
            secrets: refuse what looks like a secret (``strict``), or say that it is meant
                (``allow``); empty: the setting.
            fields: see `NewNote`.
        """
        note = NewNote(title=title, body=body, **fields)
        return self.insert_note(note, wait=wait, request_id=request_id, secrets=secrets)

    def insert_note(
        self,
        note: NewNote,
        *,
        wait: bool = False,
        request_id: str | None = None,
        secrets: SecretsWish = "",
    ) -> Inserted:
        """Store a note that has been put together before; see `insert`."""
        made = self._calls.insert(note, wait=wait, request_id=request_id, secrets=secrets)
        return self._call(made)

    def insert_many(
        self, notes: Iterable[NewNote], *, wait: bool = False, secrets: SecretsWish = ""
    ) -> tuple[Inserted, ...]:
        """Store many notes, in batches of which each is stored whole or not at all."""
        return tuple(chain.from_iterable(self.insert_batches(notes, wait=wait, secrets=secrets)))

    def insert_batches(
        self, notes: Iterable[NewNote], *, wait: bool = False, secrets: SecretsWish = ""
    ) -> Iterator[tuple[Inserted, ...]]:
        """Store many notes, one batch for every step of the iterator that comes back."""
        for batch in batches(notes):
            yield self._call(self._calls.insert_many(batch, wait=wait, secrets=secrets))

    def get(self, note_id: str, **instants: Unpack[AsOfFields]) -> GotNote:
        """Fetch one note by its id, or a prefix or suffix of 8 digits or more; see `query`."""
        return self._call(operations.get(self._calls.profile, note_id, instants))

    def list(
        self,
        *,
        keywords: Sequence[str] = (),
        state: State = "active",
        since: datetime | None = None,
        scope: str | AllScopes = "",
        bodies: bool = False,
        **instants: Unpack[AsOfFields],
    ) -> Iterator[Note]:
        """List notes, newest first; pages are fetched as they are needed.

        Args:
            keywords: only notes that carry all of them.
            state: only notes in this state.
            since: only notes stored at or after this instant.
            scope: only this scope, or `ALL_SCOPES`; empty: the default ones.
            bodies: give them whole, for a copy; it counts as no use of them.
        """
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
            page = self._call(self._calls.list_page(choice, listing, token))
            yield from page.notes
            token = page.next_page_token
            if not token:
                return

    def delete(self, note_id: str, *, reason: str, request_id: str | None = None) -> Deleted:
        """Take a note away: erased through the door cli, retired through any other."""
        return self._call(self._calls.delete(note_id, reason=reason, request_id=request_id))

    def stats(self, *, scope: str | AllScopes = "") -> Stats:
        """Count what the profile holds."""
        return self._call(self._calls.stats(self._calls.read_scopes(scope)))

    def query(
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
        answer = self._call(self._calls.query(text, choice, context, instants))
        return self._call(self._calls.confirm(answer)) if answer.to_confirm else answer

    def retrieve(
        self,
        text: str,
        *,
        top_k: int = 0,
        keywords: Sequence[str] = (),
        match_all: bool = False,
        scope: str | AllScopes = "",
        **instants: Unpack[AsOfFields],
    ) -> Retrieved:
        """Search by meaning and words together.

        Args:
            text: what to look for.
            top_k: results wanted; 0 means 25.
            keywords: only notes with these.
            match_all: with all of *keywords* instead of any.
            scope: only this scope, or `ALL_SCOPES`; empty: the default ones.
        """
        choice = self._calls.read_scopes(scope)
        search = Search(
            text=text,
            top_k=top_k,
            keywords=tuple(keywords),
            match_all=match_all,
            instants=instants,
        )
        return self._call(self._calls.retrieve(search, choice))

    def explore(
        self,
        text: str,
        *,
        keywords: Sequence[str] = (),
        depth: int = 0,
        beam: int = 0,
        scope: str | AllScopes = "",
        **instants: Unpack[AsOfFields],
    ) -> Explored:
        """Walk from the notes nearest to a text along the edges that join notes.

        Args:
            text: where to begin.
            keywords: begin at notes that carry one of these.
            depth: steps to walk; 0 means 3.
            beam: notes to keep at each step; 0 means 4.
            scope: only this scope, or `ALL_SCOPES`; empty: the default ones.
        """
        choice = self._calls.read_scopes(scope)
        walk = Walk(text=text, keywords=tuple(keywords), depth=depth, beam=beam, instants=instants)
        return self._call(self._calls.explore(walk, choice))

    def classify(self, title: str, *, scope: str | AllScopes = "") -> Classified:
        """Suggest keywords for a note that is not stored yet, from those of its neighbours."""
        return self._call(self._calls.classify(title, self._calls.read_scopes(scope)))

    def explain(self, receipt: str) -> Explanation:
        """Tell what an answer was made of, by its receipt or 8 digits or more of its ends."""
        return self._call(receipt_operations.explain(self._calls.profile, receipt))

    def misses(self, *, limit: int = 0, scope: str | AllScopes = "") -> Misses:
        """List questions that nothing answered, grouped by meaning, most asked first.

        Args:
            limit: groups wanted, at most 500; 0 means 50.
            scope: only this scope, or `ALL_SCOPES`; empty: the default ones. A question is told
                where every scope that it was asked in is looked at.
        """
        choice = self._calls.read_scopes(scope)
        return self._call(receipt_operations.misses(self._calls.profile, choice, limit=limit))

    def clear_misses(
        self, *, scope: str | AllScopes = "", request_id: str | None = None
    ) -> ClearedMisses:
        """Erase the questions that `misses` would list, however many there are."""
        choice = self._calls.read_scopes(scope)
        return self._call(self._calls.clear_misses(choice, request_id))

    def profiles(self) -> tuple[Profile, ...]:
        """List the profiles."""
        return self._call(operations.profiles())

    def add_profile(self, name: str) -> Profile:
        """Make a profile."""
        return self._call(operations.add_profile(name))

    def start_reindex(self, model: str) -> None:
        """Begin to move the profile to another model; it goes on in the background."""
        self._call(self._calls.start_reindex(model))

    def reindex_progress(self) -> Iterator[ReindexProgress]:
        """Follow a reindex: what is seen twice a second until none runs, the end included."""
        while True:
            progress = self._call(operations.get_reindex(self._calls.profile))
            yield progress
            if progress.state == "none" or self._closed.wait(REINDEX_POLL_SECONDS):
                return

    def check_profile(self, profile: str = "") -> tuple[Check, ...]:
        """Check a profile's file from inside, its own by default; repairs nothing."""
        return self._call(operations.check_profile(profile or self._calls.profile))

    def measure_gate(self, *, apply: bool = False) -> Iterator[GateStep]:
        """Measure the gate on the profile's own notes: a step for each question, then a report.

        It may take ten minutes, or longer where the client's calls may.

        Args:
            apply: make the proposed threshold the profile's own if nothing speaks against it.
        """
        operation = gate_operations.measure_gate(self._calls.profile, apply=apply)
        yield from self._stream(operation, GATE_SECONDS)

    def reset_gate(self) -> GateReset:
        """Take the profile's own threshold away; undoes what `measure_gate` applied."""
        return self._call(gate_operations.reset_gate(self._calls.profile))

    def status(self) -> Status:
        """Say how the services are; starts nothing."""
        return upkeep.read_status(self._services, self._connection, self._seconds)

    def start(self) -> Status:
        """Start the memstore, even where calls may not, and say how it is."""
        self._services.ensure(time.monotonic() + self._seconds, asked=True)
        return self.status()

    def load_model(self) -> str:
        """Make the profile's model ready, so that the next question waits for nothing.

        Returns:
            The model's name.

        Raises:
            GraftError: it is not loaded in time, or cannot be.
        """
        return self._call(operations.load_model(self._calls.profile))

    def stop(self, *, force: bool = False, only_if_idle: bool = False) -> int | None:
        """End the services; returns the memstore's process, None when none ran."""
        end = upkeep.End(force=force, only_if_idle=only_if_idle, seconds=self._seconds)
        return upkeep.stop_services(self._services, self._connection, end)

    @override
    def _call(self, operation: Operation[ReplyT, ResultT], /) -> ResultT:
        made = replace(operation, reviewer_token=self._reviewer_token)
        return self._connection.call(made, self._seconds)

    @override
    def _stream(
        self, operation: Operation[ReplyT, ResultT], seconds_min: float, /
    ) -> Iterator[ResultT]:
        made = replace(operation, reviewer_token=self._reviewer_token)
        return self._connection.stream(made, max(self._seconds, seconds_min))
