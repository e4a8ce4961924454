import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_client.agents.jsonc import SyntaxProblem
from graft_client.agents.toml_edit import remove_table, set_table

OURS = {"command": "/opt/bin/graft", "args": ["mcp", "--home", "/a b"]}

parts = st.sampled_from(
    [
        '# a note\n[mcp_servers.docs] # docs\ncommand = "npx"\nargs = [\n  "-y", # yes\n]\n',
        '[mcp_servers.docs2.env]\nKEY = "[mcp_servers.graft]"\n',
        '[tui]\ntheme = "dark"   # odd   spaces\n\n\n',
        '[[hook]]\nname = "a"\n[[hook]]\nname = """\n[b]\n"""\n',
        "[a.b]\nc = 1979-05-27T07:32:00Z\n",
    ]
)
documents = st.builds(
    lambda top, tables, newline: (top + "".join(tables)).replace("\n", newline),
    st.sampled_from(["", 'model = "gpt" # fast\n', "\n# only a note\n"]),
    st.lists(parts, unique=True, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
)


@given(documents)
def test_one_table_is_added_and_taken_out_again(text: str) -> None:
    before = tomllib.loads(text)

    added = set_table(text, "mcp_servers", "graft", OURS)
    removed = remove_table(added, "mcp_servers", "graft")

    assert tomllib.loads(added)["mcp_servers"].pop("graft") == OURS
    assert added.startswith(text)
    assert tomllib.loads(removed) == before
    assert removed == text
    assert set_table(added, "mcp_servers", "graft", OURS) == added
    assert "\r\n" not in text or "\n" not in added.replace("\r\n", "")


@given(documents)
def test_a_table_with_other_values_is_changed_in_its_place(text: str) -> None:
    added = set_table(text, "mcp_servers", "graft", {"command": "old", "args": []}) + "[z]\ny = 1\n"

    changed = set_table(added, "mcp_servers", "graft", OURS)
    removed = remove_table(changed, "mcp_servers", "graft")

    assert tomllib.loads(changed)["mcp_servers"]["graft"] == OURS
    assert tomllib.loads(removed) == {**tomllib.loads(text), "z": {"y": 1}}
    assert re.findall(r"#.*", removed) == re.findall(r"#.*", text)


def test_servers_in_an_inline_table_are_kept_there() -> None:
    text = 'mcp_servers = { docs = { command = "npx" } } # mine\n'

    added = set_table(text, "mcp_servers", "graft", OURS)

    assert tomllib.loads(added)["mcp_servers"] == {"docs": {"command": "npx"}, "graft": OURS}
    assert "# mine" in added
    assert tomllib.loads(remove_table(added, "mcp_servers", "graft")) == tomllib.loads(text)


def test_what_is_no_toml_is_refused_with_its_place() -> None:
    with pytest.raises(SyntaxProblem, match="line 2, column"):
        set_table("a = 1\nb = = 2\n", "mcp_servers", "graft", OURS)


def test_a_table_whose_parts_lie_far_apart_is_taken_out() -> None:
    between = "".join(f"[projects.p{number}]\ntrust = true\n" for number in range(2_000))
    text = f'[mcp_servers.graft]\ncommand = "graft"\n{between}[mcp_servers.graft.env]\nA = "b"\n'

    after = remove_table(text, "mcp_servers", "graft")

    assert tomllib.loads(after) == tomllib.loads(between)
