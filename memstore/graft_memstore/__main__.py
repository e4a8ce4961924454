"""`python -m graft_memstore serve`: run the memory service of one home."""

import argparse
import os
import sys
from collections.abc import Sequence

from graft.wire.events import tell_refusal
from graft.wire.listening import ListenError
from graft.wire.paths import Home, UnsafeDirectoryError
from graft.wire.settings import SettingError, log_format
from graft_memstore.serve import serve
from graft_memstore.settings import EncryptionError, MemstoreSettings

REFUSED, WRONG_USAGE = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the service and return the exit status: 0 done, 1 refused, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    # Whoever knocks with something that is no TLS writes no line of gRPC's into the log.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    try:
        return serve(MemstoreSettings.read(options.home), options.ready_fd)
    except (EncryptionError, ListenError, UnsafeDirectoryError) as error:
        return _complain(str(error), REFUSED, options.home)
    except SettingError as error:
        return _complain(str(error), WRONG_USAGE, options.home)


def _complain(problem: str, status: int, home_argument: str) -> int:
    environ = {**os.environ, "GRAFT_HOME": home_argument or os.environ.get("GRAFT_HOME", "")}
    tell_refusal(problem, log_format(environ, Home.resolve(environ).config_file))
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m graft_memstore", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("serve", help="serve until told to stop, or idle for long")
    run.add_argument("--home", default="", help="home to serve; else GRAFT_HOME, else ~/.graft")
    run.add_argument("--ready-fd", type=int, help="descriptor to tell when it listens")
    return parser


if __name__ == "__main__":
    sys.exit(main())
