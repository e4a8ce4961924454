"""The metrics' page: for this machine alone, and nobody's reading holds it up."""

import http.client
import socket
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from prometheus_client import CollectorRegistry, Gauge, Metric
from prometheus_client.registry import Collector
from typing_extensions import override

from graft.wire.endpoints import Endpoint
from graft.wire.listening import ListenError
from graft_memstore.metrics.page import CONNECTIONS_MAX, MetricsPage

SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A page that is served, and where."""

    page: MetricsPage
    port: int

    def get(self, path: str = "/metrics", host: str = "", method: str = "GET") -> tuple[int, str]:
        """Return status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            named = host.replace("PORT", str(self.port)) or f"127.0.0.1:{self.port}"
            connection.request(method, path, headers={"Host": named})
            reply = connection.getresponse()
            return reply.status, reply.read().decode("utf-8")
        finally:
            connection.close()


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def served(registry: CollectorRegistry) -> Iterator[Served]:
    Gauge("something", "about it", registry=registry).set(7)
    page = MetricsPage(Endpoint(host="127.0.0.1", port=0, tls=False), registry)
    port = page.start().port
    yield Served(page=page, port=port)
    page.stop()


def test_the_page_tells_what_is_counted(served: Served) -> None:
    status, body = served.get()

    assert status == 200
    assert "something 7.0" in body


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:PORT", 200),
        ("localhost:PORT", 200),
        ("[::1]:PORT", 200),
        ("evil.example:PORT", 421),
        ("127.0.0.1", 421),
        ("127.0.0.1:1", 421),
        ("localhost.evil.example:PORT", 421),
        ("user@127.0.0.1:PORT", 421),
        ("127.0.0.1:PORT/x", 421),
        ("127.0.0.1:x", 421),
        ("[::1", 421),
    ],
)
def test_only_who_calls_it_by_its_own_name_is_answered(
    served: Served, host: str, status: int
) -> None:
    assert served.get(host=host)[0] == status


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 404), ("GET", "/metrics?x=1", 200), ("POST", "/metrics", 501)],
)
def test_there_is_one_page_that_can_be_read(
    served: Served, method: str, path: str, status: int
) -> None:
    assert served.get(path, method=method)[0] == status


def test_who_connects_and_says_nothing_holds_nobody_up_and_more_are_not_let_in(
    served: Served,
) -> None:
    silent = [socket.create_connection(("127.0.0.1", served.port), SECONDS) for _ in range(3)]
    try:
        assert served.get()[0] == 200

        silent += [
            socket.create_connection(("127.0.0.1", served.port), SECONDS)
            for _ in range(CONNECTIONS_MAX)
        ]
        silent[-1].settimeout(SECONDS)
        assert silent[-1].recv(1) == b"", "the last one is turned away, and not left to wait"
    finally:
        for each in silent:
            each.close()


def test_who_goes_on_saying_little_loses_its_place() -> None:
    page = MetricsPage(
        Endpoint(host="127.0.0.1", port=0, tls=False), CollectorRegistry(), connection_seconds=0.2
    )
    served = Served(page=page, port=page.start().port)
    slow = socket.create_connection(("127.0.0.1", served.port), SECONDS)
    # What it says comes more often than the idle time, so that this alone never ends it.
    slow.settimeout(0.05)

    ended = False
    while not ended:
        try:
            slow.send(b"G")
            ended = slow.recv(1) == b""
        except TimeoutError:
            continue
        except ConnectionError:
            ended = True

    slow.close()
    page.stop()


def test_what_cannot_be_collected_is_an_error_of_that_reading_and_an_event(
    served: Served, registry: CollectorRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Collector):
        @override
        def collect(self) -> Iterator[Metric]:
            raise KeyError("xylophone")

    broken = Broken()
    registry.register(broken)
    status, body = served.get()
    registry.unregister(broken)

    assert status == 500
    assert "xylophone" not in body
    assert [str(each.msg) for each in caplog.records if each.levelname == "ERROR"] == [
        "bug path=/metrics"
    ]
    assert served.get()[0] == 200


def test_an_address_that_is_taken_is_told(served: Served) -> None:
    other = MetricsPage(
        Endpoint(host="127.0.0.1", port=served.port, tls=False), CollectorRegistry()
    )

    with pytest.raises(ListenError, match=rf"127\.0\.0\.1:{served.port} .*choose another"):
        other.start()


def test_what_was_stopped_answers_no_more(served: Served) -> None:
    served.page.stop()
    served.page.stop()

    with pytest.raises(ConnectionRefusedError):
        served.get()
