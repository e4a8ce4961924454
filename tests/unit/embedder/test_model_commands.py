"""`python -m graft_embedder model …` as the command line runs it."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.fixtures_models import make_random_model
from typing_extensions import override

from graft.wire.models import default_model_name
from graft.wire.paths import Home
from graft_embedder.catalogue import Pooling
from graft_embedder.errors import ModelFileError
from graft_embedder.registry import find, register

pytestmark = pytest.mark.model

SECONDS = 90


def run(home: Path, *arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    """Run ``model`` with *arguments* in *home*."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("GRAFT_")}  # noqa: TID251 - a command inherits PATH
    return subprocess.run(
        [sys.executable, "-m", "graft_embedder", "model", *arguments, "--home", str(home)],
        env={**mine, **environ},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path, models_dir: Path) -> Home:
    """A home with the starter."""
    home = Home(root=tmp_path / "home")
    home.create()
    home.models.symlink_to(models_dir)
    return home


def test_pull_starter_writes_it_and_a_second_pull_finds_it(tmp_path: Path) -> None:
    first = run(tmp_path / "home", "pull", "starter", "--json")
    again = run(tmp_path / "home", "pull", "starter")

    assert first.returncode == again.returncode == 0
    assert json.loads(first.stdout)["bytes"] == 73_818_912
    assert first.stderr == ""
    assert "here already" in again.stderr


def test_list_tells_each_model_and_the_default(home: Home) -> None:
    done = run(home.root, "list", "--json")

    models = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["name"], each["here"], each["default"]) for each in models] == [
        ("starter", True, True),
        ("bge-m3", False, False),
    ]


def test_list_for_people_marks_the_default(home: Home) -> None:
    done = run(home.root, "list")

    assert done.stdout.splitlines()[0].startswith("* starter")
    assert "bge-m3" in done.stdout
    assert "no vectors yet" in done.stderr


@pytest.mark.parametrize(
    ("file", "name"), [("My Model (v2).gguf", "my-model-v2"), ("Jump.Start.gguf", "jump-start")]
)
def test_a_file_is_tried_registered_and_made_the_default(
    home: Home, tmp_path: Path, file: str, name: str
) -> None:
    path = make_random_model(tmp_path / file, dimensions=64)

    done = run(home.root, "use", str(path), "--query-prefix", "q: ", "--json")

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["name"] == name
    assert (told["dimensions"], told["pooling"], told["query_prefix"]) == (64, "cls", "q: ")
    assert default_model_name(home, "") == name
    entry = find(home, name)
    assert entry.pooling is Pooling.CLS
    assert 0 < entry.background.deviation < 1


def test_a_file_that_does_not_tell_its_pooling_needs_to_be_told(home: Home, tmp_path: Path) -> None:
    path = make_random_model(tmp_path / "silent.gguf", pooling=None)

    refused = run(home.root, "use", str(path))
    done = run(home.root, "use", str(path), "--pooling", "last", "--json")

    assert refused.returncode == 1
    assert "--pooling mean, cls or last" in refused.stderr
    assert json.loads(done.stdout)["pooling"] == "last"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"plain text, no weights", "not a GGUF file"),
        (b"GGUF\x03\x00\x00\x00", "not a whole GGUF file"),
        (b"", "not a whole GGUF file"),
    ],
)
def test_what_is_no_model_is_refused(
    home: Home, tmp_path: Path, content: bytes, expected: str
) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(content)

    done = run(home.root, "use", str(path), "--json")

    assert done.returncode == 1
    assert done.stdout == ""
    error = json.loads(done.stderr)
    assert expected in error["message"]
    assert set(error) == {"reason", "message", "details"}
    assert not home.models_file.exists()


def test_a_file_cut_short_is_refused(home: Home, tmp_path: Path) -> None:
    path = make_random_model(tmp_path / "cut.gguf")
    path.write_bytes(path.read_bytes()[:-100_000])

    done = run(home.root, "use", str(path))

    assert done.returncode == 1
    assert "cannot load" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_known_name_is_used_and_an_absent_file_names_the_pull(home: Home) -> None:
    starter = run(home.root, "use", "starter", "--json")
    absent = run(home.root, "use", "bge-m3")

    assert json.loads(starter.stdout) == {"name": "starter", "default": True}
    assert absent.returncode == 1
    assert "graft model pull bge-m3" in absent.stderr


def test_a_name_that_is_nothing_is_refused(home: Home) -> None:
    done = run(home.root, "use", "nosuch")

    assert done.returncode == 1
    assert "give a model's name or the path of a GGUF file" in done.stderr


def checks(home: Home, **environ: str) -> dict[str, tuple[bool, str]]:
    done = run(home.root, "check", "--json", **environ)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row["name"]: (row["ok"], row["detail"]) for row in rows}


def test_a_default_that_is_not_there_is_told_with_the_way_back(home: Home, tmp_path: Path) -> None:
    path = make_random_model(tmp_path / "mine.gguf", dimensions=64)
    assert run(home.root, "use", str(path), "--name", "mine").returncode == 0
    path.unlink()

    found = checks(home)
    fetched = checks(home, GRAFT_MODEL="bge-m3")["bge-m3"]
    unknown = checks(home, GRAFT_MODEL="nope")["nope"]

    assert found["starter"][0]
    assert not found["mine"][0]
    assert "graft model use PATH" in found["mine"][1]
    assert "graft model pull bge-m3" in fetched[1]
    assert not unknown[0]
    assert "GRAFT_MODEL" in unknown[1]


@pytest.mark.parametrize(
    "arguments", [["pull", "a", "b"], ["use"], [], ["use", "x", "--pooling", "max"]]
)
def test_wrong_usage_ends_with_two(home: Home, arguments: list[str]) -> None:
    assert run(home.root, *arguments).returncode == 2


def test_a_setting_that_cannot_be_read_ends_with_two(home: Home) -> None:
    done = run(home.root, "list", GRAFT_THREADS="many")

    assert done.returncode == 2
    assert "GRAFT_THREADS" in done.stderr


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[str]:
    """A mirror whose bge-m3 is not the real one."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "bge-m3-Q8_0.gguf").write_bytes(b"an impostor")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_pull_asks_the_mirror_and_refuses_an_impostor(tmp_path: Path, mirror: str) -> None:
    home = Home(root=tmp_path / "home")

    done = run(home.root, "pull", GRAFT_MODEL_MIRROR=mirror)

    assert done.returncode == 1
    assert hashlib.sha256(b"an impostor").hexdigest() in done.stderr
    assert [path.name for path in home.models.iterdir()] == [".bge-m3-Q8_0.gguf.lock"]


def test_pull_without_a_network_names_the_ways_out(tmp_path: Path) -> None:
    done = run(tmp_path / "home", "pull", GRAFT_MODEL_MIRROR="http://127.0.0.1:9")

    assert done.returncode == 1
    assert "GRAFT_MODEL_MIRROR" in done.stderr
    assert "starter" in done.stderr


def test_bge_m3_is_the_default_once_its_file_is_there(tmp_path: Path) -> None:
    home = Home(root=tmp_path)
    home.models.mkdir()
    assert default_model_name(home, "") == "starter"

    (home.models / "bge-m3-Q8_0.gguf").write_bytes(b"weights")

    assert default_model_name(home, "") == "bge-m3"


@pytest.mark.parametrize("content", ['{"registered": {"x": {"path": 1}}}', "{", "[]"])
def test_a_damaged_registry_is_told(home: Home, content: str) -> None:
    home.models_file.write_text(content)

    done = run(home.root, "list")

    assert done.returncode == 1
    assert "models.json" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["starter", "bge-m3", "UPPER", "a b", "", "x" * 41, "x.start"])
def test_a_name_that_is_taken_or_malformed_is_refused(
    home: Home, tmp_path: Path, name: str
) -> None:
    path = make_random_model(tmp_path / "fine.gguf")
    run(home.root, "use", str(path))
    entry = find(home, "fine")

    with pytest.raises(ModelFileError, match="--name"):
        register(home, replace(entry, name=name))
