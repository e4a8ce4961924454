"""Errors as tools print them: twice from two machines, and once more that only looks alike."""

from dataclasses import dataclass
from pathlib import Path

# Readable in an editor that would eat them, or change them.
ESCAPE, TAB = "␛", "⇥"


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a tool printed on one machine, on another, and of another error."""

    tool: str
    here: str
    there: str
    other: str


def read_printed() -> list[Printed]:
    """Return the errors of ``printed_errors.txt``."""
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    text = text.replace(ESCAPE, "\x1b").replace(TAB, "\t").removesuffix("\n")
    found = []
    for block in text.removeprefix("=== ").split("\n=== "):
        tool, *parts = block.split("\n--- ")
        named = dict(part.split("\n", 1) for part in parts)
        found.append(Printed(tool=tool, **named))
    return found


PRINTED = read_printed()
