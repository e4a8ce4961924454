"""The metrics of real services, read as Prometheus reads them."""

import re
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.e2e.conftest import Shell

from graft_memstore.metrics.families import FAMILIES

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
AT = re.compile(r"metrics at=(http://\S+)")
COMMAND = re.compile(r"^    ((?:export|graft|curl) .*)$", re.MULTILINE)
SECRET = "xylophone"  # noqa: S105 - a word to look for
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read(address: str) -> tuple[str, Samples]:
    with urllib.request.urlopen(address, timeout=30) as reply:  # noqa: S310 - ours
        text = reply.read().decode("utf-8")
    samples = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    return text, samples


def address_of(shell: Shell) -> str:
    found = AT.findall((shell.home / "memstore.log").read_text("utf-8"))
    assert found
    return str(found[-1])


@pytest.mark.model
def test_services_tell_what_they_have_done_and_no_word_of_what_is_kept(shell: Shell) -> None:
    told = replace(shell, environ={"GRAFT_METRICS": "127.0.0.1:0"})
    scoped = ("--scope", "team:x")
    told.insert(f"the {SECRET} is tuned on Tuesdays", f"{SECRET} body", "--wait", *scoped)
    told.query(f"when is the {SECRET} tuned", *scoped)
    told.query("what nobody has ever written down", *scoped)
    told.run("get", "ffffffff")

    text, samples = read(address_of(told))

    def value(name: str, **labels: str) -> float | None:
        return samples.get((name, frozenset(labels.items())))

    assert value("graft_calls_total", method="RecallService.Query", code="OK") == 2
    assert value("graft_calls_total", method="NotesService.GetNote", code="NOT_FOUND") == 1
    assert value("graft_gate_answers_total", level="miss") == 1
    assert value("graft_pending_vectors", profile="default") == 0
    assert value("graft_index_behind_vectors", profile="default") == 0
    assert (value("graft_vectors", profile="default") or 0) >= 2
    assert (value("graft_wal_bytes", profile="default") or 0) > 0
    assert value("graft_embedder_ready", model="starter") == 1
    assert (value("graft_embedder_batch_tokens_count", model="starter") or 0) >= 3
    assert value("graft_embedder_wait_seconds_bucket", model="starter", le="+Inf") == value(
        "graft_embedder_wait_seconds_count", model="starter"
    )
    names = {re.sub(r"_(bucket|count|sum)$", "", name) for name, _ in samples}
    assert {each.name for each in FAMILIES} <= names
    assert SECRET not in text
    assert "team:x" not in text


def test_an_address_that_is_taken_is_told_by_the_start_and_nothing_stays(shell: Shell) -> None:
    told = replace(shell, environ={"GRAFT_METRICS": "127.0.0.1:0"})
    told.run("start")
    taken = address_of(told).removeprefix("http://").removesuffix("/metrics")
    other = replace(shell, home=shell.home.parent / "other", environ={"GRAFT_METRICS": taken})
    other.home.mkdir(mode=0o700)

    refused = other.run("start")

    assert refused.status == 3
    assert f"the metrics cannot be told at {taken}" in refused.err
    assert other.daemons("memstore") == []
    told.run("stop")
    with pytest.raises(urllib.error.URLError):
        read(f"http://{taken}/metrics")


def test_the_page_s_commands_work(shell: Shell) -> None:
    text = PAGE.read_text("utf-8").partition("\n## Traces\n")[0]  # see test_traces.py
    export, start, fetch = COMMAND.findall(text)
    variable, _, address = export.removeprefix("export ").partition("=")
    # No two runs on one machine may want the same port.
    told = replace(shell, environ={variable: re.sub(r":\d+$", ":0", address)})

    done = told.run(*start.split()[1:])
    page, _ = read(address_of(told))

    assert done.status == 0
    assert fetch == f"curl --silent http://{address}/metrics"
    assert "graft_build_info" in page
