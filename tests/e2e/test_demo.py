"""`graft demo` shows the three answers and leaves nothing behind, also when it is interrupted."""

import json
import signal
import tempfile
from pathlib import Path

import psutil
import pytest
from tests.e2e.conftest import SECONDS, Shell

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]


def leftovers() -> tuple[set[str], set[int]]:
    homes = {str(path) for path in Path(tempfile.gettempdir()).glob("graft-demo-*")}
    daemons = {
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if "graft-demo-" in " ".join(process.info["cmdline"] or [])
    }
    return homes, daemons


def test_a_demonstration_shows_all_three_answers_and_leaves_nothing(shell: Shell) -> None:
    before = leftovers()

    shown = shell.run("demo", "--json")

    steps = shown.lines()
    assert {step["hit"] for step in steps if "hit" in step} == {"STRONG", "WEAK", "MISS"}
    assert all(step["degraded"] == [] for step in steps if "hit" in step)
    assert next(step["notes"] for step in steps if step.get("step") == "saved") == 12
    assert leftovers() == before
    assert not (shell.home / "profiles").exists()


def test_a_demonstration_is_readable_without_a_terminal(shell: Shell) -> None:
    shown = shell.run("demo")

    assert shown.status == 0, shown.err
    assert "\x1b" not in shown.out
    assert "STRONG" in shown.out


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_demonstration_leaves_nothing(shell: Shell, sent: signal.Signals) -> None:
    before = leftovers()
    process = shell.start("demo", "--json")
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())

    process.send_signal(sent)
    process.communicate(timeout=SECONDS)

    assert first["step"] == "started"
    assert process.returncode == 128 + sent
    assert leftovers() == before
