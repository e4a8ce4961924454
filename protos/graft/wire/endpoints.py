"""Addresses of a memstore that listens on TCP: how they are written, and which need no TLS."""

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Self
from urllib.parse import urlsplit

from typing_extensions import override

PORT_MAX = 65_535
HOST_NAME = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*\.?")
HOST_CHARS_MAX = 253
TLS_SCHEME = "tls"
PLAIN_SCHEME = "tcp"


class EndpointError(ValueError):
    """A text is no address that a memstore can be reached at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A host and a port, and whether what is said there is encrypted.

    Attributes:
        host: a name or an address; an IPv6 one without brackets.
        port: 0 where the system is to choose one.
        tls: whether TLS is spoken.
    """

    host: str
    port: int
    tls: bool

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``tls://HOST:PORT`` or ``tcp://HOST:PORT``.

        Raises:
            EndpointError: it is neither.
        """
        scheme, mark, rest = text.partition("://")
        if not mark or scheme not in {TLS_SCHEME, PLAIN_SCHEME}:
            raise EndpointError(f"{text!r} begins with neither tls:// nor tcp://")
        host, port = _host_and_port(rest)
        if port == 0:
            raise EndpointError(f"{text!r} names no port")
        return cls(host=host, port=port, tls=scheme == TLS_SCHEME)

    @classmethod
    def to_listen(cls, text: str, *, tls: bool) -> Self:
        """Read ``HOST:PORT``, where to listen; port 0 lets the system choose one.

        Raises:
            EndpointError: it is none.
        """
        host, port = _host_and_port(text)
        return cls(host=host, port=port, tls=tls)

    @property
    def is_loopback(self) -> bool:
        """Whether nothing but this machine can be at the other end."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def address(self) -> str:
        """``HOST:PORT``, as gRPC takes it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @override
    def __str__(self) -> str:
        return f"{TLS_SCHEME if self.tls else PLAIN_SCHEME}://{self.address}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """By what a caller knows the memstore at the other end of TLS, and shows who it is; all PEM.

    Attributes:
        roots: certificates that the other end's must come from; None: those of the library.
        certificate: to show where one is asked for, with its key; None: none.
        key: its private key.
    """

    roots: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = field(default=None, repr=False)


PLAIN = Trust()
"""Nothing of one's own."""


def _host_and_port(text: str) -> tuple[str, int]:
    if not text.isascii() or not text.isprintable() or set(text) & set(" /?#@%\\"):
        raise EndpointError(f"{text!r} is no HOST:PORT")
    try:
        parts = urlsplit(f"//{text}")
        port = parts.port
    except ValueError as error:
        raise EndpointError(f"{text!r} is no HOST:PORT: {error}") from error
    host = parts.hostname or ""
    if port is None or port > PORT_MAX or not _is_host(host, bracketed="[" in text):
        raise EndpointError(f"{text!r} is no HOST:PORT")
    return host, port


def _is_host(host: str, *, bracketed: bool) -> bool:
    try:
        return (ip_address(host).version == 6) is bracketed  # noqa: PLR2004 - of IPv6
    except ValueError:
        return not bracketed and len(host) <= HOST_CHARS_MAX and bool(HOST_NAME.fullmatch(host))
