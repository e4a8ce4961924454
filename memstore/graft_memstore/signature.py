"""Recognises an error that another machine printed: what of a text is the same there, as digests.

A text gives several signatures for each error in it. Some identify an error: what it said, and
what it said in which function. The others (its type, its code, the words of its message without
the names in it, each of these names) are hints, worth the more the fewer notes share them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntFlag, StrEnum
from hashlib import blake2b

from graft_memstore.traces.common import COMMON_CODES, COMMON_SKELETONS, COMMON_TYPES
from graft_memstore.traces.failures import Failure
from graft_memstore.traces.focus import focus_of
from graft_memstore.traces.lines import code_lines
from graft_memstore.traces.reading import Reading, read
from graft_memstore.traces.shapes import PATH, Shape, shape_of
from graft_memstore.traces.statements import Certainty, cited_in
from graft_memstore.traces.wording import is_consequence

SIGNATURE_VERSION = 1
"""Goes up whenever a text would give other signatures; notes are then read again."""
SIGNATURES_MAX = 64
"""Signatures of one text, those of its most certain errors first."""
PLACES_MAX = 2
"""Innermost functions of one error that identify it together with what it said."""
DIGEST_BYTES = 8

TELLING_MIN = 3
"""Words and names that tell something, from which a message may identify its error…"""
CITED_TELLING_MIN = 4
"""…and from which it does where only a sentence or a log cites it."""
TYPED_TELLING_MIN = 2
"""…and where the type is one that few programs raise."""
SKELETON_WORDS_MIN = 5
"""A shorter message says too little without the names in it."""
UNMARKED_MAX = 3
"""Lines of one text that nothing marks as an error but their words."""
PASTE_LINES_MIN = 3
"""Lines from which a question without a certain error may be a paste, and not a sentence."""
NAMES_MAX = 4
NAME_CHARS_MIN = 3
HEADLINE_CHARS_MAX = 1_024
HEADLINE_PARTS_MAX = 3
"""Parts of a title that may be an error's message."""
HEAD_WORDS = 3
"""First words of a message that stand for the type of an error that has none."""


class Kind(StrEnum):
    """What part of an error a signature stands for."""

    PLACE = "place"
    MESSAGE = "message"
    SKELETON = "skeleton"
    NAME = "name"
    CODE = "code"
    TYPE = "type"


class Traits(IntFlag):
    """What else is known of an error, which decides what it is worth to agree on a part of it."""

    NONE = 0
    PLACED = 1
    """It is known in which functions it arose."""
    WRAPPED = 2
    """Another error is its cause."""
    SPOKEN = 4
    """Its message is known; it may be none."""
    NAMED = 8
    """There are names in its message."""
    CITED = 16
    """Its message is a few words of a sentence or a log, the end of a longer one, or unmarked."""
    PRINTED = 32
    """It stands there as a program printed it, and says enough to be known by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One thing that two texts about the same error agree on.

    Attributes:
        digest: signed, 64 bits.
        failure: number of the error within its text; -1 for what is only named.
    """

    digest: int
    kind: Kind
    traits: Traits
    failure: int


_Part = tuple[Kind, tuple[str, ...], Traits]


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """What a question says.

    Attributes:
        focus: its telling part, see `focus`.
        signatures: of the errors in it.
    """

    focus: str
    signatures: tuple[Signature, ...]


def understand(text: str) -> Understood:
    """Return the focus and the signatures of *text* in one reading."""
    reading = read(text)
    return Understood(focus=focus_of(reading), signatures=_signatures_of(reading, titled=False))


def signatures(text: str, *, titled: bool = False) -> tuple[Signature, ...]:
    """Return the signatures of the errors in *text*, at most `SIGNATURES_MAX`, each digest once.

    Args:
        text: a question, or a note.
        titled: its first line is a title: a person wrote it, often around what a program said.
    """
    return _signatures_of(read(text), titled=titled)


def focus(text: str) -> str:
    """Return the telling part of *text*: its errors and what the person wrote about them.

    A text without an error in it, or without anything around it, is its own focus.
    """
    return focus_of(read(text))


def is_printed(signatures: Iterable[Signature]) -> bool:
    """Tell whether a text holds an error as a program printed it, known by what it says."""
    return any(Traits.PRINTED in each.traits for each in signatures)


def _signatures_of(reading: Reading, *, titled: bool) -> tuple[Signature, ...]:
    found: dict[int, Signature] = {}
    for each in _all_signatures(reading, titled=titled):
        known = found.get(each.digest, each)
        if each.failure != known.failure and each.failure >= 0:
            # Told of twice, it is bound to what both have in common.
            known = replace(known, traits=known.traits & each.traits)
        if each.digest in found or len(found) < SIGNATURES_MAX:
            found[each.digest] = known
    return tuple(found.values())


def _all_signatures(reading: Reading, *, titled: bool) -> Iterator[Signature]:
    for number, failure in enumerate(_printed(reading, titled=titled)):
        in_title = titled and max(failure.lines) == 0
        yield from _signatures_of_failure(number, failure, in_title=in_title)
    if titled:
        yield from _headline(reading)
    told = {failure.type for failure in reading.failures}
    told |= {failure.code for failure in reading.failures}
    for kind, names in ((Kind.TYPE, reading.types), (Kind.CODE, reading.codes)):
        for name in names:
            if name not in told:
                yield Signature(
                    digest=_digest(kind, name), kind=kind, traits=Traits.NONE, failure=-1
                )


def _printed(reading: Reading, *, titled: bool) -> list[Failure]:
    """Return the errors of a text without sentences of a person's that only sound like one.

    What nothing marks as an error is taken for one inside a note's code, and in a paste.
    """
    marked = [each for each in reading.failures if each.certainty is not Certainty.UNMARKED]
    others = [each for each in reading.failures if each.certainty is Certainty.UNMARKED]
    if titled:
        code = code_lines(reading.pasted)
        others = [each for each in others if not code.isdisjoint(each.lines)]
    elif len(reading.pasted.lines) < PASTE_LINES_MIN:
        others = []
    return [*marked, *others[:UNMARKED_MAX]]


def _signatures_of_failure(number: int, failure: Failure, *, in_title: bool) -> Iterator[Signature]:
    shape = shape_of(failure.message)
    rare_type = "" if failure.type in COMMON_TYPES else failure.type
    rare_code = "" if failure.code in COMMON_CODES else failure.code
    certain = failure.certainty in (Certainty.TYPED, Certainty.LABELLED, Certainty.WARNED)
    marked = failure.certainty is not Certainty.UNMARKED
    traits = _traits_of(failure, shape)
    if in_title:
        traits &= ~Traits.PRINTED
    parts = [
        *_place_parts(failure, shape),
        *_message_parts(shape, rare_type or rare_code, certain=certain, marked=marked),
        *_tail_parts(failure.message),
        *_hint_parts(shape, rare_type or rare_code, certain=certain),
    ]
    if rare_code:
        parts.append((Kind.CODE, (rare_code,), Traits.NONE))
    if rare_type:
        parts.append((Kind.TYPE, (rare_type,), Traits.NONE))
    for kind, texts, more in parts:
        yield Signature(
            digest=_digest(kind, *texts), kind=kind, traits=traits | more, failure=number
        )


def _place_parts(failure: Failure, shape: Shape) -> Iterator[_Part]:
    if failure.type or shape.text:
        for place in failure.places[:PLACES_MAX]:
            yield Kind.PLACE, (failure.type, shape.text, place), Traits.NONE


def _message_parts(shape: Shape, rare: str, *, certain: bool, marked: bool) -> Iterator[_Part]:
    if _is_telling(shape):
        cited = not marked or (not certain and shape.telling < CITED_TELLING_MIN)
        yield Kind.MESSAGE, (shape.text,), Traits.CITED if cited else Traits.NONE
    elif certain and rare and shape.telling >= TYPED_TELLING_MIN:
        yield Kind.MESSAGE, (rare, shape.text), Traits.NONE


def _tail_parts(message: str) -> Iterator[_Part]:
    """Give the end of a chain such as "cannot start: cannot bind: port is in use"."""
    _, colon, tail = message.rpartition(": ")
    shape = shape_of(tail)
    if colon and _is_telling(shape):
        yield Kind.MESSAGE, (shape.text,), Traits.CITED


def _hint_parts(shape: Shape, rare: str, *, certain: bool) -> Iterator[_Part]:
    words = shape.skeleton.split()
    if len(words) >= SKELETON_WORDS_MIN:
        yield Kind.SKELETON, (shape.skeleton,), Traits.NONE
    if certain:
        head = rare or " ".join(words[:HEAD_WORDS])
        for name in shape.names[:NAMES_MAX]:
            if len(name) >= NAME_CHARS_MIN:
                yield Kind.NAME, (head, name), Traits.NONE


def _headline(reading: Reading) -> Iterator[Signature]:
    """Give what the first line cites in quotes or at its colons: titles begin with a message."""
    line = reading.pasted.bare(0)[:HEADLINE_CHARS_MAX]
    parts = line.split(": ")[:HEADLINE_PARTS_MAX]
    if is_consequence(line):
        return
    for part in [*(parts if len(parts) > 1 else ()), *cited_in(line)]:
        shape = shape_of(part)
        if _is_telling(shape):
            traits = Traits.CITED | Traits.SPOKEN
            digest = _digest(Kind.MESSAGE, shape.text)
            yield Signature(digest=digest, kind=Kind.MESSAGE, traits=traits, failure=-1)


def _traits_of(failure: Failure, shape: Shape) -> Traits:
    traits = Traits.NONE
    certain = failure.certainty <= Certainty.LABELLED
    if certain and not failure.wrapped and (_is_telling(shape) or failure.places):
        traits |= Traits.PRINTED
    if failure.places:
        traits |= Traits.PLACED
    if failure.wrapped:
        traits |= Traits.WRAPPED
    if shape.telling >= TYPED_TELLING_MIN or failure.places:
        traits |= Traits.SPOKEN
    if shape.names or PATH in shape.text:
        traits |= Traits.NAMED
    return traits


def _is_telling(shape: Shape) -> bool:
    common = shape.skeleton in COMMON_SKELETONS and not shape.names
    return shape.telling >= TELLING_MIN and not common


def _digest(kind: Kind, *parts: str) -> int:
    text = "\x1f".join((kind, *parts)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=DIGEST_BYTES).digest(), signed=True)
