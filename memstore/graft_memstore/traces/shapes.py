"""What of an error's message is the same on another machine: its words, and the names in it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

MESSAGE_CHARS_MAX = 600
"""Of a longer message the beginning is looked at."""
PATH_WORDS = 3
"""In a message of so few words a path is not where but what, such as Java's name of a class."""
SHAPE_TOKENS_MAX = 40
"""Words, names and placeholders of a shape; what comes later is data."""
NAMES_MAX = 8
"""Names of one message that are kept."""
PAIR = 2
"""Parts of a name with one slash in it: a branch, a package of a scope, an image."""
NAME_PARTS_MAX = 3
"""A name in a name in a name tells as much as so many words."""
NAME_CHARS_MAX = 80
"""A longer run of letters is a value."""
SIGN_CHARS_MAX = 3
"""Quoted signs of so many characters are what a parser tripped over."""
SENTENCE_WORDS_MIN = 4
"""A first sentence of so many words is the message; what follows it is advice."""

# Every quotation mark of Unicode, the grave and the acute accent, and the guillemets.
_QUOTES = str.maketrans(dict.fromkeys((*range(0x2018, 0x2020), 0x22, 0x60, 0xB4, 0xAB, 0xBB), "'"))
# What is quoted and has no space in it, else what stands between spaces.
_TOKEN = re.compile(r"(?<!\w)'(?P<quoted>[^'\s]{1,200})'(?!\w)|(?P<plain>\S+)")
_SENTENCE_END = re.compile(
    r"(?:[^\W\d]|[)'>\]])(?:[.!](?=\s+[A-Z<'])|;(?=\s))|\s?(?:…|\.\.\.)(?=\s|$)"
)
_KEYED = re.compile(r"([\w.-]{1,40})=([^=].*)")
_AROUND = "()[]{},;:.!?'|*=<>"

_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://\S*|git@\S*", re.IGNORECASE)
_HASH = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:::\w+)?"
    r"|(?=.{0,128}[0-9])(?=.{0,128}[a-f])[0-9a-f]{7,128}|[0-9A-Fa-f]{32,128}|sha\d{1,3}[:-]\S*"
)
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{3,16}")
_HOST = re.compile(
    r"\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d{1,5})?"
    r"|\[?[0-9a-f]{0,4}(?:::?[0-9a-f]{1,4}){2,8}\]?(?::\d{1,5})?"
)
_PORT = re.compile(r"(?<=[a-z0-9]):\d{2,5}$")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:T\S+)?|\d{1,2}:\d\d(?::\d\d\S{0,16})?|\d{1,2}/[A-Z][a-z]{2}/\S+"
)
_NUMBER = re.compile(
    r"[-+#~^=vV]{0,3}\d[\d.,_:x/-]*(?:[-.]?(?:a|b|rc|dev|alpha|beta|post)[\w.]*)?[a-zA-Z%]{0,3}"
)
_BYTE = re.compile(r"0x[0-9a-fA-F]{1,2}")
_REQUIREMENT = re.compile(r"(.{1,80}?)(?:@|[=<>~!]=?=?|\s)[v^~]?\d[\w.+*-]{0,40}")
_PLACE = re.compile(r"(?::\d{1,7}){1,2}$|\(\d{1,7}(?:[,:]\d{1,7})?\)$")
_CODE = re.compile(r"[A-Z]{1,8}[-_]?\d{1,6}")
_IDENTIFIER = re.compile(r"[\w@$.~&*<+#-][\w@$./:<>*&#+~,()\[\]=^-]*")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_LOCAL = re.compile(r"<\w+\d>")
# Parts of a name that are made anew each time: hashes, counters, temporary names.
_MADE_UP = re.compile(r"(?=[0-9a-f]{0,40}\d)[0-9a-f]{6,40}|\d{4,}")
_QUALIFIERS = re.compile(r"[./]|::")
_PARTS = re.compile(r"[^\W_]{2,}")

# A script in front of the file that it tripped over; where pip read a requirement.
_LOCATION = re.compile(r"^[^\s:]{0,200}/[^\s:]{0,100}: (?=[^\s:]*/[^\s:]*: )")
_REQUIRED_IN = re.compile(r"(?:from |and )?-r \S+(?: \(line \d+\))?(?: and)?")
_ROOTED = re.compile(r"(?:[A-Za-z]:)?[\\/]|(?:~|\.{1,2})[\\/]")
_DOMAIN = re.compile(r"[\w-]+(?:\.[\w-]+)+")
_EXTENSION = re.compile(r"[\w-](\.[A-Za-z]\w{0,7})$")
_HEADER = re.compile(r"\.(?:h|hh|hpp|hxx|inc|proto|so|dll|dylib|lib|a)(?:\.\d{1,4})*$")
# Of an asset that code cannot import it is the kind that matters, not the one file.
_ASSET_KINDS = (
    ".svg .png .jpg .jpeg .gif .webp .avif .ico .css .scss .less .woff .woff2 .md .mdx .vue .wasm "
    ".graphql .gql .glsl .html .mp3 .mp4 .pdf"
)
_ASSETS = frozenset(_ASSET_KINDS.split())
_ABOUT_A_FILE = re.compile(
    r"no such file|no such module|cannot find|can't find|could not find|cannot open|could not open"
    r"|unable to (?:open|find)|can't resolve|failed to resolve|does not exist|enoent|eacces"
    r"|permission denied|is a directory",
    re.IGNORECASE,
)
_ABOUT_A_MODULE = re.compile(r"module|import|resolve|loader", re.IGNORECASE)
_FILLER_WORDS = (
    "a an and are as at be been by can could did do does for from has have if in is it its of on "
    "or so some than that the there this to was were will with you your"
)
_FILLERS = frozenset(_FILLER_WORDS.split())
_LABELS = frozenset({"error", "errors", "fatal", "panic", "exception"})
_CODE_WORDS = "errno error code status http sqlstate signal state exit returned reason"
_NUMBER_IS_CODE = frozenset(_CODE_WORDS.split())

VALUE = "<value>"
NUMBER = "<n>"
PATH = "<path>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A message as every machine would print it.

    Attributes:
        text: words, names and placeholders in order, folded.
        names: modules, headers, symbols, packages in it.
        skeleton: its telling words alone.
        telling: words and names that carry something.
    """

    text: str
    names: tuple[str, ...]
    skeleton: str
    telling: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _About:
    """What a message is about: a file, whose name is kept; a module; a path that is all it says."""

    file: bool
    module: bool
    path: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    text: str
    is_word: bool = False
    is_name: bool = False


def shape_of(message: str) -> Shape:
    """Return the shape of *message*."""
    plain = _first_sentence(message[:MESSAGE_CHARS_MAX].translate(_QUOTES))
    plain = _LOCATION.sub("", _REQUIRED_IN.sub("", plain))
    about = _About(
        file=_ABOUT_A_FILE.search(plain) is not None,
        module=_ABOUT_A_MODULE.search(plain) is not None,
        path=len(plain.split()) <= PATH_WORDS,
    )
    tokens: list[_Token] = []
    for token in _tokens(plain, about=about):
        if not tokens and token.text in _LABELS:
            continue
        # Values in a row are as good as one, in a list of any length, and tell nothing in front.
        if token.is_word or token.is_name or (tokens and tokens[-1].text != token.text):
            tokens.append(token)
        if len(tokens) == SHAPE_TOKENS_MAX:
            break
    names = dict.fromkeys(token.text for token in tokens if token.is_name)
    words = [token.text for token in tokens if token.is_word]
    telling = {part for word in words for part in _PARTS.findall(word)} - _FILLERS
    return Shape(
        text=" ".join(token.text for token in tokens),
        names=tuple(names)[:NAMES_MAX],
        skeleton=" ".join(word for word in words if word not in _FILLERS),
        telling=len(telling) + sum(_telling_parts(name) for name in names),
    )


def _telling_parts(name: str) -> int:
    """Return how much a name tells: a qualified one as much as several words."""
    return min(len(_QUALIFIERS.split(name)), NAME_PARTS_MAX)


def without_values(message: str) -> str:
    """Return *message* as it was printed, but without hashes, addresses, times and long numbers."""
    kept = (word for word in message.split() if not _is_value(word.strip(_AROUND)))
    return " ".join(kept)


def _is_value(core: str) -> bool:
    return any(pattern.fullmatch(core) for pattern in (_ADDRESS, _HASH, _TIME))


def _first_sentence(text: str) -> str:
    """Return *text* up to its first full stop or omission, if that is enough to tell something."""
    for end in _SENTENCE_END.finditer(text):
        first = text[: end.end()]
        if len(first.split()) >= SENTENCE_WORDS_MIN:
            return first
    return text


def _tokens(text: str, *, about: _About) -> Iterator[_Token]:
    before = ""
    for found in _TOKEN.finditer(text):
        quoted, plain = found["quoted"], found["plain"]
        if quoted is not None:
            yield _classify(quoted, about=about, quoted=True)
            continue
        core = plain.strip(_AROUND)
        if not core:
            # The shell's own commands: "[" and "[[".
            if plain.rstrip(":") in ("[", "[["):
                yield _Token(text=plain.rstrip(":"), is_name=True)
            continue
        keyed = _KEYED.fullmatch(core)
        for part in keyed.groups() if keyed else (core,):
            token = _classify(part, about=about, quoted=False)
            if token.text == NUMBER and before in _NUMBER_IS_CODE:
                token = _Token(text=part.lower())
            if token.text:
                yield token
                before = token.text


def _classify(core: str, *, about: _About, quoted: bool) -> _Token:
    """Return what is kept of one token: a word, a name, or what kind of value it is."""
    if _BYTE.fullmatch(core):
        return _Token(text=core.lower())
    value = _value_in(core)
    if value:
        return _Token(text=value)
    if "/" in core or "\\" in core:
        return _path(core, about=about)
    if not quoted and _WORD.fullmatch(core) and not _CAMEL.search(core):
        return _Token(text=core.lower(), is_word=True)
    return _name(core, quoted=quoted)


def _value_in(core: str) -> str:
    """Return the placeholder of a value, empty for what is none."""
    for pattern, placeholder in (
        (_URL, "<url>"),
        (_ADDRESS, "<address>"),
        (_TIME, "<time>"),
        (_HOST, "<host>"),
        (_NUMBER, NUMBER),
        (_HASH, "<id>"),
    ):
        if pattern.fullmatch(core):
            return placeholder
    return ""


def _name(core: str, *, quoted: bool = False) -> _Token:
    """Return a name without its version, port and what is made up anew in it."""
    if _CODE.fullmatch(core):
        return _Token(text=core.lower(), is_name=True)
    required = _REQUIREMENT.fullmatch(core)
    name = _PORT.sub("", required[1] if required else core).removesuffix("()")
    if len(name) <= SIGN_CHARS_MAX and not any(letter.isalnum() for letter in name):
        return _Token(text=name if quoted else "", is_name=quoted)
    kept = _MADE_UP.sub("", name).strip("-.").rstrip("@")
    if _LOCAL.fullmatch(name):
        return _Token(text=VALUE)
    if len(name) > NAME_CHARS_MAX or not kept or not _IDENTIFIER.fullmatch(name):
        return _Token(text=VALUE)
    return _Token(text=kept.lower(), is_name=True)


def _path(core: str, *, about: _About) -> _Token:
    """Return a path's kind, its file where that is what the message is about, or a name."""
    if "\\x" in core or "\\u" in core:
        return _Token(text=VALUE)
    bare = _PLACE.sub("", core)
    rooted = _ROOTED.match(bare) is not None
    parts = bare.replace("\\", "/").split("/")
    if not rooted and len(parts) > PAIR and _DOMAIN.fullmatch(parts[0]):
        # A module or an image is known by the end of its address.
        return _name("/".join(parts[-PAIR:]))
    if not rooted and about.path and not _EXTENSION.search(bare):
        return _name(bare)
    if not rooted and (_HEADER.search(bare) or bare[0] == "@" or len(parts) == PAIR):
        return _name(bare)
    file = parts[-1]
    extension = _EXTENSION.search(file)
    kind = extension[1].lower() if extension else ""
    asset = about.module and bare.startswith(".") and kind in _ASSETS
    if about.file and file and not asset and not _MADE_UP.search(file):
        return _name(file)
    return _Token(text=PATH + kind)
