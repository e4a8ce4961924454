"""Every setting of every program: name, variable, default, meaning, and which value wins."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["text", "integer", "number", "flag"]

ON = frozenset({"1", "true", "yes", "on"})
OFF = frozenset({"0", "false", "no", "off"})


class SettingError(ValueError):
    """A setting has a value that cannot be meant; the message names it, its source and the fix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting.

    Attributes:
        name: key in the file and in the code.
        variable: environment variable.
        kind: how its text is read.
        default: text of the value that holds when nobody set one.
        help: what it does, one sentence, with its unit.
        choices: the only values; empty where any will do.
    """

    name: str
    variable: str
    kind: Kind
    default: str
    help: str
    choices: tuple[str, ...] = ()


SETTINGS = (
    Setting(
        name="profile",
        variable="GRAFT_PROFILE",
        kind="text",
        default="default",
        help="Profile that calls go to.",
    ),
    Setting(
        name="scope",
        variable="GRAFT_SCOPE",
        kind="text",
        default="",
        help="Scope of reads and writes; empty: the working directory's project and user.",
    ),
    Setting(
        name="author",
        variable="GRAFT_AUTHOR",
        kind="text",
        default="",
        help="Author of new notes.",
    ),
    Setting(
        name="autostart",
        variable="GRAFT_AUTOSTART",
        kind="flag",
        default="1",
        help="Start the services when nothing answers.",
    ),
    Setting(
        name="target",
        variable="GRAFT_TARGET",
        kind="text",
        default="",
        help="Socket of a memstore to use instead of the home's own (unix:PATH); starts nothing.",
    ),
    Setting(
        name="timeout_seconds",
        variable="GRAFT_TIMEOUT",
        kind="number",
        default="30",
        help="Seconds that a call may take.",
    ),
    Setting(
        name="idle_minutes",
        variable="GRAFT_IDLE_MINUTES",
        kind="number",
        default="30",
        help="Minutes without use after which a service ends; 0: never.",
    ),
    Setting(
        name="model",
        variable="GRAFT_MODEL",
        kind="text",
        default="",
        help="Model of profiles without vectors; empty: the one chosen with `graft model use`,"
        " else bge-m3 if it is there, else starter.",
    ),
    Setting(
        name="model_mirror",
        variable="GRAFT_MODEL_MIRROR",
        kind="text",
        default="",
        help="Base address that model files are fetched from instead of their own.",
    ),
    Setting(
        name="gpu_layers",
        variable="GRAFT_GPU_LAYERS",
        kind="text",
        default="auto",
        help="Layers to put on the GPU; auto: all of them when the build has a GPU backend.",
    ),
    Setting(
        name="threads",
        variable="GRAFT_THREADS",
        kind="integer",
        default="0",
        help="Threads that the model computes with; 0: the CPUs that the process may use.",
    ),
    Setting(
        name="batch_tokens",
        variable="GRAFT_BATCH_TOKENS",
        kind="integer",
        default="0",
        help="Tokens that one decode holds at most; 0: what suits the backend.",
    ),
    Setting(
        name="embed_tokens_max",
        variable="GRAFT_EMBED_TOKENS_MAX",
        kind="integer",
        default="0",
        help="Tokens of a question that are embedded; 0: 256 on a processor, 512 on a GPU.",
    ),
    Setting(
        name="log_level",
        variable="GRAFT_LOG_LEVEL",
        kind="text",
        default="info",
        help="Least level that services log: debug, info, warning or error.",
        choices=("debug", "info", "warning", "error"),
    ),
)

BY_NAME = {setting.name: setting for setting in SETTINGS}


class Settings:
    """Values of all settings and where each came from: flag, environment, file or default."""

    def __init__(self, values: Mapping[str, str], sources: Mapping[str, str]) -> None:
        self._values = dict(values)
        self._sources = dict(sources)

    def text(self, name: str) -> str:
        """Return the value of *name* as it is written."""
        return self._values[name]

    def source(self, name: str) -> str:
        """Return "flag", "environment", the file's path or "default"."""
        return self._sources[name]

    def integer(self, name: str) -> int:
        """Return the value of *name* as a whole number; checked when it was loaded."""
        return int(self._values[name])

    def number(self, name: str) -> float:
        """Return the value of *name* as a number; checked when it was loaded."""
        return float(self._values[name])

    def flag(self, name: str) -> bool:
        """Return the value of *name* as yes or no; checked when it was loaded."""
        return self._values[name].lower() in ON


def load(
    environ: Mapping[str, str], config_file: Path, flags: Mapping[str, str] | None = None
) -> Settings:
    """Read all settings; flags beat the environment, that the file, that the defaults.

    An empty variable counts as not set. Unknown keys of the file are errors, so that a
    misspelt one is noticed.

    Raises:
        SettingError: a value cannot be read, or the file cannot, or it has an unknown key.
    """
    in_file = _read_file(config_file)
    values: dict[str, str] = {}
    sources: dict[str, str] = {}
    for setting in SETTINGS:
        value, source = setting.default, "default"
        if setting.name in in_file:
            value, source = in_file[setting.name], str(config_file)
        if environ.get(setting.variable):
            value, source = environ[setting.variable], "environment"
        if flags is not None and setting.name in flags:
            value, source = flags[setting.name], "flag"
        _check(setting, value, source)
        values[setting.name] = value
        sources[setting.name] = source
    return Settings(values, sources)


def _read_file(path: Path) -> dict[str, str]:
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingError(f"{path} cannot be read: {error}; see `graft config path`") from error
    unknown = sorted(set(table) - set(BY_NAME))
    if unknown:
        raise SettingError(
            f"{path} has unknown settings: {', '.join(unknown)}; `graft config show` lists them all"
        )
    return {name: _as_text(path, name, value) for name, value in table.items()}


def _as_text(path: Path, name: str, value: object) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise SettingError(f"{path}: {name} must be a text, a number or true or false")


def _check(setting: Setting, value: str, source: str) -> None:
    wanted = {
        "integer": "a whole number, 0 or more",
        "number": "a number, 0 or more",
        "flag": "1 or 0",
        "text": f"one of {', '.join(setting.choices)}",
    }
    try:
        if setting.kind == "integer":
            good = int(value) >= 0
        elif setting.kind == "number":
            good = 0 <= float(value) < float("inf")
        elif setting.kind == "flag":
            good = value.lower() in ON | OFF
        else:
            good = not setting.choices or value in setting.choices
    except ValueError:
        good = False
    if not good:
        raise SettingError(
            f"{setting.name} ({setting.variable}, from {source}) is {value!r}; "
            f"it must be {wanted[setting.kind]}"
        )
