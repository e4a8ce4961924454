"""The probe of containers' health checks tells by its exit status whether a service serves."""

from concurrent import futures
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health, health_pb2_grpc

from graft.wire import probe
from graft.wire.health import set_serving

SERVICE = "graft.test.v1.TestService"


@pytest.mark.parametrize(
    ("serving", "arguments", "said", "status"),
    [
        (True, [], "SERVING", 0),
        (True, ["--service", SERVICE], "SERVING", 0),
        (False, [], "NOT_SERVING", 1),
        (True, ["--service", "graft.test.v1.Other"], "NOT_FOUND", 1),
    ],
)
def test_it_asks_the_server_or_one_of_its_services(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    serving: bool,
    arguments: list[str],
    said: str,
    status: int,
) -> None:
    servicer = health.HealthServicer()
    set_serving(servicer, [SERVICE], serving=serving)
    server = grpc.server(futures.ThreadPoolExecutor(2))
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    server.add_insecure_port(f"unix:{tmp_path}/s.sock")
    server.start()

    found = probe.main([f"{tmp_path}/s.sock", *arguments])
    server.stop(None).wait()

    assert (found, capsys.readouterr().out) == (status, f"{said}\n")


def test_nobody_there_is_not_serving(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = probe.main([f"{tmp_path}/none.sock"])

    assert (found, capsys.readouterr().out) == (1, "UNAVAILABLE\n")
