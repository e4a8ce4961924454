"""Flags beat the environment, that the file, that the defaults; wrong values are told."""

import os
from pathlib import Path

import pytest

from graft.wire.setting_list import BY_NAME, SETTINGS
from graft.wire.settings import CONFIG_BYTES_MAX, SettingError, load


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
        ("profile = ", "cannot be read"),
        ("x = " + "[" * 10_000, "cannot be read"),
        ("#" * (CONFIG_BYTES_MAX + 1), "more than 1,048,576 bytes"),
        ("profile = '\udcff'", "cannot be read"),
    ],
)
def test_a_file_that_is_no_settings_file_is_refused(
    tmp_path: Path, content: str, words: str
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(content, "utf-8", "surrogateescape")

    with pytest.raises(SettingError, match=words):
        load({}, file)


def test_a_pipe_in_the_file_s_place_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.toml")

    with pytest.raises(SettingError, match="no file"):
        load({}, tmp_path / "config.toml")


# What can never work, each for a reason of its own.
WRONG = {
    "profile": ["a b", "../x", "ä", "p" * 65, "-x", "a\n"],
    "scope": [" user", "project:", "two\nlines", "s" * 1_025, "\u200b", "\udcff"],
    "author": ["a" * 257, "two\nlines", "\udcff"],
    "autostart": ["maybe", "2", "-1"],
    "misses": ["maybe", "2", "-1"],
    "upkeep": ["maybe", "2", "-1"],
    "metrics": ["0.0.0.0:1", "9464", "127.0.0.1", "example.org:1", "10.0.0.1:1", "h:x"],
    "traces": ["http://127.0.0.1:4317", "collector.example:4317", "127.0.0.1"],
    "embedder": ["unix:relative", "unix:", "/" + "x" * 107, "/a\nb", "tls://h:1", "tcp://h:1"],
    "target": [
        *("example.org:7000", "unix:relative", "unix:", "/" + "x" * 107, "/a\nb", "/\ud800"),
        *("tcp://10.0.0.1:7433", "tcp://example.org:1", "tls://h", "tls://h:0", "http://h:1"),
        *("tls://h:65536", "tls://u@h:1", "tls://h:1/x", "tls://:1", "tls://-h:1", "tls://::1:1"),
    ],
    "token_file": ["relative", "a/b", "/a\nb", "~other/x", "/" + "x" * 4_096],
    "tls_ca": ["relative", "/a\nb"],
    "tls_cert": ["relative", "/a\nb"],
    "tls_key": ["relative", "/a\nb"],
    "listen": ["7433", "h", "h:", "h:65536", "tls://h:1", "a b:1", "h:1/x", "::1:7433", "[::1]"],
    "listen_cert": ["relative", "/a\nb"],
    "listen_key": ["relative", "/a\nb"],
    "listen_client_ca": ["relative", "/a\nb"],
    "timeout_seconds": ["soon", "0", "-1", "nan", "inf", "86401", "1e400"],
    "idle_minutes": ["-1", "nan", "inf", "525601", "never"],
    "model": ["UPPER", "a b", "../x", "m" * 41, "x.start", ".hidden"],
    "model_mirror": ["ftp://x", "example.org", "http://", "https://a b", "http://[x", "http://h:x"],
    "gpu_layers": ["many", "-1", "1.5", "10000", "²", "9" * 5_000],
    "threads": ["two", "-1", "1.5", "513", "1_0", ""],
    "batch_tokens": ["-1", "15", "16385"],
    "embed_tokens_max": ["1", "15", "8193"],
    "new_notes": ["verified", "Candidate", ""],
    "secrets": ["strict", "Warn", "0", ""],
    "hooks": ["maybe", "2", "-1"],
    "hook_ms": ["-1", "49", "10001", "soon"],
    "log_level": ["loud", "INFO", ""],
    "log_format": ["xml", "JSON", ""],
}
RIGHT = {
    "profile": ["default", "7", "p" * 64, "A-b_c"],
    "scope": ["", "user", "team:web", "project:github.com/a/b", "日本"],
    "author": ["", "A. Person <a@b.c>", "a" * 256],
    "autostart": ["0", "1", "TRUE", "off"],
    "misses": ["0", "1", "TRUE", "off"],
    "upkeep": ["0", "1", "TRUE", "off"],
    "target": [
        *("", "/run/m.sock", "unix:/run/m.sock", "/\udcff", "/" + "x" * 106),
        *("tls://example.org:7433", "tls://[::1]:1", "tcp://127.0.0.1:1", "tcp://localhost:1"),
    ],
    "embedder": ["", "/run/e.sock", "unix:/run/graft/embedder.sock", "/" + "x" * 106],
    "metrics": ["", "127.0.0.1:9464", "localhost:0", "[::1]:1"],
    "traces": ["", "127.0.0.1:4317", "localhost:4317"],
    "token_file": ["", "/run/secrets/token", "~/token"],
    "tls_ca": ["", "/etc/ca.pem", "~/ca.pem"],
    "tls_cert": ["", "/etc/cert.pem"],
    "tls_key": ["", "/etc/key.pem"],
    "listen": ["", "127.0.0.1:7433", "0.0.0.0:0", "[::]:7433", "memory.example.org:7433"],
    "listen_cert": ["", "/etc/cert.pem"],
    "listen_key": ["", "/etc/key.pem"],
    "listen_client_ca": ["", "/etc/ca.pem"],
    "timeout_seconds": ["0.1", "30", "86400", "1e3"],
    "idle_minutes": ["0", "0.5", "525600"],
    "model": ["", "bge-m3", "x.starter", "m" * 40],
    "model_mirror": ["", "https://mirror.example/hf", "http://[::1]:8080/", "http://u:p@h"],
    "gpu_layers": ["auto", "0", "99", "9999"],
    "threads": ["0", "1", "512"],
    "batch_tokens": ["0", "16", "16384"],
    "embed_tokens_max": ["0", "16", "8192"],
    "new_notes": ["observed", "candidate"],
    "secrets": ["warn", "refuse", "off"],
    "hooks": ["0", "1", "TRUE", "off"],
    "hook_ms": ["0", "50", "1000", "10000"],
    "log_level": ["debug", "info", "warning", "error"],
    "log_format": ["text", "json"],
}


@pytest.mark.parametrize("source", ["environment", "flag"])
@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG.items() for value in values]
)
def test_a_value_that_cannot_work_is_refused_with_its_source_and_what_is_allowed(
    tmp_path: Path, name: str, value: str, source: str
) -> None:
    setting = BY_NAME[name]
    environ = {setting.variable: value or "0 0"} if source == "environment" else {}
    flags = {name: value} if source == "flag" else {}

    with pytest.raises(SettingError) as raised:
        load(environ, tmp_path / "none.toml", flags)

    told = str(raised.value)
    assert told.startswith(f"{name} ({setting.variable}, from {source}) is ")
    assert told.endswith(f"; it must be {setting.rule.allowed}")
    assert repr(value or ("0 0" if environ else ""))[:80] in told


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in RIGHT.items() for value in values]
)
def test_a_value_that_can_work_is_taken(tmp_path: Path, name: str, value: str) -> None:
    assert load({}, tmp_path / "none.toml", {name: value}).text(name) == value


def test_every_setting_has_values_of_both_kinds_here() -> None:
    assert set(WRONG) == set(RIGHT) == set(BY_NAME)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("profile = 7", "is 7; it must be in quotes: a letter"),
        ("profile = true", "is True; it must be in quotes"),
        ("scope = 2026-01-01", "it must be in quotes"),
        ("author = ['a']", "is ['a']; it must be in quotes"),
        ("threads = true", "is True; it must be a whole number"),
        ("threads = 2.0", "is 2.0; it must be a whole number"),
        ("gpu_layers = false", "is False; it must be auto, or a whole"),
        ("idle_minutes = true", "is True; it must be a number"),
        ("timeout_seconds = inf", "is 'inf'; it must be a number"),
        ("autostart = 1.0", "is 1.0; it must be 1 or 0"),
        ("log_level = {a = 1}", "it must be in quotes: one of"),
        ("gpu_layers = 'many'", "is 'many'; it must be auto, or a whole"),
    ],
)
def test_a_value_of_a_wrong_type_in_the_file_is_refused(
    tmp_path: Path, content: str, told: str
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(content)

    with pytest.raises(SettingError) as raised:
        load({}, file)

    assert told in str(raised.value)
    assert f"from {file}" in str(raised.value)


@pytest.mark.parametrize(
    ("content", "name", "text"),
    [
        ("gpu_layers = 12", "gpu_layers", "12"),
        ("threads = '3'", "threads", "3"),
        ("timeout_seconds = 2", "timeout_seconds", "2"),
        ("idle_minutes = 0.5", "idle_minutes", "0.5"),
        ("autostart = false", "autostart", "0"),
        ("autostart = 1", "autostart", "1"),
    ],
)
def test_a_value_of_a_fitting_type_in_the_file_is_taken(
    tmp_path: Path, content: str, name: str, text: str
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(content)

    assert load({}, file).text(name) == text


def test_a_wrong_value_is_refused_where_another_source_beats_it(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("threads = 'two'")

    with pytest.raises(SettingError, match=r"config\.toml\) is 'two'"):
        load({"GRAFT_THREADS": "2"}, file, {"threads": "2"})


def test_every_setting_has_a_variable_and_a_default_that_can_be_read(tmp_path: Path) -> None:
    settings = load({}, tmp_path / "none.toml")

    assert all(each.variable.startswith("GRAFT_") and each.help.endswith(".") for each in SETTINGS)
    assert {settings.source(each.name) for each in SETTINGS} == {"default"}
