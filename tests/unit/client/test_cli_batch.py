import json
from io import BytesIO

import pytest
from tests.unit.client.conftest import Command
from tests.unit.client.fake_memstore import FakeState

from graft_client.cli.batch import parse_note, read_notes
from graft_client.errors import InputError
from graft_client.limits import LINE_BYTES_MAX


def lines(*notes: object) -> bytes:
    return b"".join(json.dumps(note).encode() + b"\n" for note in notes)


def test_every_line_becomes_a_note_in_order(command: Command, memstore: FakeState) -> None:
    notes = lines(*({"title": f"note {number}", "scope": "user"} for number in range(70)))

    done = command("insert", "--jsonl", "-", stdin=notes + b"\n")
    replies = command("insert", "--jsonl", "-", "--json", stdin=notes)

    assert done.out == "saved 70 notes to user\n"
    assert [note.title for note in memstore.notes.values()] == [f"note {n}" for n in range(70)]
    assert [len(each.notes) for each in memstore.requests("InsertNotes")] == [64, 6, 64, 6]  # type: ignore[attr-defined] # the fake keeps all kinds
    assert [json.loads(line)["duplicate"] for line in replies.out.splitlines()] == [True] * 70


def test_what_still_waits_for_the_model_is_told_for_one_note_and_for_many(
    command: Command, memstore: FakeState
) -> None:
    memstore.insert_pending = 2

    one = command("insert", "--title", "t")
    many = command("insert", "--jsonl", "-", stdin=lines({"title": "u"}, {"title": "v"}))
    memstore.insert_pending = 0
    none = command("insert", "--jsonl", "-", stdin=lines({"title": "w"}))

    assert "graft: 2 texts still to embed, in the background" in one.err
    assert "graft: 4 texts still to embed, in the background" in many.err
    assert "to embed" not in none.err


def test_a_bad_line_is_named_with_what_was_saved_before(
    command: Command, memstore: FakeState
) -> None:
    notes = lines(*({"title": f"note {number}"} for number in range(64)), {"body": "no title"})

    done = command("insert", "--jsonl", "-", "--json", stdin=notes)

    assert done.code == 2
    assert len(done.out.splitlines()) == 64
    assert done.error()["message"].startswith("line 65: no title")
    assert done.error()["details"] == {"saved": "64"}
    assert len(memstore.notes) == 64


def test_an_exported_note_is_read_back() -> None:
    note = parse_note(
        json.dumps(
            {
                "title": "t",
                "body": "b",
                "kind": "dead-end",
                "keywords": ["k"],
                "sources": ["file:a.py", {"kind": "url", "locator": "https://x", "project": ""}],
                "valid_from": "2026-01-01T09:00:00+09:00",
                "expires_at": None,
                "applies_to": ["os:linux"],
            }
        ).encode()
    )

    assert (note.title, note.body, note.kind, note.keywords) == ("t", "b", "dead-end", ["k"])
    assert [(each.kind, each.locator) for each in note.sources] == [
        ("file", "a.py"),
        ("url", "https://x"),
    ]
    assert note.applies_to == ["os:linux"]
    assert note.valid_from is not None
    assert note.valid_from.isoformat() == "2026-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[]", "no JSON object"),
        (b'{"title": "t", "tilte": "t"}', "unknown fields: tilte"),
        (b'{"title": 7}', "title must be a text"),
        (b'{"title": "t", "keywords": "k"}', "keywords must be a list"),
        (b'{"title": "t", "keywords": [42]}', "keywords must be a text"),
        (b'{"title": "t", "kind": "poem"}', "kind is 'poem'"),
        (b'{"title": "t", "applies_to": "os:linux"}', "applies_to must be a list"),
        (b'{"title": "t", "sources": ["x"]}', "KIND:LOCATOR"),
        (b'{"title": "t", "valid_to": "2026-01-01T00:00:00"}', "offset"),
    ],
)
def test_what_is_no_note_is_refused_with_the_reason(line: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_note(line)


def test_a_line_that_never_ends_is_given_up() -> None:
    with pytest.raises(InputError, match="line 1 is longer"):
        list(read_notes(BytesIO(b"x" * (LINE_BYTES_MAX + 2))))


def test_half_a_character_inside_json_is_refused(command: Command, memstore: FakeState) -> None:
    done = command("insert", "--jsonl", "-", "--json", stdin=b'{"title": "\\ud800"}\n')

    assert done.code == 2
    assert "Unicode" in done.error()["message"]
    assert memstore.notes == {}
