"""Run the embedder as a service: settings to loader, loader to servicer, servicer to socket."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import grpc

from graft.embedder.v1 import embedder_pb2_grpc
from graft.wire.daemon import Control, DaemonOptions, run_daemon
from graft.wire.events import start_logging
from graft.wire.health import set_serving
from graft.wire.paths import Home
from graft.wire.reload import Reloader
from graft.wire.settings import Settings
from graft.wire.tracing import open_tracing
from graft_embedder.loader import LoaderOptions, ModelLoader
from graft_embedder.native_output import join_output_to_log
from graft_embedder.service import NOT_USE, SERVICE, EmbedderServicer

DOMAIN = "graft.embedder"
TRACED_AS = "graft-embedder"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What the command line says.

    Attributes:
        model: name of the model to serve.
        socket_name: names the socket; empty: the model does.
        ready_fd: descriptor to tell when it listens; None when nobody waits.
        read_settings: reads the settings again.
    """

    model: str
    socket_name: str
    ready_fd: int | None
    read_settings: Callable[[], Settings]


def serve(home: Home, settings: Settings, options: ServeOptions) -> int:
    """Serve a model until told to stop; return the exit status."""
    start_logging(settings.text("log_level"), settings.text("log_format"))
    join_output_to_log()
    tracing = open_tracing(TRACED_AS, settings.text("traces"))
    loaders: list[ModelLoader] = []

    def register(servers: Sequence[grpc.Server], control: Control) -> Sequence[str]:
        set_serving(control.health, [SERVICE], serving=False)
        loader = ModelLoader(
            LoaderOptions(
                home=home,
                name=options.model,
                threads=settings.integer("threads"),
                gpu_layers=settings.text("gpu_layers"),
                batch_tokens=settings.integer("batch_tokens"),
            ),
            on_ready=lambda: set_serving(control.health, [SERVICE], serving=True),
        )
        loaders.append(loader)
        servicer = EmbedderServicer(loader, control)
        for server in servers:
            embedder_pb2_grpc.add_EmbedderServiceServicer_to_server(servicer, server)
        loader.start()
        return [SERVICE]

    def stop() -> None:
        for loader in loaders:
            loader.stop()
        if tracing is not None:
            tracing.stop()

    return run_daemon(
        DaemonOptions(
            home=home,
            service=f"embedder-{options.model}",
            socket_name=options.socket_name,
            domain=DOMAIN,
            idle_minutes=settings.number("idle_minutes"),
            ready_fd=options.ready_fd,
            not_use=NOT_USE,
            around=() if tracing is None else (tracing.calls,),
            reload=Reloader(options.read_settings, settings).reload,
        ),
        register=register,
        busy=lambda: any(loader.calls() for loader in loaders),
        on_stop=stop,
    )
