"""A process that stands for the memstore: real locks, socket and record, the fake's answers."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import grpc
from tests.unit.client.fake_memstore import FakeState, add_to

from graft.wire.daemon import Control, DaemonOptions, run_daemon
from graft.wire.paths import Home


def main() -> int:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--ready-fd", type=int)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--deaf", action="store_true")
    options = parser.parse_args()

    def register(servers: Sequence[grpc.Server], control: Control) -> list[str]:
        state = FakeState(busy=options.busy, on_stop=control.request_stop)
        state.status_reply.pid = os.getpid()
        state.hold = options.deaf
        if options.deaf:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for server in servers:
            add_to(server, state)
        return []

    return run_daemon(
        DaemonOptions(
            home=Home(root=options.home),
            service="memstore",
            domain="graft.memory",
            idle_minutes=1,
            ready_fd=options.ready_fd,
        ),
        register=register,
        busy=lambda: False,
        on_stop=lambda: None,
    )


if __name__ == "__main__":
    sys.exit(main())
