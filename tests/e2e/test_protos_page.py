"""The commands of docs/protos.md run as they stand there."""

import base64
import re
import subprocess
from pathlib import Path

import pytest
from google.rpc import error_details_pb2
from tests.e2e.conftest import GRAFT, SECONDS, Shell

PAGE = Path(__file__).parents[2] / "docs/protos.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(shell: Shell, script: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/bash", "-euxc", script],
        cwd=shell.directory,
        env={**shell.environment(), "PATH": f"{GRAFT.parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.model
def test_buf_curl_asks_saves_and_is_refused_as_written(shell: Shell) -> None:
    first, refused = BLOCK.findall(PAGE.read_text("utf-8"))

    done = run(shell, first + refused)

    assert done.returncode == 0, done.stderr
    assert "graft.memory.v1.RecallService" in done.stdout
    assert "graft.memory.v1.NotesService/InsertNote" in done.stdout
    assert '"hit": "HIT_MISS"' in done.stdout
    assert '"lifecycle": "LIFECYCLE_ACTIVE"' in done.stdout
    assert '"status": "SERVING"' in done.stdout
    (value,) = re.findall(r'"value": "([^"]+)"', done.stderr)
    told = error_details_pb2.ErrorInfo.FromString(base64.b64decode(value))
    assert (told.reason, told.domain) == ("NOTE_NOT_FOUND", "graft.memory")
    logged = shell.run("log", "--json").lines()
    assert [each["session"] for each in logged if each["action"] == "insert"] == ["by-hand"]
