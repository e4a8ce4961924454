"""Prompts that ask something and output that tells of an error are noticed, nothing else."""

import json
import time

import pytest

from graft_client.hooks.noticing import ASKED_BYTES_MAX, error_in, question_in, went_well
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


FENCE = "-----00000000-----"


def test_an_open_fence_goes_to_the_end_and_another_s_fence_is_no_end() -> None:
    assert without_recalled(f"a\n{FENCE}\nb\n-----11111111-----\nc") == "a\n"
    assert without_recalled(f"a\r\n{FENCE}\r\nb\r\n{FENCE}\r\nc") == "a\r\n\r\nc"
    assert without_recalled("a ----- b") == "a ----- b"
    assert without_recalled(f"a word on {FENCE} b") == f"a word on {FENCE} b"


@pytest.mark.parametrize(
    "before", ["    ", "> ", "\t> > ", "  12\t", " 7\u2192", "12: ", "| ", "# ", "- "]
)
def test_recalled_text_is_known_however_an_agent_quotes_it(before: str) -> None:
    quoted = "".join(f"{before}{line}\n" for line in (FENCE, "why does it fail", FENCE))

    assert "why" not in without_recalled(f"so\n{quoted}it said")
    assert without_recalled(f"so\n{quoted}it said").endswith("it said")


def test_recalled_text_is_known_in_json_and_where_its_end_was_cut_off() -> None:
    told = json.dumps({"text": f"so\n{FENCE}\nwhy\n{FENCE}\nsaid"})

    assert without_recalled(told) == '{"text": "so\\n\\nsaid"}'
    assert "why" not in without_recalled(told.replace(f"{FENCE}\\nsaid", ""))
    assert "why" not in without_recalled(f"so\n> {FENCE}\n> why")


def test_what_stands_between_two_recalled_texts_is_kept() -> None:
    fenced_one = f"{FENCE}\nb\n{FENCE}\n"

    assert without_recalled(f"{fenced_one}my question\n{fenced_one}") == "\nmy question\n\n"


@pytest.mark.parametrize(
    "printed",
    [
        "Process exited with code 137",
        "java.lang.NullPointerException: x",
        "bash: foo: command not found",
        (
            "F\n=== FAILURES ===\n___ test_a ___\n    def test_a():\n"
            ">       assert 1 == 2\nE       assert 1 == 2\n\n"
            "tests/test_a.py:3: AssertionError\n=== short test summary info ===\n"
            "FAILED tests/test_a.py::test_a - assert 1 == 2\n1 failed in 0.1s"
        ),
        "FAILED tests/test_a.py::test_a - assert 1 == 2\n1 failed, 3 passed in 0.1s",
        (
            "ERROR: test_x (t.T.test_x)\n----\nTraceback (most recent call last):\n"
            "  File \"t.py\", line 3\nKeyError: 'a'\nFAILED (errors=1)"
        ),
        "error[E0308]: mismatched types\n --> src/main.rs:2:5",
        'error: could not compile `x` (bin "x") due to 1 previous error',
        (
            "thread 'main' panicked at src/main.rs:4:5:\n"
            "index out of bounds: the len is 3 but the index is 7"
        ),
        "test a ... FAILED\n\nfailures:\n\ntest result: FAILED. 0 passed; 1 failed",
        "# shop\n./main.go:4:2: undefined: foo",
        (
            "--- FAIL: TestA (0.00s)\n    a_test.go:7: got 1\nFAIL\nexit status 1\n"
            "FAIL\tshop\t0.003s"
        ),
        "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:",
        "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
        "src/a.ts:3:5 - error TS2322: Type 'string' is not assignable",
        "a.c: In function 'main':\na.c:3:5: error: expected ';' before 'return'",
        "a.c:1:10: fatal error: foo.h: No such file",
        (
            "/usr/bin/ld: a.o: undefined reference to `foo'\n"
            "collect2: error: ld returned 1 exit status"
        ),
        "A.java:3: error: cannot find symbol",
        'Exception in thread "main" java.lang.IllegalStateException: x\n\tat A.main(A.java:3)',
        (
            "FAILURE: Build failed with an exception.\n\n* What went wrong:\n"
            "Execution failed for task ':compileJava'."
        ),
        "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin",
        "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve",
        (
            "node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\n"
            "Error: Cannot find module './y'\nRequire stack:\n- /x.js"
        ),
        (
            "/x.js:1\nfoo.bar()\n^\n\n"
            "TypeError: Cannot read properties of undefined (reading 'bar')\n    at Object"
        ),
        "Uncaught TypeError: x is not a function",
        (
            "FAIL src/a.test.js\n  ● adds\n\n    expect(received).toBe(expected)\n\n"
            "Tests: 1 failed, 2 total"
        ),
        (
            'ERROR: failed to solve: process "/bin/sh -c make" did not complete '
            "successfully: exit code: 2"
        ),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the "
            "docker daemon running?"
        ),
        "docker: Error response from daemon: pull access denied for x",
        (
            "To github.com:a/b\n ! [rejected]        main -> main (fetch first)\n"
            "error: failed to push some refs to 'github.com:a/b'"
        ),
        "fatal: refusing to merge unrelated histories",
        (
            "Auto-merging a\nCONFLICT (content): Merge conflict in a\n"
            "Automatic merge failed; fix conflicts and then commit the result."
        ),
        'ERROR:  relation "foo" does not exist\nLINE 1: select * from foo',
        'psql:a.sql:3: ERROR:  syntax error at or near "x"',
        (
            'psql: error: connection to server on socket "/var/run/x" failed: FATAL:  role '
            '"x" does not exist'
        ),
        "ERROR 1045 (28000): Access denied for user 'x'@'localhost'",
        "bash: ./x: Permission denied",
        "/bin/sh: 1: foo: not found",
        "zsh: command not found: foo",
        "make: *** No rule to make target 'x'.  Stop.",
        "make: *** [Makefile:3: all] Error 2",
        "CMake Error at CMakeLists.txt:3 (find_package):",
        "ERROR: Could not find a version that satisfies the requirement x",
        'Error from server (NotFound): pods "x" not found',
        "╷\n│ Error: Invalid reference\n│",
        "a.rb:3:in `foo': undefined method `bar' for nil:NilClass (NoMethodError)",
        "PHP Fatal error:  Uncaught Error: Call to undefined function foo() in /a.php:3",
        "Segmentation fault (core dumped)",
        (
            "a.py:3: error: Incompatible types in assignment\n"
            "Found 1 error in 1 file (checked 1 source file)"
        ),
        "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.",
        "/a.js\n  1:1  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)",
        (
            "Command: make\nDirectory: (root)\nOutput: boom\nError: (none)\nExit Code: 2\n"
            "Signal: (none)"
        ),
        "curl: (7) Failed to connect to localhost port 80 after 0 ms: Couldn't connect to server",
        "** (CompileError) lib/a.ex:3: undefined function",
        "Program.cs(3,5): error CS0103: The name 'x' does not exist",
        "/a.swift:3:5: error: cannot find 'x' in scope",
        "a.hs:3:1: error: [GHC-88464]\n    Variable not in scope: x",
        (
            '  + Exception Group Traceback (most recent call last):\n  |   File "a.py"\n'
            "  | ExceptionGroup: x (2 sub-exceptions)"
        ),
        (
            "2026 INFO x\n    Traceback (most recent call last):\n      File x\n"
            "    KeyboardInterrupt"
        ),
    ],
)
def test_output_that_tells_of_an_error_is_noticed(printed: str) -> None:
    assert error_in(printed, "make", failed=False) == printed.strip()


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("make", ""),
        ("make", "0 errors, 0 warnings"),
        ("make", "exit code 0"),
        ("make", "error_handler.py  retry.py"),
        ("ls", "error.log\nerrors.py\nfatal.c\nREADME.md\nFAILED"),
        ("ls -la", "total 8\n-rw-r--r-- 1 u u 12 error.txt"),
        (
            "git log --oneline",
            "abc1234 fix: error in import\n9bc1234 error: handle No such file or directory\n",
        ),
        (
            "git log -3",
            (
                "commit abc\nAuthor: x\n\n    Fix KeyError: when key is missing\n\n"
                "    Traceback (most recent call last) is gone\n"
            ),
        ),
        ("git show HEAD", "diff --git a/x b/x\n+    raise SyntaxError('x')\n+ error: foo"),
        ("git diff", "-ImportError: x\n+ValueError: y"),
        ("pytest -q", "....................\n20 passed, 1 warning in 0.3s"),
        (
            "pytest -v",
            (
                "tests/test_a.py::test_error_is_raised PASSED\n"
                "tests/test_a.py::test_No such file or directory PASSED\n== 3 passed =="
            ),
        ),
        ("pytest", "x.. 2 passed, 1 xfailed in 0.1s"),
        ("go test ./...", "ok  \tshop/errors\t0.01s\n?   \tshop\t[no test files]"),
        ("cargo test", "test error::parses ... ok\ntest result: ok. 5 passed; 0 failed"),
        (
            "npm test",
            "PASS src/error.test.js\n  ✓ throws Error: bad (3 ms)\n\nTests: 3 passed, 3 total",
        ),
        (
            "cat handler.py",
            "try:\n    x()\nexcept ModuleNotFoundError:\n    pass\nerror = 3\nerror: int = 4\n",
        ),
        ("cat TROUBLESHOOTING.md", "If you see\n\n    error: cannot find symbol\n\nthen"),
        ("sed -n 1,40p a.py", "raise AssertionError('x')\n"),
        (
            "grep -rn error src",
            "src/a.py:12: error = 3\nsrc/b.py:13: error: str\nsrc/c.c:7:3: error: expected",
        ),
        ("rg 'Permission denied'", "src/a.py\n7:Permission denied"),
        (
            "cd /src/x && grep -rn 'No such file or directory' . | head -20",
            './a.c:3: "No such file or directory"',
        ),
        ("find . -name '*error*'", "./Error.java\n./fatal"),
        ("make", "cc -Wall -Werror -c error.c\nar rc liberror.a error.o"),
        ("npm install", "added 3 packages\n0 vulnerabilities\nnpm warn deprecated x"),
        ("docker ps -a", "CONTAINER ID IMAGE STATUS\nabc x Exited (0) 3 minutes ago"),
        ("make test", "make[1]: done\nexit code 0\nErrors: 0\nerror: 0"),
        ("ruff check .", "All checks passed!"),
        ("mypy", "Success: no issues found in 12 source files"),
        ("eslint .", "\n✖ 1 problem (0 errors, 1 warning)"),
        ("tsc --watch false", "Found 0 errors."),
        ("coverage report", "src/error.py  10 0 100%\nerrors.py 3"),
        ("curl -s localhost/health", '{"status": "ok", "error": null}'),
        ("psql -c 'select 1'", " error \n-------\n x\n(1 row)"),
        ("foo --help", "usage\n\nERROR codes:\n  1 ...\nexit status 1 means failure"),
        ("x", "ERROR    0\nFAILED   0"),
    ],
)
def test_output_that_tells_of_none_is_left_alone(command: str, printed: str) -> None:
    assert error_in(printed, command, failed=False) == ""


def test_what_a_failed_command_shows_and_what_a_log_holds_may_be_an_error() -> None:
    for command, failed in (("cat app.py", True), ("tail -50 app.log", False)):
        assert error_in("KeyError: 'a'", command, failed=failed) == "KeyError: 'a'"


def test_a_code_alone_says_nothing_of_an_error() -> None:
    assert error_in("Exit code 1\n", "make", failed=True) == ""
    assert error_in("Exit code 1\nboom", "make", failed=True) == "Exit code 1\nboom"


@pytest.mark.parametrize(
    ("command", "failed", "well"),
    [
        ("make", False, True),
        ("make", True, False),
        ("ls && git log | head", False, False),
        ("graft query x", False, False),
        ("", False, True),
    ],
)
def test_work_that_goes_on_is_told_from_looking_around(
    command: str, *, failed: bool, well: bool
) -> None:
    assert went_well(command, failed=failed) is well


@pytest.mark.parametrize(
    "unit", ["\n", " ", "a:1:", "(", "a.", "|", "error ", "-----00000000-----\n"]
)
def test_no_output_takes_long_to_look_at(unit: str) -> None:
    long = unit * (ASKED_BYTES_MAX // len(unit))

    begin = time.process_time()
    error_in(f"{long}x", "make", failed=False)

    assert time.process_time() - begin < 1


def test_a_tool_that_failed_told_of_an_error_whatever_it_printed() -> None:
    assert error_in("boom", "make", failed=True) == "boom"
    assert error_in("  ", "make", failed=True) == ""


@pytest.mark.parametrize(
    "command",
    [
        "graft query x",
        "/opt/bin/graft get 1",
        "  graft log --verify",
        "cd /src && GRAFT_HOME=/h graft get 1 | head -3",
    ],
)
def test_what_graft_printed_is_no_error_of_the_work(command: str) -> None:
    assert error_in("error: no note", command, failed=True) == ""
    for other in ("grafting --now", "graft start && make"):
        assert error_in("error: no note", other, failed=True) == "error: no note"


def test_of_long_texts_the_telling_end_or_beginning_is_taken() -> None:
    long = "ü" * ASKED_BYTES_MAX

    asked = question_in(f"why is this slow {long}")
    error = error_in(f"{long}\nfatal: no", "make", failed=False)

    assert asked.startswith("why is this slow ü")
    assert error.endswith("ü\nfatal: no")
    assert max(len(asked.encode()), len(error.encode())) <= ASKED_BYTES_MAX
