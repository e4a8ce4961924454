"""Reads a text once: its lines, the errors in it, and what errors it names."""

from dataclasses import dataclass

from graft_memstore.traces.failures import Failure, find_failures
from graft_memstore.traces.lines import Pasted, take_apart
from graft_memstore.traces.mentions import mentions_in
from graft_memstore.traces.suspects import suspect_lines

TITLE_LINES = 3
"""First lines, in which a note's title or a person's question names an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A text that has been read.

    Attributes:
        text: as it came.
        failures: the errors in it, the most certain first.
        types: types of errors that it names.
        codes: codes of errors that it names.
    """

    text: str
    pasted: Pasted
    failures: tuple[Failure, ...]
    types: tuple[str, ...]
    codes: tuple[str, ...]


def read(text: str) -> Reading:
    """Read *text*, however long, looking closely at a bounded number of its lines."""
    pasted = take_apart(text)
    suspects = suspect_lines(pasted.lines)
    first = range(min(TITLE_LINES, len(pasted.lines)))
    types, codes = mentions_in(pasted.bare(place) for place in sorted({*first, *suspects}))
    return Reading(
        text=text,
        pasted=pasted,
        failures=tuple(find_failures(pasted, suspects)),
        types=tuple(types),
        codes=tuple(codes),
    )
