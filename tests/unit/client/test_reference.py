import subprocess
import sys
from pathlib import Path

import pytest

from graft_client import limits
from graft_client.cli import reference

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["docs/cli.md", "docs/settings.md"])
def test_the_reference_is_what_the_commands_say(page: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", page],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, f"run: cog -r {page}\n{done.stdout}{done.stderr}"


def test_every_exit_code_setting_and_limit_is_in_the_reference() -> None:
    assert "| 4 | `query --exit-status`" in reference.exit_codes()
    assert "`GRAFT_AUTOSTART`" in reference.settings()
    assert "1,024 characters" in reference.limits()
    assert "### graft profile add" in reference.commands()


def test_the_limits_are_those_that_the_service_keeps() -> None:
    service = pytest.importorskip("graft_memstore.write.limits")
    shared = {
        name
        for name in vars(service)
        if name.isupper() and hasattr(limits, name) and isinstance(getattr(limits, name), int)
    }

    assert "TITLE_CHARS_MAX" in shared
    assert {name: getattr(limits, name) for name in shared} == {
        name: getattr(service, name) for name in shared
    }
