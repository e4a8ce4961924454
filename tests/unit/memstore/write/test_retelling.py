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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Turn debug logging off", "Turn debug logging on"),
        ("Copy it from the vault into the box", "Copy it from the vault to the box"),
        ("Workers must drain the queue", "Workers may drain the queue"),
        ("Workers must drain the queue", "Drain the queue each night"),
        ("The latency target x >= 5 ms", "The latency target x"),
        ("Pass **kwargs to the build step", "Pass *kwargs to the build step"),
        ("Put it into .env of the project", "Put it into env of the project"),
        ("Deploy to the region US first", "Deploy to the region IT first"),
        # What stands before a piece may say that it is not so.
        ("Avoid retrying failed uploads at night", "Retrying failed uploads at night"),
        ("It is false that pinning numpy breaks wheels", "Pinning numpy breaks wheels"),
        ("Beware of restarting the pooler by hand", "restarting the pooler by hand"),
        ("Nobody may restart the database", "restart the database"),
        ("dont restart the database", "restart the database"),
        ("Contrary to the docs: never mind, restart it all", "restart it all"),
        ("keines der Module braucht einen Neustart", "der Module braucht einen Neustart"),
        ("aucun red\u00e9marrage du serveur n\u00e9cessaire", "red\u00e9marrage du serveur"),
        ("N'activez pas le cache du proxy", "activez le cache du proxy"),
        ("Ne perezapuskai etot server", "perezapuskai etot server"),
        # Without spaces a negation is no word of its own.
        (
            "\u4e0d\u8981\u542f\u7528\u751f\u4ea7\u7f13\u5b58",
            "\u542f\u7528\u751f\u4ea7\u7f13\u5b58",
        ),
        (
            "\u6709\u52b9\u306b\u3059\u308b\u3079\u304d\u3067\u306f\u306a\u3044",
            "\u6709\u52b9\u306b\u3059\u308b\u3079\u304d",
        ),
        (
            "\uce90\uc2dc\ub97c \uc0ac\uc6a9\ud558\uc9c0 \ub9c8\uc138\uc694",
            "\uce90\uc2dc\ub97c \uc0ac\uc6a9\ud558\uc9c0",
        ),
    ],
)
def test_a_piece_that_turns_a_sentence_around_is_new(old: str, new: str) -> None:
    assert retells(old, "", (old, ""))
    assert not retells(new, "", ("Title", old))


LONG = "The nightly export {} its session data {} and closes idle connections after {} seconds."
SAID = ("keeps", "in postgres", "thirty")


@pytest.mark.parametrize(
    ("said", "other"),
    [
        (SAID, ("keeps", "in mysql", "thirty")),
        (SAID, ("keeps", "in postgres", "forty")),
        (SAID, ("keeps", "on postgres", "thirty")),
        (SAID, ("drops", "in postgres", "thirty")),
        (SAID, ("kept", "in postgres", "thirty")),
        (("works with", "for staging", "five"), ("fails with", "for staging", "five")),
        (("keeps", "safe", "five"), ("keeps", "unsafe", "five")),
        (("keeps", "verified: true", "five"), ("keeps", "verified: false", "five")),
        (("keeps", "loudly", "f\u00fcnf"), ("keeps", "loudly", "zw\u00f6lf")),
        (("keeps", "(`git fetch origin`)", "five"), ("keeps", "(`git merge origin`)", "five")),
    ],
)
def test_another_name_value_or_opposite_is_new_however_plain_it_looks(
    said: tuple[str, ...], other: tuple[str, ...]
) -> None:
    note = (TITLE, LONG.format(*said))

    assert retells(*note, note)
    assert not retells(TITLE, LONG.format(*other), note)


def test_a_keyword_is_no_plain_word_and_a_single_sentence_has_no_other() -> None:
    note = (TITLE, BODY)
    changed = BODY.replace("silently", "quietly")

    assert retells(TITLE, changed, note)
    assert not retells(TITLE, changed, note, ["pooler", "quietly"])
    assert not retells(TITLE, changed.split("\n\n", maxsplit=1)[0], note)


def test_a_long_text_is_not_compared() -> None:
    long = "word " * 20_000

    assert not retells("a title of three words", long, ("a title of three words", long))


def test_texts_of_very_many_sentences_are_compared_in_no_time_or_not_at_all() -> None:
    few = ("three words here", "aa bb cc dd not\n- " * 7_000 + "aa bb cc dd")

    assert retells("three words here", "aa bb cc dd\n- " * 30, few)
    assert not retells("three words here", "aa bb cc dd\n- " * 2_000, few)
