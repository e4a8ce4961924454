"""What is worth asking the memory about: prompts that ask, output that tells of an error."""

import re

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
_OWN_COMMAND = re.compile(r"^\s*(?:\S*/)?graft\s")

_ERROR = re.compile(
    r"""
    ^Traceback\ \(most\ recent\ call\ last\)
    | ^\s*[\w.$]+(?:Error|Exception|Panic)\b[:(\s]
    | ^\s*(?:error|fatal|panic|FATAL|ERROR|FAILED)\b[\[:(\s]
    | ^\S+:\d+(?::\d+)?:\s(?:fatal\ )?error\b
    | ^error\[E\d+\]
    | ^npm\ (?:ERR!|error)
    | ^E\s{2,}\S
    | \b(?:command\ not\ found|No\ such\ file\ or\ directory)\b
    | \b(?:Permission\ denied|Connection\ refused|address\ already\ in\ use)\b
    | \b(?:Segmentation\ fault|core\ dumped|undefined\ reference|cannot\ find\ symbol)\b
    | \b(?:SyntaxError|ModuleNotFoundError|AssertionError|NullPointerException)\b
    | \bexit(?:ed\ with)?\ (?:code|status)\ [1-9]
    """,
    re.MULTILINE | re.VERBOSE,
)


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

    What graft printed itself, and what it recalled, is no error of the work.
    """
    if _OWN_COMMAND.match(command):
        return ""
    said = without_recalled(printed).strip()
    end = said.encode("utf-8", "replace")[-ASKED_BYTES_MAX:].decode("utf-8", "ignore")
    return end if end and (failed or _ERROR.search(end)) else ""
