"""What sets a question apart from a note that looks like it: other names and numbers, opposites.

Both sides are folded text. Only what the question says and the note does not counts, since a note
says more than any question.
"""

import re
from collections.abc import Iterable

from graft_memstore.lexical import FUNCTION_WORDS

# Letters count from a word's beginning alone: otherwise a long word would be read once a letter.
_NAME = re.compile(r"(?:(?<![a-z])[a-z]++)?\d+(?:\.\d+)*[a-z]*")
_LETTERS = re.compile(r"\d+(?:\.\d+)*")
_WORD = re.compile(r"[a-z']+")
VERSION_PARTS_MAX = 6
"""Parts of a version that are compared."""

_RUN = re.compile(rf":[\d.]+|{_NAME.pattern}|[^\W\d_]+|[+<>≤≥]")
_PLACE = ":"
"""What a line of a file, a port or a minute begins with."""
_BETWEEN = frozenset({"is", "no", "number", "release", "v", "version", "was"})
"""What may stand between a thing and its number."""
_OPENS = frozenset(
    {"<", ">", "≤", "≥", "above", "after", "before", "below", "from", "over", "since", "than"}
    | {"until", "under"}
)
_GOES_ON = frozenset({"+", "and", "or", "onwards"})
"""What makes a number the end of a range, before it and after it."""
_RANGE = ""
NUMBERED_RUNS_MAX = 3
"""Words before a number that are looked at for what it numbers."""

# Ways to say "enable" and "disable" that hold several words or another stem.
_SWITCHED = r"(?:turn|switch)(?:ed|es|s|ing)?+ (?:\w++ )?"
_ENABLE = re.compile(rf"\b(?:{_SWITCHED}on|(?:re)?activat(?:e[sd]?|ing)|enabl(?:es|ed|ing))\b")
_DISABLE = re.compile(rf"\b(?:{_SWITCHED}off|deactivat(?:e[sd]?|ing)|disabl(?:es|ed|ing))\b")

_OPPOSITES = """
enable disable; add remove; add delete; create delete; create drop;
start stop; install uninstall; increase decrease; increase reduce; raise lower; grow
shrink; open close; lock unlock; mount unmount; pin unpin; attach detach; connect
disconnect; encrypt decrypt; compress decompress; include exclude; allow deny; allow
forbid; allow block; accept reject; accept refuse; merge split; join split; push pull;
upload download; import export; encode decode; upgrade downgrade; show hide; first last;
before after; min max; minimum maximum; ascending descending; oldest newest; read write;
load save; pause resume; subscribe unsubscribe; register unregister; serialize
deserialize; pack unpack; zip unzip; set unset; commit revert; apply revert; backup
restore; shorten lengthen; faster slower; always never; on off; up down; left right;
inside outside; public private; local remote; keep drop; keep delete; keep remove; skip
run; ignore honour; mute unmute; freeze thaw; widen narrow; append prepend; inherit
override; opt-in opt-out; sync async; synchronous asynchronous; blocking nonblocking;
client server; strip keep; hold lift; shared exclusive
"""


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in _OPPOSITES.split(";"):
        left, right = pair.split()
        table.setdefault(left, set()).add(right)
        table.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in table.items()}


OPPOSITES = _table()
"""Words and those that turn what they say into its opposite."""


def names_in(folded: str) -> frozenset[str]:
    """Return the tokens of *folded* text that hold a digit."""
    return frozenset(match[0] for match in _NAME.finditer(folded))


def differing_names(question: str, note: str) -> tuple[str, ...]:
    """Return the question's names that the note lacks though it has others of their make.

    ``snowcam5`` differs from ``snowcam7``, ``3.10`` from ``3.11``; a name of a make that the note
    knows nothing of says nothing against it.
    """
    asked, held = names_in(question), names_in(note)
    makes = {_make(name) for name in held}
    return tuple(
        sorted(name for name in asked if not _is_held(name, held) and _make(name) in makes)
    )


def missing_names(question: str, note: str) -> tuple[str, ...]:
    """Return the question's names that the note lacks."""
    asked = names_in(question)
    if not asked:
        return ()
    held = names_in(note)
    return tuple(sorted(name for name in asked if not _is_held(name, held)))


def other_numbers(question: str, note: str) -> tuple[str, ...]:
    """Return what the question gives a number that the note lacks, where the note gives others.

    "exit code 143" is another one than "exit code 137", and "node 16" than "node 18", but not than
    "node 15 and later", nor "django 4.2.3" than "django 4.2".
    """
    # A note is long, so it is read word by word for what may be in it alone.
    asked = {thing: numbers for thing, numbers in _numbered(question).items() if thing in note}
    if not asked:
        return ()
    held, there = _numbered(note), frozenset(_LETTERS.findall(note))
    return tuple(
        sorted(
            f"{thing} {number}"
            for thing, numbers in asked.items()
            if thing in held and _RANGE not in held[thing]
            for number in numbers - {_RANGE}
            if not _is_held(number, there)
            and not any(number.startswith(f"{other}.") for other in there)
        )
    )


def opposite_words(question: str, note: str) -> tuple[str, ...]:
    """Return the question's words whose opposite is in the note while they themselves are not."""
    asked = OPPOSITES.keys() & _WORD.findall(plainly(question))
    if not asked:
        return ()
    held = set(_WORD.findall(plainly(note)))
    return tuple(sorted(word for word in asked - held if OPPOSITES[word] & held))


def plainly(text: str) -> str:
    """Return folded *text* with one word for each way to say "enable" and "disable"."""
    return _DISABLE.sub("disable", _ENABLE.sub("enable", text))


def _numbered(text: str) -> dict[str, frozenset[str]]:
    """Return the words of *text* that a number follows, and their numbers.

    `_RANGE` is among them where one is the end of a range.
    """
    runs = [found[0] for found in _RUN.finditer(text)]
    numbered: dict[str, set[str]] = {}
    for place, run in enumerate(runs):
        found = _LETTERS.search(run)
        if found is None or run.startswith(_PLACE):
            continue
        before = [*reversed(runs[max(0, place - NUMBERED_RUNS_MAX) : place])]
        thing = run[: found.start()]
        if thing in {"", "v"}:
            thing = next((word for word in before if word not in _BETWEEN | _OPENS), "")
        if not thing or thing in FUNCTION_WORDS or _LETTERS.search(thing):
            continue
        numbers = numbered.setdefault(thing, set())
        numbers.add(found[0])
        after = runs[place + 1 : place + 2]
        if _GOES_ON.intersection(after) or _OPENS.intersection(before[:2]):
            numbers.add(_RANGE)
    return {thing: frozenset(numbers) for thing, numbers in numbered.items()}


def _make(name: str) -> str:
    """Return a name with its numbers taken out, keeping how many parts they have."""
    return _LETTERS.sub(lambda found: "0" * min(found[0].count(".") + 1, VERSION_PARTS_MAX), name)


def _is_held(name: str, held: Iterable[str]) -> bool:
    """Tell whether a name is there, a shorter version standing for the longer ones it begins."""
    return any(name == other or other.startswith(f"{name}.") for other in held)
