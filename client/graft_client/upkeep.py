"""The services as processes: how they are, and how they are ended."""

import os
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from graft.embedder.v1 import embedder_pb2
from graft.wire.channel import open_channel
from graft.wire.launch import (
    ServiceRecord,
    StartError,
    find_running,
    kill_service,
    wait_until_gone,
)
from graft.wire.locks import holder_of
from graft.wire.paths import Home
from graft_client import operations, replies
from graft_client.connection import Connection
from graft_client.errors import DeadlineError, GraftError, NobodyAnsweredError
from graft_client.programs import EMBEDDER_PREFIX, MEMSTORE, embedder_services
from graft_client.results import EmbedderStatus, Status
from graft_client.services import Located, Services

EMBEDDER = "/graft.embedder.v1.EmbedderService"
ASK_SECONDS = 2.0
FORCED_STOP_SECONDS = 2.0
KILL_SECONDS = 5.0
EXIT_SECONDS = 5.0
POLL_SECONDS = 0.02

ReplyT = TypeVar("ReplyT", bound=Message)


def read_status(services: Services, connection: Connection, seconds: float) -> Status:
    """Say how the services are; start nothing.

    Raises:
        GraftError: a memstore is there but does not tell.
    """
    located = services.find()
    if located is None:
        embedders = tuple(_running_embedders(services.configuration.home))
        return Status(memstore=None, embedder=next(iter(embedders), None), embedders=embedders)
    memstore, embedders = connection.call_at(located, operations.status(str(located.at)), seconds)
    return Status(memstore=memstore, embedder=next(iter(embedders), None), embedders=embedders)


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How services are ended.

    Attributes:
        force: kill what does not end by itself.
        only_if_idle: leave a memstore alone that has something to do, or listens to others.
        seconds: how long to wait for the end.
    """

    force: bool = False
    only_if_idle: bool = False
    seconds: float


def stop_services(services: Services, connection: Connection, end: End) -> int | None:
    """End the memstore and all embedders of a home; return the memstore's process, if any.

    Args:
        services: whose.
        connection: the way to them.
        end: how.

    Raises:
        NobodyAnsweredError: a memstore lives but does not answer, and it is not to be forced.
        DeadlineError: it has not ended in time.
        WrongStateError: it is busy, and to be ended only if it is not.
    """
    home = services.configuration.home
    located = services.find()
    if services.configuration.target is not None:
        assert located is not None, "a target is always located"
        asked = operations.stop(only_if_idle=end.only_if_idle)
        return connection.call_at(located, asked, end.seconds)
    pid = _stop_memstore(home, located, connection, end)
    for service in embedder_services(home):
        _stop_embedder(home, service, force=end.force, seconds=end.seconds)
    return pid


def _stop_memstore(
    home: Home, located: Located | None, connection: Connection, end: End
) -> int | None:
    seconds = min(end.seconds, FORCED_STOP_SECONDS) if end.force else end.seconds
    deadline = time.monotonic() + seconds
    if located is not None:
        pid: int | None = located.pid
        _ask_to_stop(located, connection, replace(end, seconds=seconds))
    else:
        pid = holder_of(home.life_lock(MEMSTORE))
        if pid is not None and not end.force:
            raise NobodyAnsweredError(
                f"the memstore (process {pid}) holds {home.life_lock(MEMSTORE)} but does not"
                " answer; run: graft stop --force"
            )
    if wait_until_gone(home, MEMSTORE, deadline):
        _wait_for_exit(pid)
        return pid
    if not end.force:
        raise DeadlineError(
            f"the memstore (process {pid}) has not ended within {seconds:g} s; calls may be"
            " finishing: wait, or run: graft stop --force"
        )
    return _kill(home, MEMSTORE)


def _ask_to_stop(located: Located, connection: Connection, end: End) -> None:
    try:
        asked = operations.stop(only_if_idle=end.only_if_idle)
        connection.call_at(located, asked, end.seconds)
    except GraftError:
        if not end.force:
            raise


def _stop_embedder(home: Home, service: str, *, force: bool, seconds: float) -> None:
    record = _running(home, service)
    if record is not None:
        _ask(
            record.socket,
            f"{EMBEDDER}/Stop",
            embedder_pb2.StopRequest(),
            embedder_pb2.StopResponse,
        )
    wait = min(seconds, FORCED_STOP_SECONDS) if force else seconds
    if not wait_until_gone(home, service, time.monotonic() + wait):
        if force:
            _kill(home, service)
    elif record is not None:
        _wait_for_exit(record.pid)


def _kill(home: Home, service: str) -> int | None:
    pid = kill_service(home, service)
    if not wait_until_gone(home, service, time.monotonic() + KILL_SECONDS):
        raise DeadlineError(f"{service} (process {pid}) was killed but has not gone yet")
    _wait_for_exit(pid)
    return pid


def _wait_for_exit(pid: int | None) -> None:
    """Wait until *pid*, which has given its lock back, has ended: who asks now sees it gone."""
    deadline = time.monotonic() + EXIT_SECONDS
    pause = threading.Event()
    while pid and _lives(pid) and time.monotonic() < deadline:
        pause.wait(POLL_SECONDS)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except (ProcessLookupError, PermissionError):
        return False
    except FileNotFoundError:
        return sys.platform == "darwin"  # where there is no /proc the signal alone tells
    # An ended process that nobody has collected yet is as good as gone.
    return stat.rpartition(")")[2].split()[0] != "Z"


def _running(home: Home, service: str) -> ServiceRecord | None:
    try:
        return find_running(home, service)
    except StartError:
        return None  # another user's process is none of ours


def _running_embedders(home: Home) -> list[EmbedderStatus]:
    found = []
    for service in embedder_services(home):
        record = _running(home, service)
        reply = record and _ask(
            record.socket,
            f"{EMBEDDER}/GetModel",
            embedder_pb2.GetModelRequest(),
            embedder_pb2.GetModelResponse,
        )
        if record and reply:
            name = service.removeprefix(EMBEDDER_PREFIX)
            found.append(replies.embedder_model(reply, name=name, socket=str(record.socket)))
    return found


def _ask(socket: Path, path: str, request: Message, reply: type[ReplyT]) -> ReplyT | None:
    """Ask an embedder something small; None when it does not answer."""
    with open_channel(socket) as channel:
        method: grpc.UnaryUnaryMultiCallable[Message, ReplyT] = channel.unary_unary(
            path,
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply.FromString,
        )
        try:
            return method(request, timeout=ASK_SECONDS)
        except grpc.RpcError:
            return None
