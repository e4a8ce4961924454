"""Calls name the span that their caller is in, and nothing that is none."""

import pytest
from opentelemetry.sdk.trace import TracerProvider

from graft_client.tracing import trace_pairs

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_the_variable_of_a_program_that_was_started_is_passed_on() -> None:
    assert trace_pairs({"TRACEPARENT": PARENT}) == (("traceparent", PARENT),)


@pytest.mark.parametrize("told", ["", "x", PARENT.upper(), f"{PARENT}\n", f"{PARENT}-x", "é"])
def test_what_is_no_span_is_left_out(told: str) -> None:
    assert trace_pairs({"TRACEPARENT": told}) == ()


def test_a_program_s_own_span_comes_first() -> None:
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("test")

    with tracer.start_as_current_span("mine") as span:
        ((key, value),) = trace_pairs({"TRACEPARENT": PARENT})

    context = span.get_span_context()
    assert key == "traceparent"
    assert value.startswith(f"00-{context.trace_id:032x}-{context.span_id:016x}-")
