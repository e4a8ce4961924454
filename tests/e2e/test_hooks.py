"""Agents' hooks on real services: they tell what is known, once, and are never in the way."""

import json
import os
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.e2e.conftest import GRAFT, SECONDS, Finished, Shell
from tests.e2e.test_scopes import repository

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

TITLE = "The staging pooler of the shop listens on port 6432"
PROMPT = "which port does the staging pooler of the shop listen on?"
TRACEBACK = """Traceback (most recent call last):
  File "/src/shop/import_orders.py", line 41, in load
    rows = reader.fetch(batch)
  File "/src/shop/reader.py", line 7, in fetch
    raise OrderBatchError("batch 7 is sealed")
shop.errors.OrderBatchError: batch 7 is sealed"""
UNKNOWN = TRACEBACK.replace("OrderBatchError", "QuotaWindowError").replace("sealed", "over")


def hook(shell: Shell, kind: str, *arguments: str, **told: object) -> Finished:
    content = {"session_id": "s-1", "cwd": str(shell.directory), **told}
    # A busy machine takes its time, and here it is what is said that counts.
    patient = replace(shell, environ={"GRAFT_HOOK_MS": "10000", **shell.environ})
    done = patient.run("hook", kind, *arguments, text=json.dumps(content))
    assert done.status == 0
    return done


def said(done: Finished) -> str:
    """Return what the model is told; empty for nothing."""
    if not done.out:
        return ""
    content: dict[str, Any] = json.loads(done.out)
    told = content.get("hookSpecificOutput", {}).get("additionalContext", content.get("reason"))
    assert isinstance(told, str)
    return told


@pytest.fixture
def work(shell: Shell, tmp_path: Path) -> Shell:
    """A shell in a repository."""
    return replace(shell, directory=repository(tmp_path / "app"))


@pytest.fixture
def noted(work: Shell) -> tuple[Shell, str]:
    """The same with a note, and both services up."""
    saved = work.insert(TITLE, "Seen in deploy.yaml.", "--source", "file:deploy.yaml", "--wait")
    return work, saved["id"]


def wait_until_ready(work: Shell) -> None:
    end = time.monotonic() + SECONDS
    ready: object = None
    while ready != "ready":
        assert time.monotonic() < end
        found = work.status()["embedder"]
        ready = found and found["state"]


def test_a_session_start_alone_starts_both_services_and_waits_for_neither(work: Shell) -> None:
    for kind in ("prompt", "post-tool", "stop"):
        done = hook(work, kind, prompt=PROMPT, tool_response=TRACEBACK)
        assert (done.out, done.err) == ("", "")
    before = [*work.daemons("memstore"), *work.daemons("embedder")]

    first = hook(work, "session-start", "--agent", "claude-code", source="startup")

    assert before == []
    assert (first.out, first.err) == ("", "")
    wait_until_ready(work)
    assert len(work.daemons("memstore")) == len(work.daemons("embedder")) == 1


def test_a_session_start_starts_an_embedder_that_has_gone(noted: tuple[Shell, str]) -> None:
    work, _ = noted
    (embedder,) = work.daemons("embedder")
    process = psutil.Process(embedder)
    process.kill()
    process.wait(SECONDS)

    without = said(hook(work, "prompt", prompt=PROMPT))
    started = said(hook(work, "session-start"))
    wait_until_ready(work)
    with_it = said(hook(work, "prompt", prompt=PROMPT))

    assert started != ""
    # Words alone are good for a title, and who was told that is still told the note.
    assert TITLE in without
    assert "Seen in" not in without
    assert "Seen in" in with_it
    assert len(work.daemons("embedder")) == 1


def test_many_sessions_that_start_at_once_start_one_of_each_service(work: Shell) -> None:
    told = json.dumps({"session_id": "s", "cwd": str(work.directory)})
    running = [
        subprocess.Popen(
            [GRAFT, "hook", "session-start"],
            cwd=work.directory,
            env=work.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    for each in running:
        assert each.stdin is not None
        each.stdin.write(told)
        each.stdin.close()
        each.stdin = None
    said_nothing = [each.communicate(timeout=SECONDS)[0] for each in running]

    wait_until_ready(work)

    assert said_nothing == [""] * 8
    assert [each.returncode for each in running] == [0] * 8
    assert len(work.daemons("memstore")) == len(work.daemons("embedder")) == 1


def test_a_prompt_is_told_the_note_that_fits_once_a_session(noted: tuple[Shell, str]) -> None:
    work, note = noted

    first = hook(work, "prompt", "--agent", "claude-code", prompt=PROMPT)
    again = hook(work, "prompt", "--agent", "claude-code", prompt=PROMPT)
    other = hook(work, "prompt", "--agent", "claude-code", prompt=PROMPT, session_id="s-2")
    unlike = hook(work, "prompt", prompt="Please translate this poem about a heron into Finnish")

    text = said(first)
    before, fence, within = text.partition("-----")
    assert json.loads(first.out)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert note in before
    assert "data" in before
    assert "Check before you act" in before
    assert TITLE not in before
    assert fence
    assert TITLE in within
    assert "file:deploy.yaml" in within
    assert (again.out, again.err) == ("", "")
    assert TITLE in said(other)
    assert unlike.out == ""
    assert work.run("misses", "--json").out == ""


def test_a_note_of_another_project_is_not_told(noted: tuple[Shell, str], tmp_path: Path) -> None:
    work, note = noted
    elsewhere = replace(work, directory=repository(tmp_path / "other"))

    assert said(hook(elsewhere, "prompt", prompt=PROMPT)) == ""
    assert said(hook(elsewhere, "session-start")) == ""
    # What counts is where the agent says that it works.
    assert note in said(hook(elsewhere, "prompt", prompt=PROMPT, cwd=str(work.directory)))


def test_a_long_body_is_cut_and_what_says_otherwise_is_told(work: Shell) -> None:
    title = "Restart the staging pooler of the shop during nightly backups"
    note = work.insert(title, "word " * 4_000, "--wait")["id"]
    denial = work.insert(title.replace("Restart", "Do not restart"), "", "--wait")["id"]

    text = said(hook(work, "prompt", prompt=title))

    assert f"get {note}, from offset" in text
    assert f"{denial} denies what the answer says" in text
    assert len(text) < 4_000


def test_an_error_in_a_tool_s_output_is_looked_up_by_its_signature(work: Shell) -> None:
    note = work.insert("Sealed order batches cannot be read again", TRACEBACK, "--wait")["id"]
    tool = {"tool_name": "Bash", "tool_input": {"command": "make import"}}
    elsewhere = TRACEBACK.replace("/src/", "/home/me/").replace("41", "57")

    fine = hook(work, "post-tool", **tool, tool_response={"stdout": "0 errors", "stderr": ""})
    met = hook(
        work,
        "post-tool",
        "--agent",
        "claude-code",
        **tool,
        hook_event_name="PostToolUse",
        tool_response={"stdout": "", "stderr": elsewhere},
    )
    own = hook(
        work,
        "post-tool",
        session_id="s-2",
        tool_input={"command": f"graft get {note}"},
        tool_response={"stdout": elsewhere},
    )

    assert fine.out == ""
    assert note in said(met)
    assert own.out == ""


def test_an_error_is_met_in_cursor_s_json_and_not_where_a_file_is_read(work: Shell) -> None:
    note = work.insert("Sealed order batches cannot be read again", TRACEBACK, "--wait")["id"]
    tool = {"tool_name": "Shell", "tool_input": {"command": "make import", "cwd": ""}, "cwd": ""}

    read = hook(
        work,
        "post-tool",
        "--agent",
        "vscode",
        tool_name="read_file",
        tool_input={"filePath": "/src/import.log"},
        tool_response=TRACEBACK,
    )
    met = hook(
        work,
        "post-tool",
        "--agent",
        "cursor",
        **tool,
        workspace_roots=[str(work.directory)],
        tool_output=json.dumps({"output": TRACEBACK, "exitCode": 1}),
    )

    assert read.out == ""
    assert note in json.loads(met.out)["additional_context"]


def test_at_the_end_a_session_is_asked_once_to_save_what_it_found_out(work: Shell) -> None:
    work.insert(TITLE, "", "--wait")
    tool = {"tool_input": {"command": "make import"}}

    nothing = hook(work, "stop")
    hook(work, "post-tool", **tool, tool_response={"stderr": UNKNOWN})
    still_broken = hook(work, "stop")
    hook(work, "post-tool", **tool, tool_response={"stdout": "imported 41 orders"})
    going_round = hook(work, "stop", stop_hook_active=True)
    asked = hook(work, "stop", "--agent", "claude-code")
    again = hook(work, "stop", "--agent", "claude-code")

    assert [each.out for each in (nothing, still_broken, going_round, again)] == [""] * 4
    assert json.loads(asked.out)["decision"] == "block"
    assert "graft insert" in said(asked)


def test_who_has_saved_it_is_not_asked(work: Shell) -> None:
    work.insert(TITLE, "", "--wait")
    tool = {"tool_input": {"command": "make import"}}
    hook(work, "post-tool", **tool, tool_response={"stderr": UNKNOWN})
    hook(work, "post-tool", **tool, tool_response={"stdout": "imported 41 orders"})
    work.insert("Order imports fail once the quota window is over", UNKNOWN)

    assert hook(work, "stop").out == ""


def test_a_session_start_tells_what_there_is_and_what_became_of_notes(
    noted: tuple[Shell, str],
) -> None:
    work, note = noted
    hook(work, "prompt", prompt=PROMPT)
    work.insert(TITLE.replace("6432", "7000"), "", "--supersedes", note, "--reason", "it moved")
    work.insert("Proposed by an import", "", "--candidate")

    resumed = said(hook(work, "session-start", source="resume"))
    fresh = said(hook(work, "session-start", session_id="s-9"))

    assert f"{note}, which you were given, was superseded" in resumed
    assert "2 notes of project:" in fresh
    assert "1 thing waits for a person: graft review" in fresh
    assert note not in fresh


@pytest.mark.parametrize(
    "arguments",
    [
        ("no-such-event",),
        (),
        ("prompt", "--agent", "nobody-knows-it"),
        ("prompt", "--no-such-option", "x"),
        ("prompt", "--timeout", "soon"),
        ("prompt", "more", "words"),
        ("prompt", "--profile", "../x"),
    ],
)
@pytest.mark.parametrize("text", [b"", b"{", b"\xff\0", b'{"prompt": 7}', b"[" * 200_000])
def test_nothing_that_is_wrong_is_a_refusal(
    shell: Shell, arguments: tuple[str, ...], text: bytes
) -> None:
    done = shell.run("hook", *arguments, text=text)

    assert (done.status, done.out) == (0, "")


def test_switched_off_it_does_nothing(noted: tuple[Shell, str]) -> None:
    work, _ = noted
    off = replace(work, environ={"GRAFT_HOOKS": "0"})

    assert hook(off, "prompt", prompt=PROMPT).out == ""
    off.run("stop")
    assert hook(off, "session-start").out == ""
    assert off.daemons("memstore") == []


def test_with_autostart_off_or_a_target_nothing_is_started(work: Shell, tmp_path: Path) -> None:
    for name, value in (("GRAFT_AUTOSTART", "0"), ("GRAFT_TARGET", f"unix:{tmp_path}/no.sock")):
        assert hook(replace(work, environ={name: value}), "session-start").out == ""
    assert not (work.home / "memstore.json").exists()


def test_who_answers_nothing_and_a_stdin_that_stays_open_end_within_the_bound(
    work: Shell, tmp_path: Path
) -> None:
    path = tmp_path / "deaf.sock"
    bounded = {"GRAFT_HOOK_MS": "700", "GRAFT_TARGET": f"unix:{path}"}
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(path))
        deaf.listen()
        silent = hook(replace(work, environ=bounded), "prompt", prompt=PROMPT)
    process = subprocess.Popen(
        [GRAFT, "hook", "prompt"],
        cwd=work.directory,
        env=replace(work, environ=bounded).environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdin is not None
        process.stdin.write('{"prompt": ')
        process.stdin.flush()
        assert process.wait(SECONDS) == 0
        assert process.stdout is not None
        assert process.stdout.read() == ""
    finally:
        process.kill()
        process.communicate()

    assert silent.out == ""


def test_a_stdout_that_nobody_reads_ends_within_the_bound(noted: tuple[Shell, str]) -> None:
    work, _ = noted
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        sum(iter(lambda: os.write(writer, b"x" * 4_096), 0))
    os.set_blocking(writer, True)
    try:
        done = subprocess.run(
            [GRAFT, "hook", "session-start"],
            cwd=work.directory,
            env=work.environment(),
            input=b"{}",
            stdout=writer,
            timeout=SECONDS,
            check=False,
        )
    finally:
        os.close(reader)
        os.close(writer)

    assert done.returncode == 0


def test_a_memstore_that_stands_still_and_one_that_was_killed_hold_nobody_up(
    noted: tuple[Shell, str],
) -> None:
    work, _ = noted
    (memstore,) = work.daemons("memstore")
    standing = psutil.Process(memstore)
    standing.suspend()
    try:
        still = hook(work, "prompt", prompt=PROMPT)
    finally:
        standing.resume()
    awake = hook(work, "prompt", prompt=PROMPT)
    standing.kill()
    standing.wait(SECONDS)

    killed = hook(work, "prompt", prompt=PROMPT, session_id="s-2")

    assert still.out == ""
    assert TITLE in said(awake)
    assert killed.out == ""
    assert work.daemons("memstore") == []


def test_the_embedder_is_neither_started_nor_waited_for(noted: tuple[Shell, str]) -> None:
    work, _ = noted
    (embedder,) = work.daemons("embedder")
    psutil.Process(embedder).kill()

    done = hook(work, "prompt", prompt=PROMPT)

    # By words alone it is never STRONG.
    assert "Seen in" not in done.out
    assert work.daemons("embedder") == []


def test_a_prompt_loads_no_grpc(noted: tuple[Shell, str]) -> None:
    work, _ = noted
    told = json.dumps({"session_id": "s-1", "cwd": str(work.directory), "prompt": PROMPT})
    python = GRAFT.with_name("python")

    done = subprocess.run(
        [python, "-X", "importtime", "-m", "graft_client.cli", "hook", "prompt"],
        input=told,
        env=work.environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )

    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert TITLE in done.stdout
    assert "h2.connection" in loaded
    assert {"grpc", "rich", "asyncio"} & loaded == set()


def test_a_home_that_cannot_be_written_is_no_reason_to_fail(noted: tuple[Shell, str]) -> None:
    work, _ = noted
    (work.home / "hooks").write_text("in the way")

    assert TITLE in said(hook(work, "prompt", prompt=PROMPT))
