"""Looks into what TOML and JSON give back, whose shape a file may have wrong anywhere."""

from collections.abc import Iterator


def item(value: object, key: str) -> object:
    """Return what *value* holds under *key*; None where it is no table or does not."""
    return value.get(key) if isinstance(value, dict) else None


def items(value: object, key: str) -> Iterator[object]:
    """Give the entries of the list that *value* holds under *key*."""
    found = item(value, key)
    if isinstance(found, list):
        yield from found


def pairs(value: object, key: str) -> Iterator[tuple[str, object]]:
    """Give names and entries of the table that *value* holds under *key*."""
    found = item(value, key)
    if isinstance(found, dict):
        yield from found.items()


def texts(value: object) -> Iterator[str]:
    """Give the texts of a list."""
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, str))
