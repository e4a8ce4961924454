"""RecallService: ask the gate, rank notes, walk over the graph, suggest keywords."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import grpc
import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from graft.memory.v1 import note_pb2, recall_service_pb2_grpc
from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.errors import BadFieldError, ModelNotReadyError
from graft_memstore.applicability import format_applies_to
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import (
    Embedder,
    QueryVector,
    TextRefusedError,
    WantedModel,
    model_for,
)
from graft_memstore.gate import Hit
from graft_memstore.lexical import fold_question
from graft_memstore.model import ModelRole, NoteId
from graft_memstore.recall.answer import (
    DeadEnd,
    NearTitle,
    QueryAnswer,
    Question,
    RankedNote,
)
from graft_memstore.recall.classify import classify
from graft_memstore.recall.explore import explore
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.query import answer_query
from graft_memstore.recall.retrieve import retrieve
from graft_memstore.service.admission import Admission
from graft_memstore.service.convert import (
    KINDS,
    TRUSTS,
    applicability_message,
    note_message,
)
from graft_memstore.service.questions import (
    NOTHING_TO_LOOK_FOR,
    UNKNOWN_BACKGROUND,
    draft_of,
    narrowed,
    question_of,
    top_k_of,
)
from graft_memstore.service.walks import begun_at, bounds_of, explore_response
from graft_memstore.store.database import Connection
from graft_memstore.store.full_notes import read_full_notes
from graft_memstore.store.models import read_model
from graft_memstore.store.profile import Profile
from graft_memstore.store.profiles import Profiles
from graft_memstore.write.validate import check_context

RECALLS_MAX = 20
"""Questions that are answered at once; most of their time they wait for the model."""

HITS = {Hit.STRONG: pb.HIT_STRONG, Hit.WEAK: pb.HIT_WEAK, Hit.MISS: pb.HIT_MISS}
MS_IN_SECOND = 1_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A question's vector, None where it cannot be had, and how long that took."""

    vector: QueryVector | None
    seconds: float


class RecallServicer(recall_service_pb2_grpc.RecallServiceServicer):
    """Answers questions to every profile.

    Args:
        profiles: the notes.
        embedder: makes the questions' vectors.
        seconds: a clock that only goes forward.
    """

    def __init__(
        self,
        profiles: Profiles[VectorIndex],
        embedder: Embedder,
        seconds: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._profiles = profiles
        self._embedder = embedder
        self._seconds = seconds
        self._recalls = Admission(RECALLS_MAX, "search")

    @override
    def Query(self, request: pb.QueryRequest, context: grpc.ServicerContext) -> pb.QueryResponse:
        """Ask the gate."""
        began = self._seconds()
        question = replace(question_of(request), context=check_context(request.context))
        deadline = Deadline.of_call(context)
        with (
            self._profiles.use(request.profile, deadline.for_work()) as profile,
            self._recalls.enter(deadline),
        ):
            embedded = self._embed(profile, question, request.embed_tokens_max, deadline)
            with profile.snapshot() as connection:
                asked, index = _in_snapshot(profile, connection, question, embedded.vector)
                answer = answer_query(connection, index, asked)
                note = _note_of(connection, answer)
        return pb.QueryResponse(
            hit=HITS[answer.hit],
            probability=answer.probability,
            note=note,
            signals=[pb.Signal(name=name, value=value) for name, value in answer.signals],
            near=[_near_message(each) for each in answer.near],
            degraded=answer.degraded,
            scopes=question.scope.scopes,
            notes_elsewhere=answer.notes_elsewhere,
            service_ms=(self._seconds() - began) * MS_IN_SECOND,
            embed_ms=embedded.seconds * MS_IN_SECOND,
            applicability=[applicability_message(each) for each in answer.applicability],
            dead_ends=[_dead_end_message(each) for each in answer.dead_ends],
            context_wanted=answer.context_wanted,
        )

    @override
    def Retrieve(
        self, request: pb.RetrieveRequest, context: grpc.ServicerContext
    ) -> pb.RetrieveResponse:
        """Rank notes."""
        began = self._seconds()
        question = narrowed(question_of(request), request)
        top_k = top_k_of(request)
        deadline = Deadline.of_call(context)
        with (
            self._profiles.use(request.profile, deadline.for_work()) as profile,
            self._recalls.enter(deadline),
        ):
            embedded = self._embed(profile, question, request.embed_tokens_max, deadline)
            with profile.snapshot() as connection:
                asked, index = _in_snapshot(profile, connection, question, embedded.vector)
                answer = retrieve(connection, index, asked, top_k)
        return pb.RetrieveResponse(
            results=[_ranked_message(each) for each in answer.results],
            degraded=answer.degraded,
            scopes=question.scope.scopes,
            notes_elsewhere=answer.notes_elsewhere,
            service_ms=(self._seconds() - began) * MS_IN_SECOND,
            embed_ms=embedded.seconds * MS_IN_SECOND,
        )

    @override
    def Explore(
        self, request: pb.ExploreRequest, context: grpc.ServicerContext
    ) -> pb.ExploreResponse:
        """Walk over the graph."""
        began = self._seconds()
        question = begun_at(question_of(request), request)
        bounds = bounds_of(request)
        deadline = Deadline.of_call(context)
        with (
            self._profiles.use(request.profile, deadline.for_work()) as profile,
            self._recalls.enter(deadline),
        ):
            embedded = self._embed(profile, question, request.embed_tokens_max, deadline)
            with profile.snapshot() as connection:
                asked, index = _in_snapshot(profile, connection, question, embedded.vector)
                answer = explore(connection, index, asked, bounds)
        reply = explore_response(answer)
        reply.scopes.extend(question.scope.scopes)
        reply.service_ms = (self._seconds() - began) * MS_IN_SECOND
        reply.embed_ms = embedded.seconds * MS_IN_SECOND
        return reply

    @override
    def Classify(
        self, request: pb.ClassifyRequest, context: grpc.ServicerContext
    ) -> pb.ClassifyResponse:
        """Suggest keywords."""
        began = self._seconds()
        draft = draft_of(request)
        deadline = Deadline.of_call(context)
        with (
            self._profiles.use(request.profile, deadline.for_work()) as profile,
            self._recalls.enter(deadline),
        ):
            embedded = self._embed_title(profile, draft, deadline)
            with profile.snapshot() as connection:
                asked, index = _in_snapshot(profile, connection, draft, embedded.vector)
                answer = classify(connection, index, asked)
        return pb.ClassifyResponse(
            suggestions=[
                pb.SuggestedKeyword(keyword=each.keyword, score=each.score)
                for each in answer.suggestions
            ],
            degraded=answer.degraded,
            scopes=draft.scope.scopes,
            service_ms=(self._seconds() - began) * MS_IN_SECOND,
            embed_ms=embedded.seconds * MS_IN_SECOND,
        )

    def _embed(
        self, profile: Profile[VectorIndex], question: Question, tokens_max: int, deadline: Deadline
    ) -> Embedded:
        """Return the question's vector by the profile's model, waiting for it if need be.

        Of a long paste the model would read the beginning and the end, which are seldom where
        the error stands: its telling part is embedded instead.

        Raises:
            BadFieldError: nothing in the text can be looked for.
        """
        text = question.said.focus

        def embed(wanted: WantedModel) -> QueryVector:
            try:
                return self._embedder.embed_query(wanted, text, tokens_max, deadline)
            except TextRefusedError as error:
                if not fold_question(text).terms:
                    raise BadFieldError("text", NOTHING_TO_LOOK_FOR) from error
                raise

        return self._embed_by(profile, embed)

    def _embed_title(
        self, profile: Profile[VectorIndex], draft: Question, deadline: Deadline
    ) -> Embedded:
        """Return a draft's vector as a stored note has it, waiting for the model if need be."""
        title = draft.said.focus

        def embed(wanted: WantedModel) -> QueryVector:
            embedded = self._embedder.embed_passages(wanted, [title], 1, deadline)
            windows = embedded.texts[0].windows
            if not windows:
                raise TextRefusedError("nothing in it that can be seen")
            return QueryVector(model=embedded.model, values=windows[0].values)

        return self._embed_by(profile, embed)

    def _embed_by(
        self, profile: Profile[VectorIndex], embed: Callable[[WantedModel], QueryVector]
    ) -> Embedded:
        began = self._seconds()
        serving = profile.serving_model
        vector = None
        try:
            vector = embed(model_for(serving, self._embedder))
        except (ModelNotReadyError, TextRefusedError):
            # The answer says so: words alone, never STRONG.
            vector = None
        return Embedded(vector=vector, seconds=self._seconds() - began)


def _in_snapshot(
    profile: Profile[VectorIndex],
    connection: Connection,
    question: Question,
    vector: QueryVector | None,
) -> tuple[Question, VectorIndex | None]:
    """Return the question as of this snapshot, and the index of the model that serves in it.

    Vectors of two models are never compared: where the profile has moved to another one since
    the question was embedded, the vector arm is down for this call.
    """
    serving = read_model(connection, ModelRole.SERVING)
    index = profile.index
    if serving is None:
        index = None
    elif index is None or index.model_id != serving.model_id:
        index = VectorIndex(serving.model_id, serving.dimensions)
    if vector and serving and vector.model.identity != serving.identity:
        vector = None
    asked = replace(question, now_ms=profile.now_ms(connection))
    if vector is None:
        return asked, index
    prior = vector.model.background or UNKNOWN_BACKGROUND
    return replace(asked, vector=_values(vector), prior=prior), index


def _values(vector: QueryVector) -> NDArray[np.float32]:
    return np.frombuffer(vector.values, dtype="<f4")


def _note_of(connection: Connection, answer: QueryAnswer) -> note_pb2.Note | None:
    """Return the note whole when STRONG, what it is called when WEAK."""
    if answer.note_id is None:
        return None
    note = read_full_notes(connection, [NoteId(answer.note_id)])[0]
    return note_message(note if answer.hit is Hit.STRONG else replace(note, body="", sources=()))


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
        keywords=ranked.keywords,
        scope=ranked.scope,
        kind=KINDS[ranked.kind],
        applies_to=[format_applies_to(each) for each in ranked.applies_to],
    )
