"""Hashes a passphrase so that guessing it is slow, and compares without telling how far it fits."""

import hashlib
import hmac
import unicodedata

from graft.wire.errors import BadFieldError

PASSPHRASE_CHARS_MIN = 8
PASSPHRASE_CHARS_MAX = 1_024
SALT_BYTES = 16

_N, _R, _P = 2**15, 8, 1
_MEMORY_BYTES_MAX = 64 * 1024 * 1024


def check_passphrase(passphrase: str, field: str = "passphrase") -> str:
    """Return a new passphrase if it can be one.

    Raises:
        BadFieldError: it is too short or too long; nothing of it is told.
    """
    if not PASSPHRASE_CHARS_MIN <= len(passphrase) <= PASSPHRASE_CHARS_MAX:
        raise BadFieldError(
            field, f"must have {PASSPHRASE_CHARS_MIN} to {PASSPHRASE_CHARS_MAX:,} characters"
        )
    return passphrase


def hash_passphrase(passphrase: str, salt: bytes) -> bytes:
    """Return the scrypt hash of a passphrase; about a tenth of a second, 32 MiB."""
    # The same keys give other code points on other systems.
    spelled = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(spelled, salt=salt, n=_N, r=_R, p=_P, maxmem=_MEMORY_BYTES_MAX)


def fits(passphrase: str, salt: bytes, expected: bytes) -> bool:
    """Tell whether a passphrase is the one that was hashed."""
    return len(passphrase) <= PASSPHRASE_CHARS_MAX and hmac.compare_digest(
        hash_passphrase(passphrase, salt), expected
    )
