"""A service without servicers, for tests of its life as a process."""

import argparse
import sys
import time
from pathlib import Path

from graft.wire.daemon import DaemonOptions, run_daemon
from graft.wire.paths import Home


def main() -> int:
    """Serve as the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--ready-fd", type=int, required=True)
    parser.add_argument("--idle-minutes", type=float, default=0)
    parser.add_argument("--fail", action="store_true")
    parser.add_argument("--start-seconds", type=float, default=0)
    arguments = parser.parse_args()
    if arguments.fail:
        sys.exit("the disk is on fire")
    options = DaemonOptions(
        home=Home(root=arguments.home),
        service="tiny",
        domain="graft.test",
        idle_minutes=arguments.idle_minutes,
        ready_fd=arguments.ready_fd,
    )

    def register(*_: object) -> tuple[str, ...]:
        time.sleep(arguments.start_seconds)  # noqa: TID251 - a slow start is the point
        return ()

    return run_daemon(options, register=register, busy=lambda: False, on_stop=lambda: None)


if __name__ == "__main__":
    sys.exit(main())
