"""Rejected and doubted notes on real services: refused in every spelling, at most WEAK."""

import json

import pytest
from tests.e2e.conftest import Shell, shell

__all__ = ["shell"]

pytestmark = pytest.mark.model

TITLE = "The importer skips rows without an e-mail address"
SPELLINGS = (
    TITLE,
    TITLE.upper(),
    f" {TITLE} ",
    TITLE.replace("rows", "ro\u200bws"),
    TITLE.replace("rows", "r\u043ews"),
    TITLE.replace("rows", "r\u0585\u13b3s"),
    TITLE.replace("without", "\u1d21i\u1d1bho\u1d1c\u1d1b"),
    TITLE.replace("rows", "ro\u2800ws"),
    TITLE.replace("skips", "\uff53\uff4b\uff49\uff50\uff53"),
)


def test_a_rejected_text_is_refused_in_every_spelling_after_a_restart(shell: Shell) -> None:
    note = shell.insert(TITLE, "")
    shell.run("reject", note["id"], "--reason", "it keeps them")
    shell.run("delete", note["id"], "--reason", "not needed", "--yes")
    shell.run("stop")

    lines = "".join(json.dumps({"title": each, "author": "x"}) + "\n" for each in SPELLINGS)
    one_by_one = [
        shell.run("insert", "--json", "--title", each, "--keyword", str(number))
        for number, each in enumerate(SPELLINGS)
    ]
    batch = shell.run("insert", "--json", "--jsonl", "-", text=lines)

    assert [each.status for each in (*one_by_one, batch)] == [1] * (len(SPELLINGS) + 1)
    assert all("REJECTED_TEXT" in each.err for each in (*one_by_one, batch))
    assert shell.insert(TITLE.replace("skips", "keeps"))["trust"] == "observed"


def test_a_disputed_note_is_at_most_weak_and_says_why(shell: Shell) -> None:
    disputed = shell.insert(TITLE, "It has always done so.")
    sibling = shell.insert("The exporter skips rows without a customer number", "")
    question = "does the importer skip rows without an e-mail address"
    before = shell.query(question)
    shell.run("dispute", disputed["id"], "--reason", "not since release 4")

    answer = shell.query(question)
    found = shell.run("retrieve", question, "--json").json()["results"]

    assert before["hit"] == "STRONG"
    assert answer["hit"] != "STRONG"
    assert answer["note"] is None or answer["note"]["body"] is None
    assert "not since release 4" in json.dumps(answer)
    assert [each["id"] for each in found] == [sibling["id"], disputed["id"]]
    assert found[1]["trust_reason"] == "not since release 4"
