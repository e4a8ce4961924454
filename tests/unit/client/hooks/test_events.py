"""What agents tell hooks is read, whichever agent it is and whatever is in it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_client.agents.commands import EVENTS
from graft_client.agents.known import NAMES
from graft_client.hooks.events import DEPTH_MAX, HookEvent, read_event
from graft_client.hooks.outputs import added, asked_at_the_end

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["prompt", "cwd", "session_id", "tool_input", "tool_response", "error"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


def read(kind: str, agent: str, **content: object) -> HookEvent:
    event = read_event(kind, agent, json.dumps(content).encode())
    assert event is not None
    return event


def test_a_prompt_of_claude_code_is_read() -> None:
    event = read(
        "prompt",
        "claude-code",
        session_id="abc",
        transcript_path="/t.jsonl",
        cwd="/src/app",
        permission_mode="default",
        hook_event_name="UserPromptSubmit",
        prompt="why does it fail",
    )

    assert event == HookEvent(
        kind="prompt",
        agent="claude-code",
        name="UserPromptSubmit",
        session="abc",
        directory="/src/app",
        prompt="why does it fail",
    )


@pytest.mark.parametrize(
    ("agent", "content", "text", "failed"),
    [
        (
            "claude-code",
            {
                "hook_event_name": "PostToolUse",
                "tool_input": {"command": "make"},
                "tool_response": {"interrupted": False, "stdout": "out", "stderr": "err"},
            },
            "err\nout",
            False,
        ),
        (
            "claude-code",
            {
                "hook_event_name": "PostToolUseFailure",
                "tool_input": {"command": "make"},
                "error": "exit status 2",
            },
            "exit status 2",
            True,
        ),
        (
            "gemini",
            {
                "hook_event_name": "AfterTool",
                "tool_input": {"command": "make"},
                "tool_response": {"llmContent": [{"text": "a"}], "returnDisplay": "b"},
            },
            "a\nb",
            False,
        ),
        (
            "vscode",
            {
                "hookEventName": "PostToolUse",
                "tool_input": {"command": "make"},
                "tool_response": "o",
            },
            "o",
            False,
        ),
        ("cursor", {"tool_input": {"command": "make"}, "tool_output": "o"}, "o", False),
        (
            "cursor",
            {
                "tool_input": {"command": "make", "cwd": ""},
                "tool_output": '{"output": "Traceback:\\nx", "exitCode": 2}',
            },
            "Traceback:\nx",
            True,
        ),
        (
            "cursor",
            {"tool_input": {"command": "make"}, "tool_output": '{"exitCode":0,"stdout":"o"}'},
            "o",
            False,
        ),
        (
            "vscode",
            {
                "tool_input": {"command": "make"},
                "tool_result": {"result_type": "success", "text_result_for_llm": "o"},
            },
            "success\no",
            False,
        ),
    ],
)
def test_what_a_tool_printed_is_read(
    agent: str, content: dict[str, object], text: str, *, failed: bool
) -> None:
    event = read("post-tool", agent, **content)

    assert (event.tool_text, event.command, event.failed) == (text, "make", failed)


@pytest.mark.parametrize(
    "told",
    [
        {"hook_event_name": "PostToolUseFailure", "error": "stopped", "is_interrupt": True},
        {"tool_response": {"stdout": "half", "interrupted": True}},
    ],
)
def test_a_tool_that_a_person_broke_off_is_passed_over(told: dict[str, object]) -> None:
    assert read_event("post-tool", "claude-code", json.dumps(told).encode()) is None


def test_other_tools_than_a_shell_have_no_command() -> None:
    for tool_input in ({"filePath": "/a.py"}, {"command": ["ls"]}, "ls", None):
        assert read("post-tool", "vscode", tool_input=tool_input).command == ""


def test_each_agents_session_and_folder_are_found() -> None:
    cursor = read("stop", "cursor", conversation_id="c", workspace_roots=["/a", "/b"], loop_count=1)
    vscode = read("stop", "vscode", sessionId="v", cwd="/a", stop_hook_active=False)

    assert (cursor.session, cursor.directory, cursor.again) == ("c", "/a", True)
    assert (vscode.session, vscode.directory, vscode.again) == ("v", "/a", False)


@pytest.mark.parametrize("directory", ["relative/x", "", "/a\0b", 7, None, ["/a"]])
def test_a_folder_that_cannot_be_meant_is_none(directory: object) -> None:
    assert read("prompt", "codex", cwd=directory).directory == ""


@pytest.mark.parametrize("told", [b"{", b"[]", b"7", b'"x"', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_event_is_passed_over(told: bytes) -> None:
    assert read_event("prompt", "codex", told) is None
    assert read_event("no-such-event", "codex", b"{}") is None
    assert read_event("prompt", "codex", b"") is not None


def test_deep_and_long_answers_of_tools_are_read_as_far_as_they_tell_something() -> None:
    deep: object = "bottom"
    for _ in range(DEPTH_MAX + 2):
        deep = [deep]

    assert read("post-tool", "codex", tool_response=deep).tool_text == ""
    assert len(read("post-tool", "codex", tool_response=["x"] * 10_000).tool_text) < 1_000


@given(JSON, st.sampled_from([*EVENTS, "?"]), st.sampled_from([*NAMES, "", "?"]))
def test_nothing_that_an_agent_tells_is_too_much(content: object, kind: str, agent: str) -> None:
    event = read_event(kind, agent, json.dumps(content).encode())

    if event is not None:
        assert not event.directory or Path(event.directory).is_absolute()
        assert event.name
        assert json.loads(added(event, "x"))
        assert json.loads(asked_at_the_end(event, "x"))


@pytest.mark.parametrize(
    ("agent", "name", "told"),
    [
        (
            "claude-code",
            "UserPromptSubmit",
            {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "ü"}},
        ),
        (
            "gemini",
            "BeforeAgent",
            {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "ü"}},
        ),
        ("cursor", "UserPromptSubmit", {"additional_context": "ü"}),
        (
            "vscode",
            "UserPromptSubmit",
            {
                "hookSpecificOutput": {
                    "hookEventName": "UserPromptSubmit",
                    "additionalContext": "ü",
                },
                "additionalContext": "ü",
            },
        ),
    ],
)
def test_words_for_the_model_have_the_form_that_each_agent_takes(
    agent: str, name: str, told: object
) -> None:
    event = read("prompt", agent)

    line = added(event, "ü")

    assert event.name == name
    assert json.loads(line) == told
    assert line.isascii()
    assert (added(event, ""), asked_at_the_end(event, "")) == ("", "")


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        ("claude-code", {"decision": "block", "reason": "save"}),
        ("codex", {"decision": "block", "reason": "save"}),
        ("cursor", {"followup_message": "save"}),
        (
            "vscode",
            {
                "hookSpecificOutput": {
                    "hookEventName": "Stop",
                    "decision": "block",
                    "reason": "save",
                },
                "decision": "block",
                "reason": "save",
            },
        ),
        ("gemini", {"systemMessage": "save"}),
    ],
)
def test_a_wish_at_the_end_has_the_form_that_each_agent_takes(agent: str, told: object) -> None:
    assert json.loads(asked_at_the_end(read("stop", agent), "save")) == told
