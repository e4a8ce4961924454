"""Our tools, prompts and refusals as the protocol writes them."""

import mcp_types as types

from graft_client.errors import GraftError
from graft_client.limits import ANSWER_TOKENS
from graft_client.mcp.catalogue import CATALOGUE
from graft_client.mcp.prompts import PROMPTS
from graft_client.recalled import BYTES_PER_TOKEN

AUTHOR_CHARS_MAX = 128


def prompt_of(name: str) -> types.Prompt:
    """Return a prompt as clients are told of it."""
    prompt = PROMPTS[name]
    argument = types.PromptArgument(
        name=prompt.name, description=prompt.argument, required=prompt.required
    )
    return types.Prompt(
        name=name,
        title=prompt.title,
        description=prompt.description,
        arguments=[argument] if prompt.name else [],
    )


def tool_of(name: str) -> types.Tool:
    """Return a tool as clients are told of it."""
    spec = CATALOGUE[name]
    return types.Tool(
        name=name,
        title=spec.title,
        description=spec.description,
        input_schema=spec.input_schema,
        output_schema=spec.output_schema,
        annotations=types.ToolAnnotations(
            title=spec.title,
            read_only_hint=not spec.writes,
            destructive_hint=spec.destroys,
            idempotent_hint=spec.repeats,
            open_world_hint=False,
        ),
    )


def refused(error: GraftError) -> types.CallToolResult:
    """Return a refusal as the model is to read it."""
    details = "".join(f"\n{name}: {value}" for name, value in error.details.items())
    text = f"{error.reason}: {error.message}{details}"[: ANSWER_TOKENS * BYTES_PER_TOKEN]
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def author_of(client: types.InitializeRequestParams | None) -> str:
    """Return who a client says that it is, as notes name their author; empty for nobody."""
    if client is None:
        return ""
    return _in_one_line(f"{client.client_info.name} {client.client_info.version}")


def agent_of(client: types.InitializeRequestParams | None) -> str:
    """Return what a client calls itself, without its version; empty for nobody."""
    return "" if client is None else _in_one_line(client.client_info.name)


def _in_one_line(text: str) -> str:
    printable = "".join(each for each in text if each.isprintable())
    return " ".join(printable.split())[:AUTHOR_CHARS_MAX]
