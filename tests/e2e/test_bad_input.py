"""Bad input is stored whole or refused with its limit; nothing falls over."""

import json

import apsw
import pytest
from tests.e2e.conftest import Shell

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

MEBIBYTE = 1024 * 1024

BODIES = {
    "nine thousand words": "lorem " * 9_000,
    "one character": "x",
    "six hundred emoji": "🦀" * 600,
    "eight thousand tokens and one": "a " * 8_193,
    "control characters": "a\x01\x02\x1b[31m\x7f b",
    "special tokens": "<s></s> <mask> </s><s> inside text",
    "one mebibyte": "0123456789abcde " * (MEBIBYTE // 16),
    "one mebibyte without a space": "x" * MEBIBYTE,
    "Chinese": "修复用户身份验证" * 500,
    "combining marks": "e\u0301" * 2_000 + "\u200b" * 500,
}


def test_bodies_of_every_kind_are_stored_whole(shell: Shell) -> None:
    for name, body in BODIES.items():
        note = shell.insert(f"body: {name}", body)
        assert shell.run("get", note["id"], "--json").json()["body"] == body, name

    assert len(shell.daemons("memstore")) == 1
    assert len(shell.daemons("embedder")) == 1
    assert shell.query("body: Chinese")["degraded"] == []


def test_no_vector_is_zero_not_a_number_or_short(shell: Shell) -> None:
    for name, body in list(BODIES.items())[:6]:
        shell.insert(f"body: {name}", body, "--wait", "--timeout", "100")

    connection = apsw.Connection(
        str(shell.home / "profiles/default/graft.db"), flags=apsw.SQLITE_OPEN_READONLY
    )
    vectors = [row[0] for row in connection.execute("SELECT vector FROM chunks")]
    connection.close()
    lengths = {len(vector) for vector in vectors}
    norms = [sum(value * value for value in memoryview(vector).cast("f")) for vector in vectors]

    assert lengths == {384 * 4}
    assert all(abs(norm - 1) < 1e-3 for norm in norms)
    assert len(vectors) > 12


@pytest.mark.parametrize(
    ("arguments", "body", "limit"),
    [
        (["--title", ""], "", "1"),
        (["--title", "   "], "", "1"),
        (["--title", "t" * 1_025], "", "1,024"),
        (["--title", "big"], "x" * (MEBIBYTE + 1), "1 MiB"),
        (["--title", "keyword", "--keyword", "k" * 129], "", "128"),
        (["--title", "keywords", *(["--keyword", "k"] * 0)], "", ""),
        (["--title", "naive", "--valid-from", "2026-01-01T00:00:00"], "", "offset"),
        (["--title", "source", "--source", "nothing"], "", "KIND:LOCATOR"),
        (["--title", "NUL"], "before\x00after", "NUL at character 6"),
    ],
)
def test_what_is_over_a_limit_is_refused_with_the_limit_named(
    shell: Shell, arguments: list[str], body: str, limit: str
) -> None:
    if not limit:
        arguments = [*arguments, *(f"--keyword=k{n}" for n in range(65))]
        limit = "64"

    done = shell.run("insert", *arguments, "--body-file", "-", "--json", text=body)

    assert done.status in (1, 2)
    assert limit in json.loads(done.err)["message"]
    assert shell.run("list", "--json").lines() == []


def test_a_title_of_the_greatest_length_is_stored_and_found(shell: Shell) -> None:
    title = "why does the build break " + "t" * (1_024 - 25)

    note = shell.insert(title)

    assert shell.run("get", note["id"], "--json").json()["title"] == title


def test_bytes_that_are_no_text_are_refused(shell: Shell) -> None:
    in_body = shell.run(
        "insert", "--title", "x", "--body-file", "-", "--json", text=b"\xff\xfe\x80"
    )
    in_query = shell.run("query", "--json", "-", text=b"\xed\xa0\x80")

    assert (in_body.status, in_query.status) == (2, 2)
    assert "UTF-8" in in_body.err
    assert "UTF-8" in in_query.err
