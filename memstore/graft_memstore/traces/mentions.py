"""Types and codes of errors that a text names, whether or not it prints the error itself."""

import re
from collections.abc import Iterable

from graft_memstore.traces.common import COMMON_CODES, COMMON_TYPES

MENTIONS_MAX = 12
"""Types and codes of one text that are kept."""

_TYPE = re.compile(
    r"(?<![\w/\\])(?:[a-z_$][\w$]{0,60}\.){0,10}(?P<name>[A-Z]\w{2,60}(?:Error|Exception))(?!\w)"
)
_CODE = re.compile(
    r"(?<![\w/-])(?P<name>TS\d{4,5}|E0\d{3}|ERR_[A-Z][A-Z0-9_]{3,60}|E[A-Z]{5,14}|LNK\d{4}|C[1-5]\d{3}|CS\d{4}"
    r"|MSB\d{4}|NU\d{4}|ORA-\d{5}|GH\d{3}|YN\d{4}|SC\d{4}|SQLSTATE(?: |\[)\w{5})(?![\w-])"
)


def mentions_in(lines: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the types and the codes that *lines* name, common ones left out."""
    types: dict[str, None] = {}
    codes: dict[str, None] = {}
    for line in lines:
        named = "Error" in line or "Exception" in line
        for found in _TYPE.finditer(line) if named else ():
            types[found["name"]] = None
        for found in _CODE.finditer(line):
            codes[found["name"].removeprefix("SQLSTATE").strip(" [")] = None
    return (
        [name for name in types if name not in COMMON_TYPES][:MENTIONS_MAX],
        [name for name in codes if name not in COMMON_CODES][:MENTIONS_MAX],
    )
