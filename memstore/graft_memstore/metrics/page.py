"""The page that Prometheus reads, on this machine's loopback address alone."""

import contextlib
import logging
import socket
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import ClassVar
from urllib.parse import urlsplit

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from typing_extensions import override

from graft.wire.endpoints import Endpoint
from graft.wire.events import event
from graft.wire.listening import ListenError

PATH = "/metrics"
IDLE_SECONDS = 5.0
"""How long a connection may say nothing, or read nothing."""

CONNECTION_SECONDS = 15.0
"""How long it may take in all: one that says a letter now and then would keep its place."""

CONNECTIONS_MAX = 8
HTTP_PORT = 80

log = logging.getLogger(__name__)


class MetricsPage:
    """Serves one page from a thread of its own.

    Args:
        endpoint: where, on the loopback address.
        registry: what is told.
        connection_seconds: how long one connection may take.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        registry: CollectorRegistry,
        connection_seconds: float = CONNECTION_SECONDS,
    ) -> None:
        self._endpoint = endpoint
        self._registry = registry
        self._connection_seconds = connection_seconds
        self._server: _Server | None = None

    def start(self) -> Endpoint:
        """Listen; return where, with the port that was chosen.

        Raises:
            ListenError: the address is taken, or is none of this machine's.
        """
        try:
            self._server = _Server(self._endpoint, self._registry, self._connection_seconds)
        except OSError as error:
            raise ListenError(
                f"the metrics cannot be told at {self._endpoint.address}"
                f" ({error.strerror or error}); choose another address (metrics) or leave it empty"
            ) from error
        threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()
        port = self._server.server_address[1]
        found = Endpoint(host=self._endpoint.host, port=int(port), tls=False)
        log.info(event("metrics", at=f"http://{found.address}{PATH}"))
        return found

    def stop(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


class _Server(ThreadingHTTPServer):
    """A few connections at once, each on a thread that nobody waits for at the end."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self, endpoint: Endpoint, registry: CollectorRegistry, connection_seconds: float
    ) -> None:
        self.registry = registry
        self._connection_seconds = connection_seconds
        self.places = threading.BoundedSemaphore(CONNECTIONS_MAX)
        if ":" in endpoint.host:
            self.address_family = socket.AF_INET6
        super().__init__((endpoint.host, endpoint.port), _Handler)

    @override
    def server_bind(self) -> None:
        # The library's asks the resolver for the host's name, which may take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", int(self.server_address[1])

    @override
    def process_request(self, request: object, client_address: object) -> None:
        if not self.places.acquire(blocking=False):
            self.shutdown_request(request)  # type: ignore[arg-type] # a socket, of TCP
            return
        super().process_request(request, client_address)  # type: ignore[arg-type] # as above

    @override
    def process_request_thread(self, request: object, client_address: object) -> None:
        assert isinstance(request, socket.socket), "it listens on TCP"
        end = threading.Timer(self._connection_seconds, _cut, (request,))
        end.daemon = True
        end.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            end.cancel()
            self.places.release()

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        log.info(event("a reader of the metrics went"))


class _Handler(BaseHTTPRequestHandler):
    timeout: ClassVar[float | None] = IDLE_SECONDS

    def do_GET(self) -> None:
        """Answer the page, to whoever calls this machine by its own name."""
        if not self._is_here():
            self._answer(421, b"this page answers to its own address alone\n")
        elif urlsplit(self.path).path != PATH:
            self._answer(404, f"the page is {PATH}\n".encode("ascii"))
        else:
            self._tell()

    def _tell(self) -> None:
        try:
            page = generate_latest(self._page.registry)
        except Exception:
            # The thread's root: the log tells what a reader cannot, and the next one is answered.
            log.exception(event("bug", path=PATH))
            self._answer(500, b"the log of the memstore tells why there are no metrics\n")
        else:
            self._answer(200, page, CONTENT_TYPE_LATEST)

    @property
    def _page(self) -> _Server:
        assert isinstance(self.server, _Server), "nothing else makes handlers"
        return self.server

    def _answer(self, status: int, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _is_here(self) -> bool:
        """Tell whether the Host names this server: a site's name that points here does not."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1:
            return False
        try:
            parts = urlsplit(f"//{hosts[0]}")
            port = HTTP_PORT if parts.port is None else parts.port
        except ValueError:
            return False
        plain = parts.netloc == hosts[0] and "@" not in parts.netloc
        return plain and _is_loopback(parts.hostname or "") and port == self._page.server_port

    @override
    def version_string(self) -> str:
        return "graft"

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: a request may hold anything."""


def _cut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it has ended by itself
        connection.shutdown(socket.SHUT_RDWR)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
