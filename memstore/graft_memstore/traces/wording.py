"""The words by which tools say that something failed, or only that something before it did."""

import re

_FAILED = (
    r"can(?:not|'t| not)",
    r"could(?: not|n't)",
    r"do(?:es)?n't",
    r"not [a-z]{3,}",
    r"no (?:such|space|route)",
    r"unable|denied|refus\w{1,4}|reject\w{0,3}|fail\w{0,4}|errors?",
    r"invalid|illegal|incorrect|bad|wrong|broken|corrupt\w{0,3}|mismatch\w{0,3}|incompatible",
    r"unknown|unexpected|unrecognized|unsupported|unresolved|undefined|unbound|expects",
    r"missing|lacks?|already|duplicate|must be|conflict\w{0,5}|violat\w{1,4}|syntax error",
    r"too (?:long|many|large|big|old)|exceed\w{0,5}|overflow\w{0,2}|exhausted|expired",
    r"timed? ?out|abort\w{0,3}|killed|terminated|deadlock|segmentation fault",
)
_FAILURE = re.compile(rf"(?<![\w-])(?:{'|'.join(_FAILED)})(?![\w-])", re.IGNORECASE)

_FOLLOWED = (
    # how a process ended
    r"exit(?:ed)?(?: with)?(?: exit)? (?:code|status)|exited? \d|code=exited|non-zero",
    r"\] Error \d|Aborting$|segmentation violation code=",
    # that a build, a job or a test run did not go on
    r"[Bb]uild (?:failed|stopped|aborted)|[Cc]ompilation (?:failed|terminated)|previous error",
    r"\d errors? generated|^\d+ failed|could not compile|waiting for (?:other|unfinished)",
    r"ld returned|linker command failed|symbol\(s\) not found|Undefined symbols for",
    r"[Cc]ommand failed|[Jj]ob failed|script returned|Lifecycle script|Failed to execute goal",
    r"Execution failed for task|FAILED! => changed|complete log of this",
    r"subprocess-exited-with|originates from a subprocess|[Ff]ailed (?:building|to build)",
    r"failed to push some refs",
)
_CONSEQUENCE = re.compile("|".join(_FOLLOWED))


def says_failure(text: str) -> bool:
    """Tell whether *text* has a word that says that something did not work."""
    return _FAILURE.search(text) is not None


def is_consequence(text: str) -> bool:
    """Tell whether *text* only reports that something before it failed."""
    return _CONSEQUENCE.search(text) is not None
