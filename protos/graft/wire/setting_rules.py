"""What the value of a setting may be: a rule for each kind, which says it in words as well."""

import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from graft.wire.characters import NOT_IN_LINE, is_scope_shaped
from graft.wire.endpoints import Endpoint, EndpointError

ON = frozenset({"1", "true", "yes", "on"})
OFF = frozenset({"0", "false", "no", "off"})

WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")

HALF_CHARACTER = re.compile("[\ud800-\udfff]")
"""What stands for a byte that is no UTF-8; a path may have it, a message may not."""

TARGET_BYTES_MAX = 107
"""Longest path that a Unix socket can have."""


PATH_CHARS_MAX = 4_096


class Rule(Protocol):
    """What one setting may be."""

    @property
    def allowed(self) -> str:
        """Say it, as the end of a sentence that begins with "it must be"."""

    @property
    def toml_types(self) -> tuple[type, ...]:
        """Types that the value may have in the settings file."""

    def accepts(self, text: str) -> bool:
        """Tell whether *text* can be meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A whole number from *least* to *most*, or one of *words*; 0 at any rate, it has a meaning."""

    least: int = 0
    most: int
    words: tuple[str, ...] = ()

    @property
    def toml_types(self) -> tuple[type, ...]:
        """A number, or the same as a text."""
        return (int, str)

    @property
    def allowed(self) -> str:
        """Say it."""
        instead = (*self.words, "0") if self.least else self.words
        others = "".join(f"{each}, or " for each in instead)
        return f"{others}a whole number from {self.least} to {self.most:,}"

    def accepts(self, text: str) -> bool:
        """Tell whether *text* can be meant."""
        if text in self.words:
            return True
        if not WHOLE_NUMBER.fullmatch(text):
            return False
        number = int(text)
        return number == 0 or self.least <= number <= self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number up to *most*, above 0 or, where *zero* has a meaning, from 0."""

    most: float
    zero: bool

    @property
    def toml_types(self) -> tuple[type, ...]:
        """A number, or the same as a text."""
        return (int, float, str)

    @property
    def allowed(self) -> str:
        """Say it."""
        least = "of 0 or more" if self.zero else "above 0"
        return f"a number {least}, at most {self.most:,}"

    def accepts(self, text: str) -> bool:
        """Tell whether *text* can be meant."""
        try:
            number = float(text)
        except ValueError:
            return False
        if not math.isfinite(number) or number > self.most:
            return False
        return number > 0 or (self.zero and number == 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """Yes or no."""

    @property
    def toml_types(self) -> tuple[type, ...]:
        """Yes or no, 1 or 0, or the same as a text."""
        return (bool, int, str)

    @property
    def allowed(self) -> str:
        """Say it."""
        return "1 or 0, true or false, yes or no, on or off"

    def accepts(self, text: str) -> bool:
        """Tell whether *text* can be meant."""
        return text.lower() in ON | OFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text that *check* takes; *allowed* says which it does."""

    allowed: str
    check: Callable[[str], bool]

    @property
    def toml_types(self) -> tuple[type, ...]:
        """A text: a number in its place would be written otherwise than it was."""
        return (str,)

    def accepts(self, text: str) -> bool:
        """Tell whether *text* can be meant."""
        return self.check(text)


def one_of(*words: str) -> Text:
    """Allow *words* alone."""
    return Text(allowed=f"one of {', '.join(words)}", check=lambda text: text in words)


def name_like(pattern: re.Pattern[str], allowed: str) -> Text:
    """Allow what *pattern* takes whole, which *allowed* says in words."""
    return Text(allowed=allowed, check=lambda text: pattern.fullmatch(text) is not None)


def or_empty(rule: Text) -> Text:
    """Allow what *rule* does, and nothing at all."""
    return Text(
        allowed=f"empty, or {rule.allowed}", check=lambda text: not text or rule.accepts(text)
    )


def line(chars_max: int) -> Text:
    """Allow one line of text."""
    return Text(
        allowed=f"one line of at most {chars_max:,} characters",
        check=lambda text: (
            len(text) <= chars_max
            and not NOT_IN_LINE.search(text)
            and not HALF_CHARACTER.search(text)
        ),
    )


def scope(chars_max: int) -> Text:
    """Allow what can be a note's scope."""
    one_line = line(chars_max)
    return Text(
        allowed=f'"user", "team:NAME", "project:HOST/PATH" or a plain name, {one_line.allowed}',
        check=lambda text: is_scope_shaped(text) and one_line.accepts(text),
    )


def target() -> Text:
    """Allow where a memstore listens: a Unix socket, or an address on TCP."""

    def check(text: str) -> bool:
        if "://" not in text:
            return _is_socket(text.removeprefix("unix:"))
        try:
            endpoint = Endpoint.parse(text)
        except EndpointError:
            return False
        return endpoint.tls or endpoint.is_loopback

    return Text(
        allowed="a socket, such as unix:/run/graft/memstore.sock, its path absolute and of at most"
        f" {TARGET_BYTES_MAX} bytes, or tls://HOST:PORT, or tcp://127.0.0.1:PORT (on the loopback"
        " address alone)",
        check=check,
    )


def socket_address() -> Text:
    """Allow where a service listens on a Unix socket."""
    return Text(
        allowed="a socket, such as unix:/run/graft/embedder.sock, its path absolute and of at most"
        f" {TARGET_BYTES_MAX} bytes",
        check=lambda text: _is_socket(text.removeprefix("unix:")),
    )


def _is_socket(path: str) -> bool:
    try:
        size = len(os.fsencode(path))
    except UnicodeEncodeError:
        return False
    whole = Path(path).is_absolute() and not NOT_IN_LINE.search(path)
    return whole and size <= TARGET_BYTES_MAX


def listen_address() -> Text:
    """Allow where a memstore can listen on TCP."""

    def check(text: str) -> bool:
        try:
            Endpoint.to_listen(text, tls=True)
        except EndpointError:
            return False
        return True

    return Text(allowed="HOST:PORT, such as 127.0.0.1:7433 or [::]:7433", check=check)


def loopback_address() -> Text:
    """Allow where something can listen for this machine alone."""

    def check(text: str) -> bool:
        try:
            return Endpoint.to_listen(text, tls=False).is_loopback
        except EndpointError:
            return False

    return Text(allowed="HOST:PORT of this machine alone, such as 127.0.0.1:9464", check=check)


def file_path() -> Text:
    """Allow the path of a file, whatever the working directory is."""

    def check(text: str) -> bool:
        plain = not NOT_IN_LINE.search(text) and not HALF_CHARACTER.search(text)
        return plain and len(text) <= PATH_CHARS_MAX and text.startswith(("/", "~/"))

    return Text(allowed="the path of a file that begins with / or ~/", check=check)


def web_address() -> Text:
    """Allow an address that files can be fetched from."""

    def check(text: str) -> bool:
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            return False
        # urlsplit itself drops line ends and blanks at the edges; here they are no part of one.
        plain = text.isprintable() and " " not in text
        return plain and parts.scheme in {"http", "https"} and bool(parts.hostname) and port != 0

    return Text(allowed="an address that begins with http:// or https://", check=check)
