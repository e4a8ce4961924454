"""Channels to a service on a Unix socket, with the options that measurement settled."""

from pathlib import Path

import grpc
import grpc.aio

MESSAGE_BYTES_MAX = 64 * 1024 * 1024
"""Largest message either way: a batch of 16 MiB of text, or its vectors, with room."""

CHANNEL_OPTIONS: tuple[tuple[str, int | str], ...] = (
    # Without this the authority is the percent-encoded path, which other stacks refuse.
    ("grpc.default_authority", "localhost"),
    # A restarted service is found again in a fifth of a second instead of a whole one.
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
    # Two channels of one process to one socket must not share a broken connection's back-off.
    ("grpc.use_local_subchannel_pool", 1),
)


def open_channel(socket: Path) -> grpc.Channel:
    """Open a channel to *socket*; nothing is connected before the first call."""
    return grpc.insecure_channel(f"unix:{socket}", options=CHANNEL_OPTIONS)


def open_async_channel(socket: Path) -> grpc.aio.Channel:
    """Open the asyncio twin of `open_channel`."""
    return grpc.aio.insecure_channel(f"unix:{socket}", options=CHANNEL_OPTIONS)
