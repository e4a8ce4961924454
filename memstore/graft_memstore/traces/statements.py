"""What one line says of an error: its type, its code and its message, whoever printed it."""

import re
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import islice

from graft_memstore.traces.wording import is_consequence, says_failure

STATEMENTS_MAX = 4
"""Errors of one line: what wraps another names it, too."""
MESSAGE_CHARS_MAX = 600
MESSAGE_CHARS_MIN = 4
SPANS_MAX = 32
CITED_WORDS_MIN = 3
"""Fewer words in quotes are a name."""


class Certainty(IntEnum):
    """How certain it is that a line tells of an error, the most certain first."""

    TYPED = 0
    LABELLED = 1
    TOLD = 2
    LOGGED = 3
    WARNED = 4
    UNMARKED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a line says.

    Attributes:
        type: last part of an exception's name; empty where there is none.
        code: a code of the tool's own, such as E0382 or ERR_MODULE_NOT_FOUND; empty likewise.
        message: as it was printed, up to the end of the line.
        open: the message stands on the lines below.
    """

    certainty: Certainty
    type: str = ""
    code: str = ""
    message: str = ""
    open: bool = False


_ENDS = "Error Exception Failure Fault Warning Interrupt Violation Overflow Timeout Expired Panic"
_TYPE_ENDS = tuple(_ENDS.split())
_TYPE_MODULES = (".errors.", ".exceptions.", ".exc.")
# json.decoder.JSONDecodeError: … · TypeError [ERR_X]: … · docker.errors.NotFound: …
_TYPED = re.compile(
    r"(?<![\w.$/\\@-])(?P<type>(?:[A-Za-z_](?:[\w$]|\.(?=[A-Za-z_])|::){0,160}?)?"
    rf"(?:{'|'.join(_TYPE_ENDS)}|\.(?:errors|exceptions|exc)\.[A-Z]\w{{1,80}}))"
    r"(?![\w$])(?:\s?\[(?P<code>[A-Z][A-Z0-9_]{2,60})\])?(?:\s\([^()\n]{0,80}\))?"
    r"(?P<said>:(?=\s|$)|(?=\s*$))"
)
# What Python raised stands below its stack, whatever its name.
_RAISED = re.compile(r"^(?P<type>[A-Za-z_][\w.]{1,160}?)(?P<said>:(?=\s|$)|$)")
# error: … · fatal: … · error TS2307: … · error[E0382]: … · Error response from daemon: …
_LABELLED = re.compile(
    r"(?:^|(?<=[\s:|>=`\"']))"
    r"(?P<label>(?:[Ff]atal |FATAL |[Ii]nternal |[Ss]yntax )?(?:[Ee]rror|ERROR)|[Ff]atal|FATAL"
    r"|[Pp]anic)"
    r"(?:\[(?P<bracketed>\w{1,20})\]|\s(?P<numbered>[A-Z]{1,5}-?\d{2,6}|\d{3,5})(?=[\s:(])"
    r"|(?:\s[a-z]{1,20}){1,4})?"
    r"(?:\s?\((?P<inside>[^()\n]{0,80})\))?:\s+(?P<message>\S.*)"
)
_APT = re.compile(r"^E: (?P<message>\S.*)")
_PANICKED = re.compile(
    r"thread '[^'\n]{0,120}'(?: \(\d{1,9}\))? panicked at "
    r"(?:'(?P<message>[^\n]*)', )?[^\s:]{1,300}:\d{1,7}:\d{1,7}(?P<below>:)?$"
)
# a/b.go:58:31: … · e: file:///a/b.kt:22:31 …
_COMPILED = re.compile(
    r"(?:^|(?<=\s)|(?<=://))(?:[A-Za-z]:)?[\w./\\@+-]{1,240}\.(?:go|kts?|scala|swift|java|zig|dart)"
    r":\d{1,7}:\d{1,7}:? (?P<message>\S.*)"
)
_LINKED = re.compile(
    r"(?P<message>cannot find -l[\w.+-]{1,80}|(?:undefined reference to|multiple definition of"
    r"|undefined symbol|duplicate symbol|relocation R_\w{1,40} against"
    r"|unresolved external symbol)\S*.*)"
)
_REFERENCED = re.compile(r"^\s*\"(?P<symbol>[^\"\n]{1,300})\", referenced from:")
_CYCLE = re.compile(
    r"imports (?P<module>\S{1,200})(?: from \S{1,100})?: (?P<message>import cycle not allowed)"
)
_MODULE_FAILED = re.compile(r"FAILED! => \{.{0,400}?\"msg\": \"(?P<message>(?:[^\"\\]|\\.){6,600})")
_REJECTED = re.compile(r"! \[(?:remote )?rejected\][^\n(]{0,300}\((?P<message>[^)\n]{4,200})\)")
_CONFLICT = re.compile(r"^(?P<message>CONFLICT \([^)\n]{1,60}\): .*)")
# "err": "…" in JSON, err="…" in logfmt
_KEYED = re.compile(
    r"(?<![\w-])\"?(?:err|error|reason|exception|cause)\"?\s?[:=]\s?"
    r"\"(?P<message>(?:[^\"\\]|\\.){6,600})\""
)
# sh: 3: x: not found · ./a.sh: line 27: /usr/bin/cp: Argument list too long · jq: error …
_SCRIPT = re.compile(r"^-?[\w./~+-]{1,200}: (?:line )?\d{1,6}: (?P<message>\S.{3,})$")
_TOLD = re.compile(
    r"^(?!(?:note|help|hint|info|debug|warning|= ?note|= ?help): )"
    r"-?(?:[\w./~+-]{1,120}|\[[^\]\n]{1,80}\])(?:: (?:line )?\d{1,6})?: (?P<message>\S.{3,})$"
)
_LOGGED = re.compile(
    r"(?:^|\s)(?:ERROR|FATAL|CRITICAL|SEVERE)\s+(?:[\w.$/-]{1,120}(?: -|:)\s+)?"
    r"(?P<message>\S.{3,})$"
)
# Each with what stands in every line that it matches: a plain search is far quicker.
_MARKED = (
    ("E: ", _APT),
    (":", _COMPILED),
    (" ", _LINKED),
    ("import cycle", _CYCLE),
    ("rejected]", _REJECTED),
    ("CONFLICT", _CONFLICT),
    (": ", _SCRIPT),
)
_LABEL_WORDS = ("rror", "RROR", "atal", "ATAL", "anic")
_CODE_FIRST = re.compile(r"(?P<code>E[A-Z]{3,14}|ERR_[A-Z0-9_]{3,60}|[A-Z]{2,5}\d{3,5})(?=[: ])")
_CODE_LAST = re.compile(
    r"(?:\s{2,}\[(?P<code>[a-z][\w-]{2,40})|\s\[-W[\w=+-]{1,60})\]$|\((?P<state>SQLSTATE \w{5})\)$"
)
_WRAPS = re.compile(r"[\s;:,(]*(?:nested exception is|[Cc]aused by|due to|because of)?:?\s*$")
_SPAN = re.compile(
    r"`([^`\n]{1,300})`|(?<!\w)'([^'\n]{1,300})'(?!\w)|\"([^\"\n]{1,300})\"|“([^”\n]{1,300})”"
)
_CLOSING = {"`": "`", '"': '"', "'": "'", "“": "”"}
_TYPE_ALONE = "Error"
PANIC = "panic"
"""The type of what Go and Rust call so."""


def statements_of(line: str, *, raised: bool = False, tool: bool = False) -> list[Statement]:
    """Return what *line* says, the outermost error first.

    Args:
        line: without prefixes.
        raised: it stands below a stack of Python's, so it is an exception whatever its name.
        tool: a tool marked it as an error, by what stood before it.
    """
    found = _typed(line, raised=raised)
    if not found:
        told = _labelled(line)
        quoted = [] if told else _quoted(line)
        told = told or (None if quoted else _told(line))
        if tool and told:
            told = replace(told, certainty=min(told.certainty, Certainty.LABELLED))
        found = [told] if told else quoted
    return [
        each
        for each in found
        if not is_consequence(each.message)
        and (each.type or len(each.message) >= MESSAGE_CHARS_MIN)
    ]


def cited_in(line: str) -> list[str]:
    """Return what *line* has in quotes or as code, of several words."""
    spans = (next(filter(None, span.groups())) for span in islice(_SPAN.finditer(line), SPANS_MAX))
    return [span for span in spans if len(span.split()) >= CITED_WORDS_MIN]


def _typed(line: str, *, raised: bool) -> list[Statement]:
    hopeful = any(part in line for part in (*_TYPE_ENDS, *_TYPE_MODULES))
    matches = list(islice(_TYPED.finditer(line), STATEMENTS_MAX)) if hopeful else []
    if not matches and raised:
        first = _RAISED.match(line)
        matches = [first] if first else []
    found = []
    for number, match in enumerate(matches):
        end = matches[number + 1].start() if number + 1 < len(matches) else len(line)
        message = _inside_quotes(line, match.start(), line[match.end() : end])
        if number + 1 < len(matches):
            message = _WRAPS.sub("", message)
            if not message.strip():
                # A label that is called as an exception is: Error: java.lang.…
                continue
        kind = re.split(r"[.$]|::", match["type"])[-1]
        code = match.groupdict().get("code") or ""
        statement = _with_code(message, code)
        found.append(
            Statement(
                certainty=Certainty.WARNED if kind.endswith("Warning") else Certainty.TYPED,
                type="" if kind == _TYPE_ALONE else kind,
                code=statement[1],
                message=statement[0],
                open=bool(match["said"]) and not statement[0],
            )
        )
    return [each for each in found if each.type or each.message or each.open]


def _labelled(line: str) -> Statement | None:
    """Return what a line says that is marked as an error."""
    panicked = _PANICKED.search(line) if "panicked" in line else None
    if panicked:
        return Statement(
            certainty=Certainty.TYPED,
            type=PANIC,
            message=panicked["message"] or "",
            open=panicked["message"] is None,
        )
    referenced = _REFERENCED.match(line) if "referenced from" in line else None
    if referenced:
        message = f"undefined symbol '{referenced['symbol']}'"
        return Statement(certainty=Certainty.LABELLED, message=message)
    failed = _MODULE_FAILED.search(line) if "FAILED!" in line else None
    if failed:
        return Statement(certainty=Certainty.LABELLED, message=_unescaped(failed["message"]))
    labels = any(word in line for word in _LABEL_WORDS)
    found = _LABELLED.search(line) if labels else None
    if found:
        message = _inside_quotes(line, found.start(), found["message"])
        message, code = _with_code(message, found["bracketed"] or found["numbered"] or "")
        kind = PANIC if found["label"].lower() == PANIC else ""
        return Statement(certainty=Certainty.LABELLED, type=kind, code=code, message=message)
    return _marked(line)


def _marked(line: str) -> Statement | None:
    """Return what a line says that has no label but the form of some tool's errors."""
    for sign, pattern in _MARKED:
        found = pattern.search(line) if sign in line else None
        if found and (pattern is not _SCRIPT or says_failure(found["message"])):
            message, code = _with_code(_inside_quotes(line, found.start(), found["message"]), "")
            module = found.groupdict().get("module")
            return Statement(
                certainty=Certainty.LABELLED,
                code=code,
                message=f"{message} {module}" if module else message,
            )
    return None


def _told(line: str) -> Statement | None:
    keyed = _KEYED.search(line)
    if keyed:
        line = _unescaped(keyed["message"])
    told = _TOLD.match(line)
    if told and says_failure(told["message"]) and "warning: " not in line:
        return Statement(certainty=Certainty.TOLD, message=told["message"])
    if keyed:
        return Statement(certainty=Certainty.TOLD, message=line)
    logged = _LOGGED.search(line)
    if logged:
        return Statement(certainty=Certainty.LOGGED, message=logged["message"])
    if says_failure(line) and not line[:1].isspace():
        return Statement(certainty=Certainty.UNMARKED, message=line)
    return None


def _quoted(line: str) -> list[Statement]:
    """Return the messages that a sentence cites in quotes."""
    found = (_labelled(each) or _as_told(each) for each in cited_in(line) if says_failure(each))
    return list(islice(found, STATEMENTS_MAX))


def _as_told(text: str) -> Statement:
    told = _TOLD.match(text)
    return Statement(certainty=Certainty.TOLD, message=told["message"] if told else text)


def _unescaped(text: str) -> str:
    """Return the first line of what stood inside a JSON string."""
    return text.partition("\\n")[0].replace('\\"', '"')


def _with_code(message: str, code: str) -> tuple[str, str]:
    """Return *message* without a code before or behind it, and the code."""
    message = message.strip()[:MESSAGE_CHARS_MAX]
    last = _CODE_LAST.search(message)
    if last:
        code = code or last["code"] or (last["state"] or "").rpartition(" ")[2]
        message = message if last["state"] else message[: last.start()]
    first = None if code else _CODE_FIRST.match(message)
    return message, first["code"] if first else code


def _inside_quotes(line: str, start: int, message: str) -> str:
    """Return *message* up to the quote that closes what opens right before *start*."""
    closing = _CLOSING.get(line[start - 1]) if start else None
    if line.count("`", 0, start) % 2:
        closing = "`"
    if closing is None:
        return message
    end = message.find(closing)
    while end >= 0 and closing == "'" and message[end + 1 : end + 2].isalnum():
        end = message.find(closing, end + 1)
    return message if end < 0 else message[:end]
