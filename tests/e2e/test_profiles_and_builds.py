"""Profiles with models of their own, and a package that changes under a daemon."""

import os
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell

import graft_client

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]


def test_two_profiles_with_two_models_in_one_home_both_answer(
    shell: Shell, random_model: Path
) -> None:
    shell.insert("the first profile keeps its model", "starter")
    shell.run("profile", "add", "other")
    used = shell.run("model", "use", str(random_model))
    assert used.status == 0, used.err
    shell.insert("the second profile has another model", "", "--profile", "other")

    first = shell.query("the first profile keeps its model")
    second = shell.query("the second profile has another model", "--profile", "other")

    profiles = {each["name"]: each for each in shell.run("profile", "list", "--json").lines()}
    assert (first["hit"], first["degraded"]) == ("STRONG", [])
    assert second["degraded"] == []
    assert second["note"]["title"] == "the second profile has another model"
    assert profiles["default"]["model"] == "starter"
    assert profiles["other"]["model"] != "starter"
    assert len(shell.daemons("embedder")) == 2


def test_a_reindex_moves_a_profile_and_answers_meanwhile(shell: Shell, random_model: Path) -> None:
    for number in range(5):
        shell.insert(f"note {number} about deploying service {number}", "a body " * 50)
    shell.run("model", "use", str(random_model))
    name = shell.run("model", "list", "--json").lines()
    target = next(model["name"] for model in name if model["default"])

    moved = shell.run("reindex", "--model", target, "--json", "--timeout", "100")

    assert moved.status == 0, moved.err
    profile = shell.run("profile", "list", "--json").lines()[0]
    answer = shell.query("note 3 about deploying service 3")
    assert profile["model"] == target
    assert (answer["degraded"], answer["note"]["title"]) == (
        [],
        "note 3 about deploying service 3",
    )


def test_a_profile_name_that_could_leave_its_folder_is_refused(shell: Shell) -> None:
    for name in ("../x", "a/b", "", ".hidden", "x" * 65):
        assert shell.run("profile", "add", name).status in (1, 2), name
    assert shell.run("profile", "add", "acpt-probe").status == 0
    assert shell.run("profile", "add", "acpt-probe").status == 1


def test_a_package_that_changed_under_an_idle_daemon_is_what_the_next_call_runs(
    shell: Shell,
) -> None:
    shell.insert("a note of the old build")
    before = shell.status()["memstore"]["pid"]
    os.utime(graft_client.__file__)

    answer = shell.query("a note of the old build")

    after = shell.status()["memstore"]["pid"]
    assert answer["hit"] == "STRONG"
    assert after != before
    assert len(shell.daemons("memstore")) == 1
