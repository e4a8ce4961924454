"""What is worth asking the memory about: prompts that ask, output that tells of an error."""

import re

from graft_client.hooks.shell_lines import is_graft, only_reads
from graft_client.recalled import without_recalled

PROMPT_CHARACTERS_MIN = 12
"""Of a prompt, white space and what was recalled left out, in letters of ASCII."""
OTHER_CHARACTERS_MIN = 5
"""The same in other letters, which say more."""
PROMPT_WORDS_MIN = 3
ASKED_BYTES_MAX = 16 * 1024
"""Of a text, what is asked: a prompt's beginning, the end of what a tool printed."""

_COMMANDS = ("/", "!", "#")
"""What begins a line that is for the agent's own program."""

_NOTHING = r"(?![\ \t]*(?:0\b|\(?none\b|null\b|false\b))"
"""After a word for an error: that there is none."""
_PLACE = r"\S[^\n]*?[:(]\d+(?:[:,]\d+)?\)?:?[\ \t]+(?:-[\ \t])?"
"""Before a message of a compiler: file, line and column, in any of their forms."""

_ERROR = re.compile(
    rf"""
    # Languages
      \bTraceback\ \(most\ recent\ call\ last\):
    | ^[\ \t|\u2502*(]*(?:(?:Uncaught|Unhandled|Caused\ by:|PHP\ Fatal\ error:)[\ \t]+)*
      [\w.$]*(?:Error|Exception|Panic)\b(?::{_NOTHING}|\(|\)|[\ \t]*$)
    | ^Exception\ in\ thread\b
    | ^\S+:\d+:(?:\s|in\b)(?:[^\n]*\()?[\w.:]+(?:Error|Exception)\b
    | ^PHP\ (?:Fatal|Parse)\ error:
    | ^thread\ '[^'\n]*'\ (?:\(\d+\)\ )?panicked\ at
    | \b(?:Segmentation\ fault|core\ dumped|undefined\ reference\ to)\b
    # Compilers and linters
    | ^{_PLACE}(?:fatal\ )?(?:error|ERROR)\b
    | ^[\ \t]+\d+:\d+[\ \t]+error\s
    | ^\S+\.go:\d+:\d+:\s
    | ^error(?:\[\w+\]|\ \w*\d+):\s
    | ^Found\ [1-9]\d*\ errors?\b
    # Any program
    | ^[\ \t|\u2502]*(?:[\w./+-]+:\s)?(?:fatal\ )?(?:error|fatal|panic|ERROR|FATAL):
      {_NOTHING}[\ \t]*\S
    | ^\S*:\sError\b
    | ^\[(?:ERROR|FATAL)\]\s
    | (?::|\])\s(?:command\ not\ found|No\ such\ file\ or\ directory|Permission\ denied
                   |Connection\ refused|[Aa]ddress\ already\ in\ use)\b
    | ^\S*sh:\s[^\n]*:\snot\ found$
    | \b[Ee]xit(?:ed\ with)?\ (?:[Cc]ode|status):?\ [1-9]\d*(?=[\ \t]*(?:$|[.,;:)>\]]))
    # Tests and builds
    | ^E[\ \t]{{2,}}\S
    | ^FAILED\ (?:\S*::|\()
    | ^FAIL(?:[\ \t]+\S*[./]|[\ \t]*$)
    | ^[\ \t]*---\ FAIL:
    | \btest\ result:\ FAILED\b
    | ^(?:FAILURE:\ Build|BUILD)\ (?:failed|FAILED)\b
    | ^g?make(?:\[\d+\])?:\ \*\*\*\s
    | ^CMake\ Error\b
    # Tools with words of their own
    | ^npm\ (?:ERR!|error)
    | ^ERROR\ \d+\ \(\w+\)
    | ^Error\ from\ server\b
    | ^Cannot\ connect\ to\ the\ Docker\ daemon\b
    | ^CONFLICT\ \(
    | ^\s!\s\[(?:remote\ )?rejected\]
    | ^curl:\ \(\d+\)
    | ^\*\*\ \(\w+
    """,
    re.MULTILINE | re.VERBOSE,
)
_EXIT_CODE = re.compile(r"^[ \t]*exit code:? \d+[ \t]*$", re.MULTILINE | re.IGNORECASE)
"""A line that says no more than that a command failed."""


def question_in(prompt: str) -> str:
    """Return what a prompt asks, without what was recalled; empty where it is not worth asking."""
    said = without_recalled(prompt).strip()
    if said.startswith(_COMMANDS):
        return ""
    letters = "".join(said.split())
    if letters.isascii():
        if len(letters) < PROMPT_CHARACTERS_MIN or len(said.split()) < PROMPT_WORDS_MIN:
            return ""
    elif len(letters) < OTHER_CHARACTERS_MIN:
        return ""
    return said.encode("utf-8", "replace")[:ASKED_BYTES_MAX].decode("utf-8", "ignore")


def error_in(printed: str, command: str, *, failed: bool) -> str:
    """Return the part of what a tool printed that tells of an error; empty where it tells of none.

    What graft printed itself, and what it recalled, is no error of the work; nor is what a command
    showed of files and of history, unless it failed.
    """
    if is_graft(command) or (not failed and only_reads(command)):
        return ""
    said = without_recalled(printed).strip()
    end = said.encode("utf-8", "replace")[-ASKED_BYTES_MAX:].decode("utf-8", "ignore")
    if failed:
        return end if _EXIT_CODE.sub("", end).strip() else ""
    return end if _ERROR.search(end) else ""


def went_well(command: str, *, failed: bool) -> bool:
    """Tell whether a command without an error shows that the work goes on, by doing some of it."""
    return not failed and not is_graft(command) and not only_reads(command)
