"""Which characters of further scripts look like Latin letters, or like nothing at all.

From Unicode's confusables (TS 39), by hand: the whole table, as libraries carry it, takes 1 for l,
0 for O and rn for m, which in notes are other values. Of each script one letter stands for one
Latin letter, so that its own words stay apart. Digits of all scripts are the numbers that they are.
"""

import re
import unicodedata

_SMALL_CAPITALS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ"
_SMALL_CAPITALS_LATIN = "abcdefghijklmnopqrstuvwyz"
_ARMENIAN_LETTERS = "ագհոսցքօտյ"
_ARMENIAN_LATIN = "wqhnugfosj"
_CHEROKEE_LETTERS = "ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᎩᏃ".lower()  # noqa: RUF001 - on purpose
_CHEROKEE_LATIN = "abcdeghijklmprstvwyz"
_COPTIC_LETTERS = "ⲃⲏⲓⲕⲙⲛⲟⲣⲥⲧⲩⲭ"
_COPTIC_LATIN = "bhikmnopctyx"
_CASED = dict(
    zip(
        _ARMENIAN_LETTERS + _CHEROKEE_LETTERS + _COPTIC_LETTERS,
        _ARMENIAN_LATIN + _CHEROKEE_LATIN + _COPTIC_LATIN,
        strict=True,
    )
)
# Latin letters in another shape: of phonetic script, and without their dot.
_LATIN_SHAPES = "ɑɡɩıȷİ"
_LATIN_SHAPES_LATIN = "agiijI"
_LISU_LETTERS = "ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ"  # noqa: RUF001 - on purpose
_LISU_LATIN = "BPDTGKJCZFMNLSRVHWXYAEIOU"
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# White letters on a circle and on a square; those on white are compatibility forms.
_ON_BLACK = {
    chr(first + place): letter
    for first in (0x1F150, 0x1F170)
    for place, letter in enumerate(_CAPITALS)
}
_LETTERS = (
    dict(
        zip(
            _SMALL_CAPITALS + _LATIN_SHAPES + _LISU_LETTERS,
            _SMALL_CAPITALS_LATIN + _LATIN_SHAPES_LATIN + _LISU_LATIN,
            strict=True,
        )
    )
    | _ON_BLACK
    | _CASED
    | {letter.upper(): latin.upper() for letter, latin in _CASED.items()}
)

_GREEK = dict(zip("αβεζηικνορτυχ", "abezhikvoptyx", strict=True))
_GREEK_CASED = str.maketrans(
    _GREEK | {letter.upper(): latin.upper() for letter, latin in _GREEK.items()}
)
# Of one or two letters it may be a symbol: an angle, the filter of two values.
_GREEK_WORD = re.compile(
    rf"(?<![\u0370-\u03ff\u1f00-\u1fff])[{''.join(map(chr, _GREEK_CASED))}]{{3,}}"
    r"(?![\u0370-\u03ff\u1f00-\u1fff])"
)

_DOTTED_TWICE = re.compile("(?<=[ij])\u0307")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")

# Drawn as nothing; other programs show the first one as a space.
_BLANKS = "\u2800\U00016fe4"
_UNSEEN = str.maketrans(_LETTERS | dict.fromkeys(_BLANKS, ""))
_AS_SPACES = str.maketrans(_LETTERS | dict.fromkeys(_BLANKS, " "))


def in_latin(text: str) -> str:
    """Return *text* in compatibility form (NFKC) with Latin letters for those that look so."""
    return _in_latin(text, _UNSEEN)


def in_latin_with_spaces(text: str) -> str:
    """Return the same with a space for each character that is drawn as nothing."""
    return _in_latin(text, _AS_SPACES)


def _in_latin(text: str, table: dict[int, str]) -> str:
    if text.isascii():
        return text
    seen = unicodedata.normalize("NFKC", text).translate(table)
    seen = _DOTTED_TWICE.sub("", _OTHER_DIGIT.sub(_decimal, seen))
    return _GREEK_WORD.sub(lambda word: word[0].translate(_GREEK_CASED), seen)


def _decimal(digit: re.Match[str]) -> str:
    return str(unicodedata.decimal(digit[0]))
