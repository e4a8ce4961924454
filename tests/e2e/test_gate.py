"""What a person sees of the gate: a paraphrase is STRONG, another subject a MISS."""

import pytest
from tests.e2e.conftest import Shell

pytestmark = pytest.mark.model

ODD_QUERIES = [
    "C++",
    "don't",
    "GB/s",
    "deadlock -fix",
    '"unbalanced',
    "a AND",
    "src/a/b.py",
    "🦀",
    "数据库",
    "サンドボックス",
    "tier1-test AND unicode",
    "NEAR(a b)",
    "title:x OR *",
    "{deadlock}",
    "deadlock\\",
    "-",
    "\t a \x00 b",
]


def test_one_note_alone_is_strong_for_its_paraphrase_and_a_miss_for_another_subject(
    shell: Shell,
) -> None:
    note = shell.insert(
        "pip fails behind the company proxy with a certificate error",
        "Set PIP_CERT to the company's CA bundle; pip does not read the system store.",
    )

    strong = shell.query("pip certificate verify failed behind a corporate proxy")
    miss = shell.query("how do I rotate a picture of my cat in GIMP")

    assert (strong["hit"], strong["note"]["id"]) == ("STRONG", note["id"])
    assert strong["note"]["body"].startswith("Set PIP_CERT")
    assert (miss["hit"], miss["note"]) == ("MISS", None)


def test_no_question_is_an_error(shell: Shell) -> None:
    shell.insert("Lexer for C++ reads 2 GB/s", "deadlock in src/a/b.py; don't fix. 数据库连接")
    shell.insert("サンドボックス修正テスト", "修复用户身份")

    answers = {text: shell.run("query", "--json", "-", text=text) for text in ODD_QUERIES}
    ranked = {text: shell.run("retrieve", "--json", "-", text=text) for text in ODD_QUERIES}

    assert {text: done.status for text, done in answers.items()} == dict.fromkeys(ODD_QUERIES, 0)
    assert {text: done.status for text, done in ranked.items()} == dict.fromkeys(ODD_QUERIES, 0)
    assert {done.json()["hit"] for done in answers.values()} <= {"STRONG", "WEAK", "MISS"}


@pytest.mark.parametrize(
    "text", ["src/a/b.py", "GB/s", "数据库", "サンドボックス", "C++", "deadlock -fix", "用户身份"]
)
def test_a_piece_of_text_is_found_by_its_letters(shell: Shell, text: str) -> None:
    shell.insert("Lexer for C++ reads 2 GB/s", "deadlock in src/a/b.py; 数据库连接")
    shell.insert("サンドボックス修正テスト", "修复用户身份")

    found = shell.run("retrieve", "--json", "-", text=text).json()["results"]

    arms = {arm for result in found for arm in result["arms"]}
    assert arms & {"words", "pieces"}


def test_an_empty_question_is_refused_with_the_limit_named(shell: Shell) -> None:
    done = shell.run("query", "--json", "-", text="  \n ")

    assert done.status in (1, 2)
    assert "text" in done.err


def test_exit_status_tells_whether_the_answer_is_strong(shell: Shell) -> None:
    assert shell.run("query", "nothing is here yet").status == 0
    assert shell.run("query", "nothing is here yet", "--exit-status").status == 4
