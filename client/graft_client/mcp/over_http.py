"""The same server over HTTP, on this machine's loopback alone, for callers that show its token."""

import hmac
import logging
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from graft_client.errors import GraftError
from graft_client.mcp.bindings import SESSIONS_MAX
from graft_client.mcp.server import ServerOptions, make_server

ADDRESS = "127.0.0.1"
PATH = "/mcp"
LOCAL_NAMES = frozenset({"127.0.0.1", "localhost"})
BODY_BYTES_MAX = 16 << 20
"""One request's; a note of the longest body fits, however its text is escaped."""
CONNECTIONS_MAX = 256
END_SECONDS = 2
"""What calls in flight may take when the server is ended."""
_BACKLOG = 128
_HTTP_PORT = 80

log = logging.getLogger(__name__)


def listen(port: int) -> socket.socket:
    """Take *port* of the loopback address; 0 takes one that is free.

    Raises:
        GraftError: it cannot be had.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise GraftError(
            f"port {port} of {ADDRESS} cannot be had ({error.strerror}); choose another with"
            " --port, or 0 for one that is free"
        ) from error
    return listener


def url_of(listener: socket.socket) -> str:
    """Return where clients find the server."""
    return f"http://{ADDRESS}:{listener.getsockname()[1]}{PATH}"


async def serve_http(options: ServerOptions, listener: socket.socket, token: str) -> None:
    """Serve whoever shows *token*, until the process is told to end."""
    app = make_server(options).streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=BODY_BYTES_MAX,
        max_sessions=SESSIONS_MAX,
        host=ADDRESS,
    )
    configuration = uvicorn.Config(
        Guard(app, token=token, port=listener.getsockname()[1]),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        limit_concurrency=CONNECTIONS_MAX,
        timeout_graceful_shutdown=END_SECONDS,
    )
    await uvicorn.Server(configuration).serve(sockets=[listener])


class Guard:
    """Lets a request through that came to this server by its own name and shows its token.

    A page of another site that a browser has open can send requests here, under a name that it
    made point here as well; its Host or Origin gives it away, and it has no token.
    """

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode("ascii")
        self._port = port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it before its body is read."""
        if scope["type"] == "http":
            refusal = self._refusal(scope["headers"])
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, headers: Sequence[tuple[bytes, bytes]]) -> PlainTextResponse | None:
        hosts, origins, shown = (
            [value for name, value in headers if name == wanted]
            for wanted in (b"host", b"origin", b"authorization")
        )
        if len(hosts) != 1 or not self._is_here(b"//" + hosts[0]):
            return _refused("this server answers to its own name and port alone", 421)
        if not all(each.startswith(b"http://") and self._is_here(each) for each in origins):
            return _refused("no page of a site may call this server", 403)
        if len(shown) != 1 or not self._is_token(shown[0]):
            return _refused("show the token of this server: Authorization: Bearer TOKEN", 401)
        return None

    def _is_here(self, url: bytes) -> bool:
        """Tell whether *url* is an address of this server, and of nothing in it."""
        try:
            parts = urlsplit(url.decode("ascii"))
            port = _HTTP_PORT if parts.port is None else parts.port
        except ValueError:
            return False
        plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
        return plain and parts.hostname in LOCAL_NAMES and port == self._port

    def _is_token(self, authorization: bytes) -> bool:
        scheme, _, token = authorization.partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)


def _refused(why: str, status: int) -> PlainTextResponse:
    log.warning("a request was refused: %s", why)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None  # noqa: PLR2004 - HTTP's own
    return PlainTextResponse(f"{why}\n", status_code=status, headers=headers)
