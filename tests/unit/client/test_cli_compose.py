"""`graft note` and `graft edit`: what an editor leaves is saved, or kept."""

import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft.memory.v1 import note_pb2, notes_service_pb2
from graft.wire.errors import BadFieldError

Editor = Callable[[str], None]


@pytest.fixture
def editor(place: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    """Let the person's editor be some lines of Python, which have the draft's *path* and *text*."""
    script = place / "my editor.py"

    def use(lines: str) -> None:
        script.write_text(
            "import sys\nfrom pathlib import Path\npath = Path(sys.argv[-1])\n"
            "text = path.read_text(errors='replace')\n"
            f"seen = Path({str(place / 'seen')!r})\n{lines}\n"
        )

    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.setenv("VISUAL", f"{sys.executable} '{script}' --wait")
    return use


def drafts(home: Path) -> list[Path]:
    return sorted((home / "drafts").glob("*"))


def sent(memstore: FakeState) -> list[notes_service_pb2.NewNote]:
    return [
        each.note
        for each in memstore.requests("InsertNote")
        if isinstance(each, notes_service_pb2.InsertNoteRequest)
    ]


def test_a_note_is_written_in_the_editor_and_saved(
    command: Command, memstore: FakeState, editor: Editor, home: Path, place: Path
) -> None:
    editor(
        "seen.write_text(oct(path.stat().st_mode & 0o777) + ' ' + text)\n"
        "text = text.replace('title:', 'title: pip: fails # here').replace('\\n-\\n', '\\n- url:https://x\\n')\n"
        "path.write_text(text.replace('keywords:', 'keywords: pip, proxy') + 'Set PIP_CERT.\\n')"
    )

    done = command("note", "--json")

    assert done.json()["duplicate"] is False
    (note,) = sent(memstore)
    assert (note.title, note.body) == ("pip: fails # here", "Set PIP_CERT.")
    assert (list(note.keywords), note.sources[0].locator) == (["pip", "proxy"], "https://x")
    assert (note.candidate, note.supersedes) == (False, "")
    assert (place / "seen").read_text().startswith("0o600 ---\ntitle:\nkeywords:\n")
    assert stat.S_IMODE((home / "drafts").stat().st_mode) == 0o700
    assert drafts(home) == []


@pytest.mark.parametrize(
    "lines", ["", "path.write_text('')", "path.write_text('---\\n---\\n\\n\\n')"]
)
def test_a_draft_that_is_left_empty_saves_nothing(
    command: Command, memstore: FakeState, editor: Editor, home: Path, lines: str
) -> None:
    editor(lines)

    done = command("note", "--json")

    assert done.code == 1
    assert done.error()["reason"] == "NOTHING_SAVED"
    assert (drafts(home), memstore.received) == ([], [])


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("path.write_text('---\\ntitle: T\\nkeyword: x\\n---\\nlong')", "line 3: keyword is no"),
        ("path.write_text('---\\nkeywords: [x\\n---\\nlong')", "no YAML"),
        ("path.write_text('just text')", "no title"),
        ("path.write_text('---\\ntitle: ' + 'x' * 1025 + '\\n---\\n')", "1,024 at most"),
        ("path.write_bytes(b'\\xff')", "no UTF-8"),
        ("path.write_text('# T\\nlong'); sys.exit(1)", "ended with 1"),
    ],
)
def test_what_cannot_be_saved_is_kept_and_taken_up_again(
    command: Command, memstore: FakeState, editor: Editor, home: Path, lines: str, words: str
) -> None:
    editor(lines)
    refused = command("note")
    (draft,) = drafts(home)
    written = draft.read_bytes()

    editor("path.write_text('# Mended\\n')")
    done = command("note", "--resume")

    assert refused.code in (1, 2)
    assert words in refused.err
    assert f"the draft is kept in {draft}; go on with: graft note --resume" in refused.err
    assert b"long" in written or len(written) > 1_000 or written in (b"just text", b"\xff")
    assert done.code == 0
    assert [each.title for each in sent(memstore)] == ["Mended"]
    assert drafts(home) == []


def test_what_the_service_refuses_is_kept(
    command: Command, memstore: FakeState, editor: Editor, home: Path
) -> None:
    editor("path.write_text('# T\\n\\nwords\\n')")
    memstore.failures.append(BadFieldError("note.body", "too long"))

    done = command("note", "--json")

    (draft,) = drafts(home)
    assert done.error()["details"]["draft"] == str(draft)
    assert draft.read_text() == "# T\n\nwords\n"


def test_a_draft_may_be_named_and_a_file_of_one_s_own_stays(
    command: Command, memstore: FakeState, editor: Editor, place: Path
) -> None:
    editor("")
    (place / "mine.md").write_text("# Mine\n\nbody\n")

    assert command("note", "--resume", str(place / "mine.md")).code == 0
    assert (place / "mine.md").exists()
    assert [each.title for each in sent(memstore)] == ["Mine"]
    assert command("note", "--resume", str(place / "none.md")).code == 2
    assert "graft note" in command("note", "--resume").err


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("/no/such/editor", "cannot be run: No such file or directory; set VISUAL or EDITOR"),
        ("false", "the editor false ended with 1"),
        ("'", "VISUAL cannot be meant: No closing quotation"),
        ("", "no editor is known; set VISUAL or EDITOR"),
    ],
)
def test_an_editor_that_does_not_work_is_named_and_leaves_no_draft(
    command: Command,
    memstore: FakeState,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    value: str,
    words: str,
) -> None:
    monkeypatch.setenv("VISUAL", value)
    monkeypatch.delenv("EDITOR", raising=False)

    done = command("note")

    assert done.code in (1, 2)
    assert words in done.err
    assert (drafts(home), memstore.received) == ([], [])


def store(memstore: FakeState, **fields: object) -> str:
    note = note_pb2.Note(
        id="0193a7a0" + "0" * 23 + "9",
        title="the port is 8080",
        body="Since May.",
        keywords=["port"],
        scope="project:x",
        author="me",
        kind=note_pb2.NOTE_KIND_DEAD_END,
        lifecycle=note_pb2.LIFECYCLE_ACTIVE,
        trust=note_pb2.TRUST_OBSERVED,
        applies_to=["os:linux"],
        valid_from_ms=1_767_225_600_000,
        sources=[
            note_pb2.Source(
                kind=note_pb2.SOURCE_KIND_FILE, locator="a.py", project="p", fingerprint="git:0"
            )
        ],
    )
    note.MergeFrom(note_pb2.Note(**fields))  # type: ignore[arg-type] # by name
    memstore.notes[note.id] = note
    return note.id


def test_an_edited_note_supersedes_the_old_one_and_carries_over_the_rest(
    command: Command, memstore: FakeState, editor: Editor, home: Path
) -> None:
    old = store(memstore)
    editor("path.write_text(text.replace('8080', '9090').replace('May', 'June'))")

    done = command("edit", old[-8:], "--reason", "it moved", "--scope", "user")

    (note,) = sent(memstore)
    assert done.code == 0
    assert (note.title, note.body) == ("the port is 9090", "Since June.")
    assert (note.supersedes, note.reason) == (old, "it moved")
    assert (note.scope, note.author, note.kind) == ("project:x", "me", note_pb2.NOTE_KIND_DEAD_END)
    assert (list(note.keywords), list(note.applies_to)) == (["port"], ["os:linux"])
    assert note.valid_from_ms == 1_767_225_600_000
    assert (note.sources[0].project, note.sources[0].fingerprint) == ("p", "git:0")
    assert drafts(home) == []


def test_a_note_that_is_left_as_it_is_stays(
    command: Command, memstore: FakeState, editor: Editor, home: Path
) -> None:
    old = store(memstore)
    editor("path.write_text(text)")

    done = command("edit", old, "--json")

    assert (done.code, done.error()["reason"]) == (1, "NOTHING_SAVED")
    assert (sent(memstore), drafts(home)) == ([], [])


def test_other_keywords_alone_make_no_other_note(
    command: Command, memstore: FakeState, editor: Editor, home: Path
) -> None:
    old = store(memstore)
    editor("path.write_text(text.replace('- port', '- harbour'))")

    done = command("edit", old)

    assert done.code == 2
    assert "graft set 00000009" in done.err
    assert sent(memstore) == []
    assert len(drafts(home)) == 1


def test_a_draft_of_a_correction_is_still_one_when_it_is_taken_up_again(
    command: Command, memstore: FakeState, editor: Editor
) -> None:
    old = store(memstore)
    editor("path.write_text(text.replace('8080', '9090').replace('kind: dead-end', 'kind: poem'))")
    assert command("edit", old, "--reason", "it moved").code == 2

    editor("path.write_text(text.replace('kind: poem', 'kind: note'))")
    assert command("note", "--resume").code == 0

    (note,) = sent(memstore)
    assert (note.title, note.supersedes, note.reason) == ("the port is 9090", old, "it moved")


def test_a_note_that_was_replaced_or_retired_is_not_opened(
    command: Command, memstore: FakeState, editor: Editor
) -> None:
    editor("raise SystemExit('opened')")
    replaced = store(memstore, superseded_by="0" * 24 + "abcdabcd")

    assert "graft edit abcdabcd" in command("edit", replaced).err
    retired = store(memstore, lifecycle=note_pb2.LIFECYCLE_RETIRED)
    assert "graft restore 00000009" in command("edit", retired).err
    assert sent(memstore) == []
