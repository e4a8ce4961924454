"""`python -m graft_embedder`: serve one model, have one ready, or manage model files."""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from graft.wire.events import start_logging, tell_refusal
from graft.wire.listening import ListenError
from graft.wire.models import BGE_M3, MODEL_NAME, RegistryError, default_model_name
from graft.wire.paths import Home, UnsafeDirectoryError
from graft.wire.settings import SettingError, Settings, load, log_format
from graft_embedder import commands
from graft_embedder.catalogue import Pooling
from graft_embedder.errors import ModelFileError
from graft_embedder.provision import provide
from graft_embedder.serve import ServeOptions, serve

DONE, REFUSED, WRONG_USAGE = 0, 1, 2
REFUSALS = (ListenError, ModelFileError, RegistryError, UnsafeDirectoryError, SettingError)

SOCKET_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0 done, 1 refused, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    environ = dict(os.environ)
    if options.home:
        environ["GRAFT_HOME"] = options.home
    home = Home.resolve(environ)
    as_json = getattr(options, "json", False)
    try:
        settings = load(environ, home.config_file)
        return COMMANDS[options.command](home, settings, options)
    except REFUSALS as error:
        setting = isinstance(error, SettingError)
        if options.command in LOGGED:
            tell_refusal(str(error), log_format(environ, home.config_file))
        else:
            _complain(str(error), "SETTING" if setting else "MODEL_FILE", as_json=as_json)
        return WRONG_USAGE if setting else REFUSED
    except KeyboardInterrupt:
        _complain("interrupted; the same command goes on from here", "INTERRUPTED", as_json=as_json)
        return REFUSED


def _serve(home: Home, settings: Settings, given: argparse.Namespace) -> int:
    options = ServeOptions(
        model=given.model or default_model_name(home, settings.text("model")),
        socket_name=given.socket_name or "",
        ready_fd=given.ready_fd,
        read_settings=lambda: load(os.environ, home.config_file),
    )
    return serve(home, settings, options)


def _provide(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    start_logging(settings.text("log_level"), settings.text("log_format"))
    home.create()
    provide(home, settings, _registration(Path(options.file), options))
    return DONE


def _registration(path: Path, options: argparse.Namespace) -> commands.Registration:
    return commands.Registration(
        path=path,
        name=options.name,
        pooling=Pooling(options.pooling) if options.pooling else None,
        query_prefix=options.query_prefix,
        passage_prefix=options.passage_prefix,
    )


def _manage(home: Home, settings: Settings, options: argparse.Namespace) -> int:
    if options.action in {"pull", "use"}:  # the others only look
        home.create()
    output = commands.Output(
        data=lambda line: print(line, flush=True),  # noqa: T201 - data go to stdout
        talk=lambda line: _talk(line, quiet=options.json or options.quiet),
        as_json=options.json,
    )
    if options.action == "list":
        commands.list_models(home, settings, output)
    elif options.action == "check":
        commands.check_models(home, settings, output)
    elif options.action == "pull":
        commands.pull_model(home, settings, options.name, output)
    elif commands.is_known(home, options.target):
        commands.use_model(home, options.target, output)
    else:
        commands.register_model(home, _registration(Path(options.target), options), output)
    return DONE


COMMANDS: dict[str, Callable[[Home, Settings, argparse.Namespace], int]] = {
    "serve": _serve,
    "provide": _provide,
    "model": _manage,
}
LOGGED = frozenset({"serve", "provide"})
"""Commands that tell in a log, whose format is a setting."""


def _talk(line: str, *, quiet: bool) -> None:
    if not quiet:
        print(line, file=sys.stderr, flush=True)  # noqa: T201 - talk goes to stderr


def _complain(message: str, reason: str, *, as_json: bool) -> None:
    line = message
    if as_json:
        line = json.dumps({"reason": reason, "message": message, "details": {}})
    print(line, file=sys.stderr, flush=True)  # noqa: T201 - errors go to stderr


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="graft_embedder", description=__doc__)
    commands_ = parser.add_subparsers(dest="command", required=True)
    served = commands_.add_parser("serve", help="serve one model over a Unix socket")
    served.add_argument("--home", default="", help="directory of the memory (GRAFT_HOME)")
    served.add_argument("--model", type=_model_name, help="name of the model; default: the chosen")
    served.add_argument(
        "--socket-name",
        type=_socket_name,
        help="file name of the socket, without .sock",
    )
    served.add_argument("--ready-fd", type=int, help="descriptor to tell when it listens")
    provided = commands_.add_parser("provide", help="have the chosen model here, and end")
    provided.add_argument("--home", default="", help="directory of the memory (GRAFT_HOME)")
    provided.add_argument("--file", default="", help="take it from this GGUF file, if not empty")
    _add_reading(provided)
    model = commands_.add_parser("model", help="manage model files")
    actions = model.add_subparsers(dest="action", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--home", default="", help="directory of the memory (GRAFT_HOME)")
    shared.add_argument("--json", action="store_true", help="print one JSON object a line")
    shared.add_argument("--quiet", action="store_true", help="print data and errors alone")
    actions.add_parser("list", parents=[shared], help="list models and whether they are here")
    actions.add_parser("check", parents=[shared], help="compare model files with their hashes")
    pull = actions.add_parser("pull", parents=[shared], help="fetch a model's file")
    pull.add_argument("name", nargs="?", default=BGE_M3, help=f"default: {BGE_M3}")
    _add_use(actions.add_parser("use", parents=[shared], help="choose or register a model"))
    return parser


def _add_use(use: argparse.ArgumentParser) -> None:
    use.add_argument("target", metavar="PATH|NAME", help="GGUF file of an embedding model, or name")
    _add_reading(use)


def _add_reading(use: argparse.ArgumentParser) -> None:
    use.add_argument("--name", default="", help="name to register it under; default: the file's")
    use.add_argument("--pooling", choices=[each.value for each in Pooling], help="default: file's")
    use.add_argument("--query-prefix", default="", help='put before queries, such as "query: "')
    use.add_argument("--passage-prefix", default="", help="put before passages")


def _socket_name(text: str) -> str:
    if not SOCKET_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name of a socket: a-z, 0-9, _ and -")
    return text


def _model_name(text: str) -> str:
    if not MODEL_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no model name")
    return text


if __name__ == "__main__":
    sys.exit(main())
