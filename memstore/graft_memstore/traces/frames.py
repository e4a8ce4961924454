"""Where an error arose: the functions on its stack, innermost first, and whose code they are."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from graft_memstore.traces.lines import Pasted

FRAME_LINES_MAX = 160
"""Lines that are looked at for the stack of one error."""
GAP_LINES_MAX = 3
"""Lines that may stand between two frames: source, markers, a heading."""
SOURCE_INDENT = 2
"""Columns by which source is indented at least."""
FUNCTIONS_MAX = 6
"""Functions of one stack that are kept."""

_FRAMES = (
    # File "a/b.py", line 3, in f · File a/b.py:3, in f(…)
    re.compile(
        r"^\s*File \"?(?P<file>[^\"\n]{1,400}?)\"?(?:, line \d{1,7}|:\d{1,7}), "
        r"in (?P<python>[\w.<>]{1,160})"
    ),
    # a/b.py:3: in f
    re.compile(r"^\s*(?P<file>[^\s:]{1,400}\.pyx?):\d{1,7}: in (?P<python>[\w.<>]{1,160})"),
    # at module/a.b.C.f(C.java:3) · at A.B.F() in /x/B.cs:line 3
    re.compile(
        r"^\s*at (?:[\w.@-]{0,80}/{1,2}){0,3}"
        r"(?P<java>(?:[\w$`\[\],]{1,80}\.){1,20}[\w$<>.`\[\],]{1,80})"
        r"\((?P<file>[\w.$ ]{0,120}(?::\d{1,7})?|[^()\n]{0,160}(?=\) in ))\)"
    ),
    # at f (a/b.js:3:1) · at async f (a/b.js:3:1) · at a/b.js:3:1
    re.compile(
        r"^\s*at (?:(?:async |new )*(?P<script>[^\s()][^()\n]{0,160}?) "
        r"(?:\[as [^\]\n]{1,80}\] )?\()?"
        r"(?P<file>[^()\n]{1,300}?):\d{1,7}:\d{1,7}\)?,?(?: \{)?$"
    ),
    # 3: a::b::f and, below it, at a/b.rs:3:1
    re.compile(r"^\s*\d{1,4}: {1,3}(?:0x[0-9a-f]{1,16} - )?(?P<native>[^\s(][^\n(]{0,240})$"),
    # #3 0x12 in a::f(int) a/b.cc:3
    re.compile(
        r"^\s*#\d{1,4} {1,3}(?:0x[0-9a-f]{1,16} in )?(?P<native>[^\s(/][^\n(]{0,200})"
        r"(?:\([^\n]{0,200}\))?(?: (?P<file>/[^\n]{1,300}))?$"
    ),
    # a/b.(*T).f(0xc000…) and, below it, a/b.go:3 +0x1d
    re.compile(
        r"^(?P<go>(?:[\w.~-]{1,80}/){0,12}[\w.~%-]{1,80}\.[\w.()*\[\]{}·-]{1,120})"
        r"\([^\n]{0,400}\)$"
    ),
)
_FILE_BELOW = re.compile(
    r"^\s+(?:at )?(?P<file>[^\s:]{1,300}):\d{1,7}(?::\d{1,7}| \+0x[0-9a-f]{1,8})?$"
)
_STACK_ENDS = re.compile(
    r"^\s*(?:Caused by:|Suppressed:|\[cause\]:|created by |exit status |goroutine \d"
    r"|\.\.\. \d{1,4} )"
)
_STACK_BEGINS = re.compile(
    r"Traceback \(most recent call last\)|^={9,}|exception was the direct|handling of the above"
)

_LIBRARY_FILE = re.compile(
    # Python
    r"site-packages|dist-packages|lib/python\d|\\Lib\\|^<|\.pyx$|\.pxi$"
    # JavaScript
    r"|node_modules|^node:|^internal/|^native"
    # Rust, Go, C
    r"|/rustc/|\.cargo/registry|/usr/(?:local/)?(?:go|lib|include)/|/pkg/mod/|/libexec/src/"
    r"|/third_party/|/vendor/|googletest|sysdeps|\.so\b|\.dylib\b"
)
_JAVA = "java javax jdk sun com.sun kotlin kotlinx scala clojure groovy jakarta android androidx "
_JAVA += "dalvik reactor akka okhttp3 org.apache org.springframework org.hibernate org.junit "
_JAVA += "org.eclipse org.jboss org.gradle org.postgresql org.mockito org.slf4j com.google "
_JAVA += "com.fasterxml com.zaxxer com.mysql com.oracle com.netflix com.amazonaws com.microsoft "
_JAVA += "com.datastax com.mongodb io.netty io.grpc io.ktor io.micrometer io.lettuce io.reactivex "
_JAVA += "io.vertx io.quarkus io.micronaut System Microsoft Newtonsoft"
_GO = "runtime testing reflect sync os io fmt syscall regexp time context bufio bytes strings sort "
_GO += "net encoding database internal crypto text html golang.org"
_RUST = "core std alloc tokio hashbrown rayon rayon_core futures futures_util futures_core test "
_RUST += "__rustc testing"
_LIBRARY_FUNCTIONS = {
    "java": re.compile(rf"(?:{'|'.join(map(re.escape, _JAVA.split()))})\."),
    "go": re.compile(rf"(?:{'|'.join(map(re.escape, _GO.split()))})[./]"),
    "native": re.compile(
        rf"<?(?:{'|'.join(_RUST.split())})::|rust_begin_|_\w|operator (?:new|delete)"
    ),
}
# What has no name, or stands at the bottom of every stack, tells no place.
_NO_PLACE_WORDS = (
    "anonymous main Main init __init__ eval run call invoke apply exec execute handle "
)
_NO_PLACE_WORDS += "wrapper inner new Object Function Module"
_NO_PLACE = frozenset(_NO_PLACE_WORDS.split())
_NAMELESS = re.compile(r"<\w*>")
_LAMBDA = re.compile(r"lambda\$(\w{1,80})\$\d{1,4}")
_MADE_BY_COMPILER = re.compile(
    r"::h[0-9a-f]{16}|(?:::)?\{\{closure\}\}|\.func\d{1,4}(?:\.\d{1,4})*|\$\$\w*|\$\d{1,4}\b"
    r"|\[\.\.\.\]|<[^<>\n]{0,120}>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One call on a stack; *own* where no library is known to have made it."""

    function: str
    own: bool


def stack_of(pasted: Pasted, place: int) -> tuple[Frame, ...]:
    """Return the stack of the error on line *place*, innermost call first.

    Python prints it above the error, everybody else below.
    """
    return _stack_above(pasted, place) or _stack_below(pasted, place)


def is_source(pasted: Pasted, place: int) -> bool:
    """Tell whether line *place* is the source that Python shows below a call."""
    line = pasted.bare(place)
    above = pasted.bare(place - 1) if place else ""
    return line[:SOURCE_INDENT].isspace() and any(each.match(above) for each in _FRAMES[:2])


def is_frame(line: str) -> bool:
    """Tell whether *line* is a call on a stack, which names functions and no error."""
    return any(pattern.match(line) for pattern in _FRAMES[:4])


def places_of(stack: Iterable[Frame]) -> tuple[str, ...]:
    """Return the functions of a person's own code that tell a place, innermost first."""
    own = (frame.function for frame in stack if frame.own)
    named = dict.fromkeys(name for name in own if _tells_place(name))

    return tuple(named)[:FUNCTIONS_MAX]


def _stack_above(pasted: Pasted, place: int) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    gap = 0
    for at in range(place - 1, max(place - FRAME_LINES_MAX, 0) - 1, -1):
        line = pasted.bare(at)
        if _STACK_BEGINS.search(line):
            break
        found = _FRAMES[0].match(line) or _FRAMES[1].match(line)
        if found:
            frames.append(_python_frame(found["file"], found["python"]))
            gap = 0
            continue
        gap += 1
        if gap > GAP_LINES_MAX:
            break
    return tuple(frames)


def _stack_below(pasted: Pasted, place: int) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    gap = 0
    for at in range(place + 1, min(place + FRAME_LINES_MAX, len(pasted.lines))):
        line = pasted.bare(at)
        if frames and (not line.strip() or _STACK_ENDS.match(line)):
            break
        frame = _frame_below(pasted, at, line)
        if frame is not None:
            frames.append(frame)
            gap = 0
            continue
        gap += 0 if _FILE_BELOW.match(line) else 1
        if gap > GAP_LINES_MAX:
            break
    return tuple(frames)


def _frame_below(pasted: Pasted, at: int, line: str) -> Frame | None:
    for pattern in _FRAMES[2:]:
        found = pattern.match(line)
        if found is None:
            continue
        named = found.groupdict()
        file = named.get("file") or ""
        below = (
            None
            if file
            else _FILE_BELOW.match(pasted.bare(at + 1) if at + 1 < len(pasted.lines) else "")
        )
        file = below["file"] if below else file
        if "go" in named and not below:
            return None
        return _frame(next(name for key, name in named.items() if key != "file"), file, named)
    return None


def _python_frame(file: str, function: str) -> Frame:
    stem = file.replace("\\", "/").rpartition("/")[2].partition(".")[0]
    return Frame(function=f"{stem}.{function}", own=not _LIBRARY_FILE.search(file))


def _frame(function: str | None, file: str, kind: dict[str, str | None]) -> Frame:
    """Return a frame with its function as it is called in every build."""
    named = _LAMBDA.sub(r"\1", function or "")
    name = _MADE_BY_COMPILER.sub("", named).strip(" :.")
    library = next((_LIBRARY_FUNCTIONS[key] for key in kind if key in _LIBRARY_FUNCTIONS), None)
    own = not (_LIBRARY_FILE.search(file) or (library and library.match(name)))
    if "java" in kind:
        name = ".".join(name.split(".")[-2:])
    elif "go" in kind:
        name = name.rpartition("/")[2]
    elif "native" in kind:
        name = "::".join(name.split("::")[-2:])
    return Frame(function=name, own=own)


def _tells_place(name: str) -> bool:
    last = re.split(r"[.:]+", name)[-1]
    return bool(last) and last not in _NO_PLACE and not _NAMELESS.fullmatch(last)
