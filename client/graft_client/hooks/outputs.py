"""What a hook prints, in the form in which each agent takes words for its model."""

import json

from graft_client.hooks.events import HookEvent


def added(event: HookEvent, text: str) -> str:
    """Add *text* to what the model reads; empty where there is none."""
    if not text:
        return ""
    if event.agent == "cursor":
        return _line({"additional_context": text})
    told: dict[str, object] = {
        "hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}
    }
    if event.agent == "vscode":
        told["additionalContext"] = text  # its hooks are run by Copilot's own programs as well
    return _line(told)


def asked_at_the_end(event: HookEvent, text: str) -> str:
    """Ask for one thing more before the agent ends; empty where there is nothing to ask."""
    if not text:
        return ""
    match event.agent:
        case "cursor":
            return _line({"followup_message": text})
        case "vscode":
            ending = {"decision": "block", "reason": text}
            own = {"hookEventName": event.name, **ending}
            return _line({"hookSpecificOutput": own, **ending})
        case "gemini":
            # Its "deny" would take the answer that was just given away from the person.
            return _line({"systemMessage": text})
        case _:
            return _line({"decision": "block", "reason": text})


def _line(content: object) -> str:
    return json.dumps(content, ensure_ascii=True) + "\n"
