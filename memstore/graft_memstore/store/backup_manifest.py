"""What a backup says of itself: which profiles are in it, how large, and what they must hash to."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

from graft.wire.errors import BadBackupError, SchemaTooNewError
from graft.wire.paths import PROFILE_NAME

FORMAT = 1
"""Of the file that this program writes, and the newest that it reads."""

MANIFEST_BYTES_MAX = 4 * 1024 * 1024
PROFILES_MAX = 1_000
"""Profiles in one backup; the manifest has room for them."""

DATABASE_BYTES_MAX = 1 << 40
"""A tebibyte; no profile is larger."""

DIGEST_DIGITS = 64
COUNT_MAX = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """One profile in a backup.

    Attributes:
        file_bytes: of its database.
        blake3: of that, in hexadecimal.
        profile_id: of the copy of the profile.
        head: hash of the last of its *events*, in hexadecimal; empty without one.
        key: that its log is sealed with, in hexadecimal.
        rejections: that bind.
        vectors: of the model that serves.
        problem: what was wrong with its log when it was copied; empty where nothing was.
    """

    name: str
    file_bytes: int
    blake3: str
    schema: int
    profile_id: str
    notes: int
    events: int
    head: str
    key: str
    rejections: int
    vectors: int
    model: str
    model_identity: str
    dimensions: int
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup is.

    Attributes:
        build: of the program that made it.
        profiles: sorted by name.
    """

    made_at_ms: int
    build: str
    profiles: tuple[BackedUp, ...]


def encode_manifest(manifest: Manifest) -> bytes:
    """Return a manifest as it stands in a backup."""
    content = {
        "format": FORMAT,
        "made_at_ms": manifest.made_at_ms,
        "build": manifest.build,
        "profiles": [asdict(each) for each in manifest.profiles],
    }
    return json.dumps(content, indent=1).encode()


def decode_manifest(raw: bytes) -> Manifest:
    """Read a manifest.

    Raises:
        SchemaTooNewError: it is of a format that this program does not know.
        BadBackupError: it is none.
    """
    try:
        content = json.loads(raw)
    # A thousand brackets in a row are as deep as the parser's stack.
    except (ValueError, RecursionError) as error:
        raise BadBackupError(f"the manifest of the backup cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise BadBackupError("the manifest of the backup is no object")
    number = _count(content, "format")
    if number > FORMAT:
        raise SchemaTooNewError(
            f"the backup is of format {number}, this program knows {FORMAT}; install the newer "
            "graft-memory",
            metadata={"format": str(number), "newest": str(FORMAT)},
        )
    listed = content.get("profiles")
    if number < 1 or not isinstance(listed, list) or not 0 < len(listed) <= PROFILES_MAX:
        raise BadBackupError(f"the backup must hold 1 to {PROFILES_MAX:,} profiles")
    profiles = tuple(_profile(each) for each in listed)
    # Some file systems tell no cases apart.
    if len({each.name.lower() for each in profiles}) != len(profiles):
        raise BadBackupError("the backup names a profile twice")
    return Manifest(
        made_at_ms=_count(content, "made_at_ms"), build=_text(content, "build"), profiles=profiles
    )


def _profile(content: object) -> BackedUp:
    if not isinstance(content, dict):
        raise BadBackupError("the backup describes a profile by something that is no object")
    values = {
        field.name: _count(content, field.name) if field.type is int else _text(content, field.name)
        for field in fields(BackedUp)
    }
    entry = BackedUp(**values)  # type: ignore[arg-type] # each of the type that its field has
    if not PROFILE_NAME.fullmatch(entry.name):
        raise BadBackupError(f"{entry.name[:80]!r} in the backup is no name of a profile")
    if entry.file_bytes > DATABASE_BYTES_MAX:
        raise BadBackupError(
            f"profile {entry.name} is said to have {entry.file_bytes:,} bytes; "
            f"{DATABASE_BYTES_MAX:,} at most"
        )
    for digits in (entry.blake3, entry.key, *([entry.head] if entry.events else ())):
        if len(digits) != DIGEST_DIGITS or not set(digits) <= set("0123456789abcdef"):
            raise BadBackupError(f"{digits[:80]!r} of profile {entry.name} is no digest")
    return entry


def _count(content: Mapping[str, object], name: str) -> int:
    value = content.get(name)
    if type(value) is not int or not 0 <= value <= COUNT_MAX:
        raise BadBackupError(f"{name} in the backup is {str(value)[:80]!r} and no count")
    return value


def _text(content: Mapping[str, object], name: str) -> str:
    value = content.get(name)
    if not isinstance(value, str):
        raise BadBackupError(f"{name} in the backup is {str(value)[:80]!r} and no text")
    return value
