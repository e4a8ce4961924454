"""Ask a service by the standard health protocol, as an orchestrator does."""

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc


def is_serving(channel: grpc.Channel, service: str, timeout_seconds: float) -> bool:
    """Ask whether *service* serves; False too when nobody answers in time."""
    stub = health_pb2_grpc.HealthStub(channel)
    request = health_pb2.HealthCheckRequest(service=service)
    try:
        reply = stub.Check(request, timeout=timeout_seconds)  # type: ignore[attr-defined] # stubs lack it
    except grpc.RpcError:
        return False
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)
