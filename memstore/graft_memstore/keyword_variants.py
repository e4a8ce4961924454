"""Which keywords are spellings of one another: case, width, plural, hyphens, a slip of a letter.

Nothing is compared with everything: keywords meet under what is left of them when that is taken
away, so the work grows with their number alone.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

SLIP_CHARS_MIN = 6
"""Below so many characters one letter makes another word."""
SLIP_SHARE = 3
"""A slip is taken for one where the other spelling is used at least so many times as often."""
PLURAL_CHARS_MIN = 4
_SEPARATORS = str.maketrans("", "", " -_./")


class Likeness(StrEnum):
    """How a keyword is like another."""

    SPELLING = "spelling"
    """The same but for case and width: nothing is lost when they become one."""
    FORM = "form"
    """The same but for hyphens, spaces or the plural."""
    SLIP = "slip"
    """One letter is another, too many, missing, or two have changed places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A keyword that may stand for another.

    Attributes:
        keep: the one that is used most.
    """

    variant: str
    keep: str
    likeness: Likeness


def find_variants(counts: Mapping[str, int]) -> list[Variant]:
    """Return the keywords that are variants, each with the one to keep.

    Args:
        counts: how many notes carry each keyword.
    """
    found: dict[str, Variant] = {}
    rest = counts
    for likeness, key in ((Likeness.SPELLING, _spelling), (Likeness.FORM, _form)):
        groups: dict[str, list[str]] = {}
        for keyword in rest:
            groups.setdefault(key(keyword), []).append(keyword)
        for group in groups.values():
            keep, *variants = _by_use(group, counts)
            for variant in variants:
                found[variant] = Variant(variant=variant, keep=keep, likeness=likeness)
        rest = {keyword: count for keyword, count in rest.items() if keyword not in found}
    for variant, keep in _slips(rest):
        found[variant] = Variant(variant=variant, keep=keep, likeness=Likeness.SLIP)
    return [found[variant] for variant in sorted(found)]


def _by_use(keywords: Iterable[str], counts: Mapping[str, int]) -> list[str]:
    return sorted(keywords, key=lambda keyword: (-counts[keyword], keyword.swapcase()))


def _spelling(keyword: str) -> str:
    return unicodedata.normalize("NFKC", keyword).casefold()


def _form(keyword: str) -> str:
    plain = _spelling(keyword)
    joined = plain.translate(_SEPARATORS) or plain
    if any(character.isdigit() for character in joined):
        return plain.replace("_", "-").replace(" ", "-")
    return _singular(joined)


def _singular(word: str) -> str:
    """Return what singular and plural of a word have in common; it need be no word itself."""
    if len(word) < PLURAL_CHARS_MIN or not word.isascii():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    # Of "caches" and "boxes" only what goes before tells whether the e belongs to the plural.
    return word[:-1] if word.endswith(("se", "xe", "ze", "che", "she")) else word


def _slips(counts: Mapping[str, int]) -> Iterable[tuple[str, str]]:
    """Yield keywords of which one letter is wrong, with those that are used more often.

    Two words that differ in one letter are one, when a letter is taken out of each or of one.
    """
    under: dict[str, list[str]] = {}
    words = {
        keyword: _spelling(keyword)
        for keyword in counts
        if len(keyword) >= SLIP_CHARS_MIN and not any(char.isdigit() for char in keyword)
    }
    for keyword, word in words.items():
        for shorter in {word, *(word[:at] + word[at + 1 :] for at in range(1, len(word)))}:
            under.setdefault(shorter, []).append(keyword)
    best: dict[str, str] = {}
    for group in under.values():
        keep, *others = _by_use(group, counts)
        for other in others:
            often = counts[keep] >= SLIP_SHARE * counts[other]
            if often and other not in best and _one_letter_apart(words[keep], words[other]):
                best[other] = keep
    return best.items()


def _one_letter_apart(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    start = next((at for at, char in enumerate(short) if char != long[at]), len(short))
    if len(long) > len(short):
        return short[start:] == long[start + 1 :]
    if short[start + 1 :] == long[start + 1 :]:
        return True
    swapped = long[start + 1 : start + 2] + long[start : start + 1]
    return short[start : start + 2] == swapped and short[start + 2 :] == long[start + 2 :]
