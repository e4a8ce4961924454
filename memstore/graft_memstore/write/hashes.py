"""What makes two notes the same text, and what makes them say the same."""

import re
import unicodedata

from blake3 import blake3

from graft.wire.characters import INVISIBLE_OR_CONTROL
from graft_memstore.canonical import encode_fields
from graft_memstore.model import NoteKind
from graft_memstore.write.look_alikes import in_latin, in_latin_with_spaces

# Cyrillic letters, by the shape of the small or of the capital one, and what they look like.
_CYRILLIC_LETTERS = "авсԁенһіјкӏморԛѕтѵԝху"
_CYRILLIC_LATIN = "abcdehhijklmopqstvwxy"
LOOK_ALIKES = dict(zip(_CYRILLIC_LETTERS, _CYRILLIC_LATIN, strict=True))
"""Letters of another script that look like a Latin one (Unicode TS 39), small letters; capitals
follow. Bounded on purpose: what no keyboard has by accident and no fraud needs is left out."""

_GREEK_LETTERS = "αβεζηικνορτυχ"
GREEK_LOOK_ALIKES = dict(zip(_GREEK_LETTERS, "abezhikvoptyx", strict=True))
"""As `LOOK_ALIKES`, but only in a word that has Latin letters too: alone they are symbols. Mu is
not among them, so that 5 µs never equals 5 ms."""

# Hyphens of several kinds, the dash between numbers and the minus sign; writing programs and models
# put them where a keyboard has one. The long dash is another mark.
_HYPHENS = "\u2010\u2011\u2012\u2013\u2212"
_ALIKE = str.maketrans(
    LOOK_ALIKES
    | {letter.upper(): latin.upper() for letter, latin in LOOK_ALIKES.items()}
    | dict.fromkeys(_HYPHENS, "-")
)
_GREEK = str.maketrans(
    GREEK_LOOK_ALIKES
    | {letter.upper(): latin.upper() for letter, latin in GREEK_LOOK_ALIKES.items()}
)
_MIXED_WORD = re.compile("[A-Za-z\u0370-\u03ff]+")
_GREEK_LETTER = re.compile("[\u0370-\u03ff]")
_LATIN_LETTER = re.compile("[A-Za-z]")
_SPACES = re.compile(r"\s+")
_FENCE_OR_SPAN = re.compile(r"`+|^[ \t]*~{3,}", re.MULTILINE)
_LINE_END = re.compile(r"\r\n?")

# A word that begins with one or two hyphens: -d and -D are different options.
_OPTION = re.compile(r"(?<![^\s(\[{\"'])--?[A-Za-z0-9]\S*")

FENCE_CHARS_MIN = 3


def content_hash(title: str, body: str, kind: NoteKind) -> bytes:
    """Return the hash that only the very same title, body and kind have."""
    return blake3(encode_fields(title, body, kind)).digest()


def value_hash(title: str, body: str) -> bytes:
    """Return the hash that every spelling of the same statement has; see `spelled_once`."""
    return _hash_of(spelled_once(title), spelled_once(body))


def other_spellings(text: str) -> tuple[str, ...]:
    """Return what else *text* may have been taken for, where that is another form.

    As earlier versions spelled it, who told fewer letters by their looks: of what was rejected or
    erased then, only that digest is left. And with spaces where it has blanks.
    """
    if in_latin(text) == unicodedata.normalize("NFKC", text):
        return ()  # nearly all, and bodies may be long
    forms = (_spelled(text), _spelled(in_latin_with_spaces(text)))
    return tuple(dict.fromkeys(form for form in forms if form != spelled_once(text)))


def other_value_hashes(title: str, body: str) -> tuple[bytes, ...]:
    """Return the hashes of what else a note may have been taken for; see `other_spellings`."""
    if not other_spellings(title) and not other_spellings(body):
        return ()
    before = _hash_of(_spelled(title), _spelled(body))
    spaced = (_spelled(in_latin_with_spaces(each)) for each in (title, body))
    return tuple({before, _hash_of(*spaced)} - {value_hash(title, body)})


def _hash_of(title: str, body: str) -> bytes:
    return blake3(encode_fields(title, body)).digest()


def spelled_once(text: str) -> str:
    """Return the one form of all spellings of *text*.

    Compatibility forms (NFKC), white space, characters that nobody sees, look-alikes and case
    make no difference; in code spans, fenced code and words that begin with a hyphen case does,
    and in code white space too: there `-d` is not `-D`, and an indent means something.
    """
    return _spelled(in_latin(text))


def _spelled(text: str) -> str:
    plain = unicodedata.normalize("NFKC", _LINE_END.sub("\n", text))
    pieces: list[str] = []
    end_of_last = 0
    for start, end in _code_spans(plain):
        pieces += [_prose(plain[end_of_last:start]), _code(plain[start:end])]
        end_of_last = end
    pieces.append(_prose(plain[end_of_last:]))
    return "".join(pieces).strip()


def _prose(text: str) -> str:
    visible = INVISIBLE_OR_CONTROL.sub("", _SPACES.sub(" ", text))
    latin = _latin(_SPACES.sub(" ", visible))
    pieces: list[str] = []
    end_of_last = 0
    for option in _OPTION.finditer(latin):
        pieces += [_folded(latin[end_of_last : option.start()]), option[0]]
        end_of_last = option.end()
    pieces.append(_folded(latin[end_of_last:]))
    return "".join(pieces)


def _folded(text: str) -> str:
    """Fold case; what that makes of some marks and Greek letters is a look-alike, or in pieces."""
    return unicodedata.normalize("NFKC", _latin(text.casefold()))


def _code(text: str) -> str:
    return _latin(INVISIBLE_OR_CONTROL.sub(_line_ends_and_tabs, text))


def _line_ends_and_tabs(found: re.Match[str]) -> str:
    return "".join(each for each in found[0] if each in "\t\n")


def _latin(text: str) -> str:
    return _MIXED_WORD.sub(_latin_word, text.translate(_ALIKE))


def _latin_word(found: re.Match[str]) -> str:
    word = found[0]
    mixed = _GREEK_LETTER.search(word) and _LATIN_LETTER.search(word)
    return word.translate(_GREEK) if mixed else word


def _code_spans(text: str) -> list[tuple[int, int]]:
    """Return where code begins and ends.

    It goes from a run of backticks (or a line of tildes) to the next run like it; a fence that
    nobody closes goes on to the end. One pass over the runs, so that no text of backticks takes
    quadratic time.
    """
    runs = list(_FENCE_OR_SPAN.finditer(text))
    next_like: list[int | None] = [None] * len(runs)
    last_seen: dict[str, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        mark = runs[number][0].strip()
        next_like[number] = last_seen.get(mark)
        last_seen[mark] = number
    spans: list[tuple[int, int]] = []
    number = 0
    while number < len(runs):
        partner = next_like[number]
        if partner is not None:
            spans.append((runs[number].start(), runs[partner].end()))
            number = partner
        elif _opens_fence(text, runs[number]):
            spans.append((runs[number].start(), len(text)))
            break
        number += 1
    return spans


def _opens_fence(text: str, run: re.Match[str]) -> bool:
    line_start = text.rfind("\n", 0, run.start()) + 1
    long_enough = len(run[0].strip()) >= FENCE_CHARS_MIN
    return long_enough and not text[line_start : run.start()].strip()
