"""`python -m graft_embedder provide`: the chosen model is there afterwards, and a log tells how."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures_models import make_random_model

from graft.wire.models import default_model_name
from graft.wire.paths import Home

pytestmark = pytest.mark.model

SECONDS = 90


def provide(home: Home, *arguments: str, status: int = 0, **environ: str) -> list[dict[str, Any]]:
    """Run the command in *home* and return what its log says."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("GRAFT_")}  # noqa: TID251 - a command inherits PATH
    done = subprocess.run(
        [sys.executable, "-m", "graft_embedder", "provide", "--home", str(home.root), *arguments],
        env={**mine, "GRAFT_LOG_FORMAT": "json", **environ},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    return [json.loads(line) for line in done.stderr.splitlines()]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(root=tmp_path / "home")


def test_the_starter_is_written_once_and_the_log_tells_how_far(home: Home) -> None:
    first = provide(home, GRAFT_MODEL="starter")
    again = provide(home, GRAFT_MODEL="starter")

    told = [line["percent"] for line in first if "percent" in line]
    assert told == sorted(told)
    assert told[-1] == 100
    assert first[-1]["event"] == "the model is here"
    assert first[-1]["bytes"] == 73_818_912
    assert [line["event"] for line in again] == ["the model is here"]


def test_a_file_of_one_s_own_is_copied_registered_and_taken_once(
    home: Home, tmp_path: Path
) -> None:
    source = tmp_path / "some.gguf"
    make_random_model(source)

    first = provide(home, "--file", str(source), GRAFT_MODEL="mine")
    again = provide(home, "--file", str(source), GRAFT_MODEL="mine")

    assert [line["event"] for line in first if "percent" not in line] == [
        "registering",
        "registered",
        "registering",
        "the model is here",
    ]
    assert [line["event"] for line in again] == ["the model is here"]
    assert (home.models / "mine.gguf").read_bytes()[:4] == b"GGUF"
    assert default_model_name(home, "") == "mine"


def test_an_empty_file_is_none(home: Home) -> None:
    told = provide(home, "--file", "/dev/null", GRAFT_MODEL="starter")

    assert told[-1]["model"] == "starter"


def test_another_file_is_not_taken_for_one_that_the_catalogue_knows(
    home: Home, tmp_path: Path
) -> None:
    source = tmp_path / "some.gguf"
    make_random_model(source)

    (refused,) = provide(home, "--file", str(source), status=1, GRAFT_MODEL="bge-m3")

    assert refused["event"] == "refused to start"
    assert "is not the file of bge-m3" in refused["problem"]
    assert "name of its own (GRAFT_MODEL)" in refused["problem"]
    assert not home.models.exists()


def test_a_hub_that_does_not_answer_is_a_problem_with_its_address(home: Home) -> None:
    told = provide(home, status=1, GRAFT_MODEL="bge-m3", GRAFT_MODEL_MIRROR="http://127.0.0.1:9")

    assert told[0]["event"] == "getting the model"
    assert "127.0.0.1:9" in told[-1]["problem"]


def test_a_model_that_nobody_knows_is_a_problem(home: Home) -> None:
    (refused,) = provide(home, status=1, GRAFT_MODEL="nobody-s")

    assert "nobody-s" in refused["problem"]
