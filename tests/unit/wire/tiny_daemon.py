"""A service without servicers, for tests of its life as a process."""

import argparse
import atexit
import os
import sys
import threading
import time
from pathlib import Path

from graft.wire.daemon import DaemonOptions, run_daemon
from graft.wire.logs import LOG_BYTES_MAX
from graft.wire.paths import Home


def chatter(lines: int) -> None:
    """Print *lines*, to both streams and past Python's own."""
    for number in range(lines):
        sys.stderr.write(f"line {number} of many\n")
        sys.stderr.flush()
        os.write(1, f"native line {number}\n".encode())
        time.sleep(0.001)  # noqa: TID251 - a service that talks all the time is the point


def main() -> int:
    """Serve as the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--ready-fd", type=int, required=True)
    parser.add_argument("--idle-minutes", type=float, default=0)
    parser.add_argument("--fail", action="store_true")
    parser.add_argument("--start-seconds", type=float, default=0)
    parser.add_argument("--log-bytes-max", type=int, default=LOG_BYTES_MAX)
    parser.add_argument("--chatter", type=int, default=0, help="lines to print, native ones too")
    parser.add_argument("--exit-seconds", type=float, default=0)
    arguments = parser.parse_args()
    atexit.register(time.sleep, arguments.exit_seconds)  # noqa: TID251 - a slow end is the point
    if arguments.fail:
        sys.exit("the disk is on fire")
    options = DaemonOptions(
        home=Home(root=arguments.home),
        service="tiny",
        domain="graft.test",
        idle_minutes=arguments.idle_minutes,
        ready_fd=arguments.ready_fd,
        log_bytes_max=arguments.log_bytes_max,
    )

    def register(*_: object) -> tuple[str, ...]:
        time.sleep(arguments.start_seconds)  # noqa: TID251 - a slow start is the point
        threading.Thread(target=chatter, args=(arguments.chatter,), daemon=True).start()
        return ()

    return run_daemon(options, register=register, busy=lambda: False, on_stop=lambda: None)


if __name__ == "__main__":
    sys.exit(main())
