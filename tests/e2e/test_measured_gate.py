"""The gate measured on one's own notes, as a person does it."""

import json

import pytest
from tests.e2e.conftest import Shell

from graft_client.cli.demo_notes import NOTES

pytestmark = pytest.mark.model

SERVICES = [
    "billing",
    "search",
    "mail",
    "login",
    "stock",
    "ledger",
    "cart",
    "audit",
    "maps",
    "chat",
]


def as_line(title: str, body: str) -> str:
    return json.dumps({"title": title, "body": body}) + "\n"


def test_the_gate_is_measured_from_20_notes_on_and_left_as_it_is(shell: Shell) -> None:
    lines = [as_line(note.title, note.body) for note in NOTES]
    ports = [
        as_line(
            f"The {name} service of the local stack listens on port {7400 + at}",
            f"Start {name} by itself with `dun up {name}`; its metrics are on {9400 + at}.",
        )
        for at, name in enumerate(SERVICES)
    ]
    assert shell.run("insert", "--jsonl", "-", "--wait", text="".join(lines)).status == 0

    refused = shell.run("doctor", "--gate", "--json")
    assert shell.run("insert", "--jsonl", "-", "--wait", text="".join(ports)).status == 0
    measured = shell.run("doctor", "--gate", "--json")
    shown = shell.run("doctor", "--gate")
    reset = shell.run("doctor", "--gate", "--reset")

    assert refused.status == 1
    assert "takes 20" in refused.err
    report = measured.json()
    assert report["notes"] == len(NOTES) + len(SERVICES)
    assert report["strong"] == report["strong_fitted"]
    assert report["rates"]["missed_strong"]["share"] <= 0.4
    assert report["rates"]["false_strong"]["share"] <= 0.4
    assert not report["applied"]
    assert shown.out.startswith("false STRONG")
    assert reset.out.startswith("it had no threshold of its own")
