"""Tells what stands in the place of a secret, in examples and templates, from one."""

import re

_MARKS = ("<", "${", "{{", "%(", "...", "…", "***", "xxx", "•")
"""What is in the text of templates and of secrets that were taken out."""
_WORDS = frozenset(
    {
        "changeme",
        "change_me",
        "dummy",
        "example",
        "fake",
        "foobar",
        "hidden",
        "insert",
        "mypassword",
        "mysecret",
        "mytoken",
        "none",
        "null",
        "pass",
        "passw0rd",
        "passwd",
        "password",
        "placeholder",
        "pwd",
        "redacted",
        "sample",
        "secret",
        "test",
        "testing",
        "token",
        "undefined",
        "user",
        "username",
        "value",
    }
)
_BEGIN = re.compile(
    r"[$<{\[(%*&]|\.{0,2}/|~/|your|example|(?:os|process|self|this|env|config)\.", re.IGNORECASE
)
_CHARACTERS_MIN = 3
"""Different ones, that a secret has at least."""


def is_placeholder(value: str) -> bool:
    """Tell whether *value* stands in the place of a secret."""
    low = value.lower()
    return (
        bool(_BEGIN.match(value))
        or any(mark in low for mark in _MARKS)
        or low in _WORDS
        or len(set(value)) < _CHARACTERS_MIN
    )
