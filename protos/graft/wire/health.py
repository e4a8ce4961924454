"""The standard health protocol: who serves, told by the server and asked by the client."""

from collections.abc import Iterable

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc


def set_serving(servicer: health.HealthServicer, services: Iterable[str], *, serving: bool) -> None:
    """Say for "" and every one of *services* (full proto names) whether it serves."""
    status = (
        health_pb2.HealthCheckResponse.SERVING
        if serving
        else health_pb2.HealthCheckResponse.NOT_SERVING
    )
    for service in ("", *services):
        servicer.set(service, status)


def is_serving(channel: grpc.Channel, service: str, timeout_seconds: float) -> bool:
    """Ask whether *service* serves; False too when nobody answers in time."""
    stub = health_pb2_grpc.HealthStub(channel)
    request = health_pb2.HealthCheckRequest(service=service)
    try:
        reply = stub.Check(request, timeout=timeout_seconds)  # type: ignore[attr-defined] # stubs lack it
    except grpc.RpcError:
        return False
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)
