"""Tells file by file what became of it, with a bar below on a terminal."""

from collections import Counter

from graft_client.cli.output import Output, ProgressLine, bar, printable

_WIDTH = 12


class FileReport:
    """What became of the files of one command.

    Args:
        output: where it is told.
        doing: what is done to them, for the bar.
        total: how many there are to be; 0: not known.
    """

    def __init__(self, output: Output, *, doing: str, total: int) -> None:
        self._output = output
        self._line = ProgressLine(output)
        self._doing = doing
        self._total = total
        self.outcomes: Counter[str] = Counter()

    def tell(self, file: str, outcome: str, words: str = "", **fields: object) -> None:
        """Say in a line what became of *file*; *fields* are for programs."""
        self.outcomes[outcome] += 1
        self._line.clear()
        if self._output.as_json:
            self._output.record({"file": file, "outcome": outcome, **fields})
        else:
            why = f": {printable(words)}" if words else ""
            self._output.line(f"{outcome:<{_WIDTH}} {printable(file)}{why}")
        done = self.outcomes.total()
        share = bar(done, self._total) if self._total else f"{done:,}"
        self._line.draw(f"graft: {self._doing} {share}")

    def end(self) -> None:
        """Take the bar away and count what was told."""
        self._line.clear()
        counts = ", ".join(f"{count:,} {outcome}" for outcome, count in self.outcomes.items())
        if counts:
            self._output.say(f"graft: {counts}")
