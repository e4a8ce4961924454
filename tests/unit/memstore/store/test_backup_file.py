"""The file of a backup: what is written is read back, and nothing else is taken for one."""

import io
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from graft.wire.errors import BadBackupError, SchemaTooNewError
from graft_memstore.store.backup_file import ArchiveReader, ArchiveWriter, archive_bytes
from graft_memstore.store.backup_manifest import (
    BackedUp,
    Manifest,
    decode_manifest,
    encode_manifest,
)

CONTENT = b"of a database, " * 1_000


def entry(name: str = "default", content: bytes = CONTENT) -> BackedUp:
    return BackedUp(
        name=name,
        file_bytes=len(content),
        blake3=blake3(content).hexdigest(),
        schema=13,
        profile_id="0" * 32,
        notes=1,
        events=1,
        head="a" * 64,
        key="b" * 64,
        rejections=0,
        vectors=0,
        model="",
        model_identity="",
        dimensions=0,
        problem="",
    )


def archive(folder: Path, *contents: bytes) -> bytes:
    """Write a backup of profiles p0, p1, ... with these contents."""
    paths = {f"p{number}": folder / f"p{number}.in" for number in range(len(contents))}
    for path, content in zip(paths.values(), contents, strict=True):
        path.write_bytes(content)
    profiles = tuple(entry(name, content) for name, content in zip(paths, contents, strict=True))
    manifest = Manifest(made_at_ms=1_700_000_000_000, build="0.1.0+1", profiles=profiles)
    written = b"".join(ArchiveWriter(manifest, paths).pieces())
    assert len(written) == archive_bytes(manifest)
    return written


def read(raw: bytes, folder: Path, *, piece: int = 1_000) -> list[bytes]:
    """Read a backup that comes in pieces; return its databases."""
    reader = ArchiveReader(raw[start : start + piece] for start in range(0, len(raw), piece))
    manifest = reader.manifest()
    found = []
    for each in manifest.profiles:
        path = folder / f"{each.name}.out"
        path.unlink(missing_ok=True)
        reader.database(each, path)
        found.append(path.read_bytes())
    reader.finish()
    return found


@pytest.mark.parametrize("piece", [1, 511, 512, 513, 1 << 20])
def test_what_is_written_is_read_back_however_it_comes_in(tmp_path: Path, piece: int) -> None:
    contents = [CONTENT, b"", b"x" * 512, b"y" * 513] if piece > 1 else [b"z" * 600]

    assert read(archive(tmp_path, *contents), tmp_path, piece=piece) == contents


def test_any_tar_lists_it(tmp_path: Path) -> None:
    raw = archive(tmp_path, CONTENT)

    with tarfile.open(fileobj=io.BytesIO(raw)) as opened:
        names = opened.getnames()

    assert names == ["manifest.json", "p0.db", "blake3"]


@given(st.data())
def test_a_byte_that_was_changed_or_is_missing_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("backup")
    raw = archive(folder, b"x" * 700)
    place = data.draw(st.integers(0, len(raw) - 1))
    if data.draw(st.booleans()):
        wrong = raw[:place]
    else:
        change = data.draw(st.integers(1, 255))
        wrong = raw[:place] + bytes([raw[place] ^ change]) + raw[place + 1 :]

    with pytest.raises((BadBackupError, SchemaTooNewError)):
        read(wrong, folder)


def test_what_follows_after_the_end_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(BadBackupError, match="follows after the end"):
        read(archive(tmp_path, CONTENT) + b"more", tmp_path)


def crafted(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as opened:
        for header, content in members:
            opened.addfile(header, io.BytesIO(content))
    return out.getvalue()


def member(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.type = len(content), kind
    if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
        header.linkname = "/etc/passwd"
    return header


def manifest_of(*entries: BackedUp) -> tuple[tarfile.TarInfo, bytes]:
    content = encode_manifest(Manifest(made_at_ms=1, build="b", profiles=entries))
    return member("manifest.json", content), content


HOSTILE: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "text": lambda: b"notes\n" * 1_000,
    "zip": lambda: b"PK\x03\x04" + bytes(2_000),
    "a database": lambda: b"SQLite format 3\0" + bytes(4_000),
    "an empty archive": crafted,
    "another archive": lambda: crafted((member("readme", b"x"), b"x")),
    "a path outside": lambda: crafted(manifest_of(entry()), (member("../../x", b"x"), b"x")),
    "an absolute path": lambda: crafted(manifest_of(entry()), (member("/x", b"x"), b"x")),
    "a link": lambda: crafted(manifest_of(entry()), (member("default.db", b"", b"2"), b"")),
    "a hard link": lambda: crafted(manifest_of(entry()), (member("default.db", b"", b"1"), b"")),
    "a device": lambda: crafted(manifest_of(entry()), (member("default.db", b"", b"3"), b"")),
    "another size": lambda: crafted(manifest_of(entry()), (member("default.db", b"x"), b"x")),
    "a huge manifest": lambda: crafted((member("manifest.json", bytes(5 << 20)), bytes(5 << 20))),
    "no profiles": lambda: crafted(manifest_of()),
    "a profile twice": lambda: crafted(manifest_of(entry("a"), entry("A"))),
    "a name outside": lambda: crafted(manifest_of(entry("../x"))),
    "an absurd size": lambda: crafted(manifest_of(replace(entry(), file_bytes=2**61))),
    "a key that is none": lambda: crafted(manifest_of(replace(entry(), key="b" * 63))),
    "a negative count": lambda: crafted(manifest_of(replace(entry(), notes=-1))),
}


@pytest.mark.parametrize("what", sorted(HOSTILE))
def test_what_is_no_backup_is_refused(tmp_path: Path, what: str) -> None:
    with pytest.raises(BadBackupError):
        read(HOSTILE[what](), tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"[]",
        b"[" * 100_000,
        b'{"format": "1"}',
        b'{"format": true}',
        b'{"format": 0}',
        b"\xff",
    ],
)
def test_a_manifest_that_is_none_is_refused(raw: bytes) -> None:
    with pytest.raises(BadBackupError):
        decode_manifest(raw)


def test_a_backup_of_a_newer_format_names_both_numbers() -> None:
    with pytest.raises(SchemaTooNewError, match=r"format 2, this program knows 1"):
        decode_manifest(b'{"format": 2, "anything": "else"}')
