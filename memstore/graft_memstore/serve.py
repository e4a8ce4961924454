"""Builds the memstore out of its parts and runs it until it is told to stop."""

import importlib.util
import logging
import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import grpc

from graft.memory.v1 import (
    analytics_service_pb2,
    analytics_service_pb2_grpc,
    audit_service_pb2,
    audit_service_pb2_grpc,
    backups_service_pb2,
    backups_service_pb2_grpc,
    daemon_service_pb2,
    daemon_service_pb2_grpc,
    lifecycle_service_pb2,
    lifecycle_service_pb2_grpc,
    notes_service_pb2,
    notes_service_pb2_grpc,
    profiles_service_pb2,
    profiles_service_pb2_grpc,
    recall_service_pb2,
    recall_service_pb2_grpc,
    review_service_pb2,
    review_service_pb2_grpc,
    scopes_service_pb2,
    scopes_service_pb2_grpc,
    sources_service_pb2,
    sources_service_pb2_grpc,
    tokens_service_pb2,
    tokens_service_pb2_grpc,
    upkeep_service_pb2,
    upkeep_service_pb2_grpc,
)
from graft.wire.build import build_id
from graft.wire.daemon import Control, DaemonOptions, Remote, run_daemon
from graft.wire.endpoints import Endpoint
from graft.wire.errors import ServiceError, StoppingError
from graft.wire.events import event, start_logging
from graft.wire.health import set_serving
from graft.wire.listening import ListenError
from graft.wire.reload import Reloader
from graft.wire.tracing import open_tracing
from graft_memstore.embedder_place import Launch, Others, Places
from graft_memstore.embedders import Embedders, extra_obstacle
from graft_memstore.ids import IdMaker
from graft_memstore.model import Trust
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.similar import SimilarNotes
from graft_memstore.review.reviewer import Reviewer, ReviewerParts
from graft_memstore.service.analytics import AnalyticsServicer
from graft_memstore.service.audit import AuditServicer
from graft_memstore.service.backups import BackupParts, BackupsServicer
from graft_memstore.service.daemon import DaemonParts, DaemonServicer
from graft_memstore.service.doorkeeper import Doorkeeper
from graft_memstore.service.given import Giving
from graft_memstore.service.lifecycle import LifecycleServicer
from graft_memstore.service.notes import NotesServicer
from graft_memstore.service.pace import Pace
from graft_memstore.service.passages import PASSAGES
from graft_memstore.service.profiles import ProfilesServicer
from graft_memstore.service.recall import RecallServicer
from graft_memstore.service.refusals import RefusalRecorder
from graft_memstore.service.review import ReviewServicer
from graft_memstore.service.scopes import ScopesServicer
from graft_memstore.service.sources import SourcesServicer
from graft_memstore.service.tokens import TokensServicer
from graft_memstore.service.upkeep import UpkeepServicer
from graft_memstore.service.wall import WallInterceptor
from graft_memstore.settings import MemstoreSettings
from graft_memstore.store.drafts import Drafts
from graft_memstore.store.profiles import Profiles, StoreOptions
from graft_memstore.store.reviewer_file import ReviewerFiles
from graft_memstore.store.token_file import TokenFile
from graft_memstore.tokens import TokenParts, Tokens
from graft_memstore.upkeep.closer import Closer
from graft_memstore.upkeep.resume import has_work
from graft_memstore.upkeep.set_aside import SetAside
from graft_memstore.upkeep.upkeep import Upkeep
from graft_memstore.wall import Wall
from graft_memstore.write.insert import Inserter
from graft_memstore.write.screen import SecretsRule

if TYPE_CHECKING:
    from graft_memstore.metrics.metrics import Metrics

SERVICE = "memstore"
DOMAIN = "graft.memory"
TRACED_AS = "graft-memstore"

AUDIT = audit_service_pb2.DESCRIPTOR.services_by_name["AuditService"].full_name
BACKUPS = backups_service_pb2.DESCRIPTOR.services_by_name["BackupsService"].full_name
ANALYTICS = analytics_service_pb2.DESCRIPTOR.services_by_name["AnalyticsService"].full_name
DAEMON = daemon_service_pb2.DESCRIPTOR.services_by_name["DaemonService"].full_name
LIFECYCLE = lifecycle_service_pb2.DESCRIPTOR.services_by_name["LifecycleService"].full_name
NOTES = notes_service_pb2.DESCRIPTOR.services_by_name["NotesService"].full_name
PROFILES = profiles_service_pb2.DESCRIPTOR.services_by_name["ProfilesService"].full_name
RECALL = recall_service_pb2.DESCRIPTOR.services_by_name["RecallService"].full_name
SCOPES = scopes_service_pb2.DESCRIPTOR.services_by_name["ScopesService"].full_name
SOURCES = sources_service_pb2.DESCRIPTOR.services_by_name["SourcesService"].full_name
REVIEW = review_service_pb2.DESCRIPTOR.services_by_name["ReviewService"].full_name
TOKENS = tokens_service_pb2.DESCRIPTOR.services_by_name["TokensService"].full_name
UPKEEP = upkeep_service_pb2.DESCRIPTOR.services_by_name["UpkeepService"].full_name
NAMES = (
    NOTES,
    LIFECYCLE,
    RECALL,
    SOURCES,
    SCOPES,
    REVIEW,
    PROFILES,
    UPKEEP,
    AUDIT,
    ANALYTICS,
    BACKUPS,
    TOKENS,
    DAEMON,
)
NOT_USE = (f"/{DAEMON}/GetStatus", f"/{DAEMON}/Stop")

log = logging.getLogger(__name__)


def serve(settings: MemstoreSettings, ready_fd: int | None) -> int:
    """Serve the home's notes until told to stop; return the exit status."""
    start_logging(settings.values.text("log_level"), settings.values.text("log_format"))
    memstore = Memstore(settings)
    recorder = RefusalRecorder(memstore.profiles, memstore.upkeep.scribe)
    listening = settings.listening()
    around = [each.calls for each in (memstore.tracing, memstore.metrics) if each is not None]
    return run_daemon(
        DaemonOptions(
            home=settings.home,
            service=SERVICE,
            domain=DOMAIN,
            idle_minutes=settings.values.number("idle_minutes"),
            ready_fd=ready_fd,
            not_use=NOT_USE,
            reload=Reloader(settings.read_again, settings.values, memstore.shown.update).reload,
            around=tuple(around),
            # Refusals of the wall are on record as well.
            inside=(recorder, WallInterceptor(memstore.profiles, memstore.find_receipt)),
            remote=None
            if listening is None
            else Remote(
                listening=listening,
                admission=(Doorkeeper(memstore.tokens, memstore.pace, recorder.record, DOMAIN),),
            ),
        ),
        register=memstore.register,
        busy=memstore.upkeep.busy,
        on_stop=memstore.stop,
    )


def _metrics(endpoint: Endpoint | None) -> "Metrics | None":
    """Return what counts, where somebody wants that; its library is imported for nobody else.

    Raises:
        ListenError: the library is not installed.
    """
    if endpoint is None:
        return None
    if importlib.util.find_spec("prometheus_client") is None:
        raise ListenError(
            "metrics is set, and the library for that is not installed; run: pip install"
            " 'graft-memory[metrics]', or leave the setting empty"
        )
    from graft_memstore.metrics.metrics import Metrics  # noqa: PLC0415 - see above

    return Metrics(endpoint, PASSAGES)


class Memstore:
    """The parts of the process, each built once."""

    def __init__(self, settings: MemstoreSettings) -> None:
        self._settings = settings
        self.shown = settings.shown()
        self.metrics = _metrics(settings.metrics_at())
        self.tracing = open_tracing(TRACED_AS, settings.values.text("traces"), PASSAGES)
        self.embedders = Embedders(places(settings))
        self.upkeep = Upkeep(
            self.embedders,
            keep_misses=settings.values.flag("misses"),
            sweep=settings.values.flag("upkeep"),
        )
        self.profiles: Profiles[VectorIndex] = Profiles(
            StoreOptions(
                profiles=settings.home.profiles,
                audit=settings.home.audit,
                make_index=VectorIndex,
                now_ms=wall_clock_ms,
                random=os.urandom,
                opened=self.upkeep.watch,
                closing=self.upkeep.forget,
            )
        )
        self.drafts = Drafts(settings.home.profiles, settings.home.audit, os.urandom)
        self.closer = Closer(self.profiles)
        self.reviewer = Reviewer(
            ReviewerParts(
                files=ReviewerFiles(settings.home.audit),
                open=self.profiles.open,
                now_ms=wall_clock_ms,
                seconds=time.monotonic,
                random=os.urandom,
            )
        )

        self.pace = Pace(time.monotonic)
        self.tokens = Tokens(
            TokenParts(
                file=TokenFile(settings.home.tokens_file),
                open=self.profiles.open,
                now_ms=wall_clock_ms,
                random=os.urandom,
                has_reviewer=self.reviewer.exists,
            )
        )

    def register(self, servers: Sequence[grpc.Server], control: Control) -> Sequence[str]:
        """Add every servicer to each server and go on with what an earlier process left."""
        # The home is ours by now, and nothing in it is open yet.
        self.drafts.sweep()
        giving = Giving(self.upkeep.scribe)
        notes = NotesServicer(self.profiles, self._inserter(), self.reviewer, giving)
        lifecycle = LifecycleServicer(self.profiles, self.reviewer, giving)
        review = ReviewServicer(self.profiles, self.reviewer, giving)
        recall = RecallServicer(self.profiles, self.embedders, self.upkeep.scribe, giving)
        sources = SourcesServicer(self.profiles, self.reviewer)
        scopes = ScopesServicer(self.profiles, self.reviewer)
        audit = AuditServicer(self.profiles)
        analytics = AnalyticsServicer(self.profiles, self.upkeep.scribe)
        profiles = ProfilesServicer(self.profiles, self.upkeep, self._settings.model_names)
        upkeep = UpkeepServicer(self.profiles, self.reviewer, sweeping=self.upkeep.sweeps)
        tokens = TokensServicer(self.tokens, self.reviewer, self.pace)
        backups = BackupsServicer(self._backup_parts())
        daemon = DaemonServicer(self._daemon_parts(control))
        for server in servers:
            notes_service_pb2_grpc.add_NotesServiceServicer_to_server(notes, server)
            lifecycle_service_pb2_grpc.add_LifecycleServiceServicer_to_server(lifecycle, server)
            review_service_pb2_grpc.add_ReviewServiceServicer_to_server(review, server)
            recall_service_pb2_grpc.add_RecallServiceServicer_to_server(recall, server)
            sources_service_pb2_grpc.add_SourcesServiceServicer_to_server(sources, server)
            scopes_service_pb2_grpc.add_ScopesServiceServicer_to_server(scopes, server)
            audit_service_pb2_grpc.add_AuditServiceServicer_to_server(audit, server)
            analytics_service_pb2_grpc.add_AnalyticsServiceServicer_to_server(analytics, server)
            backups_service_pb2_grpc.add_BackupsServiceServicer_to_server(backups, server)
            profiles_service_pb2_grpc.add_ProfilesServiceServicer_to_server(profiles, server)
            upkeep_service_pb2_grpc.add_UpkeepServiceServicer_to_server(upkeep, server)
            tokens_service_pb2_grpc.add_TokensServiceServicer_to_server(tokens, server)
            daemon_service_pb2_grpc.add_DaemonServiceServicer_to_server(daemon, server)
        return self._begin(control)

    def _begin(self, control: Control) -> Sequence[str]:
        if self.metrics is not None:
            dropped, reports = self._receipts_dropped, self.embedders.reports
            self.metrics.look_at(self.profiles, reports, dropped, wall_clock_ms)
            self.metrics.page.start()
        set_serving(control.health, NAMES, serving=True)
        threading.Thread(target=self.resume, name="resume", daemon=True).start()
        return NAMES

    def _inserter(self) -> Inserter[VectorIndex]:
        return Inserter(
            self.embedders,
            SimilarNotes(wall_clock_ms),
            IdMaker(os.urandom),
            Trust(self._settings.values.text("new_notes")),
            SecretsRule(self._settings.values.text("secrets")),
        )

    def _daemon_parts(self, control: Control) -> DaemonParts:
        return DaemonParts(
            profiles=self.profiles,
            upkeep=self.upkeep,
            reviewer=self.reviewer,
            embedder=self.embedders,
            process=control,
            reports=self.embedders.reports,
            settings=self.shown,
        )

    def _backup_parts(self) -> BackupParts:
        folder = self._settings.home.backups
        return BackupParts(
            profiles=self.profiles,
            drafts=self.drafts,
            set_aside=SetAside(self.profiles, folder, build_id(), wall_clock_ms),
            reviewer=self.reviewer,
            now_ms=wall_clock_ms,
            random=os.urandom,
        )

    def _receipts_dropped(self, profile_name: str) -> int:
        scribe = self.upkeep.scribe(profile_name)
        return 0 if scribe is None else scribe.dropped

    def find_receipt(self, profile_name: str, piece: str, wall: Wall) -> str:
        """Return the id of a receipt by a piece of it; see `Scribe.find`.

        Raises:
            ServiceError: there is none, or nobody knows any more.
        """
        with self.profiles.use(profile_name) as profile:
            scribe = self.upkeep.scribe(profile.name)
            if scribe is None:
                raise StoppingError("the service is stopping; call again to start it anew")
            return scribe.find(piece, wall).receipt_id

    def resume(self) -> None:
        """Open the profiles whose work an earlier process did not finish."""
        for name in self.profiles.names():
            try:
                if has_work(self.profiles.path(name)):
                    self.profiles.open(name)
            except ServiceError as error:
                log.warning(event("cannot go on with", profile=name, because=error.message))
            except Exception:
                # The thread's root: a file that is not ours must not hold up the others.
                log.exception(event("bug while going on with", profile=name))

    def stop(self) -> None:
        """Put everything away: the threads, the files, the embedders."""
        if self.metrics is not None:
            self.metrics.page.stop()
        if self.tracing is not None:
            self.tracing.stop()
        self.closer.stop()
        self.upkeep.stop()
        self.profiles.close()
        self.embedders.stop()


def places(settings: MemstoreSettings) -> Places:
    """Return where embedders are found: at a socket of others, or started by us."""
    socket = settings.embedder_socket()
    if socket is not None:
        return Others(socket, settings.values.text("model"))
    command = ("-m", "graft_embedder", "serve", "--home", str(settings.home.root))
    return Launch(
        home=settings.home,
        command=(sys.executable, *command),
        environ=settings.environ,
        build=build_id(),
        obstacle=extra_obstacle,
        default=settings.default_model,
    )


def wall_clock_ms() -> int:
    """Return the time, UTC milliseconds."""
    return time.time_ns() // 1_000_000
