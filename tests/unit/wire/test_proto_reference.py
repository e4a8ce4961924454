"""docs/protos.md tells all that the protos hold, and its links lead somewhere."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from tools import proto_reference
from tools.proto_reference import Headings, ProtoFile, read_protos, reasons

from graft.wire import channel, errors, metadata, server
from graft_memstore import deadline

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/protos.md"
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
REFUSALS = {
    each.reason: each.code
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, errors.ServiceError) and each.reason
}


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text("utf-8")


@pytest.fixture(scope="module")
def files() -> tuple[ProtoFile, ...]:
    return read_protos()


def names_of(file: FileDescriptorProto) -> Iterator[str]:
    for service in file.service:
        yield f"### {service.name}\n"
        yield from (f"#### {each.name}\n" for each in service.method)
    for message in file.message_type:
        yield f"#### {message.name}\n"
        yield from (f"| `{each.name}` | {each.number} | " for each in message.field)
    for enum in file.enum_type:
        names = (each.name.removeprefix("ERROR_REASON_") for each in enum.value if each.number)
        yield from (f"| `{name}` | " for name in names)


def test_the_page_is_what_the_protos_say() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cogapp", "--check", str(PAGE)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, f"run: make docs\n{done.stdout}{done.stderr}"


def test_nothing_of_the_protos_is_left_out(page: str, files: tuple[ProtoFile, ...]) -> None:
    wanted = [name for each in files for name in names_of(each.descriptor)]

    assert len(wanted) > 700
    assert [name for name in wanted if name not in page] == []


def test_every_link_inside_the_page_leads_to_a_heading(page: str) -> None:
    headings = Headings()
    anchors = {headings.anchor(each) for each in HEADING.findall(FENCED.sub("", page))}
    links = set(re.findall(r"\]\(#([^)]+)\)", page))

    assert len(links) > 150
    assert links - anchors == set()


def test_two_of_one_name_have_anchors_of_their_own(page: str) -> None:
    headings = Headings()

    assert [headings.anchor(each) for each in ("Stop", "A/b.c", "Stop")] == [
        "stop",
        "abc",
        "stop-1",
    ]
    assert "[StopRequest](#stoprequest-1) → [StopResponse](#stopresponse-1)" in page


def test_each_reason_has_the_status_that_its_class_gives(files: tuple[ProtoFile, ...]) -> None:
    told = {number: status for _, number, status, _ in reasons(files)}

    assert {number: status for number, status in told.items() if number in REFUSALS} == {
        number: code.name for number, code in REFUSALS.items()
    }
    assert len(REFUSALS) > 30


def test_a_reason_that_names_no_status_is_refused() -> None:
    descriptor = FileDescriptorProto()
    enum = descriptor.enum_type.add(name="ErrorReason")
    enum.value.add(name="ERROR_REASON_UNSPECIFIED", number=0)
    enum.value.add(name="ERROR_REASON_ODD", number=1)
    file = ProtoFile(descriptor=descriptor, comments={(5, 0, 2, 1): " When it is odd.\n"})

    with pytest.raises(ValueError, match="ERROR_REASON_ODD"):
        list(reasons([file]))


@pytest.mark.parametrize(
    ("comment", "written"),
    [
        (" One\n two.\n", "One two."),
        (' "team:<name>" or "*"\n', r'"team:\<name>" or "\*"'),
        (" `a|b <c>` | d[0]\n", r"`a|b <c>` \| d\[0\]"),
    ],
)
def test_nothing_of_a_comment_is_read_as_markdown_s_own(comment: str, written: str) -> None:
    assert proto_reference._cell(comment) == written


def test_what_a_comment_sets_apart_stays_as_it_is() -> None:
    comment = " First.\n\n   kind      approve\n   held      OBSERVED\n\n Last.\n"

    assert list(proto_reference._paragraphs(comment)) == [
        "First.\n",
        "```text\nkind      approve\nheld      OBSERVED\n```\n",
        "Last.\n",
    ]


def test_the_page_tells_the_figures_that_the_services_go_by(page: str) -> None:
    text = " ".join(page.split())

    assert f"the service takes {deadline.DEFAULT_SECONDS:.0f} s" in text
    assert f"A service handles {server.CALLS_MAX} calls at a time" in text
    assert f"at most {channel.MESSAGE_BYTES_MAX // 2**20} MiB either way" in text
    assert f"at most {metadata.VALUE_BYTES_MAX} bytes a value" in text
    assert f"`{metadata.PROTOCOL_NUMBER};BUILD`" in text
    keys = (
        metadata.PROTOCOL_KEY,
        metadata.DOOR_KEY,
        metadata.SESSION_KEY,
        metadata.AGENT_KEY,
        metadata.REVIEWER_KEY,
        metadata.BOUND_SCOPE_KEY,
    )
    assert [key for key in keys if f"| `{key}` | " not in page] == []
    assert all(f"`{door}`" in page for door in metadata.DOORS)
