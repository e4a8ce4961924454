"""The calls about backups, as values, and how their replies are read."""

from collections.abc import Iterable
from dataclasses import dataclass

from graft.memory.v1 import backups_service_pb2 as pb
from graft_client.backup_reports import (
    BackedUpProfile,
    Backup,
    BackupReply,
    BackupStep,
    RestoredBackup,
    RestoredProfile,
    VerifiedBackup,
)
from graft_client.operation import Operation, sendable
from graft_client.results import Check
from graft_client.times import from_milliseconds

BACKUPS = f"/{pb.DESCRIPTOR.services_by_name['BackupsService'].full_name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreWish:
    """Where the profiles of a backup are to go; see RestoreOptions."""

    profile: str = ""
    replace: bool = False
    dry_run: bool = False


def create(profile: str, *, all_profiles: bool) -> Operation[pb.CreateBackupResponse, BackupReply]:
    """Make a backup; a call that is answered with a stream."""
    with sendable():
        request = pb.CreateBackupRequest(profile=profile, all_profiles=all_profiles)
    return Operation(
        path=f"{BACKUPS}/CreateBackup",
        request=request,
        reply=pb.CreateBackupResponse,
        read=_reply,
    )


def verify() -> Operation[pb.VerifyBackupResponse, VerifiedBackup]:
    """Check a backup; the pieces follow the request."""
    return Operation(
        path=f"{BACKUPS}/VerifyBackup",
        request=pb.VerifyBackupRequest(),
        reply=pb.VerifyBackupResponse,
        read=lambda reply: VerifiedBackup(
            backup=_backup(reply.backup), checks=_checks(reply.checks)
        ),
    )


def restore(wish: RestoreWish) -> Operation[pb.RestoreBackupResponse, RestoredBackup]:
    """Take profiles from a backup; the pieces follow the request."""
    with sendable():
        options = pb.RestoreOptions(
            profile=wish.profile, replace=wish.replace, dry_run=wish.dry_run
        )
    return Operation(
        path=f"{BACKUPS}/RestoreBackup",
        request=pb.RestoreBackupRequest(options=options),
        reply=pb.RestoreBackupResponse,
        read=_restored,
        repeatable=False,
    )


def _reply(reply: pb.CreateBackupResponse) -> BackupReply:
    step = None
    if reply.HasField("progress"):
        step = BackupStep(
            profile=reply.progress.profile,
            done_bytes=reply.progress.done_bytes,
            total_bytes=reply.progress.total_bytes,
        )
    elif reply.HasField("backup"):
        backup = _backup(reply.backup)
        step = BackupStep(done_bytes=backup.bytes, total_bytes=backup.bytes, backup=backup)
    return BackupReply(step=step, file_bytes=reply.file_bytes, piece=reply.piece)


def _restored(reply: pb.RestoreBackupResponse) -> RestoredBackup:
    return RestoredBackup(
        backup=_backup(reply.backup),
        profiles=tuple(
            RestoredProfile(
                source=each.source,
                name=each.name,
                notes=each.notes,
                event=each.event or None,
                erased=each.erased,
                rejected=each.rejected,
                put_aside=each.put_aside,
                schema_before=each.schema_before,
                problem=each.problem,
            )
            for each in reply.profiles
        ),
        checks=_checks(reply.checks),
    )


def _backup(backup: pb.Backup) -> Backup:
    return Backup(
        format=backup.format,
        made_at=from_milliseconds(backup.made_at_ms),
        build=backup.build,
        profiles=tuple(_profile(each) for each in backup.profiles),
        bytes=backup.bytes,
        blake3=backup.blake3,
    )


def _profile(each: pb.BackedUpProfile) -> BackedUpProfile:
    return BackedUpProfile(
        name=each.name,
        bytes=each.bytes,
        blake3=each.blake3,
        schema=each.schema,
        profile_id=each.profile_id,
        notes=each.notes,
        events=each.events,
        rejections=each.rejections,
        vectors=each.vectors,
        model=each.model,
        model_identity=each.model_identity,
        dimensions=each.dimensions,
        problem=each.problem,
    )


def _checks(checks: Iterable[pb.BackupCheck]) -> tuple[Check, ...]:
    return tuple(
        Check(name=each.name, ok=each.ok, detail=each.detail, profile=each.profile)
        for each in checks
    )
