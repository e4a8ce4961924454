"""The TypeScript client repeats the calls of which the protos say that repeating is safe."""

import re
from pathlib import Path

from tools.proto_reference import FILE_SERVICE, SERVICE_METHOD, read_protos

TRANSPORT = Path(__file__).parents[2] / "client/typescript/src/transport.ts"
SAFE = re.compile(r"repeating\s+(with\s+the\s+same\s+request_id\s+)?is\s+safe", re.IGNORECASE)


def test_what_is_not_repeated_is_what_the_protos_do_not_call_safe() -> None:
    unsafe = set()
    for file in read_protos():
        if file.descriptor.package != "graft.memory.v1":
            continue
        for index, service in enumerate(file.descriptor.service):
            about_all = file.comment(FILE_SERVICE, index)
            for place, method in enumerate(service.method):
                comment = file.comment(FILE_SERVICE, index, SERVICE_METHOD, place)
                streams = method.server_streaming or method.client_streaming
                if not streams and not SAFE.search(about_all + comment):
                    unsafe.add(method.name)
    text = TRANSPORT.read_text("utf-8")
    (listed,) = re.findall(r"NOT_REPEATABLE = new Set\(\[(.*?)\]\)", text, re.DOTALL)

    assert set(re.findall(r'"(\w+)"', listed)) == unsafe
