"""BackupsService: copies of profiles as one file, checked, and taken back."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import grpc
from typing_extensions import override

from graft.memory.v1 import backups_service_pb2 as pb
from graft.memory.v1 import backups_service_pb2_grpc
from graft.wire.build import build_id
from graft.wire.errors import BadFieldError, NotAllowedError
from graft_memstore.deadline import Deadline
from graft_memstore.lifecycle import is_person
from graft_memstore.model import DEFAULT_PROFILE
from graft_memstore.recall.index import VectorIndex
from graft_memstore.review.reviewer import Reviewer
from graft_memstore.service.admission import Admission
from graft_memstore.service.callers import proved_caller
from graft_memstore.store.backup_file import PIECE_BYTES, ArchiveWriter, archive_bytes
from graft_memstore.store.backup_manifest import FORMAT, PROFILES_MAX, BackedUp, Manifest
from graft_memstore.store.drafts import Drafts
from graft_memstore.store.profiles import Profiles
from graft_memstore.upkeep.examine_backup import BackupCheck, Examined, examine
from graft_memstore.upkeep.make_backup import Progress, copy_profiles, manifest_of
from graft_memstore.upkeep.restore_backup import Restored, RestoreParts, RestoreWish, restore
from graft_memstore.upkeep.set_aside import SetAside

BACKUPS_MAX = 1
"""Backups that are made or taken back at once; each may need as much room as all profiles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupParts:
    """What the service works with.

    Attributes:
        now_ms: wall clock, UTC milliseconds.
        random: random bytes, such as `os.urandom`.
    """

    profiles: Profiles[VectorIndex]
    drafts: Drafts
    set_aside: SetAside
    reviewer: Reviewer
    now_ms: Callable[[], int]
    random: Callable[[int], bytes]


class BackupsServicer(backups_service_pb2_grpc.BackupsServiceServicer):
    """Answers for what leaves the home as a file, and comes back."""

    def __init__(self, parts: BackupParts) -> None:
        self._parts = parts
        self._admission = Admission(BACKUPS_MAX, "make backups, or take them back,")

    @override
    def CreateBackup(
        self, request: pb.CreateBackupRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.CreateBackupResponse]:
        """Copy, check, send."""
        parts, deadline = self._parts, Deadline.of_call(context)
        names = [request.profile or DEFAULT_PROFILE]
        if request.all_profiles:
            names = parts.profiles.names() or names
        if len(names) > PROFILES_MAX:
            raise BadFieldError(
                "all_profiles", f"{len(names):,} profiles; {PROFILES_MAX:,} at most"
            )
        with self._admission.enter(deadline), parts.drafts.make() as folder:
            entries: list[BackedUp] = []
            for step in copy_profiles(parts.profiles, names, folder, deadline.for_work()):
                if isinstance(step, Progress):
                    yield pb.CreateBackupResponse(progress=_progress(step))
                else:
                    entries.append(step)
            manifest = manifest_of(entries, parts.now_ms(), build_id())
            size = archive_bytes(manifest)
            yield pb.CreateBackupResponse(file_bytes=size)
            writer = ArchiveWriter(manifest, {name: folder / f"{name}.db" for name in names})
            for piece in writer.pieces():
                yield pb.CreateBackupResponse(piece=piece)
            yield pb.CreateBackupResponse(backup=_backup(manifest, size, writer.digest))

    @override
    def VerifyBackup(
        self,
        request_iterator: Iterator[pb.VerifyBackupRequest],
        context: grpc.ServicerContext,
    ) -> pb.VerifyBackupResponse:
        """Check a backup."""
        parts, deadline = self._parts, Deadline.of_call(context)
        with (
            self._admission.enter(deadline),
            parts.drafts.make() as folder,
            examine(parts.profiles, _pieces(request_iterator), folder) as examined,
        ):
            return pb.VerifyBackupResponse(
                backup=_backup_of(examined), checks=_checks(examined.checks)
            )

    @override
    def RestoreBackup(
        self,
        request_iterator: Iterator[pb.RestoreBackupRequest],
        context: grpc.ServicerContext,
    ) -> pb.RestoreBackupResponse:
        """Take profiles back."""
        parts, deadline = self._parts, Deadline.of_call(context)
        first = next(request_iterator, pb.RestoreBackupRequest())
        if not first.HasField("options"):
            raise BadFieldError("options", "are missing from the first message")
        wish = self._wish(first.options, context)
        with (
            self._admission.enter(deadline),
            parts.drafts.make() as folder,
            examine(parts.profiles, _pieces([first], request_iterator), folder) as examined,
        ):
            restored = restore(
                RestoreParts(
                    profiles=parts.profiles,
                    drafts=parts.drafts,
                    set_aside=parts.set_aside,
                    reviewer=parts.reviewer,
                    random=parts.random,
                ),
                examined,
                folder,
                wish,
                deadline.for_work(),
            )
            return pb.RestoreBackupResponse(
                backup=_backup_of(examined),
                profiles=[_restored(each) for each in restored],
                checks=_checks(examined.checks),
            )

    def _wish(self, options: pb.RestoreOptions, context: grpc.ServicerContext) -> RestoreWish:
        """Read what is wanted.

        Raises:
            NotAllowedError: the caller may not take a profile's place.
        """
        caller = proved_caller(context, self._parts.reviewer)
        has_reviewer = self._parts.reviewer.exists()
        if options.replace and not is_person(caller, has_reviewer=has_reviewer):
            who = "the reviewer" if has_reviewer else "a person on the command line"
            raise NotAllowedError(
                f"only {who} puts a profile aside; restore to another name, without replace"
            )
        return RestoreWish(
            profile=options.profile,
            replace=options.replace,
            dry_run=options.dry_run,
            caller=caller,
        )


def _pieces(
    *messages: Iterable[pb.VerifyBackupRequest] | Iterable[pb.RestoreBackupRequest],
) -> Iterator[bytes]:
    """Give what is in the pieces that are sent.

    Raises:
        BadFieldError: one is too large.
    """
    for some in messages:
        for message in some:
            if len(message.piece) > PIECE_BYTES:
                raise BadFieldError(
                    "piece", f"has {len(message.piece):,} bytes; {PIECE_BYTES:,} at most"
                )
            if message.piece:
                yield message.piece


def _progress(step: Progress) -> pb.BackupProgress:
    return pb.BackupProgress(
        profile=step.profile, done_bytes=step.done_bytes, total_bytes=step.total_bytes
    )


def _backup_of(examined: Examined) -> pb.Backup:
    return _backup(examined.manifest, examined.file_bytes, examined.digest)


def _backup(manifest: Manifest, size: int, digest: str) -> pb.Backup:
    return pb.Backup(
        format=FORMAT,
        made_at_ms=manifest.made_at_ms,
        build=manifest.build,
        profiles=[_profile(each) for each in manifest.profiles],
        bytes=size,
        blake3=digest,
    )


def _profile(entry: BackedUp) -> pb.BackedUpProfile:
    return pb.BackedUpProfile(
        name=entry.name,
        bytes=entry.file_bytes,
        blake3=entry.blake3,
        schema=entry.schema,
        profile_id=entry.profile_id,
        notes=entry.notes,
        events=entry.events,
        rejections=entry.rejections,
        vectors=entry.vectors,
        model=entry.model,
        model_identity=entry.model_identity,
        dimensions=entry.dimensions,
        problem=entry.problem,
    )


def _checks(checks: Iterable[BackupCheck]) -> list[pb.BackupCheck]:
    return [
        pb.BackupCheck(profile=each.profile, name=each.name, ok=each.ok, detail=each.detail)
        for each in checks
    ]


def _restored(restored: Restored) -> pb.RestoredProfile:
    return pb.RestoredProfile(
        source=restored.source,
        name=restored.name,
        notes=restored.notes,
        event=restored.event,
        erased=restored.carried.erased,
        rejected=restored.carried.rejected,
        put_aside=restored.put_aside,
        schema_before=restored.schema_before,
        problem=restored.problem,
    )
