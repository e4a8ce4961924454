"""Which characters of further scripts look like Latin letters, or like nothing at all.

From Unicode's confusables (TS 39), by hand: the whole table, as libraries carry it, takes 1 for l,
0 for O and rn for m, which in notes are other values. Of each script one letter stands for one
Latin letter, so that its own words stay apart.
"""

import re
import unicodedata

_SMALL_CAPITALS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ"
_SMALL_CAPITALS_LATIN = "abcdefghijklmnopqrstuvwyz"
_ARMENIAN_LETTERS = "ագհոսցքօտյ"
_ARMENIAN_LATIN = "wqhnugfosj"
_CHEROKEE_LETTERS = "ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᎩᏃ".lower()  # noqa: RUF001 - on purpose
_CHEROKEE_LATIN = "abcdeghijklmprstvwyz"
_CASED = dict(
    zip(
        _ARMENIAN_LETTERS + _CHEROKEE_LETTERS,
        _ARMENIAN_LATIN + _CHEROKEE_LATIN,
        strict=True,
    )
)
_LETTERS = (
    dict(zip(_SMALL_CAPITALS, _SMALL_CAPITALS_LATIN, strict=True))
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
    seen = unicodedata.normalize("NFKC", text).translate(table)
    return _GREEK_WORD.sub(lambda word: word[0].translate(_GREEK_CASED), seen)
