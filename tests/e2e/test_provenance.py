"""Notes that rest on files, and callers that are bound to scopes, on real services."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.e2e.conftest import Shell
from tests.e2e.test_scopes import repository

from graft_client import Graft
from graft_client.errors import GraftError
from graft_client.json_output import as_json
from graft_client.scope import ALL_SCOPES
from graft_client.settings import configure

pytestmark = pytest.mark.model

TITLE = "The staging pooler listens on port 6432"
BODY = "It silently drops connections that stay idle for more than 300 seconds in staging."
QUESTION = "which port does the staging pooler listen on"
REMOTE = "https://example.org/o/app.git"


def test_an_answer_follows_the_file_that_it_rests_on(shell: Shell, tmp_path: Path) -> None:
    here = replace(shell, directory=repository(tmp_path / "app", REMOTE))
    file = here.directory / "pool.py"
    file.write_text("port = 6432\n")
    note = here.insert(TITLE, BODY, "--source", "file:pool.py")

    same = here.query(QUESTION)
    file.write_text("port = 7000\n")
    changed = here.query(QUESTION)
    listed = here.run("sources", "diff", "--json").lines()
    refreshed = here.run("sources", "refresh", note["id"], "--json")
    renewed = here.query(QUESTION)
    file.unlink()
    gone = here.query(QUESTION)
    elsewhere = replace(shell, directory=repository(tmp_path / "clone", REMOTE)).query(QUESTION)

    assert (same["hit"], same["source_check"], same["note"]["body"]) == ("STRONG", "same", BODY)
    assert (changed["hit"], changed["source_check"]) == ("WEAK", "changed")
    assert changed["missing"] == ["its source changed: pool.py"]
    assert changed["note"]["body"] is None
    assert [each["state"] for each in listed] == ["changed"]
    assert refreshed.status == 0
    assert (renewed["hit"], renewed["source_check"]) == ("STRONG", "same")
    assert gone["missing"] == ["its source is gone: pool.py"]
    # A clone without the file tells the same; a project of another name cannot look.
    assert elsewhere["source_check"] == "gone"
    outside = shell.run("query", QUESTION, "--json", "--all-scopes").json()
    assert (outside["hit"], outside["source_check"]) == ("STRONG", "unchecked")
    explained = here.run("explain", changed["receipt"], "--json").json()
    assert [each["state"] for each in explained["sources"]] == ["changed"]


def test_what_was_recalled_is_not_saved_again_but_a_correction_is(shell: Shell) -> None:
    note = shell.insert(TITLE, BODY)
    assert shell.query(QUESTION)["note"]["id"] == note["id"]

    again = shell.insert(TITLE, BODY.replace("silently", "quietly"))
    corrected = shell.insert(TITLE, BODY.replace("300", "600"))

    assert (again["recalled"], again["duplicate"], again["id"]) == (True, True, note["id"])
    assert not corrected["recalled"]
    assert note["id"] in [each["id"] for each in corrected["similar"]]


def test_a_bound_client_is_told_of_its_own_scopes_alone(shell: Shell) -> None:
    ours = shell.insert(TITLE, BODY, "--scope", "team:ours", "--keyword", "pooler")
    theirs = shell.insert(f"{TITLE.replace('6432', '7117')}", "", "--scope", "team:theirs")
    told = shell.run("query", QUESTION, "--json", "--all-scopes").json()
    configuration = configure(
        home=shell.home,
        directory=shell.directory,
        environ=shell.environment(),
        door="mcp",
        bound_scopes=["team:ours"],
    )

    with Graft(configuration=configuration) as graft:
        seen = [
            as_json(read)
            for read in (
                graft.query(QUESTION, scope=ALL_SCOPES),
                graft.retrieve("7117", scope=ALL_SCOPES),
                graft.explore(QUESTION, scope=ALL_SCOPES),
                graft.classify(TITLE, scope=ALL_SCOPES),
                list(graft.list(scope=ALL_SCOPES)),
                graft.stats(scope=ALL_SCOPES),
                graft.misses(scope=ALL_SCOPES),
                graft.filing.scopes(),
                list(graft.filing.sources(scope=ALL_SCOPES)),
                graft.insert("a note of ours"),
            )
        ]
        refusals = []
        for call in (
            lambda: graft.get(theirs["id"]),
            lambda: graft.get(theirs["id"][-8:]),
            lambda: graft.retire(theirs["id"], reason="r"),
            lambda: graft.undo(theirs["event"], reason="r"),
            lambda: graft.explain(told["receipt"]),
            lambda: graft.query(QUESTION, scope="team:theirs"),
            lambda: graft.insert("x", scope="team:theirs"),
            lambda: graft.insert("x", supersedes=theirs["id"], reason="r"),
            lambda: graft.filing.move_scope("team:theirs", "team:ours", reason="r"),
            lambda: graft.start_reindex("starter"),
        ):
            with pytest.raises(GraftError) as raised:
                call()
            refusals.append(raised.value.reason)

    assert theirs["id"] not in str(seen)
    assert not re.search(r"\b7117\b", str(seen))
    assert "team:theirs" not in str(seen)
    assert ours["id"] in str(seen)
    assert refusals == [
        *("NOTE_NOT_FOUND", "NOTE_NOT_FOUND", "NOTE_NOT_FOUND"),
        *("EVENT_NOT_FOUND", "RECEIPT_NOT_FOUND", "NOT_ALLOWED", "NOT_ALLOWED"),
        *("NOTE_NOT_FOUND", "NOT_ALLOWED", "NOT_ALLOWED"),
    ]
    assert re.search(r"7117", shell.run("list", "--all-scopes").out)
