"""RecallService: ask the gate, rank notes, walk, suggest; tell what answers were made of."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

import grpc
import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from graft.memory.v1 import note_pb2, recall_service_pb2_grpc
from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.errors import BadFieldError, ModelNotReadyError, StoppingError
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
from graft_memstore.model import Condition, EventSeq, Model, ModelRole, Note, NoteId, ReceiptId
from graft_memstore.recall.answer import UNKNOWN_BACKGROUND, QueryAnswer, Question
from graft_memstore.recall.classify import classify
from graft_memstore.recall.explore import explore
from graft_memstore.recall.index import VectorIndex, index_of
from graft_memstore.recall.own_gate import gate_of
from graft_memstore.recall.query import answer_query
from graft_memstore.recall.receipt import NO_INDEX, Snapshot, receipt_of
from graft_memstore.recall.retrieve import retrieve
from graft_memstore.service.admission import Admission
from graft_memstore.service.answers import query_response, retrieve_response
from graft_memstore.service.convert import caller_of, note_message
from graft_memstore.service.explained import explain
from graft_memstore.service.given import Giving
from graft_memstore.service.looking_back import AsOf
from graft_memstore.service.misses import clear_misses, list_misses
from graft_memstore.service.questions import (
    NOTHING_TO_LOOK_FOR,
    draft_of,
    narrowed,
    question_of,
    top_k_of,
)
from graft_memstore.service.walks import begun_at, bounds_of, explore_response
from graft_memstore.store.database import Connection
from graft_memstore.store.events import read_last_link
from graft_memstore.store.full_notes import read_full_notes
from graft_memstore.store.models import read_model
from graft_memstore.store.profile import Profile
from graft_memstore.store.profiles import Profiles
from graft_memstore.upkeep.ledger import Given
from graft_memstore.upkeep.scribe import Answered, Scribe
from graft_memstore.write.validate import check_context

RECALLS_MAX = 20
"""Questions that are answered at once; most of their time they wait for the model."""

RECEIPT_BYTES = 16
MS_IN_SECOND = 1_000.0

SearchResponse: TypeAlias = (
    pb.QueryResponse | pb.RetrieveResponse | pb.ExploreResponse | pb.ClassifyResponse
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A question's vector, None where it cannot be had, and how long that took."""

    vector: QueryVector | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as of one snapshot, and what answers it there.

    Attributes:
        index: of *model*; None without one.
        model: the model that serves; None before the first vector.
        vector_model: identity of the model that made the question's vector; empty without one.
    """

    question: Question
    index: VectorIndex | None
    model: Model | None
    vector_model: str


class RecallServicer(recall_service_pb2_grpc.RecallServiceServicer):
    """Answers questions to every profile.

    Args:
        profiles: the notes.
        embedder: makes the questions' vectors.
        scribe_of: gives who writes down the answers of a profile, by its name.
        seconds: a clock that only goes forward.
        random: random bytes, such as `os.urandom`.
    """

    def __init__(
        self,
        profiles: Profiles[VectorIndex],
        embedder: Embedder,
        scribe_of: Callable[[str], Scribe | None],
        *,
        seconds: Callable[[], float] = time.perf_counter,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._profiles = profiles
        self._embedder = embedder
        self._scribe_of = scribe_of
        self._seconds = seconds
        self._random = random
        self._giving = Giving(scribe_of)
        self._recalls = Admission(RECALLS_MAX, "search")

    @override
    def Query(self, request: pb.QueryRequest, context: grpc.ServicerContext) -> pb.QueryResponse:
        """Ask the gate."""
        began = self._seconds()
        question = replace(question_of(request), context=check_context(request.context))
        deadline = Deadline.of_call(context)
        with self._admitted(request.profile, deadline) as profile:
            embedded = self._embed(profile, question, request.embed_tokens_max, deadline)
            with profile.snapshot() as connection:
                asked = _in_snapshot(profile, connection, question, embedded.vector)
                gate = gate_of(connection, asked.model)
                answer = answer_query(connection, asked.index, asked.question, gate)
                note = _note_of(connection, answer, asked.question.known_at_ms)
                snapshot = _snapshot_of(connection, asked)
                notices = self._notices(profile, connection, context)
            receipt = self._hand_over(profile.name, asked, answer, snapshot)
            if note is not None and answer.hit is Hit.STRONG:
                given = Given(
                    note_id=note.id,
                    session=caller_of(context).session,
                    at_ms=snapshot.at_ms,
                    strong=True,
                    seen=EventSeq(snapshot.event),
                )
                self._giving.gave(profile.name, given)
        message = None if note is None else note_message(note, Condition.SHOWN)
        reply = query_response(answer, message)
        reply.receipt = receipt
        reply.notices.extend(notices)
        self._say_how(reply, question, began, embedded)
        return reply

    @override
    def Retrieve(
        self, request: pb.RetrieveRequest, context: grpc.ServicerContext
    ) -> pb.RetrieveResponse:
        """Rank notes."""
        began = self._seconds()
        question = narrowed(question_of(request), request)
        top_k = top_k_of(request)
        deadline = Deadline.of_call(context)
        with self._admitted(request.profile, deadline) as profile:
            embedded = self._embed(profile, question, request.embed_tokens_max, deadline)
            with profile.snapshot() as connection:
                asked = _in_snapshot(profile, connection, question, embedded.vector)
                answer = retrieve(connection, asked.index, asked.question, top_k)
                notices = self._notices(profile, connection, context)
        reply = retrieve_response(answer)
        reply.notices.extend(notices)
        self._say_how(reply, question, began, embedded)
        return reply

    @override
    def Explore(
        self, request: pb.ExploreRequest, context: grpc.ServicerContext
    ) -> pb.ExploreResponse:
        """Walk over the graph."""
        began = self._seconds()
        question = begun_at(question_of(request), request)
        bounds = bounds_of(request)
        deadline = Deadline.of_call(context)
        with self._admitted(request.profile, deadline) as profile:
            embedded = self._embed(profile, question, request.embed_tokens_max, deadline)
            with profile.snapshot() as connection:
                asked = _in_snapshot(profile, connection, question, embedded.vector)
                answer = explore(connection, asked.index, asked.question, bounds)
        reply = explore_response(answer)
        self._say_how(reply, question, began, embedded)
        return reply

    @override
    def Classify(
        self, request: pb.ClassifyRequest, context: grpc.ServicerContext
    ) -> pb.ClassifyResponse:
        """Suggest keywords."""
        began = self._seconds()
        draft = draft_of(request)
        deadline = Deadline.of_call(context)
        with self._admitted(request.profile, deadline) as profile:
            embedded = self._embed_title(profile, draft, deadline)
            with profile.snapshot() as connection:
                asked = _in_snapshot(profile, connection, draft, embedded.vector)
                answer = classify(connection, asked.index, asked.question)
        reply = pb.ClassifyResponse(
            suggestions=[
                pb.SuggestedKeyword(keyword=each.keyword, score=each.score)
                for each in answer.suggestions
            ],
            degraded=answer.degraded,
        )
        self._say_how(reply, draft, began, embedded)
        return reply

    @override
    def ListMisses(
        self, request: pb.ListMissesRequest, context: grpc.ServicerContext
    ) -> pb.ListMissesResponse:
        """List the questions that nothing answered."""
        seconds = Deadline.of_call(context).for_work()
        with self._profiles.use(request.profile, seconds) as profile:
            return list_misses(profile, self._scribe(profile.name), request)

    @override
    def ClearMisses(
        self, request: pb.ClearMissesRequest, context: grpc.ServicerContext
    ) -> pb.ClearMissesResponse:
        """Erase questions that nothing answered."""
        deadline = Deadline.of_call(context)
        with self._profiles.use(request.profile, deadline.for_work()) as profile:
            scribe = self._scribe(profile.name)
            return clear_misses(profile, scribe, request, caller_of(context), deadline)

    @override
    def Explain(
        self, request: pb.ExplainRequest, context: grpc.ServicerContext
    ) -> pb.ExplainResponse:
        """Tell what an answer was made of."""
        seconds = Deadline.of_call(context).for_work()
        with self._profiles.use(request.profile, seconds) as profile:
            return explain(profile, self._scribe(profile.name), request)

    @contextmanager
    def _admitted(self, profile_name: str, deadline: Deadline) -> Iterator[Profile[VectorIndex]]:
        """Lend a profile to one of the searches that may run at once."""
        with (
            self._profiles.use(profile_name, deadline.for_work()) as profile,
            self._recalls.enter(deadline),
        ):
            yield profile

    def _notices(
        self,
        profile: Profile[VectorIndex],
        connection: Connection,
        context: grpc.ServicerContext,
    ) -> list[note_pb2.Notice]:
        """Return what the caller's session is told with its answer."""
        caller, now_ms = caller_of(context), profile.now_ms(connection)
        return self._giving.notices(profile.name, connection, caller, now_ms)

    def _say_how(
        self, reply: SearchResponse, question: Question, began: float, embedded: Embedded
    ) -> None:
        """Put into a reply where was searched, and how long that took."""
        reply.scopes.extend(question.scope.scopes)
        reply.service_ms = (self._seconds() - began) * MS_IN_SECOND
        reply.embed_ms = embedded.seconds * MS_IN_SECOND

    def _scribe(self, profile_name: str) -> Scribe:
        """Return who writes down a profile's answers.

        Raises:
            StoppingError: nobody does any more.
        """
        scribe = self._scribe_of(profile_name)
        if scribe is None:
            raise StoppingError("the service is stopping; call again to start it anew")
        return scribe

    def _hand_over(
        self, profile_name: str, asked: Asked, answer: QueryAnswer, snapshot: Snapshot
    ) -> str:
        """Have an answer written down; return the id of its receipt, empty where nobody does."""
        scribe = self._scribe_of(profile_name)
        if scribe is None:
            return ""
        receipt_id = ReceiptId(self._random(RECEIPT_BYTES).hex())
        receipt = receipt_of(receipt_id, answer, asked.question.scope, snapshot)
        scribe.take(
            Answered(receipt=receipt, question=asked.question, vector_model=asked.vector_model)
        )
        return receipt_id

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
) -> Asked:
    """Return the question as of this snapshot, and the model that serves in it.

    Vectors of two models are never compared: where the profile has moved to another one since
    the question was embedded, the vector arm is down for this call.
    """
    serving = read_model(connection, ModelRole.SERVING)
    if vector and serving and vector.model.identity != serving.identity:
        vector = None
    looks_back = AsOf(valid_at_ms=question.valid_at_ms, known_at_ms=question.known_at_ms)
    instants = looks_back.seen_from(profile.now_ms(connection))
    asked = replace(question, now_ms=instants.now_ms, known_at_ms=instants.known_at_ms)
    if vector is not None:
        prior = vector.model.background or UNKNOWN_BACKGROUND
        asked = replace(asked, vector=_values(vector), prior=prior)
    return Asked(
        question=asked,
        index=index_of(serving, profile.index),
        model=serving,
        vector_model="" if vector is None else vector.model.identity,
    )


def _snapshot_of(connection: Connection, asked: Asked) -> Snapshot:
    last = read_last_link(connection)
    return Snapshot(
        at_ms=asked.question.now_ms,
        event=0 if last is None else last.count,
        model=asked.model,
        index=NO_INDEX if asked.index is None else asked.index.state,
    )


def _values(vector: QueryVector) -> NDArray[np.float32]:
    return np.frombuffer(vector.values, dtype="<f4")


def _note_of(connection: Connection, answer: QueryAnswer, known_at_ms: int | None) -> Note | None:
    """Return the note whole when STRONG, what it is called when WEAK."""
    if answer.note_id is None:
        return None
    note = read_full_notes(connection, [NoteId(answer.note_id)], known_at_ms)[0]
    return note if answer.hit is Hit.STRONG else replace(note, body="", sources=())
