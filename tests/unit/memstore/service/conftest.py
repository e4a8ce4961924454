"""The memstore's services behind a real server, with a fake embedder."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import grpc
import pytest
from tests.unit.memstore.room import Room

from graft.memory.v1 import (
    analytics_service_pb2_grpc,
    audit_service_pb2_grpc,
    backups_service_pb2_grpc,
    daemon_service_pb2_grpc,
    lifecycle_service_pb2_grpc,
    notes_service_pb2_grpc,
    profiles_service_pb2_grpc,
    recall_service_pb2_grpc,
    review_service_pb2_grpc,
    scopes_service_pb2_grpc,
    sources_service_pb2_grpc,
    tokens_service_pb2_grpc,
    upkeep_service_pb2_grpc,
)
from graft.wire.endpoints import Endpoint
from graft.wire.errors import StoppingError
from graft.wire.models import RegistryError
from graft.wire.server import Activity, ServerParts, build_server
from graft_memstore.embedder_process import EmbedderReport
from graft_memstore.serve import NOT_USE
from graft_memstore.service.analytics import AnalyticsServicer
from graft_memstore.service.audit import AuditServicer
from graft_memstore.service.backups import BackupParts, BackupsServicer
from graft_memstore.service.daemon import DaemonParts, DaemonServicer
from graft_memstore.service.given import Giving
from graft_memstore.service.lifecycle import LifecycleServicer
from graft_memstore.service.notes import NotesServicer
from graft_memstore.service.pace import Pace
from graft_memstore.service.profiles import ProfilesServicer
from graft_memstore.service.recall import RecallServicer
from graft_memstore.service.refusals import RefusalRecorder
from graft_memstore.service.review import ReviewServicer
from graft_memstore.service.scopes import ScopesServicer
from graft_memstore.service.sources import SourcesServicer
from graft_memstore.service.tokens import TokensServicer
from graft_memstore.service.upkeep import UpkeepServicer
from graft_memstore.service.wall import WallInterceptor
from graft_memstore.store.drafts import Drafts
from graft_memstore.upkeep.set_aside import SetAside
from graft_memstore.wall import Wall


class FakeProcess:
    """Stands in for the process: it is told what runs, and remembers that it was to end."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.calls = 0
        self.stopped = False
        self.listens_at: Endpoint | None = None

    def is_idle(self) -> bool:
        return self.calls == 0 and not self._room.upkeep.busy()

    def uptime_ms(self) -> int:
        return 1234

    def request_stop(self) -> None:
        self.stopped = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Stubs:
    """What a client calls, and what stands behind it."""

    notes: notes_service_pb2_grpc.NotesServiceStub
    lifecycle: lifecycle_service_pb2_grpc.LifecycleServiceStub
    review: review_service_pb2_grpc.ReviewServiceStub
    recall: recall_service_pb2_grpc.RecallServiceStub
    audit: audit_service_pb2_grpc.AuditServiceStub
    analytics: analytics_service_pb2_grpc.AnalyticsServiceStub
    backups: backups_service_pb2_grpc.BackupsServiceStub
    profiles: profiles_service_pb2_grpc.ProfilesServiceStub
    daemon: daemon_service_pb2_grpc.DaemonServiceStub
    process: FakeProcess
    activity: Activity
    room: Room
    sources: sources_service_pb2_grpc.SourcesServiceStub
    scopes: scopes_service_pb2_grpc.ScopesServiceStub
    channel: grpc.Channel
    asked_for: list[list[str]]
    registry_problems: list[str]


@pytest.fixture
def stubs(room: Room) -> Iterator[Stubs]:
    """A served room."""
    with served(room) as stubs:
        yield stubs


@contextmanager
def served(room: Room) -> Iterator[Stubs]:
    """Serve a room for the length of a test."""
    process = FakeProcess(room)
    asked_for: list[list[str]] = []
    registry_problems: list[str] = []

    def model_names() -> list[str]:
        if registry_problems:
            raise RegistryError(registry_problems[0])
        return ["fake", "new"]

    def reports(names: list[str]) -> list[EmbedderReport]:
        asked_for.append(names)
        return [EmbedderReport(model="fake", state="ready", pid=7, backend="cpu")]

    def find_receipt(profile_name: str, piece: str, wall: Wall) -> str:
        scribe = room.upkeep.scribe(profile_name or "default")
        if scribe is None:
            raise StoppingError("nobody writes")
        return scribe.find(piece, wall).receipt_id

    activity = Activity(NOT_USE)
    recorder = RefusalRecorder(room.profiles, room.upkeep.scribe)
    wall = WallInterceptor(room.profiles, find_receipt)
    server = build_server("graft.memory", activity, ServerParts(inside=(recorder, wall)))
    _add_note_services(server, room)
    backups_service_pb2_grpc.add_BackupsServiceServicer_to_server(
        BackupsServicer(
            BackupParts(
                profiles=room.profiles,
                drafts=Drafts(room.root / "profiles", room.root / "audit", os.urandom),
                set_aside=SetAside(room.profiles, room.root / "backups", "0.1.0+1", room.clock),
                reviewer=room.reviewer,
                now_ms=room.clock,
                random=os.urandom,
            )
        ),
        server,
    )
    profiles_service_pb2_grpc.add_ProfilesServiceServicer_to_server(
        ProfilesServicer(room.profiles, room.upkeep, model_names), server
    )
    daemon_service_pb2_grpc.add_DaemonServiceServicer_to_server(
        DaemonServicer(
            DaemonParts(
                profiles=room.profiles,
                upkeep=room.upkeep,
                reviewer=room.reviewer,
                embedder=room.embedder,
                process=process,
                reports=reports,
                settings={"idle_minutes": "30"},
            )
        ),
        server,
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield Stubs(
            notes=notes_service_pb2_grpc.NotesServiceStub(channel),
            lifecycle=lifecycle_service_pb2_grpc.LifecycleServiceStub(channel),
            review=review_service_pb2_grpc.ReviewServiceStub(channel),
            recall=recall_service_pb2_grpc.RecallServiceStub(channel),
            audit=audit_service_pb2_grpc.AuditServiceStub(channel),
            analytics=analytics_service_pb2_grpc.AnalyticsServiceStub(channel),
            backups=backups_service_pb2_grpc.BackupsServiceStub(channel),
            profiles=profiles_service_pb2_grpc.ProfilesServiceStub(channel),
            daemon=daemon_service_pb2_grpc.DaemonServiceStub(channel),
            sources=sources_service_pb2_grpc.SourcesServiceStub(channel),
            scopes=scopes_service_pb2_grpc.ScopesServiceStub(channel),
            channel=channel,
            process=process,
            activity=activity,
            room=room,
            asked_for=asked_for,
            registry_problems=registry_problems,
        )
    server.stop(None).wait()


def _add_note_services(server: grpc.Server, room: Room) -> None:
    """Add the services that are about notes."""
    giving = Giving(room.upkeep.scribe)
    notes_service_pb2_grpc.add_NotesServiceServicer_to_server(
        NotesServicer(room.profiles, room.inserter, room.reviewer, giving), server
    )
    lifecycle_service_pb2_grpc.add_LifecycleServiceServicer_to_server(
        LifecycleServicer(room.profiles, room.reviewer, giving), server
    )
    review_service_pb2_grpc.add_ReviewServiceServicer_to_server(
        ReviewServicer(room.profiles, room.reviewer, giving), server
    )
    audit_service_pb2_grpc.add_AuditServiceServicer_to_server(AuditServicer(room.profiles), server)
    tokens_service_pb2_grpc.add_TokensServiceServicer_to_server(
        TokensServicer(room.tokens, room.reviewer, Pace(time.monotonic)), server
    )
    recall_service_pb2_grpc.add_RecallServiceServicer_to_server(
        RecallServicer(room.profiles, room.embedder, room.upkeep.scribe, giving), server
    )
    sources_service_pb2_grpc.add_SourcesServiceServicer_to_server(
        SourcesServicer(room.profiles, room.reviewer), server
    )
    scopes_service_pb2_grpc.add_ScopesServiceServicer_to_server(
        ScopesServicer(room.profiles, room.reviewer), server
    )
    analytics_service_pb2_grpc.add_AnalyticsServiceServicer_to_server(
        AnalyticsServicer(room.profiles, room.upkeep.scribe), server
    )
    upkeep_service_pb2_grpc.add_UpkeepServiceServicer_to_server(
        UpkeepServicer(room.profiles, room.reviewer, sweeping=False), server
    )
