"""What is asked of a walk over the graph and of a suggestion of keywords, and what they reply."""

from dataclasses import replace

from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.errors import BadFieldError
from graft_memstore.beam import BEAM_DEFAULT, BEAM_MAX, DEPTH_DEFAULT, DEPTH_MAX
from graft_memstore.model import EdgeKind
from graft_memstore.recall.answer import Question
from graft_memstore.recall.explore import ExploreAnswer, ExploredEdge, ExploredNote, WalkBounds
from graft_memstore.service.convert import TRUSTS
from graft_memstore.write.validate import check_keyword_filter

EDGE_KINDS = {
    EdgeKind.KEYWORD: pb.EDGE_KIND_KEYWORD,
    EdgeKind.SEMANTIC: pb.EDGE_KIND_SEMANTIC,
    EdgeKind.CONTRADICTS: pb.EDGE_KIND_CONTRADICTS,
    EdgeKind.SUPERSEDES: pb.EDGE_KIND_SUPERSEDES,
}


def bounds_of(request: pb.ExploreRequest) -> WalkBounds:
    """Read how far a walk goes and how many notes it keeps.

    Raises:
        BadFieldError: it would go too far, or keep too many.
    """
    if request.depth > DEPTH_MAX:
        raise BadFieldError("depth", f"{request.depth}; {DEPTH_MAX} at most")
    if request.beam > BEAM_MAX:
        raise BadFieldError("beam", f"{request.beam}; {BEAM_MAX} at most")
    return WalkBounds(depth=request.depth or DEPTH_DEFAULT, beam=request.beam or BEAM_DEFAULT)


def begun_at(question: Question, request: pb.ExploreRequest) -> Question:
    """Return *question* with the keywords of which the notes that it begins at carry one.

    Raises:
        BadFieldError: one of them cannot be a keyword.
    """
    keywords = check_keyword_filter(request.keywords)
    return replace(question, keywords=keywords, keywords_min=min(len(keywords), 1))


def explore_response(answer: ExploreAnswer) -> pb.ExploreResponse:
    """Pack what a walk found."""
    return pb.ExploreResponse(
        nodes=[_node_message(each) for each in answer.nodes],
        edges=[_edge_message(each) for each in answer.edges],
        paths=[pb.ExploredPath(ids=each.note_ids, score=each.score) for each in answer.paths],
        hint=answer.hint,
        degraded=answer.degraded,
        notes_elsewhere=answer.notes_elsewhere,
    )


def _node_message(node: ExploredNote) -> pb.ExploredNode:
    return pb.ExploredNode(
        id=node.note.note_id,
        title=node.note.title,
        score=node.score,
        cosine=node.cosine,
        depth=node.depth,
        trust=TRUSTS[node.note.trust],
        trust_reason=node.note.trust_reason,
        keywords=node.note.keywords,
        scope=node.note.scope,
    )


def _edge_message(edge: ExploredEdge) -> pb.ExploredEdge:
    return pb.ExploredEdge(
        src=edge.src,
        dst=edge.dst,
        kind=EDGE_KINDS[edge.edge.kind],
        keyword=edge.edge.keyword or "",
        weight=edge.edge.weight,
    )
