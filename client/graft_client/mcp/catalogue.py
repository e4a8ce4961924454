"""The tools as a client sees them: names, descriptions, schemas, and what each may do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graft_client.explanations import Explanation
from graft_client.filing_reports import SourcesDiff, SourcesRefreshed
from graft_client.history import GotNote
from graft_client.limits import IDLE_DAYS
from graft_client.mcp.schemas import Schema, schema_of
from graft_client.mcp.tools import SCAN_ITEMS, ServerStatus
from graft_client.results import KINDS, Changed, Inserted, QueryAnswer, Retrieved
from graft_client.upkeep_reports import DECISIONS, Resolved, ScanReport, UpkeepStatus
from graft_client.walks import Classified, Explored

_ID = "Id of a note, or 8 or more of its first or last digits."
_TEXTS = {"type": "array", "items": {"type": "string"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One tool.

    Attributes:
        arguments: schema of each argument by its name.
        required: those that must be given.
        answers: kind of its result.
        more: further fields of its data, with their schemas.
        writes: it changes the memory.
        destroys: what it changes is no answer any more.
        repeats: called again with the same arguments it changes nothing more.
    """

    title: str
    description: str
    arguments: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    answers: Any
    more: Mapping[str, Schema] | None = None
    writes: bool = False
    destroys: bool = False
    repeats: bool = True

    @property
    def input_schema(self) -> Schema:
        """Schema of the arguments."""
        return {
            "type": "object",
            "properties": dict(self.arguments),
            "required": list(self.required),
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> Schema:
        """Schema of the data of an answer."""
        schema = schema_of(self.answers)
        for name, each in (self.more or {}).items():
            schema["properties"][name] = each
        return schema


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _texts(description: str) -> Schema:
    return {**_TEXTS, "description": description}


def _whole(description: str, default: int) -> Schema:
    return {"type": "integer", "description": description, "minimum": 0, "default": default}


_NEXT: Schema = {
    "type": ["integer", "null"],
    "description": "Offset where the rest begins; null: there is none.",
}
_OFFSET = _whole("Where to begin: next_offset of the answer before.", 0)
_REASON = _text("Why; kept in the log for good, so no secrets.")


def _change(title: str, description: str, *, destroys: bool) -> Spec:
    return Spec(
        title=title,
        description=description,
        arguments={"id": _text(_ID), "reason": _REASON},
        required=("id", "reason"),
        answers=Changed,
        writes=True,
        destroys=destroys,
        repeats=False,
    )


CATALOGUE: Mapping[str, Spec] = {
    "query": Spec(
        title="Ask the memory",
        description=(
            "Ask first, before you work on a problem: has this been solved before? STRONG returns "
            "the note, WEAK its title and what was missing, MISS the nearest titles. Ask in a "
            "sentence, or paste an error."
        ),
        arguments={
            "text": _text("The question, or an error as it was printed."),
            "context": _texts('Versions that are there, such as "pypi:django==4.2".'),
        },
        required=("text",),
        answers=QueryAnswer,
        more={"next_offset": _NEXT},
    ),
    "retrieve": Spec(
        title="Search notes",
        description="Rank notes by meaning and by words; titles alone. Open one with get.",
        arguments={
            "text": _text("What to look for."),
            "limit": _whole("Notes wanted; 0: 25.", 0),
            "keywords": _texts("Only notes with one of these."),
            "match_all": {"type": "boolean", "description": "With all of them.", "default": False},
            "offset": _OFFSET,
        },
        required=("text",),
        answers=Retrieved,
        more={"next_offset": _NEXT},
    ),
    "explore": Spec(
        title="Walk from note to note",
        description="Find what is joined with a subject: notes, and the paths between them.",
        arguments={
            "text": _text("Where to begin, in words."),
            "keywords": _texts("Where to begin, by keyword."),
            "offset": _OFFSET,
        },
        answers=Explored,
        more={"next_offset": _NEXT},
    ),
    "get": Spec(
        title="Open a note",
        description="Return a note whole, by its id; a long body in pieces.",
        arguments={"id": _text(_ID), "offset": _OFFSET},
        required=("id",),
        answers=GotNote,
        more={"next_offset": _NEXT},
    ),
    "insert": Spec(
        title="Save a note",
        description=(
            "Save what took effort to find out: one fact or solution a note. To correct a note, "
            "name it in supersedes; do not delete it, and do not save beside it. Leave passwords, "
            "keys and tokens out; where findings names one, tell the person."
        ),
        arguments={
            "title": _text("The problem or fact in one line, in the words of who will ask."),
            "body": _text("Markdown: what holds, how it was found, what does not work."),
            "keywords": _texts("A few words to filter by."),
            "sources": _texts('What it rests on: "file:src/a.py", "url:https://…", "commit:HASH".'),
            "kind": {
                "type": "string",
                "enum": list(KINDS),
                "default": KINDS[0],
                "description": "dead-end: something that was tried and does not work.",
            },
            "applies_to": _texts(
                'Where that is not everything: "pypi:django>=4.2,<5", "os:linux".'
            ),
            "supersedes": _text("Id of the note that this one corrects."),
            "reason": _text("Why it replaces that one."),
            "candidate": {
                "type": "boolean",
                "default": False,
                "description": "Not sure: it waits for a person, and is at most WEAK until then.",
            },
            "scope": {
                "type": "string",
                "enum": ["project", "user"],
                "default": "project",
                "description": "user: seen in every project.",
            },
        },
        required=("title",),
        answers=Inserted,
        writes=True,
        repeats=False,
    ),
    "supersede": Spec(
        title="Let one note replace another",
        description="The old one is no answer any more, and its id names the new one.",
        arguments={
            "id": _text(f"The old one. {_ID}"),
            "by": _text(f"The new one. {_ID}"),
            "reason": _REASON,
        },
        required=("id", "by", "reason"),
        answers=Changed,
        writes=True,
        destroys=True,
        repeats=False,
    ),
    "retire": _change(
        "Take a note out of use",
        "It was right and is of no use any more; it can be restored.",
        destroys=True,
    ),
    "reject": _change(
        "Say that a note was wrong",
        "What it says is refused from now on, in any spelling; a person alone takes that back.",
        destroys=True,
    ),
    "dispute": _change(
        "Say that a note may be wrong",
        "It is at most a WEAK answer until somebody looks.",
        destroys=False,
    ),
    "classify": Spec(
        title="Suggest keywords",
        description="Suggest keywords that the memory uses already for a draft's title.",
        arguments={"title": _text("Title of the draft.")},
        required=("title",),
        answers=Classified,
    ),
    "explain": Spec(
        title="Explain an answer",
        description="Tell what an answer was made of, by the receipt that came with it.",
        arguments={"receipt": _text("Receipt of an answer, or 8 or more of its digits.")},
        required=("receipt",),
        answers=Explanation,
    ),
    "sources_diff": Spec(
        title="Look whether sources changed",
        description="Compare the files and commits that notes rest on with what they were.",
        arguments={"id": _text(f"Only this note. {_ID}"), "offset": _OFFSET},
        answers=SourcesDiff,
        more={"next_offset": _NEXT},
        writes=True,
    ),
    "sources_refresh": Spec(
        title="Say that notes hold for their sources",
        description="After you have read what changed, and the notes are right all the same.",
        arguments={"id": _text(f"Only this note. {_ID}"), "reason": _REASON, "offset": _OFFSET},
        required=("reason",),
        answers=SourcesRefreshed,
        more={"next_offset": _NEXT},
        writes=True,
    ),
    "maintain_status": Spec(
        title="See what waits",
        description="What waits to be judged, and what is worth doing next.",
        arguments={},
        answers=UpkeepStatus,
    ),
    "maintain_scan": Spec(
        title="Look for what should be judged",
        description=(
            "Compare notes: contradictions, other values, near duplicates, keywords spelled "
            f"alike, and what nothing is joined with after {IDLE_DAYS} days. Nothing is changed."
        ),
        arguments={"limit": _whole("Things to return at most.", SCAN_ITEMS), "offset": _OFFSET},
        answers=ScanReport,
        more={"next_offset": _NEXT},
        writes=True,
    ),
    "maintain_resolve": Spec(
        title="Judge one thing",
        description="Decide what a scan found, by its number. What takes a reviewer is refused.",
        arguments={
            "item": _whole("Its number.", 0),
            "decision": {"type": "string", "enum": list(DECISIONS)},
            "keep": _text("With supersede: the note that stays; else the newer one."),
            "reason": _REASON,
        },
        required=("item", "decision", "reason"),
        answers=Resolved,
        writes=True,
        destroys=True,
        repeats=False,
    ),
    "status": Spec(
        title="See where you are",
        description="To which project you are bound, where notes go, and how many there are.",
        arguments={},
        answers=ServerStatus,
    ),
}
"""By the name that a client calls."""
