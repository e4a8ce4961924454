"""RecallService behind a real server, with a fake embedder."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import grpc
import pytest
from tests.unit.memstore.room import Room

from graft.memory.v1 import note_pb2, recall_service_pb2_grpc
from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.errors import Refusal, read_refusal
from graft.wire.server import Activity, build_server
from graft_memstore.service.given import Giving
from graft_memstore.service.recall import RecallServicer

SECONDS = 20
USER = note_pb2.ScopeFilter(scopes=["user"])
TITLE = "pip cannot see the proxy behind the company firewall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A room and the stub that asks it."""

    room: Room
    recall: recall_service_pb2_grpc.RecallServiceStub

    def query(self, text: str, **fields: object) -> pb.QueryResponse:
        request = pb.QueryRequest(text=text, scope=USER)
        for name, value in fields.items():
            if isinstance(value, list):
                getattr(request, name).extend(value)
            else:
                setattr(request, name, value)
        return self.recall.Query(request, timeout=SECONDS)

    def retrieve(self, text: str = TITLE, **fields: object) -> pb.RetrieveResponse:
        request = pb.RetrieveRequest(text=text, scope=USER)
        for name, value in fields.items():
            if isinstance(value, list):
                getattr(request, name).extend(value)
            else:
                setattr(request, name, value)
        return self.recall.Retrieve(request, timeout=SECONDS)

    def explain(self, receipt: str, **fields: str) -> pb.ExplainResponse:
        return self.recall.Explain(pb.ExplainRequest(receipt=receipt, **fields), timeout=SECONDS)


@contextmanager
def serve(room: Room) -> Iterator[Served]:
    """Serve *room* while the block runs."""
    server = build_server("graft.memory", Activity(()))
    recall_service_pb2_grpc.add_RecallServiceServicer_to_server(
        RecallServicer(
            room.profiles, room.embedder, room.upkeep.scribe, Giving(room.upkeep.scribe)
        ),
        server,
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield Served(room=room, recall=recall_service_pb2_grpc.RecallServiceStub(channel))
    server.stop(None).wait()


def refusal_of(call: Callable[[], object]) -> Refusal:
    with pytest.raises(grpc.RpcError) as raised:
        call()
    return read_refusal(raised.value)
