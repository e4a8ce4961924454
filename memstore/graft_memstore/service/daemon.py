"""DaemonService: how the process is, its end, and a look into a profile's file."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import grpc
from typing_extensions import override

from graft.memory.v1 import daemon_service_pb2 as pb
from graft.memory.v1 import daemon_service_pb2_grpc
from graft.wire.build import build_id
from graft.wire.endpoints import Endpoint
from graft.wire.errors import ServiceError, WrongStateError
from graft_memstore.deadline import Deadline
from graft_memstore.embedder_process import EmbedderReport
from graft_memstore.embedding import Embedder, model_for
from graft_memstore.model import ModelRole
from graft_memstore.recall.index import VectorIndex
from graft_memstore.review.reviewer import Reviewer
from graft_memstore.service.admission import Admission
from graft_memstore.service.convert import caller_of
from graft_memstore.service.measured import measured, reset
from graft_memstore.service.reviewed import reviewer_message
from graft_memstore.store.coverage import count_vectors
from graft_memstore.store.edges_pending import count_asked
from graft_memstore.store.erasures import count_erasures
from graft_memstore.store.models import read_model
from graft_memstore.store.pending import count_pending
from graft_memstore.store.profile import Profile
from graft_memstore.store.profiles import Profiles
from graft_memstore.upkeep.check import check_profile
from graft_memstore.upkeep.repair import repair_profile
from graft_memstore.upkeep.upkeep import Upkeep

CHECKS_MAX = 2
MEASUREMENTS_MAX = 1
NO_INDEX = "none"


class Process(Protocol):
    """The process that the service runs in; see `graft.wire.daemon.Control`."""

    @property
    def calls(self) -> int:
        """Calls that run and count as use."""

    @property
    def listens_at(self) -> Endpoint | None:
        """Where it listens besides its socket; None: nowhere."""

    def is_idle(self) -> bool:
        """Tell whether no call runs and no work is pending."""

    def uptime_ms(self) -> int:
        """Return milliseconds since the process was started."""

    def request_stop(self) -> None:
        """End the process once the calls in flight have finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonParts:
    """What the service tells about.

    Attributes:
        reviewer: of the home.
        embedder: makes the vectors of the questions that the gate is measured by.
        reports: tells how the embedders of the given models are; starts nothing.
        settings: values that the process runs with.
    """

    profiles: Profiles[VectorIndex]
    upkeep: Upkeep
    reviewer: Reviewer
    embedder: Embedder
    process: Process
    reports: Callable[[list[str]], list[EmbedderReport]]
    settings: Mapping[str, str]


class DaemonServicer(daemon_service_pb2_grpc.DaemonServiceServicer):
    """Answers for the process itself; only what looks into a profile opens it."""

    def __init__(self, parts: DaemonParts) -> None:
        self._parts = parts
        self._checks = Admission(CHECKS_MAX, "check a profile")
        self._measurements = Admission(MEASUREMENTS_MAX, "measure a gate")
        self._build = build_id()

    @override
    def GetStatus(
        self, request: pb.GetStatusRequest, context: grpc.ServicerContext
    ) -> pb.GetStatusResponse:
        """Tell how things are."""
        parts = self._parts
        profiles: list[pb.OpenProfileStatus] = []
        models: list[str] = []
        for profile in parts.profiles.opened():
            status, model = _profile_status(profile)
            scribe = parts.upkeep.scribe(profile.name)
            status.receipts_dropped = 0 if scribe is None else scribe.dropped
            profiles.append(status)
            models.append(model)
        reports = parts.reports([model for model in dict.fromkeys(models) if model])
        return pb.GetStatusResponse(
            pid=os.getpid(),
            build=self._build,
            uptime_ms=parts.process.uptime_ms(),
            pending=sum(each.pending for each in profiles),
            erasing=sum(each.erasing for each in profiles),
            embedders=[_embedder_status(report) for report in reports],
            profiles=profiles,
            settings=dict(parts.settings),
            calls=parts.process.calls,
            reviewer=reviewer_message(parts.reviewer.status()),
            listen="" if parts.process.listens_at is None else str(parts.process.listens_at),
        )

    @override
    def LoadModel(
        self, request: pb.LoadModelRequest, context: grpc.ServicerContext
    ) -> pb.LoadModelResponse:
        """Make a profile's model ready."""
        deadline = Deadline.of_call(context)
        embedder = self._parts.embedder
        with self._parts.profiles.use(request.profile, deadline.for_work()) as profile:
            facts = embedder.facts(model_for(profile.serving_model, embedder), deadline)
        return pb.LoadModelResponse(model=facts.name)

    @override
    def Stop(self, request: pb.StopRequest, context: grpc.ServicerContext) -> pb.StopResponse:
        """End the process."""
        process = self._parts.process
        if request.only_if_idle and not process.is_idle():
            raise WrongStateError(
                f"the memstore is busy ({process.calls} calls run, work is pending, or it listens"
                " for callers from outside)",
                metadata={"state": "busy"},
            )
        process.request_stop()
        return pb.StopResponse(pid=os.getpid())

    @override
    def CheckProfile(
        self, request: pb.CheckProfileRequest, context: grpc.ServicerContext
    ) -> pb.CheckProfileResponse:
        """Check a profile from inside."""
        deadline = Deadline.of_call(context)
        with (
            self._parts.profiles.use(request.profile, deadline.for_work()) as profile,
            self._checks.enter(deadline),
        ):
            worker = self._parts.upkeep.worker(profile.name)
            findings = check_profile(
                profile,
                "" if worker is None else worker.problem,
                "" if worker is None else worker.edges_problem,
            )
        return pb.CheckProfileResponse(
            checks=[pb.Check(name=each.name, ok=each.ok, detail=each.detail) for each in findings]
        )

    @override
    def RepairProfile(
        self, request: pb.RepairProfileRequest, context: grpc.ServicerContext
    ) -> pb.RepairProfileResponse:
        """Make anew what is derived from a profile's notes."""
        deadline = Deadline.of_call(context)
        with (
            self._parts.profiles.use(request.profile, deadline.for_work()) as profile,
            self._checks.enter(deadline),
        ):
            repairs = repair_profile(
                profile, caller_of(context), deadline.for_work(), dry_run=request.dry_run
            )
        return pb.RepairProfileResponse(
            repairs=[
                pb.Repair(
                    name=each.name,
                    found=each.found,
                    repaired=each.repaired,
                    detail=each.detail,
                )
                for each in repairs
            ]
        )

    @override
    def MeasureGate(
        self, request: pb.MeasureGateRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.MeasureGateResponse]:
        """Measure the gate on a profile's own notes."""
        deadline = Deadline.of_call(context)
        with (
            self._parts.profiles.use(request.profile, deadline.for_work()) as profile,
            self._measurements.enter(deadline),
        ):
            yield from measured(
                profile, self._parts.embedder, request, caller_of(context), deadline
            )

    @override
    def ResetGate(
        self, request: pb.ResetGateRequest, context: grpc.ServicerContext
    ) -> pb.ResetGateResponse:
        """Take a profile's own threshold away."""
        seconds = Deadline.of_call(context).for_work()
        with self._parts.profiles.use(request.profile, seconds) as profile:
            return reset(profile, caller_of(context), seconds)


def _profile_status(profile: Profile[VectorIndex]) -> tuple[pb.OpenProfileStatus, str]:
    """Return how an open profile is, and the name of its model."""
    index = profile.index
    try:
        with profile.snapshot() as connection:
            model = read_model(connection, ModelRole.SERVING)
            status = pb.OpenProfileStatus(
                name=profile.name,
                pending=count_pending(connection) + count_asked(connection),
                erasing=count_erasures(connection),
                index=NO_INDEX if index is None else index.state,
                vectors=0 if model is None else count_vectors(connection, model.model_id),
            )
    except ServiceError:
        # A file that cannot be read now is no reason to say nothing about the process.
        return pb.OpenProfileStatus(name=profile.name, index=NO_INDEX), ""
    return status, "" if model is None else model.name


def _embedder_status(report: EmbedderReport) -> pb.EmbedderStatus:
    return pb.EmbedderStatus(
        pid=report.pid,
        socket=report.socket,
        model=report.model,
        state=report.state,
        percent=report.percent,
        problem=report.problem,
        uptime_ms=report.uptime_ms,
        backend=report.backend,
    )
