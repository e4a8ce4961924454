"""The compose files name settings, images and bases that there are; that needs no engine."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from graft.wire.setting_list import SETTINGS

ROOT = Path(__file__).parents[2]
NOT_SETTINGS = {"GRAFT_HOME", "GRAFT_RUNTIME"}
"""Variables that say where things are; see docs/settings.md."""

BASE = re.compile(r"^ARG (\w+_IMAGE)=(\S+)$", re.MULTILINE)
EXACT = re.compile(r"[a-z0-9./-]+:\d+\.\d+\.\d+[a-z0-9.-]*")


def services(name: str) -> dict[str, Any]:
    found = yaml.safe_load((ROOT / name).read_text("utf-8"))["services"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", ["compose.yaml", "compose.tcp.yaml"])
def test_what_services_are_told_are_settings(name: str) -> None:
    variables = {each.variable for each in SETTINGS} | NOT_SETTINGS
    told = {
        variable
        for service in services(name).values()
        for variable in service.get("environment", {})
        if variable.startswith("GRAFT_")
    }

    assert told
    assert told <= variables


@pytest.mark.parametrize("file", ["memstore/Dockerfile", "embedder/Dockerfile"])
def test_images_name_bases_exactly_and_settings_that_there_are(file: str) -> None:
    text = (ROOT / file).read_text("utf-8")
    variables = {each.variable for each in SETTINGS} | NOT_SETTINGS

    bases = BASE.findall(text)

    assert bases
    assert [each for each in bases if not EXACT.fullmatch(each[1])] == []
    assert all(f"ARG {name.replace('_IMAGE', '_DIGEST')}=" in text for name, _ in bases)
    assert set(re.findall(r"\b(GRAFT_[A-Z_]+)=", text)) <= variables
    assert re.search(r"^USER 1000:1000$", text, re.MULTILINE)


def test_only_what_has_to_reach_out_has_a_network() -> None:
    modes = {name: each["network_mode"] for name, each in services("compose.yaml").items()}

    assert {name for name, mode in modes.items() if mode != "none"} == {
        "model",
        "model-cuda",
        "model-rocm",
    }
    assert all(each["cap_drop"] == ["ALL"] for each in services("compose.yaml").values())
    assert all(each["read_only"] for each in services("compose.yaml").values())


def test_every_choice_of_the_compose_files_is_explained() -> None:
    text = "".join(
        (ROOT / each).read_text("utf-8") for each in ("compose.yaml", "compose.tcp.yaml")
    )
    explained = "".join((ROOT / each).read_text("utf-8") for each in ("docs/docker.md", ".env"))
    settings = {each.variable for each in SETTINGS}

    choices = set(re.findall(r"\$\{(GRAFT_[A-Z_]+)", text)) - settings

    assert choices
    assert {each for each in choices if each not in explained} == set()
