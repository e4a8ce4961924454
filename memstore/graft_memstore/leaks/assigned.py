"""Secrets that are known by the name that they are given: `DB_PASSWORD=…`, `"api_key": "…"`.

detect-secrets has a plugin for these, which needs a file's type and time that grows with the cube
of a line's length; notes are prose with code between. Here a value counts only where it is mixed
as a secret is.
"""

import re
from collections.abc import Iterator

from graft_memstore.leaks.placeholders import is_placeholder
from graft_memstore.leaks.spot import HIDDEN, Showing, Spot

PASSWORD_CHARS_MIN = 6
TOKEN_CHARS_MIN = 12
VALUE_CHARS_MAX = 256
PASSWORDS = ("password", "passphrase", "passwd", "pwd")

_NAME = (
    r"(?P<name>password|passphrase|passwd|pwd|secret[_-]?(?:access[_-]?)?key|secret|token"
    r"|(?:api|access|auth|private|client|account)[_-]?key)"
)
_ASSIGNED = re.compile(
    _NAME + r"(?P<sign>[\"'`\]]{0,2}[ \t]{0,4}(?:=>|:=|={1,3}|:|(?<=\w)[ \t])[ \t]{0,4})"
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\s]{6,256})(?P=quote)|[\"'`]?(?P<bare>[^\s\"'`,;]{6,256}))",
    re.IGNORECASE,
)
_NEEDS = (
    *("password", "passphrase", "passwd", "pwd", "secret", "token", "_key", "-key", "apikey"),
    *("accesskey", "authkey", "privatekey", "clientkey", "accountkey"),
)
SLICE_CHARS = 16 * 1024
"""One expression runs over so much at once: other threads wait for it."""
_SLICE_OVERLAP_CHARS = 512
"""More than one finding, with its name, can take."""
_OPTION = re.compile(r"--?[\w-]{0,32}\Z")
_OPTION_CHARS = 40
_BARE_END = ".)]}>|*"
_IDENTIFIERS = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+")
_WORDS = re.compile(r"[A-Za-z]+[0-9]{0,2}(?:[_-](?:[A-Za-z]+[0-9]{0,2}|[0-9]{1,4}))+")
_SYMBOL = re.compile(r"[!@#$%^&*?+=~]")
_DIGIT = re.compile(r"[0-9]")
_LETTER = re.compile(r"[A-Za-z]")


def assigned_spots(text: str) -> Iterator[Spot]:
    """Give the values that are given a secret's name and look like one."""
    for begin in range(0, len(text), SLICE_CHARS):
        end = begin + SLICE_CHARS + _SLICE_OVERLAP_CHARS
        low = text[begin:end].lower()
        if any(need in low for need in _NEEDS):
            yield from _assigned(text, begin, end)


def _assigned(text: str, begin: int, end: int) -> Iterator[Spot]:
    for match in _ASSIGNED.finditer(text, begin, end):
        name, sign = match["name"].lower(), match["sign"]
        if not sign.strip(" \t\"'`]") and not _is_option(text, match.start()):
            continue
        group = "quoted" if match["quoted"] else "bare"
        value = match[group] if group == "quoted" else match[group].rstrip(_BARE_END)
        if looks_secret(name, value):
            start = match.start(group)
            yield Spot(
                start=start,
                end=start + len(value),
                kind=name.replace("_", " ").replace("-", " "),
                showing=Showing.NOTHING,
                before=f"{name}=",
                vague=True,
            )


def looks_secret(name: str, value: str) -> bool:
    """Tell whether *value* is mixed as a secret is, and neither a placeholder nor code."""
    if "://" in value or "(" in value or HIDDEN in value or is_placeholder(value):
        return False
    if _IDENTIFIERS.fullmatch(value) or not _LETTER.search(value):
        return False
    digits = len(_DIGIT.findall(value))
    mixed_case = value not in {value.lower(), value.upper()}
    if name in PASSWORDS:
        return len(value) >= PASSWORD_CHARS_MIN and (digits > 0 or bool(_SYMBOL.search(value)))
    if len(value) < TOKEN_CHARS_MIN or _WORDS.fullmatch(value):
        return False
    return digits > 1 or (digits == 1 and mixed_case)


def _is_option(text: str, start: int) -> bool:
    """Tell whether the name that begins at *start* is a command's option: `--db-password X`."""
    return _OPTION.search(text, max(start - _OPTION_CHARS, 0), start) is not None
