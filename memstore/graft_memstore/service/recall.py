"""RecallService: ask the gate, rank notes."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import grpc
import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from graft.memory.v1 import note_pb2, recall_service_pb2_grpc
from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.characters import is_blank
from graft.wire.errors import BadFieldError, ModelNotReadyError
from graft.wire.settings import EMBED_TOKENS_MAX, EMBED_TOKENS_MIN
from graft_memstore.applicability import format_applies_to
from graft_memstore.deadline import Deadline
from graft_memstore.embedding import Embedder, QueryVector, TextRefusedError, model_for
from graft_memstore.gate import Hit
from graft_memstore.lexical import fold_question
from graft_memstore.model import Background, ModelRole, NoteId
from graft_memstore.recall.answer import (
    DeadEnd,
    NearTitle,
    QueryAnswer,
    Question,
    RankedNote,
)
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.query import answer_query
from graft_memstore.recall.retrieve import retrieve
from graft_memstore.service.admission import Admission
from graft_memstore.service.convert import (
    KINDS,
    TRUSTS,
    applicability_message,
    note_message,
    scope_filter_of,
)
from graft_memstore.signature import understand
from graft_memstore.store.database import Connection
from graft_memstore.store.full_notes import read_full_notes
from graft_memstore.store.models import read_model
from graft_memstore.store.profile import Profile
from graft_memstore.store.profiles import Profiles
from graft_memstore.write.validate import check_context, check_keyword_filter, check_scopes

RECALLS_MAX = 20
"""Questions that are answered at once; most of their time they wait for the model."""
TEXT_BYTES_MAX = 64 * 1024
TOP_K_DEFAULT = 25
TOP_K_MAX = 256
NOTHING_TO_LOOK_FOR = (
    "holds nothing that can be seen, so there is nothing to look for; ask in words"
)
UNKNOWN_BACKGROUND = Background(mean=0.5, deviation=0.12, count=8.0)
"""For a model that does not know its own: wide, and soon outweighed by the store's."""

HITS = {Hit.STRONG: pb.HIT_STRONG, Hit.WEAK: pb.HIT_WEAK, Hit.MISS: pb.HIT_MISS}
MATCHES = {
    pb.KEYWORD_MATCH_UNSPECIFIED: False,
    pb.KEYWORD_MATCH_ANY: False,
    pb.KEYWORD_MATCH_ALL: True,
}
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
        question = replace(_question_of(request), context=check_context(request.context))
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
        question = _narrowed(_question_of(request), request)
        top_k = _top_k_of(request)
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

    def _embed(
        self, profile: Profile[VectorIndex], question: Question, tokens_max: int, deadline: Deadline
    ) -> Embedded:
        """Return the question's vector by the profile's model, waiting for it if need be.

        Of a long paste the model would read the beginning and the end, which are seldom where
        the error stands: its telling part is embedded instead.

        Raises:
            BadFieldError: nothing in the text can be looked for.
        """
        began = self._seconds()
        serving, text = profile.serving_model, question.said.focus
        vector = None
        try:
            wanted = model_for(serving, self._embedder)
            vector = self._embedder.embed_query(wanted, text, tokens_max, deadline)
        except (ModelNotReadyError, TextRefusedError) as error:
            if isinstance(error, TextRefusedError) and not fold_question(text).terms:
                raise BadFieldError("text", NOTHING_TO_LOOK_FOR) from error
            # The answer says so: words alone, never STRONG.
            vector = None
        return Embedded(vector=vector, seconds=self._seconds() - began)


def _question_of(request: pb.QueryRequest | pb.RetrieveRequest) -> Question:
    """Read a question; its vector and its time are found out later.

    Raises:
        BadFieldError: there is no text or too much of it, no scope, or too many tokens.
    """
    size = len(request.text.encode("utf-8", "surrogatepass"))
    if is_blank(request.text):
        raise BadFieldError("text", NOTHING_TO_LOOK_FOR)
    if size > TEXT_BYTES_MAX:
        raise BadFieldError("text", f"{size:,} bytes; {TEXT_BYTES_MAX:,} at most")
    tokens = request.embed_tokens_max
    if tokens and not EMBED_TOKENS_MIN <= tokens <= EMBED_TOKENS_MAX:
        raise BadFieldError(
            "embed_tokens_max", f"{tokens:,}; 0, or {EMBED_TOKENS_MIN} to {EMBED_TOKENS_MAX:,}"
        )
    return Question(
        said=understand(request.text),
        vector=None,
        prior=UNKNOWN_BACKGROUND,
        scope=check_scopes(scope_filter_of(request.scope)),
        now_ms=0,
    )


def _narrowed(question: Question, request: pb.RetrieveRequest) -> Question:
    """Return *question* with the keywords that a note must carry.

    Raises:
        BadFieldError: a keyword or the way to match them cannot be.
    """
    if request.match not in MATCHES:
        raise BadFieldError("match", f"{request.match} is none that this version knows")
    keywords = check_keyword_filter(request.keywords)
    least = len(keywords) if MATCHES[request.match] else min(len(keywords), 1)
    return replace(question, keywords=keywords, keywords_min=least)


def _top_k_of(request: pb.RetrieveRequest) -> int:
    """Return how many results are wanted.

    Raises:
        BadFieldError: more than can be had.
    """
    if request.top_k > TOP_K_MAX:
        raise BadFieldError("top_k", f"{request.top_k}; {TOP_K_MAX} at most")
    return request.top_k or TOP_K_DEFAULT


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
