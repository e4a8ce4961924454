"""Which texts only retell a piece of another one."""

import pytest

from graft_memstore.write.retelling import retells

TITLE = "The staging pooler drops idle connections"
BODY = """\
The staging pooler listens on port 6432 and silently drops connections that stay idle
for more than 300 seconds. Set `tcp_keepalives_idle` in the client, as Anna found out.

- Never restart it by hand while a migration runs.
- The dashboard shows the pool only after the first query."""
NOTE = (TITLE, BODY)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        (TITLE, BODY),
        (TITLE, BODY.split("\n\n", maxsplit=1)[0]),
        (TITLE, "Set `tcp_keepalives_idle` in the client, as Anna found out."),
        ("Never restart it by hand while a migration runs", ""),
        (TITLE, "THE STAGING POOLER LISTENS ON PORT 6432"),
        # The lines are broken elsewhere, and words that say nothing are left out or added.
        (TITLE, BODY.replace("idle\nfor", "idle for").replace("The dashboard", "A dashboard")),
        (TITLE, BODY.replace("silently", "quietly")),
        (TITLE, BODY.replace("shows the pool", "displays the pool")),
    ],
)
def test_a_piece_that_adds_nothing_is_recognised(title: str, body: str) -> None:
    assert retells(title, body, NOTE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("6432", "7000"),
        ("300 seconds", "600 seconds"),
        ("Anna", "Bea"),
        ("tcp_keepalives_idle", "tcp_keepalives_count"),
        ("Never restart", "Always restart"),
        ("Never restart", "Restart"),
        ("Never restart", "Do restart"),
        ("only after", "before"),
        ("after the first query", "before the first query"),
        ("the first query", "the second query"),
        ("drops connections", "keeps slow connections"),
        ("silently", "loudly, each minute,"),
    ],
)
def test_what_says_something_else_is_new(old: str, new: str) -> None:
    assert old in BODY

    assert not retells(TITLE, BODY.replace(old, new), NOTE)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        # Without what limits its sentence it says more.
        ("Restart it by hand while a migration runs", ""),
        ("The dashboard shows the pool", ""),
        ("Pooler", ""),
        ("Another thing", "The staging pooler listens on port 6432."),
        ("The client drops the pooler connections idle staging", ""),
    ],
)
def test_a_piece_that_says_more_is_new(title: str, body: str) -> None:
    assert not retells(title, body, NOTE)


def test_a_long_text_is_not_compared() -> None:
    long = "word " * 20_000

    assert not retells("a title of three words", long, ("a title of three words", long))
