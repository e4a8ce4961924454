"""What a person and a script are told of secrets in notes, by every command that saves some."""

import json
import sys
from pathlib import Path

import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import notes_service_pb2 as pb
from graft.wire.errors import SecretFoundError
from graft_client import Graft, NewNote
from graft_client.settings import configure

FINDING = pb.SecretFinding(
    kind="AWS Access Key", field="body", line=3, column=12, excerpt="AKIA…7XYZ"
)
WARNED = "graft: 00000000: body, line 3, column 12 looks like a secret: AWS Access Key (AKIA…7XYZ)"
INSERT = ("insert", "--title", "t", "--scope", "user")


def wishes(memstore: FakeState) -> list[tuple[bool, bool]]:
    return [
        (each.strict_secrets, each.allow_secret)
        for _, each in memstore.received
        if isinstance(each, (pb.InsertNoteRequest, pb.InsertNotesRequest))
    ]


@pytest.fixture
def saving(place: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, ...]]:
    """Each command that saves notes, with what it saves."""
    script = place / "editor.py"
    script.write_text("import sys; open(sys.argv[1], 'w').write('# a title\\n\\nbody\\n')")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
    (place / "note.md").write_text("# in a file\n")
    (place / "notes.jsonl").write_text('{"title": "in a line"}\n')
    return {
        "insert": INSERT,
        "jsonl": ("insert", "--jsonl", str(place / "notes.jsonl")),
        "note": ("note",),
        "import-md": ("import-md", str(place / "note.md")),
    }


@pytest.mark.parametrize("how", ["insert", "jsonl", "note", "import-md"])
def test_a_warning_says_on_stderr_what_where_and_what_to_do(
    command: Command, memstore: FakeState, saving: dict[str, tuple[str, ...]], how: str
) -> None:
    memstore.findings = [FINDING]

    done = command(*saving[how])

    assert done.code == 0
    assert WARNED in done.err.splitlines()
    assert "then: graft delete ID; if it is meant, say so with --allow-secret" in done.err
    assert "secret" not in done.out
    assert wishes(memstore) == [(False, False)]


@pytest.mark.parametrize("how", ["insert", "jsonl", "note", "import-md"])
@pytest.mark.parametrize(
    ("flag", "wish"), [("--strict-secrets", (True, False)), ("--allow-secret", (False, True))]
)
def test_the_two_flags_go_to_the_service_from_every_command(
    command: Command,
    memstore: FakeState,
    saving: dict[str, tuple[str, ...]],
    how: str,
    flag: str,
    wish: tuple[bool, bool],
) -> None:
    memstore.findings = [FINDING] if flag == "--allow-secret" else []

    done = command(*saving[how], flag)

    assert done.code == 0
    assert wishes(memstore) == [wish]
    assert "secret" not in done.err


def test_edit_takes_the_flags_as_well(
    command: Command, memstore: FakeState, saving: dict[str, tuple[str, ...]]
) -> None:
    note = command(*saving["insert"], "--json").json()

    command("edit", note["id"], "--reason", "r", "--allow-secret")

    assert wishes(memstore)[-1] == (False, True)


@pytest.mark.parametrize("how", ["insert", "jsonl", "note", "import-md"])
def test_both_flags_are_wrong_usage_before_anything_is_asked_or_edited(
    command: Command, memstore: FakeState, saving: dict[str, tuple[str, ...]], how: str, home: Path
) -> None:
    done = command(*saving[how], "--allow-secret", "--strict-secrets")

    assert done.code == 2
    assert "cannot both be meant" in done.err
    assert memstore.received == []
    assert not (home / "drafts").exists()


def test_a_program_finds_it_in_the_object(command: Command, memstore: FakeState) -> None:
    memstore.findings, memstore.findings_more = [FINDING], 4

    saved = command(*INSERT, "--json").json()

    assert saved["findings_more"] == 4
    assert saved["findings"] == [
        {
            "kind": "AWS Access Key",
            "field": "body",
            "line": 3,
            "column": 12,
            "excerpt": "AKIA…7XYZ",
        }
    ]


def test_warnings_of_many_notes_are_bounded_and_counted(
    command: Command, memstore: FakeState, place: Path
) -> None:
    memstore.findings, memstore.findings_more = [FINDING] * 3, 1
    lines = "".join(json.dumps({"title": f"n{each}"}) + "\n" for each in range(5))
    (place / "many.jsonl").write_text(lines)

    done = command("insert", "--jsonl", str(place / "many.jsonl"))

    assert done.err.count("looks like a secret") == 10
    assert "graft: and 10 more" in done.err


def test_a_refusal_is_told_and_ends_with_1(command: Command, memstore: FakeState) -> None:
    error = SecretFoundError("nothing was stored: this looks …", metadata={"excerpt": "AKIA…7XYZ"})
    memstore.failures += [error, error]

    assert command(*INSERT).code == 1
    done = command(*INSERT, "--json")
    assert (done.error()["reason"], done.error()["details"]) == (
        "SECRET_FOUND",
        {"excerpt": "AKIA…7XYZ"},
    )


def test_of_many_files_one_that_is_refused_stops_no_other(
    command: Command, memstore: FakeState, place: Path
) -> None:
    (place / "md").mkdir()
    for name in ("a", "b", "c"):
        (place / "md" / f"{name}.md").write_text(f"# {name}\n")
    memstore.refused_titles["b"] = SecretFoundError("it looks like a secret")

    done = command("import-md", str(place / "md"), "--strict-secrets", "--json")

    assert done.code == 1
    outcomes = [json.loads(line) for line in done.out.splitlines()]
    assert {each["file"]: each["outcome"] for each in outcomes} == {
        "a.md": "imported",
        "b.md": "refused",
        "c.md": "imported",
    }
    assert all(strict for strict, _ in wishes(memstore))


def test_a_callers_own_refuse_counts_where_the_service_only_warns(
    home: Path, memstore: FakeState, tmp_path: Path
) -> None:
    environ = {"GRAFT_SECRETS": "refuse"}
    with Graft(configuration=configure(home=home, directory=tmp_path, environ=environ)) as graft:
        graft.insert("one")
        graft.insert_many([NewNote(title="two")])
        graft.insert("three", secrets="allow")

    assert wishes(memstore) == [(True, False), (True, False), (False, True)]
