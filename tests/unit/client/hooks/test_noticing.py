"""Prompts that ask something and output that tells of an error are noticed, nothing else."""

import pytest

from graft_client.hooks.noticing import ASKED_BYTES_MAX, error_in, question_in
from graft_client.recalled import fenced, without_recalled


@pytest.mark.parametrize(
    "prompt",
    [
        "why does the import time out",
        "Refactor the session store, please",
        "为什么导入会超时",
        "インポートが遅い",
        "Почему импорт",
    ],
)
def test_a_prompt_that_asks_something_is_asked_about(prompt: str) -> None:
    assert question_in(prompt) == prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "  ",
        "yes",
        "go on",
        "ok do it",
        "/clear all of it now",
        "!ls -la in here",
        "# note",
        "好的",
    ],
)
def test_a_prompt_that_asks_nothing_is_left_alone(prompt: str) -> None:
    assert question_in(prompt) == ""


def test_what_was_recalled_is_not_asked_about_again() -> None:
    recalled = fenced(["why does the import time out", "", "because of the proxy"])

    assert question_in(recalled) == ""
    assert question_in(f"{recalled}\nand why does the build fail") == "and why does the build fail"
    assert error_in(fenced(["Traceback (most recent call last):"]), "make", failed=False) == ""
    assert error_in(fenced(["x"]), "make", failed=True) == ""


def test_an_open_fence_goes_to_the_end_and_another_s_fence_is_no_end() -> None:
    assert without_recalled("a\n-----00000000-----\nb\n-----11111111-----\nc") == "a\n"
    assert without_recalled("a\r\n-----00000000-----\r\nb\r\n-----00000000-----\r\nc").strip() in {
        "a\r\n\r\nc",
        "a\r\n\nc",
    }
    assert without_recalled("a ----- b") == "a ----- b"


@pytest.mark.parametrize(
    "printed",
    [
        "Traceback (most recent call last):\n  File x\nKeyError: 'a'",
        "src/a.c:7:3: error: expected ';'",
        "error[E0382]: borrow of moved value",
        "npm ERR! code ERESOLVE",
        "make: *** [all] Error 2\nbash: foo: command not found",
        "fatal: not a git repository",
        "E       AssertionError: assert 1 == 2",
        "java.lang.NullPointerException: x",
        "panic: runtime error: index out of range",
        "Process exited with code 137",
    ],
)
def test_output_that_tells_of_an_error_is_noticed(printed: str) -> None:
    assert error_in(printed, "make", failed=False) == printed


@pytest.mark.parametrize(
    "printed",
    ["", "0 errors, 0 warnings", "All checks passed", "exit code 0", "error_handler.py  retry.py"],
)
def test_output_that_tells_of_none_is_left_alone(printed: str) -> None:
    assert error_in(printed, "make", failed=False) == ""


def test_a_tool_that_failed_told_of_an_error_whatever_it_printed() -> None:
    assert error_in("boom", "make", failed=True) == "boom"
    assert error_in("  ", "make", failed=True) == ""


@pytest.mark.parametrize(
    "command", ["graft query x", "/opt/bin/graft get 1", "  graft log --verify"]
)
def test_what_graft_printed_is_no_error_of_the_work(command: str) -> None:
    assert error_in("error: no note", command, failed=True) == ""
    assert error_in("error: no note", "grafting --now", failed=True) == "error: no note"


def test_of_long_texts_the_telling_end_or_beginning_is_taken() -> None:
    long = "ü" * ASKED_BYTES_MAX

    asked = question_in(f"why is this slow {long}")
    error = error_in(f"{long}\nfatal: no", "make", failed=False)

    assert asked.startswith("why is this slow ü")
    assert error.endswith("ü\nfatal: no")
    assert max(len(asked.encode()), len(error.encode())) <= ASKED_BYTES_MAX
