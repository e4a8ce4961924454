"""Where the embedder of a model is: run by the memstore, or by others at a socket of theirs."""

import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import grpc
from typing_extensions import override

from graft.embedder.v1 import embedder_pb2, embedder_pb2_grpc
from graft.wire.channel import open_channel
from graft.wire.events import event
from graft.wire.launch import (
    ServiceRecord,
    StartError,
    ensure_running,
    find_running,
    peer_pid,
    wait_until_gone,
)
from graft.wire.paths import Home

ASK_SECONDS = 1.0
STOP_SECONDS = 10.0

OWN_PAUSE_SECONDS_MAX = 60.0
OTHERS_PAUSE_SECONDS_MAX = 2.0
"""An embedder that others start again is found soon; to look for it costs next to nothing."""

log = logging.getLogger(__name__)


class Place(Protocol):
    """Where one model's embedder is found.

    Attributes:
        pause_seconds_max: longest time that nobody tries again after a failure.
    """

    pause_seconds_max: float

    def find(self) -> ServiceRecord | None:
        """Return the one that answers now, None when none does; start nothing.

        Raises:
            StartError: another user's process answers there.
        """

    def reach(self, end: float) -> ServiceRecord:
        """Return one that answers, started if that is ours to do.

        Raises:
            StartError: none does before *end* (`time.monotonic`), or can; says why.
            UnsafeDirectoryError: the home or its runtime directory is not ours alone.
        """

    def end(self, *, only_if_idle: bool = False) -> bool:
        """End it, if that is ours to do, once its calls have finished; tell whether none runs."""

    def misfit(self, reply: embedder_pb2.GetModelResponse) -> str:
        """Say why the embedder that gave *reply* is not the model's; empty when it is."""


class Places(Protocol):
    """Where embedders are found."""

    def of(self, name: str) -> Place:
        """Return the place of the embedder of the model *name*."""

    def names(self) -> list[str]:
        """Return the models of embedders that run although nobody asked for them."""

    def default_model(self) -> str:
        """Return the name of the model for profiles without vectors.

        Raises:
            StartError: nobody can tell.
            RegistryError: the registry of models cannot be read.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch(Places):
    """Embedders that the memstore starts, and how.

    Attributes:
        home: their home.
        command: program and arguments; the model's name is added.
        build: build of this installation; an idle embedder of another one is replaced.
        environ: environment, cut down by `ensure_running`.
        obstacle: tells why none can be started here; empty when one can.
        default: tells the model for profiles without vectors.
    """

    home: Home
    command: tuple[str, ...]
    environ: Mapping[str, str]
    build: str
    obstacle: Callable[[], str]
    default: Callable[[], str]

    @override
    def of(self, name: str) -> Place:
        """Return the place of the embedder of the model *name*."""
        return OwnPlace(name, self)

    @override
    def names(self) -> list[str]:
        """Return none: those that run were asked for."""
        return []

    @override
    def default_model(self) -> str:
        """Return the name of the model for profiles without vectors; see `Places`."""
        return self.default()


class OwnPlace(Place):
    """The embedder of one model in the memstore's own home."""

    pause_seconds_max = OWN_PAUSE_SECONDS_MAX

    def __init__(self, name: str, launch: Launch) -> None:
        self._name = name
        self._launch = launch
        self._service = f"embedder-{name}"

    @override
    def find(self) -> ServiceRecord | None:
        """Return the one that runs; see `Place.find`."""
        return find_running(self._launch.home, self._service)

    @override
    def reach(self, end: float) -> ServiceRecord:
        """Return the one that runs, started or replaced if need be; see `Place.reach`."""
        record = self.find()
        if record is not None:
            this_build = record.build == self._launch.build
            if this_build or not self.end(only_if_idle=True):
                return record
        obstacle = self._launch.obstacle()
        if obstacle:
            raise StartError(obstacle)
        return ensure_running(
            self._launch.home,
            self._service,
            (*self._launch.command, "--model", self._name),
            environ=self._launch.environ,
            deadline=end,
        )

    @override
    def end(self, *, only_if_idle: bool = False) -> bool:
        """End it; see `Place.end`."""
        try:
            record = self.find()
            if record is None:
                return True
            with open_channel(record.socket) as channel:
                embedder_pb2_grpc.EmbedderServiceStub(channel).Stop(
                    embedder_pb2.StopRequest(only_if_idle=only_if_idle), timeout=ASK_SECONDS
                )
        except (StartError, grpc.RpcError) as error:
            log.info(event("cannot stop", service=self._service, because=type(error).__name__))
            return False
        end = time.monotonic() + STOP_SECONDS
        return wait_until_gone(self._launch.home, self._service, end)

    @override
    def misfit(self, reply: embedder_pb2.GetModelResponse) -> str:
        """Say nothing: it was started for the model."""
        return ""


class Others(Places):
    """The one embedder at a socket, which others run.

    Args:
        socket: where it listens.
        configured: name of the model for profiles without vectors; empty: the one that it holds.
    """

    def __init__(self, socket: Path, configured: str) -> None:
        self._socket = socket
        self._configured = configured
        self._held = ""

    @override
    def of(self, name: str) -> Place:
        """Return the place of the embedder of the model *name*."""
        return OthersPlace(name, self._socket)

    @override
    def names(self) -> list[str]:
        """Return the model that it holds, or held when it last answered."""
        with contextlib.suppress(StartError):
            if peer_pid(self._socket) is not None:
                self._held = _held_by(self._socket) or self._held
        return [self._held] if self._held else []

    @override
    def default_model(self) -> str:
        """Return the configured model, else the one that it holds; see `Places`."""
        if self._configured:
            return self._configured
        names = self.names()
        if not names:
            raise StartError(_nobody_at(self._socket))
        return names[0]


class OthersPlace(Place):
    """A socket that others' embedder listens on, as the user of one model sees it."""

    pause_seconds_max = OTHERS_PAUSE_SECONDS_MAX

    def __init__(self, name: str, socket: Path) -> None:
        self._name = name
        self._socket = socket

    @override
    def find(self) -> ServiceRecord | None:
        """Return what listens there; see `Place.find`."""
        pid = peer_pid(self._socket)
        if pid is None:
            return None
        return ServiceRecord(
            service=f"embedder-{self._name}", pid=pid, socket=self._socket, build="", started_ms=0
        )

    @override
    def reach(self, end: float) -> ServiceRecord:
        """Return what listens there; see `Place.reach`."""
        record = self.find()
        if record is None:
            raise StartError(_nobody_at(self._socket))
        return record

    @override
    def end(self, *, only_if_idle: bool = False) -> bool:
        """Leave it to those who run it."""
        return True

    @override
    def misfit(self, reply: embedder_pb2.GetModelResponse) -> str:
        """Compare the names; see `Place.misfit`."""
        held = reply.model.name
        if not held or held == self._name:
            return ""
        return (
            f"the embedder at {self._socket} holds {held}; give that one the model {self._name}"
            f" again, or move the profile with: graft reindex --model {held}"
        )


def _held_by(socket: Path) -> str:
    """Return the name of the model that the embedder at *socket* holds, "" when it cannot tell."""
    with open_channel(socket) as channel:
        try:
            reply = embedder_pb2_grpc.EmbedderServiceStub(channel).GetModel(
                embedder_pb2.GetModelRequest(), timeout=ASK_SECONDS
            )
        except grpc.RpcError:
            return ""
    return str(reply.model.name)


def _nobody_at(socket: Path) -> str:
    return (
        f"no embedder answers at {socket}, which embedder (GRAFT_EMBEDDER) names; see whether"
        " it runs"
    )
