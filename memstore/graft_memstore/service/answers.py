"""Answers of the gate and of a ranked search, as the proto tells them."""

from dataclasses import replace

from graft.memory.v1 import note_pb2
from graft.memory.v1 import recall_service_pb2 as pb
from graft_memstore.applicability import format_applies_to
from graft_memstore.gate import Hit
from graft_memstore.model import Condition, Note
from graft_memstore.recall.answer import (
    DeadEnd,
    NearTitle,
    QueryAnswer,
    RankedNote,
    RetrieveAnswer,
)
from graft_memstore.service.convert import HITS, KINDS, TRUSTS, applicability_message, note_message


def query_response(answer: QueryAnswer, note: note_pb2.Note | None) -> pb.QueryResponse:
    """Pack the gate's answer with the *note* that it hands out."""
    return pb.QueryResponse(
        hit=HITS[answer.hit],
        probability=answer.probability,
        note=note,
        signals=[pb.Signal(name=name, value=value) for name, value in answer.signals],
        near=[_near_message(each) for each in answer.near],
        missing=answer.missing,
        degraded=answer.degraded,
        notes_elsewhere=answer.notes_elsewhere,
        applicability=[applicability_message(each) for each in answer.applicability],
        dead_ends=[_dead_end_message(each) for each in answer.dead_ends],
        context_wanted=answer.context_wanted,
        against=[_near_message(each) for each in answer.against],
    )


def handed_out(note: Note, hit: Hit) -> note_pb2.Note:
    """Pack an answer's note: whole when STRONG, what it is called when WEAK."""
    told = note if hit is Hit.STRONG else replace(note, body="", sources=())
    return note_message(told, Condition.SHOWN)


def retrieve_response(answer: RetrieveAnswer) -> pb.RetrieveResponse:
    """Pack what a ranked search found."""
    return pb.RetrieveResponse(
        results=[_ranked_message(each) for each in answer.results],
        degraded=answer.degraded,
        notes_elsewhere=answer.notes_elsewhere,
    )


def _near_message(near: NearTitle) -> pb.NearNote:
    return pb.NearNote(
        id=near.note_id,
        title=near.title,
        why=near.why,
        trust=TRUSTS[near.trust],
        kind=KINDS[near.kind],
    )


def _dead_end_message(dead_end: DeadEnd) -> pb.DeadEnd:
    return pb.DeadEnd(
        id=dead_end.note_id,
        title=dead_end.title,
        trust=TRUSTS[dead_end.trust],
        applicability=[applicability_message(each) for each in dead_end.applicability],
    )


def _ranked_message(ranked: RankedNote) -> pb.RetrievedNote:
    return pb.RetrievedNote(
        id=ranked.note_id,
        title=ranked.title,
        score=ranked.score,
        arms=[
            pb.ArmScore(arm=name, rank=place.rank, score=place.score)
            for name, place in ranked.arms.items()
        ],
        trust=TRUSTS[ranked.trust],
        trust_reason=ranked.trust_reason,
        keywords=ranked.keywords,
        scope=ranked.scope,
        kind=KINDS[ranked.kind],
        applies_to=[format_applies_to(each) for each in ranked.applies_to],
    )
