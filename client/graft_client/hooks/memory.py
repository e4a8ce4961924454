"""What hooks ask of the memory: whoever answers now, and nothing is started or waited for."""

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from graft.memory.v1 import (
    daemon_service_pb2,
    note_pb2,
    notes_service_pb2,
    recall_service_pb2,
    review_service_pb2,
)
from graft.wire.endpoints import PLAIN, Endpoint, Trust
from graft.wire.launch import StartError, find_running
from graft.wire.metadata import AUTHORIZATION_KEY, HOOK_DOOR, CallMetadata
from graft_client.errors import SettingsError
from graft_client.hooks.unary import UnaryError, call
from graft_client.programs import MEMSTORE
from graft_client.scope import ScopeChoice, read_scopes
from graft_client.settings import Configuration

EMBED_TOKENS = 48
"""Tokens of a question that are embedded: a person waits for it."""

ReplyT = TypeVar("ReplyT", bound=Message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memstore that answers, for one session of an agent."""

    at: Path | Endpoint
    trust: Trust
    credentials: tuple[tuple[str, str], ...] = field(repr=False)
    profile: str
    scopes: tuple[str, ...]
    session: str
    agent: str
    deadline: float

    def query(self, text: str) -> recall_service_pb2.QueryResponse:
        """Ask the gate.

        Raises:
            UnaryError: it does not answer in time; so with every call.
        """
        request = recall_service_pb2.QueryRequest(
            profile=self.profile, scope=self._filter(), text=text, embed_tokens_max=EMBED_TOKENS
        )
        reply = recall_service_pb2.QueryResponse()
        return self._ask("RecallService/Query", request, reply)

    def stats(self) -> notes_service_pb2.GetStatsResponse:
        """Count the notes, and take along what the session is to be told."""
        request = notes_service_pb2.GetStatsRequest(
            profile=self.profile, scope=self._filter(), with_notices=True
        )
        reply = notes_service_pb2.GetStatsResponse()
        return self._ask("NotesService/GetStats", request, reply)

    def waiting(self) -> int:
        """Count what waits for a reviewer in these scopes; a bound caller may not ask for that."""
        request = review_service_pb2.ListReviewItemsRequest(
            profile=self.profile, scope=self._filter(), page_size=1
        )
        reply = review_service_pb2.ListReviewItemsResponse()
        listed = self._ask("ReviewService/ListReviewItems", request, reply, bound=False)
        return sum(each.count for each in listed.waiting)

    def has_embedder(self) -> bool:
        """Tell whether an embedder runs, or is starting."""
        reply = daemon_service_pb2.GetStatusResponse()
        request = daemon_service_pb2.GetStatusRequest()
        status = self._ask("DaemonService/GetStatus", request, reply, bound=False)
        return any(each.pid or each.state == "starting" for each in status.embedders)

    def has_saved_since(self, since_ms: int) -> bool:
        """Tell whether a note was saved at or after an instant, UTC milliseconds."""
        request = notes_service_pb2.ListNotesRequest(
            profile=self.profile, scope=self._filter(), since_ms=since_ms, page_size=1
        )
        reply = notes_service_pb2.ListNotesResponse()
        return bool(self._ask("NotesService/ListNotes", request, reply).notes)

    def _filter(self) -> note_pb2.ScopeFilter:
        return note_pb2.ScopeFilter(scopes=self.scopes)

    def _ask(self, method: str, request: Message, reply: ReplyT, *, bound: bool = True) -> ReplyT:
        told = CallMetadata(
            session=self.session,
            agent=self.agent,
            door=HOOK_DOOR,
            bound=self.scopes if bound else (),
        )
        path = f"/graft.memory.v1.{method}"
        metadata = (*told.to_pairs(), *self.credentials)
        answered = call(
            self.at, path, request.SerializeToString(), metadata, self.deadline, self.trust
        )
        try:
            reply.ParseFromString(answered)
        except DecodeError as error:
            raise UnaryError(f"{method}: not the reply that was expected") from error
        return reply


def find_memory(configuration: Configuration, session: str, deadline: float) -> Memory | None:
    """Find the memory that answers now; None where there is none.

    A hook is bound to the scopes of where the agent works, as the MCP server is.
    """
    choice: ScopeChoice = read_scopes(configuration.project(), configuration.settings.text("scope"))
    try:
        place = _place(configuration)
    except (StartError, SettingsError):
        return None  # another user's process, or a target that cannot be called
    if place is None or time.monotonic() > deadline:
        return None
    at, trust, credentials = place
    return Memory(
        at=at,
        trust=trust,
        credentials=credentials,
        profile=configuration.profile,
        scopes=choice.scopes,
        session=session,
        agent=configuration.agent,
        deadline=deadline,
    )


_Place = tuple[Path | Endpoint, Trust, tuple[tuple[str, str], ...]]


def _place(configuration: Configuration) -> _Place | None:
    """Return where the memory is, by what it is trusted, and what lets a call in."""
    target = configuration.target
    if isinstance(target, Endpoint):
        bearer = (AUTHORIZATION_KEY, f"Bearer {configuration.token()}")
        return target, configuration.trust(), (bearer,)
    if target is None:
        record = find_running(configuration.home, MEMSTORE)
        target = None if record is None else record.socket
    return None if target is None else (target, PLAIN, ())


def working_in(configuration: Configuration, directory: str) -> Configuration:
    """Give the configuration of where the agent works, if it says so."""
    return replace(configuration, directory=Path(directory)) if directory else configuration
