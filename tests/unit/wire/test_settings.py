"""Flags beat the environment, that the file, that the defaults; wrong values are told."""

from pathlib import Path

import pytest

from graft.wire.settings import SETTINGS, SettingError, load


def test_the_nearest_value_wins_and_says_where_it_came_from(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('profile = "file"\nthreads = 3\nscope = "file"\nautostart = false\n')
    environ = {"GRAFT_PROFILE": "environment", "GRAFT_THREADS": "2"}

    settings = load(environ, file, {"profile": "flag"})

    assert (settings.text("profile"), settings.source("profile")) == ("flag", "flag")
    assert (settings.integer("threads"), settings.source("threads")) == (2, "environment")
    assert (settings.text("scope"), settings.source("scope")) == ("file", str(file))
    assert settings.flag("autostart") is False
    assert (settings.number("idle_minutes"), settings.source("idle_minutes")) == (30, "default")


def test_an_empty_variable_is_not_set(tmp_path: Path) -> None:
    assert load({"GRAFT_PROFILE": ""}, tmp_path / "none.toml").text("profile") == "default"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("profil = 'x'", "unknown settings: profil"),
        ("threads = 'two'", "threads .* whole number"),
        ("threads = -1", "whole number, 0 or more"),
        ("idle_minutes = inf", "a number, 0 or more"),
        ("autostart = 'maybe'", "must be 1 or 0"),
        ("log_level = 'loud'", "one of debug, info, warning, error"),
        ("profile = [1]", "must be a text"),
        ("profile = ", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(content)

    with pytest.raises(SettingError, match=words):
        load({}, file)


def test_every_setting_has_a_variable_and_a_default_that_can_be_read(tmp_path: Path) -> None:
    settings = load({}, tmp_path / "none.toml")

    assert all(each.variable.startswith("GRAFT_") and each.help.endswith(".") for each in SETTINGS)
    assert {settings.source(each.name) for each in SETTINGS} == {"default"}
