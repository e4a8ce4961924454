"""The rival of a hop: a gRPC server that does nothing but keep a processor busy for a while."""

from __future__ import annotations  # grpc's classes are generic in their stubs alone

import subprocess
import sys
import time
from concurrent import futures
from pathlib import Path

import grpc

from bench.rows import median_ms
from graft.wire.channel import open_channel

METHOD = "work"
SERVICE = "bench.Bare"
STARTUP_SECONDS = 20.0


def hop_ms(folder: Path, work_ms: float, calls: int) -> float:
    """Return what a call of a bare server costs more than the *work_ms* that it works."""
    socket = folder / f"bare-{work_ms:.1f}.sock"
    command = [sys.executable, "-m", "bench.bare_grpc", str(socket), str(work_ms)]
    server = subprocess.Popen(command)
    try:
        with open_channel(socket) as channel:
            call: grpc.UnaryUnaryMultiCallable[bytes, bytes]
            call = channel.unary_unary(f"/{SERVICE}/{METHOD}")
            call(b"", timeout=STARTUP_SECONDS, wait_for_ready=True)
            return median_ms(lambda: call(b"", timeout=STARTUP_SECONDS), calls) - work_ms
    finally:
        server.kill()
        server.wait()


def _serve(socket: str, work_ms: float) -> None:
    def work(request: bytes, _: grpc.ServicerContext) -> bytes:
        end = time.perf_counter() + work_ms / 1_000
        while time.perf_counter() < end:
            pass
        return request

    server = grpc.server(futures.ThreadPoolExecutor(8))
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(work)
    generic = grpc.method_handlers_generic_handler(SERVICE, {METHOD: handler})
    server.add_generic_rpc_handlers((generic,))
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    _serve(sys.argv[1], float(sys.argv[2]))
