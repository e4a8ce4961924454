import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_client.agents.jsonc import SyntaxProblem, parse
from graft_client.agents.jsonc_edit import append, find, remove, set_value
from graft_client.limits import AGENT_FILE_DEPTH_MAX

OURS = {"command": "/opt/bin/graft", "args": ["mcp"]}
COMMENT = re.compile(r"// note\d*|/\* note\d* \*/")

scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text('aé"\\/{},:[ ', max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=8,
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """An object with a member "servers", laid out as people do."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    indent = draw(st.sampled_from(["  ", "    ", "\t", ""]))

    def write(value: Any, depth: int) -> str:
        if not isinstance(value, dict | list) or not value:
            return json.dumps(value, ensure_ascii=False)
        inline = draw(st.booleans())
        gap = " " if inline else newline + indent * (depth + 1)
        parts = []
        for index, each in enumerate(value):
            name = f"{json.dumps(each)}: " if isinstance(value, dict) else ""
            inner = write(value[each] if isinstance(value, dict) else each, depth + 1)
            comma = "," if index + 1 < len(value) or draw(st.booleans()) else ""
            note = draw(st.sampled_from(["", " /* note */" if inline else " // note"]))
            before = draw(st.sampled_from(["", "/* note1 */ "]))
            parts.append(f"{gap}{before}{name}{inner}{comma}{note}")
        end = "" if inline else newline + indent * depth
        marks = "{}" if isinstance(value, dict) else "[]"
        return marks[0] + "".join(parts) + end + marks[1]

    content = draw(st.dictionaries(st.sampled_from("abc"), values, max_size=3))
    content["servers"] = draw(st.dictionaries(st.sampled_from(["x", "y"]), values, max_size=2))
    content["list"] = draw(st.lists(values, max_size=2))
    order = draw(st.permutations(list(content)))
    return write({key: content[key] for key in order}, 0) + draw(st.sampled_from(["", newline]))


@given(values)
def test_what_json_writes_is_read_as_json_reads_it(value: Any) -> None:
    assert parse(json.dumps(value, indent=1)).value == value


@given(documents())
def test_adding_changes_nothing_but_the_one_member(text: str) -> None:
    before = parse(text).value

    after = set_value(text, ("servers", "graft"), OURS)

    assert parse(after).value == {**before, "servers": {**before["servers"], "graft": OURS}}
    assert COMMENT.findall(after) == COMMENT.findall(text)
    assert set_value(after, ("servers", "graft"), OURS) == after


@given(documents())
def test_what_was_added_is_taken_out_again_with_nothing_else(text: str) -> None:
    before = parse(text).value

    after = remove(set_value(text, ("servers", "graft"), OURS), ("servers", "graft"))

    assert parse(after).value == before
    assert COMMENT.findall(after) == COMMENT.findall(text)
    if before["servers"]:
        assert after == text


@given(documents())
def test_elements_are_added_and_taken_out_alike(text: str) -> None:
    before = parse(text).value

    more = append(text, ("list",), OURS)
    less = remove(more, ("list", len(before["list"])))

    assert parse(more).value == {**before, "list": [*before["list"], OURS]}
    assert parse(less).value == before
    if before["list"]:
        assert less == text


@given(documents(), st.data())
def test_any_member_can_be_taken_out(text: str, data: st.DataObject) -> None:
    before = parse(text).value
    key = data.draw(st.sampled_from(sorted(before)))

    after = remove(text, (key,))

    assert parse(after).value == {name: each for name, each in before.items() if name != key}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1,\n "b" 2}', "line 2, column 6: expected a colon"),
        ('{"a": }', "line 1, column 7: expected a value"),
        ("{'a': 1}", "line 1, column 2: expected a name in double quotes"),
        ('{"a": 1} x', "line 1, column 10: expected the end of the file"),
        ('{"a": [1', "line 1, column 9: expected a comma or the end"),
        ("[,]", "line 1, column 2: expected a value"),
        ('{"a": 01}', "line 1, column 7"),
        ('{"a": "\\x"}', "line 1, column 7"),
        ("[" * (AGENT_FILE_DEPTH_MAX + 1), f"column {AGENT_FILE_DEPTH_MAX + 1}: more than"),
        ("", "line 1, column 1: expected a value"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, where: str) -> None:
    with pytest.raises(SyntaxProblem, match=re.escape(where)):
        parse(text)


def test_a_member_that_is_no_object_is_not_written_over() -> None:
    with pytest.raises(SyntaxProblem, match="line 1, column 13: servers is no object"):
        set_value('{"servers": []}', ("servers", "graft"), OURS)


def test_comments_and_layout_stay_where_they_were() -> None:
    text = '{\n\t// mine\n\t"servers": {\n\t\t"x": {"url": "u"}, // last\n\t\t// end\n\t},\n}\n'

    after = set_value(text, ("servers", "graft"), {"command": "graft"})

    assert after == (
        '{\n\t// mine\n\t"servers": {\n\t\t"x": {"url": "u"}, // last\n\t\t// end\n'
        '\t\t"graft": {\n\t\t\t"command": "graft"\n\t\t},\n\t},\n}\n'
    )
    assert find(after, ("servers", "none")) is None
