"""`python -m graft.wire.probe SOCKET`: ask by the health protocol whether a service serves.

Exit 0 when it does, 1 when it does not or nobody answers, 2 for wrong usage. For containers'
health checks; `""` is the whole server, which an embedder says to serve once its model is loaded.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from graft.wire.channel import open_channel

TIMEOUT_SECONDS = 3.0
SERVES, SERVES_NOT = 0, 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask once and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m graft.wire.probe", description=__doc__)
    parser.add_argument("socket", type=Path, help="socket that the service listens on")
    parser.add_argument("--service", default="", help="full proto name; default: all of it")
    options = parser.parse_args(arguments)
    with open_channel(options.socket) as channel:
        said = ask(channel, options.service, TIMEOUT_SECONDS)
    print(said)  # noqa: T201 - what it found is its output
    return SERVES if said == "SERVING" else SERVES_NOT


def ask(channel: grpc.Channel, service: str, timeout_seconds: float) -> str:
    """Return what *service* says of itself, in the protocol's words, or why it says nothing."""
    stub = health_pb2_grpc.HealthStub(channel)
    request = health_pb2.HealthCheckRequest(service=service)
    try:
        reply = stub.Check(request, timeout=timeout_seconds)  # type: ignore[attr-defined] # stubs lack it
    except grpc.RpcError as error:
        return str(error.code().name)
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(reply.status))


if __name__ == "__main__":
    sys.exit(main())
