"""One call is found in the logs of both services by one id."""

import json
from dataclasses import replace
from typing import Any

import grpc
import pytest
from tests.e2e.conftest import Shell

from graft.memory.v1 import note_pb2, recall_service_pb2, recall_service_pb2_grpc
from graft.wire.call_ids import CALL_KEY
from graft.wire.channel import open_channel
from graft.wire.launch import find_running
from graft.wire.paths import Home

WORDS = "the xylophone is tuned on Tuesdays"


def logged(shell: Shell, name: str) -> list[dict[str, Any]]:
    text = (shell.home / f"{name}.log").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.model
def test_a_call_has_one_id_in_both_logs_and_none_of_its_words(shell: Shell) -> None:
    told = replace(shell, environ={"GRAFT_LOG_LEVEL": "debug", "GRAFT_LOG_FORMAT": "json"})
    told.run("start", "--load")
    record = find_running(Home(root=told.home), "memstore")
    assert record is not None
    scope = note_pb2.ScopeFilter(all=True)

    with open_channel(record.socket) as channel:
        recall_service_pb2_grpc.RecallServiceStub(channel).Query(
            recall_service_pb2.QueryRequest(text=WORDS, scope=scope),
            timeout=60,
            metadata=((CALL_KEY, "asked-by-hand"),),
        )
        with pytest.raises(grpc.RpcError):
            recall_service_pb2_grpc.RecallServiceStub(channel).Query(
                recall_service_pb2.QueryRequest(text=WORDS, scope=scope, profile="none"), timeout=60
            )
    told.run("stop")

    ours = [each for each in logged(told, "memstore") if each.get("call") == "asked-by-hand"]
    (theirs,) = [
        each for each in logged(told, "embedder-starter") if each.get("call") == "asked-by-hand"
    ]
    refused = [each for each in logged(told, "memstore") if each["event"] == "refused"]
    assert [each["event"] for each in ours] == ["answered"]
    assert theirs["method"] == "/graft.embedder.v1.EmbedderService/Embed"
    assert [len(each["call"]) for each in refused] == [16]
    assert WORDS not in (told.home / "memstore.log").read_text("utf-8")
