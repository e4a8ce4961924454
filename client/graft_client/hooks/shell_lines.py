"""What a line of shell does, as far as its commands' names tell: it only reads, it is graft's."""

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

LINE_CHARACTERS_MAX = 4_096
"""A longer line is a script, and is not taken apart."""

_SEPARATORS = frozenset("();|&")
_ASSIGNMENT = re.compile(r"\w+=")
_BEFORE_COMMANDS = frozenset({"sudo", "time", "command", "builtin", "env", "nice", "!", "$"})
_PRINTING = frozenset({"cat", "head", "tail", "less", "more", "bat", "nl", "tac"})
"""Commands that print files: what is in a log may well be an error of the work."""
_READING = (
    "[ ack ag awk cd cut diff echo egrep export fd fgrep file find grep jq ls printf pushd pwd"
    " readlink realpath rg sed sort stat test tr tree true type uniq wc which"
)
_READING_OF_GIT = (
    "blame branch cat-file config diff grep log ls-files ls-tree reflog remote rev-parse shortlog"
    " show status tag"
)
_WITH_VALUE = frozenset({"-C", "-c"})
"""Options of git before its verb."""


def only_reads(line: str) -> bool:
    """Tell whether all commands of *line* do no more than show what is there already."""
    commands = _commands(line)
    return bool(commands) and all(map(_reads, commands))


def is_graft(line: str) -> bool:
    """Tell whether *line* runs graft, and beside it nothing that does more than read."""
    commands = _commands(line)
    own = [words for words in commands if _name(words) == "graft"]
    return bool(own) and all(words in own or _reads(words) for words in commands)


def _reads(words: Sequence[str]) -> bool:
    name = _name(words)
    if name == "git":
        pairs = pairwise(words)
        verbs = (word for before, word in pairs if word[:1] != "-" and before not in _WITH_VALUE)
        return next(verbs, "") in _READING_OF_GIT.split()
    if name in _PRINTING:
        return not any("log" in each.lower() for each in words[1:])
    return name in _READING.split()


def _name(words: Sequence[str]) -> str:
    return PurePosixPath(words[0]).name


def _commands(line: str) -> list[list[str]]:
    """Take a line apart, each command with its words; nothing where that is not plain."""
    if len(line) > LINE_CHARACTERS_MAX:
        return []
    # In quotes a semicolon more changes nothing that is looked at here.
    lexer = shlex.shlex(line.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.commenters = ""
    try:
        return list(_separated(list(lexer)))
    except ValueError:
        return []


def _separated(tokens: Sequence[str]) -> Iterator[list[str]]:
    words: list[str] = []
    for token in (*tokens, ";"):
        if not _SEPARATORS.issuperset(token):
            if words or not (_ASSIGNMENT.match(token) or token in _BEFORE_COMMANDS):
                words.append(token)
        elif words:
            yield words
            words = []
