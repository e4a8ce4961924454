"""Secrets that are known by their form and that detect-secrets does not know, or knows too slowly.

Each expression begins where a run of its own characters begins, so that no run is read twice.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from graft_memstore.leaks.spot import Showing, Spot

_NOT_INSIDE = r"(?<![A-Za-z0-9_-])"
_KEY_CHARS = 400
"""So far behind its first line the text of a private key is looked for."""
_KEY_TEXT = re.compile(r"[A-Za-z0-9+/]{24}")
_JWT_HEADER_CHARS_MAX = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One form: its group `secret`, where it has one, is the secret.

    Attributes:
        needs: a text of which one is in all that it finds.
        holds: tells, by the text and the place, what only looks like it.
    """

    kind: str
    pattern: re.Pattern[str]
    needs: tuple[str, ...]
    showing: Showing = Showing.ENDS
    holds: Callable[[str, int, int], bool] | None = None


def _is_jwt(text: str, start: int, end: int) -> bool:
    """Tell whether the first part is the JSON that such a token begins with."""
    part = text[start:end].partition(".")[0]
    if len(part) > _JWT_HEADER_CHARS_MAX:
        return False
    try:
        header = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return False
    return isinstance(header, dict) and "alg" in header


def _has_key_text(text: str, _: int, end: int) -> bool:
    """Tell whether a key follows its header: notes name the header alone as well."""
    return _KEY_TEXT.search(text, end, end + _KEY_CHARS) is not None


def _is_mixed(text: str, start: int, end: int) -> bool:
    """Tell letters with digits among them from words."""
    value = text[start:end]
    return any(each.isdigit() for each in value) and any(each.isalpha() for each in value)


SHAPES = (
    Shape(
        kind="JSON Web Token",
        pattern=re.compile(
            r"(?<![A-Za-z0-9_.=-])eyJ[A-Za-z0-9_-]{8,8192}\.eyJ[A-Za-z0-9_-]{2,65536}"
            r"\.[A-Za-z0-9_-]{16,8192}"
        ),
        needs=("eyJ",),
        holds=_is_jwt,
    ),
    Shape(
        kind="Private Key",
        pattern=re.compile(
            r"BEGIN (?:[A-Z0-9]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?|PuTTY-User-Key-File-[23]"
        ),
        needs=("PRIVATE KEY", "PuTTY-User-Key-File-"),
        showing=Showing.HEADER,
        holds=_has_key_text,
    ),
    Shape(
        kind="GitHub Token",
        pattern=re.compile(_NOT_INSIDE + r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
        needs=("github_pat_",),
    ),
    Shape(
        kind="API key (sk-)",
        pattern=re.compile(
            _NOT_INSIDE + r"sk-(?:proj-|ant-|svcacct-|admin-|or-)?[A-Za-z0-9_-]{20,512}"
        ),
        needs=("sk-",),
        holds=_is_mixed,
    ),
    Shape(
        kind="npm Token",
        pattern=re.compile(
            _NOT_INSIDE + r"npm_[A-Za-z0-9]{36}|:_authToken=[ \t]{0,4}(?P<secret>[A-Fa-f0-9-]{36})"
        ),
        needs=("npm_", ":_authToken="),
    ),
    Shape(
        kind="Google API Key",
        pattern=re.compile(_NOT_INSIDE + r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
        needs=("AIza",),
    ),
    Shape(
        kind="Hugging Face Token",
        pattern=re.compile(_NOT_INSIDE + r"hf_[A-Za-z0-9]{34}(?![A-Za-z0-9_-])"),
        needs=("hf_",),
    ),
    Shape(
        kind="Slack Token",
        pattern=re.compile(_NOT_INSIDE + r"xapp-[0-9]-[A-Z0-9]{6,16}-[0-9]{6,16}-[a-f0-9]{32,128}"),
        needs=("xapp-",),
    ),
    Shape(
        kind="Authorization header",
        pattern=re.compile(
            r"(?i:\bauthorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
            r"(?:bearer|basic|token))[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,8192})"
        ),
        needs=("uthorization", "UTHORIZATION"),
        holds=_is_mixed,
    ),
)


def shape_spots(text: str) -> Iterator[Spot]:
    """Give what is known by its form."""
    for shape in SHAPES:
        if not any(need in text for need in shape.needs):
            continue
        for match in shape.pattern.finditer(text):
            start, end = match.span("secret" if match.groupdict().get("secret") else 0)
            if shape.holds is None or shape.holds(text, start, end):
                yield Spot(start=start, end=end, kind=shape.kind, showing=shape.showing)
