"""A backup as a file: a tar archive of a manifest, a database for each profile, and a digest.

It is read from its beginning to its end, a piece at a time, and nothing in it says where anything
is written: each member must be the one that is due, a plain file of just the size that the
manifest gives. It is not compressed, so that what it takes is what it is.
"""

import os
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from blake3 import blake3

from graft.wire.errors import BadBackupError
from graft_memstore.store.backup_manifest import (
    MANIFEST_BYTES_MAX,
    BackedUp,
    Manifest,
    decode_manifest,
    encode_manifest,
)

PIECE_BYTES = 1024 * 1024
"""Most that travels in one message."""

BLOCK = tarfile.BLOCKSIZE
END = bytes(2 * BLOCK)
MANIFEST = "manifest.json"
DIGEST = "blake3"
DIGEST_BYTES = 65
"""64 hexadecimal digits and the end of the line."""

PRIVATE = 0o600


def archive_bytes(manifest: Manifest) -> int:
    """Return how large the file of a backup is."""
    sizes = [len(encode_manifest(manifest)), DIGEST_BYTES]
    sizes += [each.file_bytes for each in manifest.profiles]
    return sum(BLOCK + _whole_blocks(size) for size in sizes) + len(END)


class ArchiveWriter:
    """Gives the file of a backup piece by piece.

    Args:
        manifest: what the backup says of itself.
        databases: where each profile's copy lies.

    Attributes:
        digest: BLAKE3 of the file up to its last member, once all was given.
    """

    def __init__(self, manifest: Manifest, databases: Mapping[str, Path]) -> None:
        self._manifest = manifest
        self._databases = databases
        self._digest = blake3()
        self.digest = ""

    def pieces(self) -> Iterator[bytes]:
        """Give the file, at most `PIECE_BYTES` at once.

        Raises:
            OSError: a copy cannot be read.
        """
        seconds = self._manifest.made_at_ms // 1_000
        content = encode_manifest(self._manifest)
        beginning = _header(MANIFEST, len(content), seconds) + _filled(content)
        for start in range(0, len(beginning), PIECE_BYTES):
            yield self._counted(beginning[start : start + PIECE_BYTES])
        for entry in self._manifest.profiles:
            yield self._counted(_header(_member(entry), entry.file_bytes, seconds))
            with self._databases[entry.name].open("rb") as file:
                while piece := file.read(PIECE_BYTES):
                    # Each but the last is of whole blocks.
                    yield self._counted(_filled(piece))
        self.digest = self._digest.hexdigest()
        end = f"{self.digest}\n".encode()
        yield _header(DIGEST, len(end), seconds) + _filled(end) + END

    def _counted(self, piece: bytes) -> bytes:
        self._digest.update(piece)
        return piece


class ArchiveReader:
    """Reads the file of a backup as it comes in; see `ArchiveWriter`.

    Every method raises `BadBackupError` where something else comes than is due.

    Attributes:
        bytes_read: so far.
        digest: BLAKE3 of the file up to its last member, once it was read to its end.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._buffer = b""
        self._digest = blake3()
        self.bytes_read = 0
        self.digest = ""

    def manifest(self) -> Manifest:
        """Read what the backup says of itself; it stands first.

        Raises:
            SchemaTooNewError: see `decode_manifest`.
        """
        size = self._member(MANIFEST)
        if size > MANIFEST_BYTES_MAX:
            raise BadBackupError(
                f"the manifest of the backup has {size:,} bytes; {MANIFEST_BYTES_MAX:,} at most"
            )
        content = b"".join(self._content(size))
        return decode_manifest(content)

    def database(self, entry: BackedUp, path: Path) -> None:
        """Put the next profile's database at *path*, a new file.

        Raises:
            OSError: it cannot be written.
        """
        size = self._member(_member(entry))
        if size != entry.file_bytes:
            raise BadBackupError(
                f"profile {entry.name} in the backup has {size:,} bytes, its manifest says "
                f"{entry.file_bytes:,}"
            )
        found = blake3()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, PRIVATE), "wb") as file:
            for piece in self._content(size):
                found.update(piece)
                file.write(piece)
        if found.hexdigest() != entry.blake3:
            raise BadBackupError(
                f"profile {entry.name} in the backup is damaged: its BLAKE3 is not the one that "
                "the manifest gives; use another backup"
            )

    def finish(self) -> None:
        """See that the backup ends here, and that nothing of it was changed on the way."""
        expected = self._digest.hexdigest()
        size = self._member(DIGEST)
        found = b"".join(self._content(size)) if size == DIGEST_BYTES else b""
        if found != f"{expected}\n".encode():
            raise BadBackupError(
                "the backup is damaged: its last line is not the BLAKE3 of what stands before; use "
                "another backup"
            )
        if self._read(len(END)) != END or self._buffer or any(self._pieces):
            raise BadBackupError("something follows after the end of the backup")
        self.digest = expected

    def _member(self, name: str) -> int:
        """Read the header of the next member, which must be a plain file of that name."""
        raw = self._read(BLOCK)
        try:
            header = tarfile.TarInfo.frombuf(raw, "utf-8", "strict")
        except (tarfile.HeaderError, ValueError) as error:
            raise BadBackupError(
                f"it is no backup of Graft, or is damaged: {name} should begin here, and does not"
                f" ({error})"
            ) from error
        if header.name != name or header.type != tarfile.REGTYPE or header.size < 0:
            raise BadBackupError(
                f"it is no backup of Graft: {header.name[:80]!r} stands where {name} should, or is "
                "no plain file"
            )
        return header.size

    def _content(self, size: int) -> Iterator[bytes]:
        left = size
        while left:
            piece = self._read(min(left, PIECE_BYTES))
            left -= len(piece)
            yield piece
        rest = _whole_blocks(size) - size
        if rest and any(self._read(rest)):
            raise BadBackupError("the backup is damaged: something stands between its members")

    def _read(self, size: int) -> bytes:
        while len(self._buffer) < size:
            piece = next(self._pieces, b"")
            if not piece:
                raise BadBackupError(
                    f"the backup is cut off after {self.bytes_read + len(self._buffer):,} bytes; "
                    "use another one"
                )
            self._buffer += piece
        found, self._buffer = self._buffer[:size], self._buffer[size:]
        self._digest.update(found)
        self.bytes_read += size
        return found


def _member(entry: BackedUp) -> str:
    return f"{entry.name}.db"


def _header(name: str, size: int, seconds: int) -> bytes:
    header = tarfile.TarInfo(name)
    header.size, header.mtime, header.mode = size, seconds, PRIVATE
    # The only form that says by itself how large a file above 8 GiB is.
    return header.tobuf(tarfile.GNU_FORMAT)


def _filled(content: bytes) -> bytes:
    return content + bytes(_whole_blocks(len(content)) - len(content))


def _whole_blocks(size: int) -> int:
    return -(-size // BLOCK) * BLOCK
