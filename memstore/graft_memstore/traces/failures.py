"""What failed, as a pasted text says it: types, codes, messages, and where each arose."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graft_memstore.traces.frames import FRAME_LINES_MAX, is_frame, is_source, places_of, stack_of
from graft_memstore.traces.lines import Pasted
from graft_memstore.traces.npm import begins_npm, npm_failure
from graft_memstore.traces.statements import Certainty, Statement, statements_of

FAILURES_MAX = 8
"""Errors of one text that are kept, the most certain ones."""
TIMES_MAX = 3
"""Places of a text where one error is told whose stacks are looked at."""
CONTINUED_LINES_MAX = 3
"""Lines that are looked at for a message that does not stand beside its type."""
INVALID_LINES = 2
"""Lines below pydantic's first one: a field, and what is wrong with it."""
ANNOUNCED_WORDS = 4
"""A message that ends with a colon is only the beginning of one, unless it has so many words."""
DETAIL_LINES_MAX = 24
"""Lines below an error that may tell its code, or which type a trait is missing for."""
CERTAIN = (Certainty.TYPED, Certainty.LABELLED)

_TRACEBACK = re.compile(r"^(?P<indent>\s*)Traceback \(most recent call last\)")
_NEXT_IN_CHAIN = re.compile(
    r"^\s*(?:During handling of the above exception|The above exception was the direct cause)"
)
_DEEPER = re.compile(r"^\s*(?:Caused by: |Suppressed: |\[cause\]: )")
_NODE_CODE = re.compile(r"(?:^|\s)code: '(?P<code>[A-Z][A-Z0-9_]{2,60})'")
_MISSING_TRAIT = re.compile(
    r"the trait `(?P<trait>\w{1,40})` is not implemented for `(?P<type>[\w:]{1,80})"
)
_NO_MESSAGE = re.compile(
    r"stack backtrace:|note: |at |File \"|goroutine \d|\.\.\. \d|[-~^=]{3,}|```"
)
# What pydantic begins with; which field it is stands below.
_INVALID = re.compile(r"\d+ validation errors? for \S+")
_NOTHING = frozenset({"null", "none", "undefined"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One error of a text.

    Attributes:
        lines: numbers of the lines that say it.
        places: functions of a person's own code that it arose in, innermost first.
        wrapped: another error of the text is its cause.
        around: number of the line of the error that wraps this one; -1 when none does.
    """

    lines: tuple[int, ...]
    certainty: Certainty
    type: str
    code: str
    message: str
    places: tuple[str, ...] = ()
    wrapped: bool = False
    around: int = -1


def find_failures(pasted: Pasted, suspects: Sequence[int]) -> list[Failure]:
    """Return the errors that *suspects*, numbers of lines, tell of, at most `FAILURES_MAX`.

    The most certain come first; of equally certain ones, causes before what wraps them.
    """
    found = list(_all_failures(pasted, suspects))
    _chain(pasted, found)
    distinct: dict[tuple[str, str, str], Failure] = {}
    for each in found:
        key = (each.type, each.code, each.message)
        distinct[key] = _merged(distinct[key], each) if key in distinct else each
    told = {each.type for each in distinct.values() if each.message}
    # A type by itself is told again in a summary.
    kept = [each for each in distinct.values() if each.message or each.type not in told]
    # Sorting keeps the order of the text among equally certain ones.
    best = sorted(kept, key=lambda each: (each.certainty, each.wrapped))[:FAILURES_MAX]
    return [_detailed(pasted, each) for each in best]


def _all_failures(pasted: Pasted, suspects: Sequence[int]) -> Iterator[Failure]:
    raised = _raised(pasted, suspects)
    read_until = -1
    for place in sorted({*suspects, *raised}):
        line = pasted.bare(place)
        if place <= read_until or is_frame(line) or is_source(pasted, place):
            continue
        npm = npm_failure(pasted, place)
        if npm is not None:
            statements = [
                Statement(certainty=Certainty.TYPED, type="npm", code=npm[0], message=npm[1])
            ]
        else:
            statements = statements_of(line, raised=place in raised, tool=begins_npm(pasted, place))
        for number, statement in enumerate(statements, start=1):
            innermost = number == len(statements)
            below = _below(pasted, place, statement) if innermost else []
            read_until = place + len(below)
            message = " ".join([statement.message, *below]).strip()
            yield Failure(
                lines=(place + len(below),),
                certainty=statement.certainty,
                type=statement.type,
                code=statement.code,
                message="" if message.lower() in _NOTHING else message,
                wrapped=not innermost,
            )


def _raised(pasted: Pasted, suspects: Sequence[int]) -> set[int]:
    """Return the lines that stand below Python's stacks: what was raised, whatever its name."""
    raised = set()
    for place in suspects:
        traceback = _TRACEBACK.match(pasted.bare(place))
        if traceback is None:
            continue
        for at in range(place + 1, min(place + FRAME_LINES_MAX, len(pasted.lines))):
            line = pasted.bare(at)
            if line.strip() and len(line) - len(line.lstrip()) <= len(traceback["indent"]):
                raised.add(at)
                break
    return raised


def _below(pasted: Pasted, place: int, statement: Statement) -> list[str]:
    """Return the lines on which a message stands, or goes on, that is not all beside its type."""
    certain = statement.certainty in CERTAIN
    message = statement.message
    announced = message.endswith(":") and len(message.split()) < ANNOUNCED_WORDS
    invalid = _INVALID.fullmatch(message) is not None
    if not (statement.open or (certain and (announced or invalid))):
        return []
    count = INVALID_LINES if invalid else CONTINUED_LINES_MAX
    lines: list[str] = []
    for at in range(place + 1, min(place + 1 + count, len(pasted.lines))):
        line = pasted.bare(at).strip()
        if _NO_MESSAGE.match(line) or (lines and not line):
            break
        lines.append(line.partition(" [type=")[0])
    return lines


def _chain(pasted: Pasted, found: list[Failure]) -> None:
    """Tell causes from what wraps them: Java prints the cause last, Python first."""
    for at in range(1, len(found)):
        before, after = found[at - 1], found[at]
        if _DEEPER.match(pasted.bare(after.lines[0])):
            if after.lines[0] - before.lines[0] < FRAME_LINES_MAX:
                found[at - 1] = replace(before, wrapped=True)
                found[at] = replace(after, around=before.lines[0])
        elif _is_followed(pasted, before.lines[0], after.lines[0]):
            found[at - 1] = replace(before, around=after.lines[0])
            found[at] = replace(after, wrapped=True)


def _is_followed(pasted: Pasted, place: int, following: int) -> bool:
    """Tell whether Python says below line *place* that the error there led to another one."""
    end = min(place + 2 * CONTINUED_LINES_MAX, following)
    return any(_NEXT_IN_CHAIN.match(pasted.bare(at)) for at in range(place + 1, end))


def _merged(first: Failure, second: Failure) -> Failure:
    """Return an error that stands in a text twice."""
    return replace(
        first,
        lines=(*first.lines, *second.lines)[:TIMES_MAX],
        wrapped=first.wrapped and second.wrapped,
        around=max(first.around, second.around),
    )


def _detailed(pasted: Pasted, failure: Failure) -> Failure:
    """Return an error with where it arose, and what stands below it of its code and message.

    A cause arose where what wraps it did: neither Java nor Python repeats those frames.
    """
    if failure.certainty not in CERTAIN:
        return failure
    lines = [*failure.lines, failure.around] if failure.around >= 0 else failure.lines
    stacks = (places_of(stack_of(pasted, line)) for line in lines)
    code, more = _details(pasted, failure.lines[0], failure.message)
    return replace(
        failure,
        code=failure.code or code,
        message=f"{failure.message} {more}".strip(),
        places=next(filter(None, stacks), ()),
    )


def _details(pasted: Pasted, place: int, message: str) -> tuple[str, str]:
    """Return the code that Node prints below a stack, and the type that lacks a trait in Rust."""
    for at in range(place + 1, min(place + DETAIL_LINES_MAX, len(pasted.lines))):
        line = pasted.lines[at]
        code = _NODE_CODE.search(line)
        if code:
            return code["code"], ""
        trait = None if "`" in message else _MISSING_TRAIT.search(line)
        if trait:
            return "", f"`{trait['trait']}` `{trait['type']}`"
        if not line.strip():
            break
    return "", ""
