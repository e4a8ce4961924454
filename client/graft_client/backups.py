"""Backups for programs: `Graft.backups`."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

from google.protobuf.message import Message

from graft.memory.v1 import backups_service_pb2 as pb
from graft_client import backup_operations
from graft_client.backup_files import check_readable, new_file, read_pieces
from graft_client.backup_operations import RestoreWish
from graft_client.backup_reports import BackupStep, RestoredBackup, VerifiedBackup
from graft_client.calling import Stream
from graft_client.operation import Operation

BACKUP_SECONDS = 3_600.0
"""What making a backup, or taking one back, may take, or longer where calls may."""

Sent = Callable[[int, int], None]
"""Hears how many bytes were sent, and of how many."""

ReplyT = TypeVar("ReplyT", bound=Message)
ResultT = TypeVar("ResultT")


class Send(Protocol):
    """Makes one call whose request is followed by others."""

    def __call__(
        self,
        operation: Operation[ReplyT, ResultT],
        following: Iterator[Message],
        seconds_min: float,
        /,
    ) -> ResultT:
        """Return what the operation reads of its reply, within *seconds_min* at least."""


def _unheard(_done: int, _total: int) -> None:
    """Tell nobody."""


class Backups:
    """Makes copies of profiles as files, and takes them back.

    Args:
        profile: of the client.
        stream: see `Stream`.
        send: see `Send`.
    """

    def __init__(self, profile: str, stream: Stream, send: Send) -> None:
        self._profile = profile
        self._stream = stream
        self._send = send

    def create(
        self, path: str | Path, *, all_profiles: bool = False, overwrite: bool = False
    ) -> Iterator[BackupStep]:
        """Write a backup to *path*: steps, of which the last says what it is.

        The file is there, whole, with the last step; before it there is none.

        Args:
            path: of the file; it gets mode 0600.
            all_profiles: of all profiles instead of the client's.
            overwrite: take the place of a file that is there.
        """
        operation = backup_operations.create(self._profile, all_profiles=all_profiles)
        last = None
        with new_file(Path(path), overwrite=overwrite) as draft:
            total = done = 0
            for reply in self._stream(operation, BACKUP_SECONDS):
                if reply.file_bytes:
                    total = reply.file_bytes
                    draft.check_room(total)
                elif reply.piece:
                    draft.write(reply.piece)
                    done += len(reply.piece)
                    yield BackupStep(done_bytes=done, total_bytes=total)
                elif reply.step is not None and reply.step.backup is None:
                    yield reply.step
                else:
                    last = reply.step
        assert last is not None, "a backup that ends well ends with what it is"
        yield last

    def verify(self, path: str | Path, *, sent: Sent = _unheard) -> VerifiedBackup:
        """Check a backup as `restore` would; nothing is changed."""
        check_readable(Path(path))
        pieces = read_pieces(Path(path), sent)
        following = (pb.VerifyBackupRequest(piece=piece) for piece in pieces)
        return self._send(backup_operations.verify(), following, BACKUP_SECONDS)

    def restore(
        self,
        path: str | Path,
        *,
        profile: str = "",
        replace: bool = False,
        dry_run: bool = False,
        sent: Sent = _unheard,
    ) -> RestoredBackup:
        """Take profiles from a backup: all of them, or where anything is wrong none.

        Args:
            path: of the file.
            profile: where to; empty: each by its own name, or by a new one where something is.
            replace: put aside what is there, and take its place.
            dry_run: only tell what would be done.
            sent: hears how far sending the file is.
        """
        check_readable(Path(path))
        wish = RestoreWish(profile=profile, replace=replace, dry_run=dry_run)
        pieces = read_pieces(Path(path), sent)
        following = (pb.RestoreBackupRequest(piece=piece) for piece in pieces)
        return self._send(backup_operations.restore(wish), following, BACKUP_SECONDS)
