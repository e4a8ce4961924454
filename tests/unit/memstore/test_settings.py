"""What the process is told from outside, and what makes it refuse to start."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graft_memstore.settings import EncryptionError, MemstoreSettings


def test_the_argument_wins_over_the_variable(tmp_path: Path) -> None:
    read = MemstoreSettings.read(str(tmp_path), {"GRAFT_HOME": "/somewhere/else"})

    assert read.home.root == tmp_path.resolve()


def test_a_key_is_a_refusal_to_start(tmp_path: Path) -> None:
    with pytest.raises(EncryptionError, match="cannot encrypt"):
        MemstoreSettings.read(str(tmp_path), {"GRAFT_DB_KEY": "secret"})


def test_the_refusal_tells_the_key_s_name_and_never_the_key(tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "graft_memstore", "serve", "--home", str(tmp_path)],
        env={"GRAFT_DB_KEY": "hunter2"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert finished.returncode == 1
    assert "GRAFT_DB_KEY" in finished.stderr
    assert "hunter2" not in finished.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_to_start_is_an_event_where_logs_are_for_programs(tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "graft_memstore", "serve", "--home", str(tmp_path)],
        env={"GRAFT_THREADS": "many", "GRAFT_LOG_FORMAT": "json"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    told = json.loads(finished.stderr)
    assert finished.returncode == 2
    assert (told["level"], told["event"]) == ("error", "refused to start")
    assert "threads (GRAFT_THREADS, from environment) is 'many'" in told["problem"]


def test_registered_models_can_be_moved_to(tmp_path: Path) -> None:
    (tmp_path / "models.json").write_text('{"registered": {"mine": {}}}')

    read = MemstoreSettings.read(str(tmp_path), {})

    assert read.model_names() == ["starter", "bge-m3", "mine"]
    assert read.default_model() == "starter"


def test_the_model_of_an_embedder_that_others_run_can_be_moved_to(tmp_path: Path) -> None:
    environ = {"GRAFT_EMBEDDER": "unix:/run/graft/embedder.sock", "GRAFT_MODEL": "theirs"}

    read = MemstoreSettings.read(str(tmp_path), environ)

    assert read.embedder_socket() == Path("/run/graft/embedder.sock")
    assert read.model_names() == ["starter", "bge-m3", "theirs"]


def test_status_shows_every_setting_that_is_no_secret(tmp_path: Path) -> None:
    shown = MemstoreSettings.read(str(tmp_path), {"GRAFT_IDLE_MINUTES": "7"}).shown()

    assert shown["idle_minutes"] == "7"
    assert "timeout_seconds" in shown
