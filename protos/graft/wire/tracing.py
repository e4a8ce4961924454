"""Whether calls are traced: as the setting says, and where what that takes is installed."""

from __future__ import annotations  # what it gives is imported on demand

import importlib.util
from collections.abc import Collection
from typing import TYPE_CHECKING

from graft.wire.listening import ListenError

if TYPE_CHECKING:
    from graft.wire.traces import Tracing

NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.grpc")


def open_tracing(
    service: str, collector: str, known: Collection[str] | None = None
) -> Tracing | None:
    """Return what traces calls; None where *collector* is empty. See `Tracing`.

    Raises:
        ListenError: the libraries are not installed.
    """
    if not collector:
        return None
    if not all(_is_there(each) for each in NEEDED):
        raise ListenError(
            "traces is set, and the libraries for that are not installed; run: pip install"
            " 'graft-memory[otel]', or leave the setting empty"
        )
    from graft.wire.traces import Tracing  # noqa: PLC0415 - see there

    return Tracing(service, collector, known)


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # nor what it is a part of
        return False
