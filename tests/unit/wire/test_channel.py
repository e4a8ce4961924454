"""Channels to addresses: what a proxy of the environment gets to see of them."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest
from grpc_health.v1.health_pb2_grpc import HealthStub

from graft.wire.channel import open_async_channel, open_channel
from graft.wire.endpoints import Endpoint

FAR = Endpoint.parse("tls://memory.example:7777")
NEAR = ["tcp://127.0.0.1:9", "tcp://localhost:9", "tcp://[::1]:9", "tls://127.0.0.1:9"]
SECONDS = 10.0


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Listen as the proxy that the environment names for everything."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        port = listener.getsockname()[1]
        for name in ("grpc_proxy", "https_proxy", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        for name in ("no_grpc_proxy", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield listener


def _asked(proxy: socket.socket) -> bytes:
    """Return what the first caller said."""
    caller, _ = proxy.accept()
    with caller:
        caller.settimeout(SECONDS)
        return caller.recv(1024)


def _check(stub: HealthStub) -> Any:  # the library's stubs lack the call
    return stub.Check  # type: ignore[attr-defined]


def _call(channel: grpc.Channel) -> grpc.StatusCode:
    with channel, pytest.raises(grpc.RpcError) as raised:
        _check(HealthStub(channel))(HealthCheckRequest(), timeout=SECONDS)
    code: grpc.StatusCode = raised.value.code()
    return code


async def _call_async(at: Endpoint) -> None:
    async with open_async_channel(at) as channel:
        with pytest.raises(grpc.RpcError):
            await _check(HealthStub(channel))(HealthCheckRequest(), timeout=SECONDS)


@pytest.mark.parametrize("address", NEAR)
def test_what_is_on_this_machine_is_never_reached_through_a_proxy(
    address: str, proxy: socket.socket
) -> None:
    assert _call(open_channel(Endpoint.parse(address))) is grpc.StatusCode.UNAVAILABLE
    asyncio.run(_call_async(Endpoint.parse(address)))
    proxy.setblocking(False)
    with pytest.raises(BlockingIOError):
        proxy.accept()


def test_tls_far_away_is_reached_through_the_proxy_of_the_environment(
    proxy: socket.socket,
) -> None:
    with open_channel(FAR) as channel:
        _check(HealthStub(channel)).future(HealthCheckRequest(), timeout=SECONDS)
        assert _asked(proxy).startswith(b"CONNECT memory.example:7777 ")
