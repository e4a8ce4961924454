"""Calls are traced over both hops, below their caller's span, and told to a real collector."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent import futures
from dataclasses import dataclass, field, replace

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1 import trace_pb2
from tests.e2e.conftest import Shell
from typing_extensions import override

from graft.wire.paths import Home

SECONDS = 60.0
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SECRET = "xylophone"  # noqa: S105 - a word to look for
QUERY = "graft.memory.v1.RecallService/Query"
EMBED = "graft.embedder.v1.EmbedderService/Embed"


@dataclass(slots=True)
class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Keeps what it is told."""

    told: list[bytes] = field(default_factory=list)
    spans: dict[str, list[tuple[str, trace_pb2.Span]]] = field(default_factory=dict)
    changed: threading.Condition = field(default_factory=threading.Condition)

    @override
    def Export(
        self, request: trace_service_pb2.ExportTraceServiceRequest, context: grpc.ServicerContext
    ) -> trace_service_pb2.ExportTraceServiceResponse:
        with self.changed:
            self.told.append(request.SerializeToString())
            for resource in request.resource_spans:
                told = {each.key: each.value.string_value for each in resource.resource.attributes}
                for span in (each for scope in resource.scope_spans for each in scope.spans):
                    named = self.spans.setdefault(span.name, [])
                    named.append((told["service.name"], span))
            self.changed.notify_all()
        return trace_service_pb2.ExportTraceServiceResponse()

    def wait_for(self, name: str) -> tuple[str, trace_pb2.Span]:
        """Return the service and the span of the first call of *name*."""
        with self.changed:
            assert self.changed.wait_for(lambda: name in self.spans, SECONDS), list(self.spans)
            return self.spans[name][0]


@pytest.fixture
def collector() -> Iterator[tuple[Collector, str]]:
    """A collector, and where it listens."""
    server = grpc.server(futures.ThreadPoolExecutor(4))
    collector = Collector()
    add = trace_service_pb2_grpc.add_TraceServiceServicer_to_server
    add(collector, server)  # type: ignore[no-untyped-call] # generated without types
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield collector, f"127.0.0.1:{port}"
    server.stop(None).wait()


@pytest.mark.model
def test_a_question_is_one_trace_from_its_caller_to_the_embedder(
    shell: Shell, collector: tuple[Collector, str]
) -> None:
    kept, address = collector
    told = replace(shell, environ={"GRAFT_TRACES": address})
    told.run("start", "--load")
    caller = replace(told, environ={**told.environ, "TRACEPARENT": f"00-{TRACE}-{PARENT}-01"})

    caller.query(f"when is the {SECRET} tuned")
    refused = caller.run("get", "ffffffff")
    told.run("stop")

    service, asked = kept.wait_for(QUERY)
    assert service == "graft-memstore"
    assert (asked.trace_id.hex(), asked.parent_span_id.hex()) == (TRACE, PARENT)
    assert asked.kind == trace_pb2.Span.SPAN_KIND_SERVER
    service, embedded = kept.wait_for(EMBED)
    assert service == "graft-embedder"
    assert embedded.trace_id == asked.trace_id
    assert embedded.parent_span_id == asked.span_id
    assert asked.start_time_unix_nano <= embedded.start_time_unix_nano
    assert embedded.end_time_unix_nano <= asked.end_time_unix_nano
    _, missing = kept.wait_for("graft.memory.v1.NotesService/GetNote")
    codes = {
        each.key: each.value.int_value
        for each in missing.attributes
        if each.key == "rpc.grpc.status_code"
    }
    assert refused.status == 1
    assert codes == {"rpc.grpc.status_code": grpc.StatusCode.NOT_FOUND.value[0]}
    assert SECRET.encode() not in b"".join(kept.told)


@pytest.mark.model
def test_without_the_setting_nobody_is_told_and_nothing_of_it_is_imported(
    shell: Shell, collector: tuple[Collector, str]
) -> None:
    kept, address = collector
    plain = replace(shell, environ={"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{address}"})

    plain.query("what is asked")
    plain.run("stop")

    assert kept.told == []
    for module in ("graft_memstore.serve", "graft_embedder.serve", "graft_client"):
        asked = f"import sys, {module}; print(*sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", asked], capture_output=True, text=True, check=True
        )
        assert "graft" in done.stdout
        assert "opentelemetry" not in done.stdout
        assert "prometheus_client" not in done.stdout


def test_a_memstore_with_a_proxy_in_its_environment_reaches_the_collector_without_it(
    shell: Shell, collector: tuple[Collector, str]
) -> None:
    kept, address = collector
    # As a unit or a container runs it; one that `graft` starts is not given such variables.
    proxy = {"grpc_proxy": "http://127.0.0.1:9", "no_grpc_proxy": "none.example"}
    command = [sys.executable, "-m", "graft_memstore", "serve", "--home", str(shell.home)]
    environ = {**shell.environment(), **proxy, "GRAFT_TRACES": address}
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE) as memstore:
        assert memstore.stderr is not None
        while not Home(root=shell.home).record("memstore").exists():
            assert memstore.stderr.readline(), "the memstore ended before it was ready"
        refused = shell.run("get", "ffffffff")
        memstore.terminate()
        memstore.communicate(timeout=SECONDS)

    assert refused.status == 1
    assert kept.wait_for("graft.memory.v1.NotesService/GetNote")


def test_a_collector_that_is_gone_holds_no_call_and_no_end_up(shell: Shell) -> None:
    told = replace(shell, environ={"GRAFT_TRACES": "127.0.0.1:1"})
    saved = told.run("insert", "--title", "kept all the same", "--json")

    stopped = told.run("stop")

    assert saved.status == 0
    assert stopped.status == 0
    assert told.daemons("memstore") == []
