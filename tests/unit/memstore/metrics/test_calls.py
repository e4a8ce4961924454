"""Calls are counted by method and by how they ended, whatever callers name and do."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import grpc
import pytest
from prometheus_client import CollectorRegistry

from graft.memory.v1 import recall_service_pb2
from graft.wire.errors import NoteNotFoundError
from graft.wire.server import Activity, ServerParts, build_server
from graft_memstore.metrics.calls import OTHER, CallMetrics

SECONDS = 30.0
SERVICE = "graft.memory.v1.TestService"


@dataclass(slots=True)
class Room:
    """A server that counts, and what it has counted."""

    registry: CollectorRegistry
    channel: grpc.Channel
    held: threading.Event = field(default_factory=threading.Event)

    def call(self, name: str) -> bytes:
        method: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(
            f"/{SERVICE}/{name}"
        )
        return method(b"", timeout=SECONDS)

    def counted(self, method: str, code: str) -> float | None:
        labels = {"method": method, "code": code}
        return self.registry.get_sample_value("graft_calls_total", labels)

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, labels)


@pytest.fixture
def room() -> Iterator[Room]:
    registry = CollectorRegistry()
    known = [f"/{SERVICE}/{name}" for name in ("Fine", "Refused", "Bug", "Stream", "Ask", "Wait")]
    metrics = CallMetrics(registry, known)
    server = build_server("graft.test", Activity([]), ServerParts(around=(metrics,)))
    port = server.add_insecure_port("127.0.0.1:0")
    room = Room(registry, grpc.insecure_channel(f"127.0.0.1:{port}"))

    def fine(_: bytes, __: grpc.ServicerContext) -> bytes:
        return b"done"

    def refused(_: bytes, __: grpc.ServicerContext) -> bytes:
        raise NoteNotFoundError("no note has that id")

    def bug(_: bytes, __: grpc.ServicerContext) -> bytes:
        raise KeyError("x")

    def stream(_: bytes, __: grpc.ServicerContext) -> Iterator[bytes]:
        yield from (b"a", b"b")

    def wait(_: bytes, context: grpc.ServicerContext) -> bytes:
        ended = threading.Event()
        context.add_callback(ended.set)
        room.held.set()
        assert ended.wait(SECONDS)
        return b""

    def ask(_: bytes, __: grpc.ServicerContext) -> recall_service_pb2.QueryResponse:
        return recall_service_pb2.QueryResponse(hit=recall_service_pb2.HIT_WEAK)

    unary = grpc.unary_unary_rpc_method_handler
    handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        "Fine": unary(fine),
        "Refused": unary(refused),
        "Bug": unary(bug),
        "Unlisted": unary(fine),
        "Wait": unary(wait),
        "Stream": grpc.unary_stream_rpc_method_handler(stream),
        "Ask": unary(
            ask,
            response_serializer=recall_service_pb2.QueryResponse.SerializeToString,  # type: ignore[arg-type] # as above
        ),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    server.start()
    try:
        yield room
    finally:
        room.channel.close()
        server.stop(None).wait()


def test_calls_are_counted_by_how_they_ended(room: Room) -> None:
    for name in ("Fine", "Fine", "Refused", "Bug"):
        try:
            room.call(name)
        except grpc.RpcError:
            continue

    assert room.counted("TestService.Fine", "OK") == 2
    assert room.counted("TestService.Refused", "NOT_FOUND") == 1
    assert room.counted("TestService.Bug", "INTERNAL") == 1
    assert room.value("graft_call_seconds_count", method="TestService.Fine") == 2
    assert room.value("graft_calls_running") == 0


def test_names_that_callers_choose_make_no_series(room: Room) -> None:
    for name in ("Unlisted", "Unlisted"):
        room.call(name)
    with pytest.raises(grpc.RpcError):
        room.call("NotThereAtAll")

    assert room.counted(OTHER, "OK") == 2
    assert room.counted(OTHER, "UNIMPLEMENTED") == 1
    told = {
        sample.labels["method"]
        for metric in room.registry.collect()
        for sample in metric.samples
        if "method" in sample.labels
    }
    assert told == {OTHER}


def test_a_stream_is_one_call_and_a_caller_who_went_is_told_as_such(room: Room) -> None:
    stream: grpc.UnaryStreamMultiCallable[bytes, bytes] = room.channel.unary_stream(
        f"/{SERVICE}/Stream"
    )
    assert list(stream(b"", timeout=SECONDS)) == [b"a", b"b"]
    waiting: grpc.UnaryUnaryMultiCallable[bytes, bytes] = room.channel.unary_unary(
        f"/{SERVICE}/Wait"
    )
    call = waiting.future(b"", timeout=SECONDS)
    assert room.held.wait(SECONDS)
    assert room.value("graft_calls_running") == 1

    call.cancel()

    assert room.counted("TestService.Stream", "OK") == 1
    ended = threading.Event()
    while room.counted("TestService.Wait", "CANCELLED") is None:
        assert not ended.wait(0.01)
    assert room.value("graft_calls_running") == 0


def test_answers_of_the_gate_are_counted_by_level(room: Room) -> None:
    for _ in range(3):
        room.call("Ask")

    assert room.value("graft_gate_answers_total", level="weak") == 3
