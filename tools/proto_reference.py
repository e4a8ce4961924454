"""Write the reference of the protos in Markdown from their comments, for docs/protos.md.

The page holds its call in a cog comment, so that `cog --check` notices when the two differ.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    ServiceDescriptorProto,
)

ROOT = Path(__file__).resolve().parents[1]
BUF = Path(sys.executable).with_name("buf")
REASONS = "ErrorReason"
REASON_PREFIX = "ERROR_REASON_"

# Numbers of the fields in descriptor.proto, by which a comment's place is told.
FILE_PACKAGE, FILE_MESSAGE, FILE_ENUM, FILE_SERVICE = 2, 4, 5, 6
MESSAGE_FIELD, ENUM_VALUE, SERVICE_METHOD = 2, 2, 2

_STATUS = re.compile(r"([A-Z_]+)\. (.+)", re.DOTALL)
_CODE = re.compile(r"(`[^`]*`)")
_NO_ANCHOR = re.compile(r"[^\w\- ]")

Place = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtoFile:
    """One .proto with its comments by place."""

    descriptor: FileDescriptorProto
    comments: dict[Place, str]

    def comment(self, *place: int) -> str:
        """Return the comment at *place*, lines as they were written; empty for none."""
        return self.comments.get(place, "")


@dataclass(slots=True, kw_only=True)
class Headings:
    """Anchors as they are made from headings: lower case, and a number where one comes again."""

    used: dict[str, int] = field(default_factory=dict)

    def anchor(self, text: str) -> str:
        """Return the anchor of the next heading that says *text*."""
        name = _NO_ANCHOR.sub("", text.lower()).replace(" ", "-")
        seen = self.used.get(name, 0)
        self.used[name] = seen + 1
        return f"{name}-{seen}" if seen else name


def read_protos(root: Path = ROOT) -> tuple[ProtoFile, ...]:
    """Compile the protos of the checkout at *root*; services of the memory first, by name."""
    done = subprocess.run(
        [str(BUF), "build", "--as-file-descriptor-set", "--output", "-#format=binpb"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    files = [
        ProtoFile(
            descriptor=each,
            comments={
                tuple(place.path): place.leading_comments
                for place in each.source_code_info.location
                if place.leading_comments
            },
        )
        for each in FileDescriptorSet.FromString(done.stdout).file
    ]
    return tuple(sorted(files, key=lambda each: _rank(each.descriptor)))


def reference(root: Path = ROOT) -> str:
    """Write every service, message and enum, then the reasons of errors."""
    files = read_protos(root)
    links = _links(files)
    return "\n".join(
        _table_of_services(files) + [line for each in files for line in _file(each, links)]
    )


def errors(root: Path = ROOT) -> str:
    """Write the reasons of refusals as a table."""
    lines = ["| reason | number | status | when |", "| --- | --- | --- | --- |"]
    for reason, number, status, meaning in reasons(read_protos(root)):
        lines.append(f"| `{reason}` | {number} | `{status}` | {_cell(meaning)} |")
    return "\n".join(lines)


def reasons(files: Sequence[ProtoFile]) -> Iterator[tuple[str, int, str, str]]:
    """Yield each reason with its number, its gRPC status and when it is given.

    Raises:
        ValueError: a reason's comment does not begin with its status.
    """
    for file in files:
        for index, enum in enumerate(file.descriptor.enum_type):
            if enum.name != REASONS:
                continue
            for place, value in enumerate(enum.value):
                if value.number == 0:
                    continue
                comment = file.comment(FILE_ENUM, index, ENUM_VALUE, place).strip()
                found = _STATUS.fullmatch(comment)
                if found is None:
                    raise ValueError(f"{value.name}: its comment must begin with its gRPC status")
                yield value.name.removeprefix(REASON_PREFIX), value.number, found[1], found[2]


def _rank(file: FileDescriptorProto) -> tuple[bool, int, str]:
    """Order files: the memory before the embedder, services before what they share."""
    first = ("notes_service", "recall_service", "lifecycle_service")
    name = file.name.rpartition("/")[2].removesuffix(".proto")
    place = first.index(name) if name in first else len(first) + (not file.service)
    return "embedder" in file.package, place, name


def _links(files: Sequence[ProtoFile]) -> dict[str, str]:
    """Return the anchor of every service, message and enum by its full name."""
    headings = Headings()
    links = {}
    for file in files:
        for name in _headings(file.descriptor):
            links[f".{file.descriptor.package}.{name}"] = headings.anchor(name)
    return links


def _headings(file: FileDescriptorProto) -> Iterator[str]:
    """Yield every heading of *file*, in the order in which `_file` writes them."""
    yield file.name
    for service in file.service:
        yield service.name
        yield from (method.name for method in service.method)
    for kind in (file.message_type, file.enum_type):
        yield from (each.name for each in kind if each.name != REASONS)


def _table_of_services(files: Sequence[ProtoFile]) -> list[str]:
    links = _links(files)
    lines = ["| service | rpcs |", "| --- | --- |"]
    for file in files:
        package = file.descriptor.package
        for service in file.descriptor.service:
            rpcs = ", ".join(
                f"[{each.name}](#{links[f'.{package}.{each.name}']})" for each in service.method
            )
            lines.append(f"| `{package}.{service.name}` | {rpcs} |")
    return [*lines, ""]


def _file(file: ProtoFile, links: dict[str, str]) -> Iterator[str]:
    descriptor = file.descriptor
    yield f"## {descriptor.name}\n"
    yield from _paragraphs(file.comment(FILE_PACKAGE))
    for index, service in enumerate(descriptor.service):
        yield from _service(file, index, service, links)
    for index, message in enumerate(descriptor.message_type):
        yield from _message(file, index, message, links)
    for index, enum in enumerate(descriptor.enum_type):
        yield from _enum(file, index, enum)


def _service(
    file: ProtoFile, index: int, service: ServiceDescriptorProto, links: dict[str, str]
) -> Iterator[str]:
    yield f"### {service.name}\n"
    yield from _paragraphs(file.comment(FILE_SERVICE, index))
    for place, method in enumerate(service.method):
        yield f"#### {method.name}\n"
        yield f"{_signature(method, links)}\n"
        yield from _paragraphs(file.comment(FILE_SERVICE, index, SERVICE_METHOD, place))


def _signature(method: MethodDescriptorProto, links: dict[str, str]) -> str:
    asked = _linked(method.input_type, links)
    given = _linked(method.output_type, links)
    return f"{asked} → {'stream of ' if method.server_streaming else ''}{given}"


def _message(
    file: ProtoFile, index: int, message: DescriptorProto, links: dict[str, str]
) -> Iterator[str]:
    yield f"#### {message.name}\n"
    yield from _paragraphs(file.comment(FILE_MESSAGE, index))
    if not message.field:
        return
    maps = {
        f".{file.descriptor.package}.{message.name}.{each.name}": each
        for each in message.nested_type
        if each.options.map_entry
    }
    yield "| field | number | type | meaning |"
    yield "| --- | --- | --- | --- |"
    for place, each in enumerate(message.field):
        meaning = _cell(file.comment(FILE_MESSAGE, index, MESSAGE_FIELD, place))
        kind = _type(each, maps, links)
        yield f"| `{each.name}` | {each.number} | {kind} | {meaning} |"
    yield ""


def _type(
    each: FieldDescriptorProto, maps: dict[str, DescriptorProto], links: dict[str, str]
) -> str:
    entry = maps.get(each.type_name)
    if entry is not None:
        key, value = (_scalar(part, links) for part in entry.field)
        return f"map of {key} to {value}"
    if each.label == FieldDescriptorProto.LABEL_REPEATED:
        return f"repeated {_scalar(each, links)}"
    return f"optional {_scalar(each, links)}" if each.proto3_optional else _scalar(each, links)


def _scalar(each: FieldDescriptorProto, links: dict[str, str]) -> str:
    if each.type_name:
        return _linked(each.type_name, links)
    return FieldDescriptorProto.Type.Name(each.type).removeprefix("TYPE_").lower()


def _enum(file: ProtoFile, index: int, enum: EnumDescriptorProto) -> Iterator[str]:
    if enum.name == REASONS:
        yield f"`{enum.name}` holds the reasons of [refusals](#refusals).\n"
        return
    yield f"#### {enum.name}\n"
    yield from _paragraphs(file.comment(FILE_ENUM, index))
    yield "| value | number | meaning |"
    yield "| --- | --- | --- |"
    for place, each in enumerate(enum.value):
        meaning = _cell(file.comment(FILE_ENUM, index, ENUM_VALUE, place))
        yield f"| `{each.name}` | {each.number} | {meaning} |"
    yield ""


def _linked(full_name: str, links: dict[str, str]) -> str:
    return f"[{full_name.rpartition('.')[2]}](#{links.get(full_name, 'refusals')})"


def _paragraphs(comment: str) -> Iterator[str]:
    """Yield *comment* as Markdown: text flows, what is indented stays as it is."""
    for paragraph in re.split(r"\n\s*\n", comment.rstrip()):
        lines = paragraph.splitlines()
        if all(line.startswith("   ") for line in lines) and lines:
            yield "\n".join(["```text", *(line.strip("\n")[3:] for line in lines), "```\n"])
        elif lines:
            yield f"{_cell(paragraph)}\n"


def _cell(comment: str) -> str:
    """Return *comment* on one line, with nothing in it that Markdown would read as its own."""
    text = " ".join(comment.split())
    pieces = _CODE.split(text)
    return "".join(
        piece if piece.startswith("`") else re.sub(r"([<*\[\]|])", r"\\\1", piece)
        for piece in pieces
    )
