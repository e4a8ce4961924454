"""Where a text may be cut without tearing a character that people see as one."""

import re
import unicodedata

SCAN_MAX = 32
"""Code points looked at around a place; longer clusters are torn, so that time stays bounded."""

JOINER = "\u200d"
JOINED = frozenset({"Mn", "Mc", "Me"})
CONTINUING = (
    range(0x1F3FB, 0x1F400),  # skin tones
    range(0xE0020, 0xE0080),  # tags, as in the flag of Scotland
    range(0x1160, 0x1200),  # vowels and finals of a Hangul syllable
    range(0xFF9E, 0xFFA0),  # half-width voicing marks
)
FLAG_LETTERS = range(0x1F1E6, 0x1F200)
NOT_SPACE = re.compile(r"\S")
SPACE = re.compile(r"\s")


def is_boundary(text: str, at: int) -> bool:
    """Tell whether *text* may be cut before the character at *at*."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if after.isascii():
        return before != JOINER and (before, after) != ("\r", "\n")
    if before == JOINER or _continues(after):
        return False
    return not (_is_flag_letter(after) and _flag_letters_before(text, at) % 2)


def boundary_before(text: str, at: int, lowest: int) -> int:
    """Return the last boundary at or before *at* and above *lowest*; *lowest* when there is none.

    A cluster longer than `SCAN_MAX` is cut at *at*.
    """
    for place in range(at, max(lowest, at - SCAN_MAX), -1):
        if is_boundary(text, place):
            return place
    return at if at - lowest > SCAN_MAX else lowest


def boundary_after(text: str, at: int, highest: int) -> int:
    """Return the first boundary at or after *at* and below *highest*; *highest* if there is none.

    A cluster longer than `SCAN_MAX` is cut at *at*.
    """
    for place in range(at, min(highest, at + SCAN_MAX)):
        if is_boundary(text, place):
            return place
    return at if highest - at > SCAN_MAX else highest


def skip_space(text: str, at: int) -> int:
    """Return the first place at or after *at* that holds no white space; the end when none does."""
    found = NOT_SPACE.search(text, at)
    return found.start() if found else len(text)


def _continues(character: str) -> bool:
    return (
        character == JOINER
        or unicodedata.category(character) in JOINED
        or any(ord(character) in codes for codes in CONTINUING)
    )


def _is_flag_letter(character: str) -> bool:
    return ord(character) in FLAG_LETTERS


def _flag_letters_before(text: str, at: int) -> int:
    count = 0
    while count < min(at, SCAN_MAX) and _is_flag_letter(text[at - 1 - count]):
        count += 1
    return count
