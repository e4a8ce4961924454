"""A call without grpcio is answered as one with it, and never outlives its deadline."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from typing_extensions import override

from graft_client.hooks.unary import REPLY_BYTES_MAX, UnaryError, call

SECONDS = 20.0
METHOD = "/graft.test.Echo/Say"


def soon(seconds: float = SECONDS) -> float:
    return time.monotonic() + seconds


class Echo(grpc.GenericRpcHandler):
    """Says again what it is told, as often as the metadata say; refuses, and stays silent."""

    def __init__(self) -> None:
        self.metadata: dict[str, str | bytes] = {}
        self.left: float | None = None
        self.released = threading.Event()

    @override
    def service(
        self, call_details: grpc.HandlerCallDetails
    ) -> "grpc.RpcMethodHandler[bytes, bytes] | None":
        if call_details.method != METHOD:
            return None
        return grpc.unary_unary_rpc_method_handler(self._answer)

    def _answer(self, message: bytes, context: grpc.ServicerContext) -> bytes:
        self.metadata = {pair[0]: pair[1] for pair in context.invocation_metadata() or ()}
        self.left = context.time_remaining()
        if message == b"refuse":
            context.abort(grpc.StatusCode.NOT_FOUND, "näh")
        if message == b"wait":
            self.released.wait(SECONDS)
        return message * int(self.metadata.get("times", "1"))


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        yield listener


@pytest.fixture
def echo(place: Path) -> Iterator[tuple[Echo, Path]]:
    handler, path = Echo(), place / "echo.sock"
    server = grpc.server(futures.ThreadPoolExecutor(8))
    server.add_generic_rpc_handlers((handler,))
    server.add_insecure_port(f"unix:{path}")
    server.start()
    yield handler, path
    handler.released.set()
    server.stop(None).wait()


@pytest.mark.parametrize("size", [0, 1, 1_000, 65_535, 65_536, 200_000, 3_000_000])
def test_messages_of_every_size_go_there_and_back(echo: tuple[Echo, Path], size: int) -> None:
    handler, path = echo
    message = bytes(range(256)) * (size // 256) + b"x" * (size % 256)

    answered = call(path, METHOD, message, [("graft-session", "s%20é".encode().hex())], soon())

    assert answered == message
    assert handler.metadata["graft-session"] == "s%20é".encode().hex()
    assert handler.left is not None
    assert 0 < handler.left <= SECONDS


def test_many_calls_at_once_are_each_answered(echo: tuple[Echo, Path]) -> None:
    _, path = echo
    with futures.ThreadPoolExecutor(8) as pool:
        said = [f"{number}".encode() * 10_000 for number in range(32)]
        answered = list(pool.map(lambda each: call(path, METHOD, each, [], soon()), said))

    assert answered == said


def test_a_refusal_and_an_unknown_method_are_no_answers(echo: tuple[Echo, Path]) -> None:
    _, path = echo

    for method, message in ((METHOD, b"refuse"), ("/graft.test.Echo/No", b"x")):
        with pytest.raises(UnaryError, match="status"):
            call(path, method, message, [], soon())
    assert call(path, METHOD, b"x", [], soon()) == b"x"


def test_a_reply_that_is_too_long_is_none(echo: tuple[Echo, Path]) -> None:
    _, path = echo
    times = ("times", str(REPLY_BYTES_MAX // 1_000_000 + 2))

    with pytest.raises(UnaryError):
        call(path, METHOD, b"x" * 1_000_000, [times], soon())


def test_who_does_not_answer_is_left_at_the_deadline(echo: tuple[Echo, Path], place: Path) -> None:
    _, path = echo
    with listening(place / "deaf.sock"):
        for where in (path, place / "deaf.sock"):
            with pytest.raises(UnaryError):
                call(where, METHOD, b"wait", [], soon(0.2))
    with pytest.raises(UnaryError):
        call(path, METHOD, b"x", [], soon(-1))


def test_nobody_and_who_speaks_something_else_are_no_answer(place: Path) -> None:
    with pytest.raises(UnaryError):
        call(place / "nobody.sock", METHOD, b"x", [], soon())
    with listening(place / "other.sock") as listener:

        def talk() -> None:
            for said in (b"HTTP/1.1 200 OK\r\n\r\n", b"", b"\0" * 100):
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(said)

        talker = threading.Thread(target=talk)
        talker.start()
        for _ in range(3):
            with pytest.raises(UnaryError):
                call(place / "other.sock", METHOD, b"x", [], soon())
        talker.join(SECONDS)
