"""The lines of a pasted text without what terminals, loggers and build tools put around them."""

import re
from collections.abc import Sequence

READ_CHARS_MAX = 262_144
"""Of a longer text so much is read,"""
LAST_CHARS_MAX = 65_536
"""this of it from the end."""
LINE_CHARS_MAX = 2_000
"""Of a longer line the beginning is looked at."""
PREFIXES_MAX = 6
"""Prefixes that are taken off one line: a time, a host, a level, a tool in a tool."""

# Colours and cursor movements, titles and links; and colours that lost their escape character.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]{0,32}[ -/]{0,4}[@-~]|\x1b\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]?"
)
_LOST_ESCAPES = re.compile(r"\[(?:\d{1,3}(?:;\d{1,3}){0,5})?m|\[K(?![\w.])")
_HAS_LOST_ESCAPE = re.compile(r"\[(?:0|1|22|39|3\d|9\d)?m")
# A stack inside a JSON string, its line ends written out.
_WRITTEN_OUT = re.compile(r"\\n(?:\\t| {1,8})(?:at |File )")

_FENCES = ("```", "~~~")
_INDENTS = ("    ", "\t")

_DATE = r"\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.]\d\d(?:\d\d)?|\d{1,2}/[A-Z][a-z]{2}/\d{4}"
_TIME = r"\d{1,2}:\d\d:\d\d(?:[.,:]\d{1,9})?(?: ?[AP]M)?"
_ZONE = r"Z| ?[+-]\d\d:?\d\d| UTC| [A-Z]{3,4}(?= )"
_LEVELS = r"TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE"
_HOST_AND_PROGRAM = r" [\w.-]{1,64} [\w./@()-]{1,64}(?:\[\d{1,9}\])?:"
_PREFIXES = (
    rf"\[?(?:{_DATE})[T ]{{1,2}}{_TIME}(?:{_ZONE})?(?:: [A-Z]{{4,8}}/[\w-]{{1,40}})?\]?[:,]?",
    rf"[A-Z][a-z]{{2}} {{1,2}}\d{{1,2}} {_TIME}(?: \d{{4}})?(?:{_HOST_AND_PROGRAM})?",
    rf"\[?{_TIME}\]?[:,]?",
    r"\[ {0,6}\d{1,9}\.\d{1,9}\]",
    rf"[IWEF]\d{{4}} {_TIME} {{1,8}}\d{{1,9}} [\w.-]{{1,64}}:\d{{1,6}}\]",
    rf"(?:{_LEVELS}) {{1,4}}\d{{1,9}} --- \[[^\]\n]{{1,80}}\] \S{{1,120}} {{0,48}}:",
    rf"\[(?:{_LEVELS}|(?i:info|warn|error|emerg|crit|alert)|[EWID])\]:?",
    r"(?:TRACE|DEBUG|INFO|NOTICE)(?=\s)",
    # A container's name, a pod's, a step's, a job's.
    r"[\w./@-]{1,64} {0,32}\|(?= |$)",
    r"\[pod/[^\]\n]{1,160}\]",
    r"#\d{1,4}(?: \d{1,6}\.\d{1,4}(?= |$)| (?=[A-Z\[]))",
    r"##\[[a-z]{1,12}\]|::(?:error|warning|notice)[^:\n]{0,200}::",
    r"\d{1,9}#\d{1,9}:(?: \*\d{1,12})?",
    # A tool in a tool: npm running node-gyp, git repeating its server, Ansible its module.
    r"npm (?:ERR!|error|WARN|warn)(?= |$)",
    r"gyp ERR!(?: (?:stack|configure error|find Python))?(?= |$)",
    r"remote:",
    r"(?:stderr|stdout|msg): (?=\S)",
    # Quoted, framed, or marked by pytest.
    r"[│┃┆╎>|](?= |$)",
    r"E(?=  )",
)
_PREFIX = re.compile(rf"[ \t]{{0,40}}(?:{'|'.join(_PREFIXES)}) ?")


class Pasted:
    """A text taken apart into lines.

    Attributes:
        lines: as they were printed, colours and redrawn progress gone.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._bare: dict[int, str] = {}

    def bare(self, place: int) -> str:
        """Return a line without what was put before it on every line."""
        known = self._bare.get(place)
        if known is None:
            known = self._bare[place] = without_prefixes(self.lines[place])
        return known


def take_apart(text: str) -> Pasted:
    """Return the lines of *text*, of a long one the first and the last."""
    plain = text
    if len(plain) > READ_CHARS_MAX:
        plain = f"{plain[: READ_CHARS_MAX - LAST_CHARS_MAX]}\n{plain[-LAST_CHARS_MAX:]}"
    if "\x1b" in plain:
        plain = _ESCAPES.sub("", plain)
    elif _HAS_LOST_ESCAPE.search(plain):
        plain = _LOST_ESCAPES.sub("", plain)
    if _WRITTEN_OUT.search(plain):
        plain = plain.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    if "\r" not in plain:
        return Pasted(plain.split("\n"))
    # What redraws its line, as progress does, leaves only what stands after the last return.
    return Pasted([line.rstrip("\r").rpartition("\r")[2] for line in plain.split("\n")])


def without_prefixes(line: str) -> str:
    """Return *line* without times, hosts, levels and names of tools before it."""
    start = 0
    line = line[:LINE_CHARS_MAX].rstrip()
    for _ in range(PREFIXES_MAX):
        found = _PREFIX.match(line, start)
        if found is None:
            break
        start = found.end()
    return line[start:]


def had_prefix(line: str) -> bool:
    """Tell whether a program put something before *line*, so that no person wrote it."""
    return _PREFIX.match(line[:LINE_CHARS_MAX]) is not None


def code_lines(pasted: Pasted) -> frozenset[int]:
    """Return the numbers of the lines that Markdown shows as code, fenced or indented."""
    code: list[int] = []
    fenced = False
    for place, line in enumerate(pasted.lines):
        if line.lstrip().startswith(_FENCES):
            fenced = not fenced
        elif fenced or line.startswith(_INDENTS):
            code.append(place)
    return frozenset(code)
