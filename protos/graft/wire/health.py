"""The standard health protocol: the server tells who serves."""

from collections.abc import Iterable

from grpc_health.v1 import health, health_pb2


def set_serving(servicer: health.HealthServicer, services: Iterable[str], *, serving: bool) -> None:
    """Say for "" and every one of *services* (full proto names) whether it serves."""
    status = (
        health_pb2.HealthCheckResponse.SERVING
        if serving
        else health_pb2.HealthCheckResponse.NOT_SERVING
    )
    for service in ("", *services):
        servicer.set(service, status)
