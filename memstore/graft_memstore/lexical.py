"""What words a note or a question is made of, folded so that both sides spell them alike.

Everything here takes any string that Python can hold and gives text that SQLite can bind: NUL,
control characters and lone surrogates become spaces.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

QUERY_TERMS_MAX = 32
"""Words, wholes and pairs of a question that are searched for."""
COUNTED_TERMS_MAX = 96
"""Of a long question, the terms whose frequency is looked up; the most telling come first."""
PIECES_MAX = 12
"""Runs of a question that are searched for inside words."""
POSTINGS_MAX = 2_500
"""Rows that the terms of one question may touch together, the rarest terms first."""
TOKEN_CHARS_MAX = 256
"""Of a longer token the beginning is searched for as a whole, and all its words one by one."""
CAMEL_CHARS_MAX = 128
"""A longer word is no identifier that anybody would search for by its parts."""
PIECE_CHARS_MIN = 3
"""The trigram index finds nothing shorter."""
LONG_WORD_CHARS = 12
"""From here on a plain word is searched inside, too: compounds, hashes, runs without spaces."""
NOTE_PIECES_CHARS_MAX = 65_536
"""Text of one note that goes to the trigram index at most."""

COLUMN_WEIGHTS = "bm25(4.0, 1.0, 3.0, 1.0)"
"""BM25 weights of notes_fts: title, body, keywords, cjk."""

# Made of pieces that need no escaping twice: Han with its extensions and iteration marks, kana,
# bopomofo, Hangul syllables.
_CJK = "\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
_CJK += "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
CJK_RUN = re.compile(f"[{_CJK}]+")

# Format characters that change how a word looks but not what it says.
_INVISIBLE = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
_INVISIBLE_RUN = re.compile(f"[{_INVISIBLE}]+")
# Control characters, lone surrogates, and letters that everybody draws as they like.
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\uf8ff\U000f0000-\U0010ffff]")
_ACCENT = re.compile("[\u0300-\u036f]+")


def _marks() -> str:
    """Return a regular expression's class body of all combining marks of the first plane."""
    ranges: list[list[int]] = []
    for point in range(0x300, 0x10000):
        if unicodedata.category(chr(point)).startswith("M"):
            if ranges and ranges[-1][1] == point - 1:
                ranges[-1][1] = point
            else:
                ranges.append([point, point])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in ranges)


_MARKS = _marks()
_NO_LETTER = re.compile(rf"[^\x00-\x7f\w{_MARKS}]")
_ONE_WORD = rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*"
# c++ and c# are languages, and neither is the other.
_WORD = re.compile(rf"(?<!\w)[A-Za-z](?:\+\+|\#)(?!\w)|{_ONE_WORD}")
# A word, or words held together by what identifiers, paths and addresses are held together with.
# ++ and # end the names of languages.
_TOKEN = re.compile(rf"{_ONE_WORD}(?:(?:\+\+|\#)(?!\w))?(?:[-._/:@+#\\'=~%&?$]{{1,3}}{_ONE_WORD})*")
_JOINED = re.compile(r"[-._/:@+#\\=~%&?$]")
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_HAS_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedNote:
    """A note as the word indexes hold it.

    Attributes:
        cjk: two-letter runs of Chinese, Japanese and Korean text, and the last letter of each run.
        pieces: identifiers and long runs, to be searched inside.
    """

    title: str
    body: str
    keywords: str
    cjk: str
    pieces: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedQuestion:
    """A question taken apart. Every list is in the order of the text and without repeats.

    Attributes:
        text: all of it, folded.
        words: single words, parts of identifiers among them.
        wholes: identifiers, paths and other words that are held together.
        pairs: two-letter runs of CJK text; a single letter where it stands alone.
        named: those words and wholes that mean one thing in any language: identifiers, numbers.
    """

    text: str
    words: tuple[str, ...]
    wholes: tuple[str, ...]
    pairs: tuple[str, ...]
    named: frozenset[str]

    @property
    def terms(self) -> tuple[str, ...]:
        """Everything that can be looked up in the word index."""
        return tuple(dict.fromkeys(self.words + self.wholes + self.pairs))


def clean(text: str) -> str:
    """Return *text* in compatibility form, what is neither a letter nor ASCII made a space."""
    visible = _UNREADABLE.sub(" ", text)
    if visible.isascii():
        return visible
    plain = unicodedata.normalize("NFKC", _INVISIBLE_RUN.sub("", visible))
    # SQLite's tables are of another Unicode than Python's: what is no letter here is none there.
    return _NO_LETTER.sub(" ", plain.replace("’", "'"))


def fold(text: str) -> str:
    """Return *text* as it is compared: full width, ligatures, ß, case and accents folded."""
    plain = clean(text)
    if plain.isascii():
        return plain.lower()
    bare = _ACCENT.sub("", unicodedata.normalize("NFD", plain.casefold()))
    # Taking a mark away can make a compatibility form whole again, so this comes last.
    return unicodedata.normalize("NFKC", bare)


def fold_note(title: str, body: str, keywords: Iterable[str]) -> FoldedNote:
    """Return what the word indexes are to hold of a note."""
    titles, bodies, words = clean(title), clean(body), clean("\n".join(keywords))
    texts = (titles, words, bodies)
    return FoldedNote(
        title=_spread(titles),
        body=_spread(bodies),
        keywords=_spread(words),
        cjk=" ".join(pair for text in texts for pair in _pairs(text)),
        pieces=_note_pieces(texts),
    )


def fold_question(text: str) -> FoldedQuestion:
    """Return the terms of a question."""
    words: dict[str, None] = {}
    wholes: dict[str, None] = {}
    named: set[str] = set()
    plain = clean(text)
    for match in _TOKEN.finditer(CJK_RUN.sub(" ", plain)):
        parts = _parts(match[0])
        words.update(dict.fromkeys(parts))
        token = match[0][:TOKEN_CHARS_MAX]
        whole = fold(token)
        if len(parts) > 1 or whole not in words:
            wholes[whole] = None
        named.update(_named(token, whole, parts))
    return FoldedQuestion(
        text=fold(text),
        words=tuple(words),
        wholes=tuple(wholes),
        pairs=tuple(dict.fromkeys(_question_pairs(plain))),
        named=frozenset(named),
    )


def words_of(folded: str) -> list[str]:
    """Return the single words of text that `fold_note` made, in their order."""
    return _WORD.findall(folded)


def trigrams(folded: str) -> frozenset[str]:
    """Return the three-letter runs of each word, its ends marked with a space."""
    found: set[str] = set()
    for word in words_of(folded):
        padded = f" {word} "
        found.update(padded[at : at + 3] for at in range(len(padded) - 2))
    return frozenset(found)


def _parts(token: str) -> list[str]:
    """Return the folded words of a token, with the humps of camelCase after their whole."""
    parts: list[str] = []
    for match in _WORD.finditer(token):
        parts.append(fold(match[0]))
        parts.extend(hump.lower() for hump in _humps(match[0]))
    return parts


def _named(token: str, whole: str, parts: list[str]) -> Iterator[str]:
    """Give what of a token means the same in every language: an identifier or a number."""
    if _JOINED.search(token) or _CAMEL.search(token):
        yield whole
    for part in parts:
        if _HAS_DIGIT.search(part):
            yield part


def _spread(plain: str) -> str:
    """Return folded text with CJK runs set apart and the parts of camelCase behind it all.

    Behind, because between they would take apart what is held together by a dot or a slash.
    """
    apart = CJK_RUN.sub(lambda run: f" {run[0]} ", plain)
    if not _CAMEL.search(apart):
        return fold(apart)
    humps = dict.fromkeys(hump for word in _WORD.findall(apart) for hump in _humps(word))
    return fold(" ".join((apart, *humps)))


def _humps(word: str) -> list[str]:
    """Return the parts of a word in camelCase, none of any other word."""
    if len(word) > CAMEL_CHARS_MAX or not word.isascii() or not _CAMEL.search(word):
        return []
    return [hump for hump in _HUMP.findall(word) if len(hump) > 1]


def _pairs(plain: str) -> Iterator[str]:
    """Give the two-letter runs of CJK text, and the last letter of each run by itself.

    So a search for one letter is a search for what begins with it.
    """
    for match in CJK_RUN.finditer(plain):
        run = fold(match[0])
        yield from (run[at : at + 2] for at in range(len(run) - 1))
        yield run[-1]


def _question_pairs(plain: str) -> Iterator[str]:
    for match in CJK_RUN.finditer(plain):
        run = fold(match[0])
        if len(run) == 1:
            yield run
        yield from (run[at : at + 2] for at in range(len(run) - 1))


def _note_pieces(texts: Iterable[str]) -> str:
    """Return identifiers and long runs, each once, as much as fits."""
    kept: dict[str, None] = {}
    room = NOTE_PIECES_CHARS_MAX
    for text in texts:
        for match in _TOKEN.finditer(text):
            piece = fold(match[0])
            if piece in kept or not _worth_searching_inside(match[0]):
                continue
            room -= len(piece) + 1
            if room < 0:
                return "\n".join(kept)
            kept[piece] = None
    return "\n".join(kept)


def _worth_searching_inside(token: str) -> bool:
    return len(token) >= PIECE_CHARS_MIN and bool(
        len(token) >= LONG_WORD_CHARS
        or _JOINED.search(token)
        or _CAMEL.search(token)
        or not token.isascii()
    )


def telling(term: str) -> float:
    """Return how rare *term* is expected to be before the store has been asked: 0 to 1.

    Words that only hold sentences together tell nothing, short words little.
    """
    if term in FUNCTION_WORDS:
        return 0.05
    if CJK_RUN.match(term) or _HAS_DIGIT.search(term) or _JOINED.search(term):
        return 1.0
    return min(1.0, 0.2 + 0.16 * (len(term) - 1))


def terms_to_count(question: FoldedQuestion) -> list[str]:
    """Return the terms whose frequency is worth asking for, at most `COUNTED_TERMS_MAX`."""
    terms = question.terms
    if len(terms) <= COUNTED_TERMS_MAX:
        return list(terms)
    places = sorted(range(len(terms)), key=lambda at: (-telling(terms[at]), at))
    return [terms[at] for at in sorted(places[:COUNTED_TERMS_MAX])]


def choose_terms(counts: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """Return the terms to search for, rarest first, and those to fall back on.

    Terms that no note holds are left out. Common ones are put off as soon as rarer ones have used
    up `POSTINGS_MAX`; the rarest never is.
    """
    held = sorted((term for term in counts if counts[term] > 0), key=lambda term: counts[term])
    postings = 0
    for place, term in enumerate(held[:QUERY_TERMS_MAX]):
        postings += counts[term]
        if place and postings > POSTINGS_MAX:
            return held[:place], held[place:QUERY_TERMS_MAX]
    return held[:QUERY_TERMS_MAX], []


def choose_pieces(question: FoldedQuestion, counts: Mapping[str, int]) -> list[str]:
    """Return the runs to search for inside words: identifiers, long words, words found nowhere."""
    wanted = [
        term
        for term in question.terms
        if len(term) >= PIECE_CHARS_MIN
        and (
            term in question.named
            or term in question.wholes
            or len(term) >= LONG_WORD_CHARS
            or (counts.get(term) == 0 and len(term) > PIECE_CHARS_MIN)
        )
    ]
    longest = sorted(wanted, key=len, reverse=True)[:PIECES_MAX]
    return [piece[:TOKEN_CHARS_MAX] for piece in longest]


def match_term(term: str) -> str:
    """Return the FTS5 expression that finds *term* in notes_fts."""
    if CJK_RUN.fullmatch(term):
        return f"cjk : {_quoted(term)}{' *' if len(term) == 1 else ''}"
    return f"{{title body keywords}} : {_quoted(term)}"


def match_any(terms: Iterable[str]) -> str:
    """Return the FTS5 expression that finds any of *terms* in notes_fts."""
    return " OR ".join(f"({match_term(term)})" for term in terms)


def match_pieces(pieces: Iterable[str]) -> str:
    """Return the FTS5 expression that finds any of *pieces* in notes_pieces."""
    return " OR ".join(_quoted(piece) for piece in pieces)


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'


PRIOR_NOTES = 60.0
"""Notes that a store too small to know its own words is thought to stand beside."""


def rarity(term: str, count: int, notes: int) -> float:
    """Return the inverse document frequency of *term*, above 0.

    The store's own *count* among *notes* is blended with what is expected of such a word in
    `PRIOR_NOTES` others, so that in a store of one note "the" still weighs little.
    """
    expected = PRIOR_NOTES * (1.0 - telling(term)) * 0.5
    return math.log((notes + PRIOR_NOTES + 1.0) / (min(count, notes) + expected + 0.5))


_FUNCTION_WORDS = (
    # English
    "a about after all also am an and any are as at be because been before being but by can "
    "could did do does doing don done for from get gets getting give got had has have how i "
    "if in into is isn it its just keep keeps like make me my need no not now of off on one "
    "only or other our out over own so some still such than that the their them then there "
    "these they this to too up us use used using want was way we were what when where which "
    "while who why will with without work working works would you your "
    # Italian
    "a ad agli ai al alla alle allo anche che chi ci come con cosa da dagli dai dal dalla "
    "dalle de degli dei del della delle dello devo di dopo dove e ed essere fa fare gli ha "
    "hanno ho i il in io la le lo ma mi nel nella nelle nei negli no non o ogni per perche "
    "piu poi posso prima puo qual quale quali quando quanto questa questo se sempre si sia "
    "sono su sui sul sulla sulle tra un una uno va viene voglio "
    # German
    "aber als am an auch auf aus bei bin bis das dass dem den der des die doch du ein eine "
    "einem einen einer er es fur geht hat ich ihr im in ist kann man mein mit nach nicht noch "
    "nur oder sich sie sind so und vom von vor warum was wenn wer wie wird wir wo zu zum zur "
    # French and Spanish
    "au aux avec ce ces comment cette dans de des du elle en est et il ils je la le les leur "
    "mais ne nous on ou par pas plus pour pourquoi quand que qui sans se ses son sont sur une "
    "un vous como con cuando de del donde el en es esta este hay la las lo los mas me mi no "
    "para pero por porque que se si sin su un una y"
)
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words of the commonest languages that hold sentences together, folded."""
