"""The caller's trace, if there is one, for the services to put their spans below."""

import re
import sys
from collections.abc import Mapping

TRACE_PARENT_KEY = "traceparent"
"""Metadata that names the caller's span, as W3C's Trace Context has it."""

TRACE_PARENT_VARIABLE = "TRACEPARENT"
"""The same for programs that are started, by OpenTelemetry's convention."""

_TRACE_PARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


def trace_pairs(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the metadata that names the span that the caller is in; empty for none.

    A program that uses OpenTelemetry has imported it by now; nobody else has it imported.
    """
    if "opentelemetry.trace" in sys.modules:
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - see above
            TraceContextTextMapPropagator,
        )

        carried: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carried)
        if carried:
            return tuple(carried.items())
    told = environ.get(TRACE_PARENT_VARIABLE, "")
    return ((TRACE_PARENT_KEY, told),) if _TRACE_PARENT.fullmatch(told) else ()
