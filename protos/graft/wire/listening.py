"""Listening on TCP: with TLS whose files may change while it runs, plainly on loopback alone."""

import logging
import ssl
import threading
from dataclasses import dataclass
from pathlib import Path

import grpc

from graft.wire.endpoints import Endpoint
from graft.wire.events import event

HANDSHAKE_MS_MAX = 10_000
STREAMS_MAX = 100
"""Calls at once on one connection; each token's own bound is lower."""

LISTEN_OPTIONS: tuple[tuple[str, int], ...] = (
    # Whoever connects and says nothing is let go.
    ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS_MAX),
    ("grpc.max_concurrent_streams", STREAMS_MAX),
)

log = logging.getLogger(__name__)


class ListenError(Exception):
    """It cannot be listened there; the message says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """Where the files of a server's TLS lie, all in PEM.

    Attributes:
        certificate: its certificate, followed by those between it and the root.
        key: its private key, not encrypted.
        client_ca: roots that callers' certificates must come from; None: callers need none.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def paths(self) -> tuple[Path, ...]:
        """Return all of them."""
        return tuple(each for each in (self.certificate, self.key, self.client_ca) if each)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where to listen on TCP, and how.

    Attributes:
        endpoint: where; TLS is spoken there where *files* are given.
        files: None where TLS is not spoken, which the loopback address alone allows.
    """

    endpoint: Endpoint
    files: TlsFiles | None

    def check(self) -> None:
        """See that it may be listened there at all, before anything is started.

        Raises:
            ListenError: it may not, or the files cannot be used.
        """
        if self.files is not None:
            _read_whole(self.files)
        elif not self.endpoint.is_loopback:
            raise ListenError(
                f"listen is {self.endpoint.address}, which other machines reach: it takes a"
                " certificate and its key (listen_cert, listen_key), or the loopback address,"
                " 127.0.0.1"
            )


def add_listener(server: grpc.Server, listening: Listening) -> Endpoint:
    """Have *server* listen; return where it does, with the port that was chosen.

    Raises:
        ListenError: it may not, the files cannot be used, or the address is taken.
    """
    listening.check()
    endpoint = listening.endpoint
    try:
        if listening.files is None:
            port = server.add_insecure_port(endpoint.address)
        else:
            port = server.add_secure_port(endpoint.address, _credentials(listening.files))
    except RuntimeError as error:
        raise ListenError(
            f"it cannot be listened at {endpoint.address}: the port is taken, or the address is"
            " none of this machine's"
        ) from error
    return Endpoint(host=endpoint.host, port=port, tls=endpoint.tls)


def _credentials(files: TlsFiles) -> grpc.ServerCredentials:
    certificates = Certificates(files)
    return grpc.dynamic_ssl_server_credentials(
        certificates.configuration,
        certificates.changed,  # type: ignore[arg-type] # None says: as before; stubs lack it
        require_client_authentication=files.client_ca is not None,
    )


class Certificates:
    """The files as they were when they last could be used; looked at for each new connection.

    A certificate and its key are two files, and nobody renews both in one instant. A pair that
    does not fit is left alone until it does, and the one before goes on being shown.
    """

    def __init__(self, files: TlsFiles) -> None:
        """Read the files.

        Raises:
            ListenError: they cannot be used.
        """
        self._files = files
        self._lock = threading.Lock()
        self._stamp, self.configuration = _read_whole(files)
        self._refused: object = None

    def changed(self) -> grpc.ServerCertificateConfiguration | None:
        """Return what the files hold by now; None where that is what was read before."""
        with self._lock:
            try:
                if _stamp(self._files) == self._stamp:
                    return None
                self._stamp, self.configuration = _read_whole(self._files)
            except (ListenError, OSError) as error:
                self._complain(str(error))
                return None
            log.info(event("certificate changed"))
            self._refused = None
            return self.configuration

    def _complain(self, what: str) -> None:
        if what != self._refused:
            log.warning(event("certificate kept", because=what))
            self._refused = what


_Stamp = tuple[tuple[int, int, int], ...]


def _stamp(files: TlsFiles) -> _Stamp:
    """Return what tells whether a file has changed; links are followed."""
    found = [path.stat() for path in files.paths()]
    return tuple((each.st_ino, each.st_size, each.st_mtime_ns) for each in found)


def _read_whole(files: TlsFiles) -> tuple[_Stamp, grpc.ServerCertificateConfiguration]:
    """Read all files, and see that they fit together.

    Raises:
        ListenError: they do not, or cannot be read, or changed meanwhile.
    """
    try:
        before = _stamp(files)
        contents = {path: path.read_bytes() for path in files.paths()}
        # Whoever loads the same files again finds out whether they are of one pair.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(files.certificate, files.key, password=lambda: "")
        if files.client_ca is not None:
            context.load_verify_locations(files.client_ca)
        after = _stamp(files)
    except ssl.SSLError as error:
        raise ListenError(
            f"{files.certificate} and {files.key} cannot be used for TLS ({error.reason or error}):"
            " they must be a certificate and its own private key in PEM, the key not encrypted"
        ) from error
    except OSError as error:
        raise ListenError(
            f"{error.filename or files.certificate} cannot be read ({error.strerror}); TLS needs it"
        ) from error
    if before != after:
        raise ListenError(f"{files.certificate} or {files.key} is being written right now")
    roots = None if files.client_ca is None else contents[files.client_ca]
    pair = (contents[files.key], contents[files.certificate])
    return after, grpc.ssl_server_certificate_configuration([pair], root_certificates=roots)
