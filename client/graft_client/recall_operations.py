"""The calls that find notes, as values."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from graft.memory.v1 import recall_service_pb2
from graft_client import replies
from graft_client.operation import Operation, as_of, scope_filter, sendable
from graft_client.requests import AsOfFields
from graft_client.results import QueryAnswer, Retrieved
from graft_client.scope import ScopeChoice
from graft_client.walks import Classified, Explored

RECALL = "/graft.memory.v1.RecallService"


def query(
    profile: str,
    scope: ScopeChoice,
    text: str,
    instants: AsOfFields | None = None,
    *,
    embed_tokens_max: int,
    context: Sequence[str],
) -> Operation[recall_service_pb2.QueryResponse, QueryAnswer]:
    """Ask the gate."""
    with sendable():
        request = recall_service_pb2.QueryRequest(
            profile=profile,
            scope=scope_filter(scope),
            text=text,
            embed_tokens_max=embed_tokens_max,
            context=context,
            as_of=as_of(instants),
        )
    return Operation(
        path=f"{RECALL}/Query",
        request=request,
        reply=recall_service_pb2.QueryResponse,
        read=replies.query_answer,
    )


def will_confirm(
    asked: Operation[recall_service_pb2.QueryResponse, QueryAnswer], projects: Sequence[str]
) -> Operation[recall_service_pb2.QueryResponse, QueryAnswer]:
    """Say with a question that its caller will look at the files of *projects*."""
    request = recall_service_pb2.QueryRequest()
    request.MergeFrom(asked.request)  # type: ignore[arg-type]  # `query` made it
    request.can_confirm = True
    request.projects.extend(projects)
    return replace(asked, request=request)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a ranked search looks for; *top_k* 0 means the service's own figure."""

    text: str
    top_k: int = 0
    keywords: tuple[str, ...] = ()
    match_all: bool = False
    embed_tokens_max: int = 0
    instants: AsOfFields = field(default_factory=AsOfFields)


def retrieve(
    profile: str, scope: ScopeChoice, search: Search
) -> Operation[recall_service_pb2.RetrieveResponse, Retrieved]:
    """Search."""
    match = (
        recall_service_pb2.KEYWORD_MATCH_ALL
        if search.match_all
        else recall_service_pb2.KEYWORD_MATCH_ANY
    )
    with sendable():
        request = recall_service_pb2.RetrieveRequest(
            profile=profile,
            scope=scope_filter(scope),
            text=search.text,
            top_k=search.top_k,
            keywords=search.keywords,
            match=match,
            embed_tokens_max=search.embed_tokens_max,
            as_of=as_of(search.instants),
        )
    return Operation(
        path=f"{RECALL}/Retrieve",
        request=request,
        reply=recall_service_pb2.RetrieveResponse,
        read=replies.retrieved,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Where a walk begins and how far it goes; zeros mean the service's own figures."""

    text: str
    keywords: tuple[str, ...] = ()
    depth: int = 0
    beam: int = 0
    embed_tokens_max: int = 0
    instants: AsOfFields = field(default_factory=AsOfFields)


def explore(
    profile: str, scope: ScopeChoice, walk: Walk
) -> Operation[recall_service_pb2.ExploreResponse, Explored]:
    """Walk over the graph."""
    with sendable():
        request = recall_service_pb2.ExploreRequest(
            profile=profile,
            scope=scope_filter(scope),
            text=walk.text,
            keywords=walk.keywords,
            depth=walk.depth,
            beam=walk.beam,
            embed_tokens_max=walk.embed_tokens_max,
            as_of=as_of(walk.instants),
        )
    return Operation(
        path=f"{RECALL}/Explore",
        request=request,
        reply=recall_service_pb2.ExploreResponse,
        read=replies.explored,
    )


def classify(
    profile: str, scope: ScopeChoice, title: str
) -> Operation[recall_service_pb2.ClassifyResponse, Classified]:
    """Suggest keywords."""
    with sendable():
        request = recall_service_pb2.ClassifyRequest(
            profile=profile, scope=scope_filter(scope), title=title
        )
    return Operation(
        path=f"{RECALL}/Classify",
        request=request,
        reply=recall_service_pb2.ClassifyResponse,
        read=replies.classified,
    )
