"""What settings hold: flags beat the environment, that the file, that the defaults."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from graft.wire.setting_list import BY_NAME, SETTINGS, Setting
from graft.wire.setting_rules import ON

CONFIG_BYTES_MAX = 1024 * 1024
"""A settings file is not larger."""

VALUE_SHOWN_CHARS = 80


class SettingError(ValueError):
    """A setting has a value that cannot be meant; the message names it, its source and the fix."""


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
    misspelt one is noticed; so are values that cannot work, also where a flag beats them.

    Raises:
        SettingError: a value cannot be meant, or the file cannot be read, or it has an unknown
            key.
    """
    settings, problems = load_what_is_good(environ, config_file, flags)
    if problems:
        raise problems[0]
    return settings


def load_what_is_good(
    environ: Mapping[str, str], config_file: Path, flags: Mapping[str, str] | None = None
) -> tuple[Settings, tuple[SettingError, ...]]:
    """Read all settings as `load` does, but leave out what cannot be meant; return that too.

    So a service can be ended and looked at whatever the settings have become.
    """
    in_file, problems = _read_file(config_file)
    given = (
        (str(config_file), in_file),
        ("environment", _from_environment(environ)),
        ("flag", flags or {}),
    )
    values = {setting.name: setting.default for setting in SETTINGS}
    sources = dict.fromkeys(values, "default")
    for source, found in given:
        for setting in SETTINGS:
            if setting.name not in found:
                continue
            if not setting.rule.accepts(found[setting.name]):
                problems.append(_wrong(setting, found[setting.name], source))
                continue
            values[setting.name] = found[setting.name]
            sources[setting.name] = source
    return Settings(values, sources), tuple(problems)


def log_format(environ: Mapping[str, str], config_file: Path) -> str:
    """Return what a service logs as, whatever else of the settings cannot be meant."""
    return load_what_is_good(environ, config_file)[0].text("log_format")


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        setting.name: environ[setting.variable]
        for setting in SETTINGS
        if environ.get(setting.variable)
    }


def _read_file(path: Path) -> tuple[dict[str, str], list[SettingError]]:
    """Return the values in the file as text, and what of the file cannot be meant."""
    try:
        table = tomllib.loads(_content(path))
    except FileNotFoundError:
        return {}, []
    # A thousand brackets in a row are as deep as the parser's stack.
    except (OSError, ValueError, RecursionError) as error:
        return {}, [SettingError(f"{path} cannot be read: {error}; mend it or move it away")]
    problems: list[SettingError] = []
    unknown = sorted(set(table) - set(BY_NAME))
    if unknown:
        shown = ", ".join(unknown)[:VALUE_SHOWN_CHARS]
        problems.append(
            SettingError(f"{path} has unknown settings: {shown}; there are {', '.join(BY_NAME)}")
        )
    in_file: dict[str, str] = {}
    for setting in SETTINGS:
        if setting.name not in table:
            continue
        value = table[setting.name]
        # A yes for a number, or a number for a name, is not what somebody meant.
        if type(value) in setting.rule.toml_types:
            in_file[setting.name] = _as_text(value)
        else:
            problems.append(_wrong(setting, value, str(path)))
    return in_file, problems


def _content(path: Path) -> str:
    if path.exists() and not path.is_file():
        raise ValueError("it is no file")
    with path.open("rb") as file:
        content = file.read(CONFIG_BYTES_MAX + 1)
    if len(content) > CONFIG_BYTES_MAX:
        raise ValueError(f"it has more than {CONFIG_BYTES_MAX:,} bytes")
    return content.decode("utf-8")


def _as_text(value: object) -> str:
    """Return a value of the file as a variable would have it."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return str(value)


def _wrong(setting: Setting, value: object, source: str) -> SettingError:
    shown = repr(value)
    if len(shown) > VALUE_SHOWN_CHARS:
        shown = f"{shown[:VALUE_SHOWN_CHARS]}…"
    quotes = "" if isinstance(value, str) or int in setting.rule.toml_types else "in quotes: "
    return SettingError(
        f"{setting.name} ({setting.variable}, from {source}) is {shown}; it must be"
        f" {quotes}{setting.rule.allowed}"
    )
