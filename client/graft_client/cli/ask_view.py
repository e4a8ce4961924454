"""What `graft ask` shows: the notes that were found, the one that is chosen, and a line of talk."""

from dataclasses import dataclass

from graft_client.cli.output import printable
from graft_client.cli.words import doubts, where_searched
from graft_client.results import Retrieved, RetrievedNote, short_id

Fragments = list[tuple[str, str]]

CHOSEN, PLAIN, DIM = "reverse", "", "class:dim"
KEYS = "Enter opens · Up and Down choose · Ctrl-C ends"


@dataclass(slots=True, kw_only=True)
class AskView:
    """The state of the screen; *talk* says what is being done, or why nothing was."""

    found: Retrieved | None = None
    chosen: int = 0
    talk: str = KEYS

    def show(self, found: Retrieved) -> None:
        """Put an answer in the place of the last."""
        self.found, self.chosen, self.talk = found, 0, KEYS
        if not found.results:
            self.talk = f"nothing found; {where_searched(found.scopes, found.notes_elsewhere)}"
        if found.degraded:
            self.talk = f"answered without {', '.join(found.degraded)}; graft status tells why"

    def clear(self) -> None:
        """Show nothing, as before anything was asked."""
        self.found, self.chosen, self.talk = None, 0, KEYS

    def move(self, step: int) -> None:
        """Choose another note; the list has ends."""
        self.chosen = max(0, min(self.chosen + step, len(self._results) - 1))

    def chosen_note(self) -> RetrievedNote | None:
        """Give the note that Enter opens."""
        return self._results[self.chosen] if self._results else None

    def rows(self) -> Fragments:
        """Write the notes, one a row; what is too wide is cut by the window."""
        return [
            (CHOSEN if place == self.chosen else PLAIN, f"{_row(each)}\n")
            for place, each in enumerate(self._results)
        ]

    def talk_row(self) -> Fragments:
        """Write the line below."""
        return [(DIM, printable(self.talk))]

    @property
    def _results(self) -> tuple[RetrievedNote, ...]:
        return self.found.results if self.found else ()


def _row(each: RetrievedNote) -> str:
    kind = f"{each.kind}: " if each.kind != "note" else ""
    title = printable(f"{kind}{each.title}{doubts(each.trust, each.trust_reason)}")
    keywords = f"  ({printable(', '.join(each.keywords))})" if each.keywords else ""
    return f"{short_id(each.id)}  {title}{keywords}"
