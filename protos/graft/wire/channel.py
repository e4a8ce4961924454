"""Channels to a service on a Unix socket or on TCP, with the options that measurement settled."""

from pathlib import Path

import grpc
import grpc.aio

from graft.wire.endpoints import PLAIN, Endpoint, Trust

MESSAGE_BYTES_MAX = 64 * 1024 * 1024
"""Largest message either way: a batch of 16 MiB of text, or its vectors, with room."""

CHANNEL_OPTIONS: tuple[tuple[str, int | str], ...] = (
    # A restarted service is found again in a fifth of a second instead of a whole one.
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
    # Two channels of one process to one socket must not share a broken connection's back-off.
    ("grpc.use_local_subchannel_pool", 1),
)
SOCKET_OPTIONS: tuple[tuple[str, int | str], ...] = (
    *CHANNEL_OPTIONS,
    # Also how long one try to connect may take.
    ("grpc.min_reconnect_backoff_ms", 50),
    # Without this the authority is the percent-encoded path, which other stacks refuse.
    ("grpc.default_authority", "localhost"),
)

TCP_OPTIONS: tuple[tuple[str, int | str], ...] = (
    *CHANNEL_OPTIONS,
    # A handshake with a busy machine far away is given the time that it takes.
    ("grpc.min_reconnect_backoff_ms", 10_000),
)
LOOPBACK_OPTIONS: tuple[tuple[str, int | str], ...] = (
    *TCP_OPTIONS,
    # A proxy of the environment (grpc_proxy, https_proxy, http_proxy) would be told what is said
    # plainly, token and all, and seek the address on its own machine. TLS far away may take one.
    ("grpc.enable_http_proxy", 0),
)


def open_channel(at: Path | Endpoint, trust: Trust = PLAIN) -> grpc.Channel:
    """Open a channel to a socket or an address; nothing is connected before the first call.

    *trust* matters where TLS is spoken: the other end's certificate must be for the address.
    """
    target, options = _target(at)
    if isinstance(at, Path) or not at.tls:
        return grpc.insecure_channel(target, options=options)
    return grpc.secure_channel(target, _credentials(trust), options=options)


def open_async_channel(at: Path | Endpoint, trust: Trust = PLAIN) -> grpc.aio.Channel:
    """Open the asyncio twin of `open_channel`."""
    target, options = _target(at)
    if isinstance(at, Path) or not at.tls:
        return grpc.aio.insecure_channel(target, options=options)
    return grpc.aio.secure_channel(target, _credentials(trust), options=options)


def _target(at: Path | Endpoint) -> tuple[str, tuple[tuple[str, int | str], ...]]:
    if isinstance(at, Path):
        return f"unix:{at}", SOCKET_OPTIONS
    return at.address, LOOPBACK_OPTIONS if at.is_loopback else TCP_OPTIONS


def _credentials(trust: Trust) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(
        root_certificates=trust.roots,
        private_key=trust.key,
        certificate_chain=trust.certificate,
    )
