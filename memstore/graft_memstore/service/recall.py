"""RecallService: ask the gate, rank notes, walk, suggest; tell what answers were made of."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

import grpc
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
from graft_memstore.model import EventSeq, Note, NoteId, ReceiptId
from graft_memstore.recall.answer import QueryAnswer, Question
from graft_memstore.recall.classify import classify
from graft_memstore.recall.explore import explore
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.own_gate import gate_of
from graft_memstore.recall.query import answer_query
from graft_memstore.recall.receipt import receipt_of
from graft_memstore.recall.retrieve import retrieve
from graft_memstore.service.admission import Admission
from graft_memstore.service.answers import handed_out, query_response, retrieve_response
from graft_memstore.service.asked import in_snapshot, snapshot_of
from graft_memstore.service.confirming import confirm, outlook_of, tell_outlook, with_outlook
from graft_memstore.service.convert import caller_of
from graft_memstore.service.explained import explain
from graft_memstore.service.given import Giving
from graft_memstore.service.misses import clear_misses, list_misses
from graft_memstore.service.questions import (
    NOTHING_TO_LOOK_FOR,
    asked_by,
    draft_of,
    narrowed,
    question_of,
    top_k_of,
)
from graft_memstore.service.walks import begun_at, bounds_of, explore_response
from graft_memstore.store.database import Connection
from graft_memstore.store.full_notes import read_full_notes
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


class RecallServicer(recall_service_pb2_grpc.RecallServiceServicer):
    """Answers questions to every profile.

    Args:
        profiles: the notes.
        embedder: makes the questions' vectors.
        scribe_of: gives who writes down the answers of a profile, by its name.
        giving: sees to what follows from a note that is given out.
        seconds: a clock that only goes forward.
        random: random bytes, such as `os.urandom`.
    """

    def __init__(
        self,
        profiles: Profiles[VectorIndex],
        embedder: Embedder,
        scribe_of: Callable[[str], Scribe | None],
        giving: Giving,
        *,
        seconds: Callable[[], float] = time.perf_counter,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._profiles = profiles
        self._embedder = embedder
        self._scribe_of = scribe_of
        self._giving = giving
        self._seconds = seconds
        self._random = random
        self._recalls = Admission(RECALLS_MAX, "search")

    @override
    def Query(self, request: pb.QueryRequest, context: grpc.ServicerContext) -> pb.QueryResponse:
        """Ask the gate."""
        began = self._seconds()
        asked_for = replace(question_of(request), context=check_context(request.context))
        question = asked_by(caller_of(context), asked_for)
        deadline = Deadline.of_call(context)
        with self._admitted(request.profile, deadline) as profile:
            embedded = self._embed(profile, question, request.embed_tokens_max, deadline)
            with profile.snapshot() as connection:
                asked = in_snapshot(profile, connection, question, embedded.vector)
                gate = gate_of(connection, asked.model)
                answer = answer_query(connection, asked.index, asked.question, gate)
                note = _note_of(connection, answer, asked.question.known_at_ms)
                snapshot = snapshot_of(connection, asked)
                notices = self._notices(profile, connection, context)
            outlook = outlook_of(note, answer.hit, request)
            receipt = receipt_of(
                ReceiptId(self._random(RECEIPT_BYTES).hex()),
                answer,
                asked.question.scope,
                snapshot,
            )
            caller = caller_of(context)
            answered = Answered(
                receipt=with_outlook(receipt, outlook, caller),
                question=asked.question,
                vector_model=asked.vector_model,
                caller=caller,
                service_ms=(self._seconds() - began) * MS_IN_SECOND,
                embed_ms=embedded.seconds * MS_IN_SECOND,
            )
            kept = self._hand_over(profile.name, answered)
            # Without a receipt nobody could end the answer.
            outlook = outlook if kept else replace(outlook, check=outlook.unlooked_at)
            if note is not None and answer.hit is Hit.STRONG and not outlook.waits:
                given = Given(
                    note_id=note.id,
                    session=caller.session,
                    at_ms=snapshot.at_ms,
                    strong=True,
                    seen=EventSeq(snapshot.event),
                )
                self._giving.gave(profile.name, caller, given)
        reply = query_response(answer, None if note is None else handed_out(note, answer.hit))
        reply.receipt = receipt.receipt_id if kept else ""
        tell_outlook(reply, outlook)
        reply.notices.extend(notices)
        self._say_how(reply, question, began, embedded)
        return reply

    @override
    def Retrieve(
        self, request: pb.RetrieveRequest, context: grpc.ServicerContext
    ) -> pb.RetrieveResponse:
        """Rank notes."""
        began = self._seconds()
        question = asked_by(caller_of(context), narrowed(question_of(request), request))
        top_k = top_k_of(request)
        deadline = Deadline.of_call(context)
        with self._admitted(request.profile, deadline) as profile:
            embedded = self._embed(profile, question, request.embed_tokens_max, deadline)
            with profile.snapshot() as connection:
                asked = in_snapshot(profile, connection, question, embedded.vector)
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
        question = asked_by(caller_of(context), begun_at(question_of(request), request))
        bounds = bounds_of(request)
        deadline = Deadline.of_call(context)
        with self._admitted(request.profile, deadline) as profile:
            embedded = self._embed(profile, question, request.embed_tokens_max, deadline)
            with profile.snapshot() as connection:
                asked = in_snapshot(profile, connection, question, embedded.vector)
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
        draft = asked_by(caller_of(context), draft_of(request))
        deadline = Deadline.of_call(context)
        with self._admitted(request.profile, deadline) as profile:
            embedded = self._embed_title(profile, draft, deadline)
            with profile.snapshot() as connection:
                asked = in_snapshot(profile, connection, draft, embedded.vector)
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

    @override
    def ConfirmAnswer(
        self, request: pb.ConfirmAnswerRequest, context: grpc.ServicerContext
    ) -> pb.ConfirmAnswerResponse:
        """End an answer by what its caller found of its sources."""
        seconds = Deadline.of_call(context).for_work()
        with self._profiles.use(request.profile, seconds) as profile:
            scribe = self._scribe(profile.name)
            caller = caller_of(context)
            reply, given = confirm(profile, scribe, request, caller)
            if given is not None:
                self._giving.gave(profile.name, caller, given)
        return reply

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

    def _hand_over(self, profile_name: str, answered: Answered) -> bool:
        """Have an answer written down; tell whether somebody does."""
        scribe = self._scribe_of(profile_name)
        if scribe is None:
            return False
        scribe.take(answered)
        return True

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


def _note_of(connection: Connection, answer: QueryAnswer, known_at_ms: int | None) -> Note | None:
    if answer.note_id is None:
        return None
    return read_full_notes(connection, [NoteId(answer.note_id)], known_at_ms)[0]
