"""The server of both services under load: who gets in, who is told to come back, who always is."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

import grpc
import pytest
from grpc_health.v1 import health, health_pb2_grpc
from tests.ask_health import is_serving

from graft.wire.errors import BadFieldError, read_refusal
from graft.wire.health import set_serving
from graft.wire.server import CALLS_MAX, Activity, build_server, wrapped

SECONDS = 30.0
METHOD = "/graft.test.Slow/Wait"


@dataclass(slots=True)
class Slow:
    """A service whose calls last until they are let go."""

    channel: grpc.Channel
    inside: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    go: threading.Event = field(default_factory=threading.Event)

    def call(self) -> bytes:
        method: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(METHOD)
        return method(b"x", timeout=SECONDS)

    def handle(self, request: bytes, _: grpc.ServicerContext) -> bytes:
        self.inside.release()
        self.go.wait(SECONDS)
        return request


@pytest.fixture
def slow() -> Iterator[Slow]:
    server = build_server("graft.test", Activity(()))
    servicer = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    set_serving(servicer, [], serving=True)
    port = server.add_insecure_port("127.0.0.1:0")
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        opened = Slow(channel)
        handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(
            opened.handle
        )
        generic = grpc.method_handlers_generic_handler("graft.test.Slow", {"Wait": handler})
        server.add_generic_rpc_handlers((generic,))
        server.start()
        yield opened
        opened.go.set()
        server.stop(None).wait()


def test_health_answers_however_many_calls_there_are(slow: Slow) -> None:
    with ThreadPoolExecutor(CALLS_MAX + 40) as callers:
        calls = [callers.submit(slow.call) for _ in range(CALLS_MAX + 40)]
        refused = list(islice(as_completed(calls, SECONDS), 40))

        serving = is_serving(slow.channel, "", 5.0)
        slow.go.set()

    assert serving
    for call in refused:
        error = call.exception()
        assert isinstance(error, grpc.RpcError)
        refusal = read_refusal(error)
        assert (refusal.reason, refusal.retry_after_ms) == ("BUSY", 500)


def test_a_refused_call_gets_in_when_another_has_ended(slow: Slow) -> None:
    with ThreadPoolExecutor(CALLS_MAX) as callers:
        calls = [callers.submit(slow.call) for _ in range(CALLS_MAX)]
        for _ in calls:
            assert slow.inside.acquire(timeout=SECONDS)
        with pytest.raises(grpc.RpcError):
            slow.call()

        slow.go.set()
        for call in calls:
            assert call.result(SECONDS) == b"x"

    assert slow.call() == b"x"


def count_down(request: bytes, _: grpc.ServicerContext) -> Iterator[bytes]:
    """Answer with ever shorter pieces, and refuse to end with an empty one."""
    while request:
        yield request
        request = request[1:]
    raise BadFieldError("piece", "nothing is left")


def test_a_stream_is_counted_to_its_end_and_its_refusal_has_a_reason() -> None:
    activity = Activity(())
    server = build_server("graft.test", activity)
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_stream_rpc_method_handler(count_down)
    generic = grpc.method_handlers_generic_handler("graft.test.Slow", {"Count": handler})
    server.add_generic_rpc_handlers((generic,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        method: grpc.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(
            "/graft.test.Slow/Count"
        )
        pieces = method(b"ab", timeout=SECONDS)

        first, rest = next(pieces), next(pieces)
        with pytest.raises(grpc.RpcError) as raised:
            next(pieces)

    server.stop(None).wait()
    refusal = read_refusal(raised.value)
    assert (first, rest, refusal.reason) == (b"ab", b"b", "BAD_FIELD")
    assert activity.calls == 0


def test_a_call_that_is_sent_a_stream_is_wrapped_as_the_others_are() -> None:
    seen: list[str] = []

    @contextmanager
    def around(requests: object, _: grpc.ServicerContext) -> Iterator[None]:
        seen.append("before" if isinstance(requests, Iterator) else "no stream")
        yield
        seen.append("after")

    def joined(requests: Iterator[bytes], _: grpc.ServicerContext) -> bytes:
        return b"".join(requests)

    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_unary_rpc_method_handler(joined)
    made = wrapped("/graft.test.v1.Test/Join", handler, around)

    assert made is not None
    assert made.stream_unary is not None
    answer = made.stream_unary(iter([b"a", b"b"]), None)  # type: ignore[arg-type] # not looked at
    assert (answer, seen) == (b"ab", ["before", "after"])
