"""One gRPC call over a socket or TLS without grpcio, whose import takes a tenth of a second.

For hooks, which hold up what a person just typed. The framing is gRPC's over HTTP/2
(https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
"""

import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
)
from h2.exceptions import H2Error

from graft.wire.endpoints import PLAIN, Endpoint, Trust

REPLY_BYTES_MAX = 8 << 20
RECEIVED_BYTES = 1 << 16
PREFIX = struct.Struct(">BI")
"""Before a message: whether it is compressed, and its length."""
MS_IN_SECOND = 1_000
_OK = "0"


class UnaryError(Exception):
    """The call was not answered with a message."""


def call(
    at: Path | Endpoint,
    method: str,
    message: bytes,
    metadata: Sequence[tuple[str, str]],
    deadline: float,
    trust: Trust = PLAIN,
) -> bytes:
    """Call *method* of the service at *at*; return its reply.

    Args:
        at: a socket, or an address.
        method: such as ``/graft.memory.v1.RecallService/Query``.
        message: the request, serialised.
        metadata: sent with it.
        deadline: `time.monotonic` value after which to give up.
        trust: by what the other end is known where TLS is spoken.

    Raises:
        UnaryError: nobody answered in time, or not with a message.
    """
    try:
        with _connected(at, trust, deadline) as connection:
            return _Call(connection, deadline).make(method, message, metadata)
    except (OSError, H2Error, ValueError) as error:
        raise UnaryError(f"{method}: {type(error).__name__}") from error


@contextmanager
def _connected(at: Path | Endpoint, trust: Trust, deadline: float) -> Iterator[socket.socket]:
    if isinstance(at, Path):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_left(deadline))
            connection.connect(str(at))
            yield connection
        return
    with socket.create_connection((at.host, at.port), _left(deadline)) as connection:
        if not at.tls:
            yield connection
            return
        # The library of TLS takes longer to load than a call over a socket takes.
        from graft_client.reaching import tls_context  # noqa: PLC0415

        with tls_context(trust).wrap_socket(connection, server_hostname=at.host) as encrypted:
            yield encrypted


class _Call:
    """One call on a connection of its own."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline
        self._http = H2Connection(config=H2Configuration(header_encoding="utf-8"))
        self._received = bytearray()
        self._status = ""
        self._ended = False

    def make(self, method: str, message: bytes, metadata: Sequence[tuple[str, str]]) -> bytes:
        self._http.initiate_connection()
        stream = self._http.get_next_available_stream_id()
        self._http.send_headers(
            stream,
            [
                (":method", "POST"),
                (":scheme", "http"),
                (":path", method),
                (":authority", "localhost"),
                ("te", "trailers"),
                ("content-type", "application/grpc"),
                ("grpc-timeout", f"{max(int(_left(self._deadline) * MS_IN_SECOND), 1)}m"),
                *metadata,
            ],
        )
        self._send(stream, PREFIX.pack(0, len(message)) + message)
        while not self._ended:
            self._receive()
        return self._reply(method)

    def _send(self, stream: int, body: bytes) -> None:
        """Send *body* as the other end makes room for it."""
        while body and not self._ended:
            room = min(
                self._http.local_flow_control_window(stream),
                self._http.max_outbound_frame_size,
                len(body),
            )
            if not room:
                self._receive()
                continue
            piece, body = body[:room], body[room:]
            self._http.send_data(stream, piece, end_stream=not body)
            self._flush()

    def _receive(self) -> None:
        self._flush()
        self._connection.settimeout(_left(self._deadline))
        data = self._connection.recv(RECEIVED_BYTES)
        if not data:
            raise UnaryError("the other end closed the connection")
        for event in self._http.receive_data(data):
            self._take(event)
        self._flush()

    def _take(self, event: Event) -> None:
        match event:
            case DataReceived(data=data, flow_controlled_length=length, stream_id=stream):
                self._received += data or b""
                if len(self._received) > REPLY_BYTES_MAX:
                    raise UnaryError("the reply is too long")
                self._http.acknowledge_received_data(length or 0, stream or 0)
            case ResponseReceived(headers=headers) | TrailersReceived(headers=headers):
                self._status = dict(headers or ()).get("grpc-status", self._status)  # type: ignore[call-overload,unused-ignore]  # decoded by header_encoding
            case StreamEnded() | StreamReset() | ConnectionTerminated():
                self._ended = True

    def _reply(self, method: str) -> bytes:
        if self._status != _OK:
            raise UnaryError(f"{method}: status {self._status or 'none'}")
        if len(self._received) < PREFIX.size:
            raise UnaryError(f"{method}: no message")
        compressed, length = PREFIX.unpack_from(self._received)
        body = bytes(self._received[PREFIX.size :])
        if compressed or len(body) != length:
            raise UnaryError(f"{method}: not one plain message")
        return body

    def _flush(self) -> None:
        data = self._http.data_to_send()
        if data:
            self._connection.settimeout(_left(self._deadline))
            self._connection.sendall(data)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
