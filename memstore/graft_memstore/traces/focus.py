"""The telling part of a pasted text: what failed, where, and what the person wrote about it."""

import re
from collections.abc import Iterable, Iterator

from graft_memstore.traces.failures import Failure
from graft_memstore.traces.frames import is_frame
from graft_memstore.traces.lines import Pasted, had_prefix
from graft_memstore.traces.reading import Reading
from graft_memstore.traces.shapes import without_values
from graft_memstore.traces.statements import Certainty
from graft_memstore.traces.wording import is_consequence

WHOLE_CHARS_MAX = 240
"""A text so short has nothing around its error that could hide it."""
SHORT_CHARS_MAX = 1_200
"""Of a text so short the lines next to its error belong to it…"""
CONTEXT_CHARS_MAX = 400
"""…as many as there is room for in a focus so long."""
NOISE_LINES_MIN = 8
"""Lines from which a text whose errors are only logged is taken for a paste."""
FAILURES_SHOWN_MAX = 3
WRAPPERS_SHOWN_MAX = 1
MESSAGE_CHARS_MAX = 400
PLACES_SHOWN_MAX = 4
STACK_HEADING = "Traceback ("
OWN_LINES_MAX = 5
"""Lines of the person's own at the beginning of a text, and as many at its end."""
OWN_CHARS_MAX = 600
COMMAND_CHARS_MAX = 160
COMMAND_LINES_MAX = 400
"""Lines before an error among which the command that led to it is looked for."""

# $ make · root@host:/x# make · PS C:\x> make · C:\x>make · + make
_COMMAND = re.compile(
    r"^(?:PS [^>\n]{0,120}>|[A-Z]:\\[^>\n]{0,120}>|[\w.-]{1,40}@[\w.:~/\[\] -]{1,120}[$#%]"
    r"|[\w./@: -]{0,80}\$|\+)\s*(?P<command>[a-z./~]\S*\s.*)$"
)
_WORD = re.compile(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
# What a program prints in front of words, between them or instead of them.
_PRINTED = re.compile(
    r"^[^\w\"'(¿¡]|^\S{1,40}: \S|^Traceback \(|^at |^[a-z]+ \d|[{}<>|=\[\]\\]|::|https?://|/\S*/"
    r"|\b0x|\d:\d\d"
)
OWN_WORDS_MIN = 3
OWN_WORD_SHARE = 0.6
"""Letters of whole words in a line that a person wrote, at least."""


def focus_of(reading: Reading) -> str:
    """Return the telling part of a text; a text without an error, or little else, as it is.

    The person's own sentences come first, since a question asked about a paste is in them, then
    the errors in the order of how certain they are, each with the functions it arose in, then the
    command that led to the first of them. What is left out is what loggers, compilers and package
    managers print whether or not something fails.
    """
    shown = _shown(reading)
    if not shown or len(reading.text) <= WHOLE_CHARS_MAX:
        return reading.text
    said = {line for each in shown for line in each.lines}
    parts = [
        *_own_lines(reading.pasted, said),
        *(_told(each) for each in shown),
        *_commands(reading.pasted, min(said)),
    ]
    if len(reading.text) <= SHORT_CHARS_MAX:
        parts.extend(_context(reading.pasted, said, sum(map(len, parts))))
    focus = "\n".join(dict.fromkeys(part for part in parts if part))
    return focus if len(focus) < len(reading.text) else reading.text


def _shown(reading: Reading) -> list[Failure]:
    """Return the errors that a text is about."""
    certain = [each for each in reading.failures if each.certainty <= Certainty.TOLD]
    if certain:
        best = min(each.certainty for each in certain)
        shown = [each for each in certain if each.certainty <= max(best, Certainty.LABELLED)]
        causes = [each for each in shown if not each.wrapped]
        wrappers = [each for each in shown if each.wrapped][:WRAPPERS_SHOWN_MAX]
        return [*causes, *wrappers][:FAILURES_SHOWN_MAX]
    if len(reading.pasted.lines) < NOISE_LINES_MIN:
        return []
    return list(reading.failures[:FAILURES_SHOWN_MAX])


def _told(failure: Failure) -> str:
    """Return an error in one line, without what varies from one run to the next."""
    message = without_values(failure.message[:MESSAGE_CHARS_MAX])
    head = " ".join(part for part in (failure.type, failure.code) if part)
    line = f"{head}: {message}" if head and message else head or message
    places = ", ".join(failure.places[:PLACES_SHOWN_MAX])
    return f"{line} in {places}" if places else line


def _own_lines(pasted: Pasted, said: set[int]) -> list[str]:
    """Return what the person wrote before and behind the paste."""
    first = list(_while_own(pasted, range(len(pasted.lines)), said))
    last = list(_while_own(pasted, range(len(pasted.lines) - 1, -1, -1), said))
    return [line[:OWN_CHARS_MAX] for line in (*first, *reversed(last))]


def _while_own(pasted: Pasted, places: Iterable[int], said: set[int]) -> Iterator[str]:
    """Give lines as long as they are a person's, blank ones left out."""
    count = 0
    for place in places:
        line = pasted.lines[place].strip()
        if not line:
            continue
        if place in said or count == OWN_LINES_MAX or not _is_own(pasted.lines[place]):
            return
        count += 1
        yield line


def _is_own(line: str) -> bool:
    """Tell whether a person may have written *line*: a sentence, mostly of words."""
    cut = line[:OWN_CHARS_MAX]
    words = _WORD.findall(cut)
    letters = sum(len(word) for word in words)
    dense = len(cut.replace(" ", "")) or 1
    return (
        len(words) >= OWN_WORDS_MIN
        and letters / dense >= OWN_WORD_SHARE
        and not had_prefix(line)
        and not _PRINTED.search(cut)
        and not _COMMAND.match(cut)
        and not is_consequence(cut)
    )


def _context(pasted: Pasted, said: set[int], taken: int) -> list[str]:
    """Return the lines nearest to the first error that are neither frames nor marks."""
    first = min(said)
    nearest = sorted(range(len(pasted.lines)), key=lambda place: (abs(place - first), place))
    kept: list[int] = []
    for place in nearest:
        line = pasted.bare(place).strip()
        if place in said or is_frame(line) or not _WORD.search(line):
            continue
        if is_consequence(line) or line.startswith(STACK_HEADING):
            continue
        taken += len(line)
        if taken > CONTEXT_CHARS_MAX:
            break
        kept.append(place)
    return [pasted.bare(place).strip() for place in sorted(kept)]


def _commands(pasted: Pasted, before: int) -> list[str]:
    """Return the last command that stands before an error."""
    for place in range(before - 1, max(before - COMMAND_LINES_MAX, 0) - 1, -1):
        found = _COMMAND.match(pasted.bare(place))
        if found:
            return [found["command"][:COMMAND_CHARS_MAX]]
    return []
