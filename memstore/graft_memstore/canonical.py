"""One unambiguous row of bytes for a list of fields, so that a hash of it means just that list."""

NOTHING = b"\x00"
TEXT = b"\x01"
BYTES = b"\x02"
NUMBER = b"\x03"
LENGTH_BYTES = 8

Field = str | bytes | int | None


def encode_fields(*fields: Field) -> bytes:
    """Return *fields* one after another, each with its type and length in front.

    Two different lists never give the same bytes: ("ab", "c") and ("a", "bc") differ, and so
    do "", b"", 0 and None. Text is UTF-8; numbers are decimal digits.
    """
    parts = bytearray()
    for field in fields:
        kind, raw = _encode(field)
        parts += kind + len(raw).to_bytes(LENGTH_BYTES) + raw
    return bytes(parts)


def _encode(field: Field) -> tuple[bytes, bytes]:
    if field is None:
        return NOTHING, b""
    if isinstance(field, str):
        return TEXT, field.encode()
    if isinstance(field, bytes):
        return BYTES, field
    return NUMBER, str(int(field)).encode()
