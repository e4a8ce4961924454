"""Notes and questions to fit and to judge the gate on, read from folders of JSON lines."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

NOTE_FILES = ("notes.jsonl", "nodes.jsonl", "project_nodes.jsonl")
QUESTION_FILES = ("questions.jsonl", "queries.jsonl")
MORE_NOTE_FILES = ("ext_nodes.jsonl",)
MORE_QUESTION_FILES = ("ext_queries.jsonl",)


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusNote:
    """A note under the key that questions name it by."""

    key: str
    title: str
    body: str
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusQuestion:
    """A question.

    Attributes:
        expect: key of the note that answers it; None when no note does.
        kind: what makes it easy or hard.
        about: key of the note that it is about, the answer or a near miss; empty when none is.
    """

    text: str
    expect: str | None
    kind: str
    lang: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Notes that live in one store, and the questions to it."""

    name: str
    notes: tuple[CorpusNote, ...]
    questions: tuple[CorpusQuestion, ...]


def read_corpora(folder: Path) -> list[Corpus]:
    """Return the corpora of *folder*: one of its plain files, one of these and the ``ext_`` ones.

    Raises:
        ValueError: there are no notes, or a question names one that is not there.
    """
    notes = _notes(folder, NOTE_FILES)
    questions = _questions(folder, QUESTION_FILES)
    found = [_corpus(folder.name, notes, questions)]
    more = _notes(folder, MORE_NOTE_FILES)
    if more:
        more_questions = _questions(folder, MORE_QUESTION_FILES)
        found.append(_corpus(f"{folder.name}_extended", notes + more, questions + more_questions))
    return found


def digest_of(folders: Sequence[Path]) -> str:
    """Return the SHA-256 of every file that `read_corpora` reads, in a fixed order."""
    digest = sha256()
    names = NOTE_FILES + QUESTION_FILES + MORE_NOTE_FILES + MORE_QUESTION_FILES
    for folder in folders:
        for name in names:
            file = folder / name
            if file.exists():
                digest.update(f"{folder.name}/{name}\0".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()


def _corpus(name: str, notes: list[CorpusNote], questions: list[CorpusQuestion]) -> Corpus:
    keys = {note.key for note in notes}
    if not keys:
        raise ValueError(f"{name}: no notes")
    for question in questions:
        if question.expect is not None and question.expect not in keys:
            raise ValueError(f"{name}: a question expects {question.expect}, which is not there")
    return Corpus(name=name, notes=tuple(notes), questions=tuple(questions))


def _notes(folder: Path, names: Sequence[str]) -> list[CorpusNote]:
    return [
        CorpusNote(
            key=row["key"], title=row["title"], body=row["body"], keywords=tuple(row["keywords"])
        )
        for row in _rows(folder, names)
    ]


def _questions(folder: Path, names: Sequence[str]) -> list[CorpusQuestion]:
    return [
        CorpusQuestion(
            text=row["query"],
            expect=row["expect"],
            kind=row["kind"],
            lang=row.get("lang", "en"),
            about=row["expect"] or row.get("about") or "",
        )
        for row in _rows(folder, names)
    ]


def _rows(folder: Path, names: Sequence[str]) -> list[dict]:  # type: ignore[type-arg] # JSON
    found = []
    for name in names:
        file = folder / name
        if file.exists():
            found += [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return found
