"""What is asked of a search: checked, and read into a question."""

from dataclasses import replace

from graft.memory.v1 import note_pb2
from graft.memory.v1 import recall_service_pb2 as pb
from graft.wire.characters import is_blank
from graft.wire.errors import BadFieldError
from graft.wire.setting_list import EMBED_TOKENS_MAX, EMBED_TOKENS_MIN
from graft_memstore.model import Caller
from graft_memstore.recall.answer import UNKNOWN_BACKGROUND, Question
from graft_memstore.service.convert import scope_filter_of
from graft_memstore.service.looking_back import as_of
from graft_memstore.signature import Understood, signatures, understand
from graft_memstore.write.validate import check_keyword_filter, check_scopes, check_title

TEXT_BYTES_MAX = 64 * 1024
TOP_K_DEFAULT = 25
TOP_K_MAX = 256
NOTHING_TO_LOOK_FOR = (
    "holds nothing that can be seen, so there is nothing to look for; ask in words"
)

MATCHES = {
    pb.KEYWORD_MATCH_UNSPECIFIED: False,
    pb.KEYWORD_MATCH_ANY: False,
    pb.KEYWORD_MATCH_ALL: True,
}


def question_of(request: pb.QueryRequest | pb.RetrieveRequest | pb.ExploreRequest) -> Question:
    """Read a question; its vector and its time are found out later.

    Raises:
        BadFieldError: there is no text or too much of it, no scope, too many tokens, or an instant
            too far away.
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
    looks_back = as_of(request.as_of)
    return replace(
        _question(understand(request.text), request.scope),
        valid_at_ms=looks_back.valid_at_ms,
        known_at_ms=looks_back.known_at_ms,
    )


def draft_of(request: pb.ClassifyRequest) -> Question:
    """Read a draft, whose title is looked at whole.

    Raises:
        BadFieldError: no note can have the title, there is no scope, or one cannot be.
    """
    title = check_title(request.title)
    said = Understood(focus=title, signatures=signatures(title, titled=True))
    return _question(said, request.scope)


def _question(said: Understood, scope: note_pb2.ScopeFilter) -> Question:
    """Return a question whose vector and time are found out later.

    Raises:
        BadFieldError: there is no scope, or one cannot be.
    """
    return Question(
        said=said,
        vector=None,
        prior=UNKNOWN_BACKGROUND,
        scope=check_scopes(scope_filter_of(scope)),
        now_ms=0,
    )


def asked_by(caller: Caller, question: Question) -> Question:
    """Return *question* as one that tells its *caller* of nothing that it is not to see."""
    return replace(question, scope=replace(question.scope, walled=bool(caller.bound)))


def narrowed(question: Question, request: pb.RetrieveRequest) -> Question:
    """Return *question* with the keywords that a note must carry.

    Raises:
        BadFieldError: a keyword or the way to match them cannot be.
    """
    if request.match not in MATCHES:
        raise BadFieldError("match", f"{request.match} is none that this version knows")
    keywords = check_keyword_filter(request.keywords)
    least = len(keywords) if MATCHES[request.match] else min(len(keywords), 1)
    return replace(question, keywords=keywords, keywords_min=least)


def top_k_of(request: pb.RetrieveRequest) -> int:
    """Return how many results are wanted.

    Raises:
        BadFieldError: more than can be had.
    """
    if request.top_k > TOP_K_MAX:
        raise BadFieldError("top_k", f"{request.top_k}; {TOP_K_MAX} at most")
    return request.top_k or TOP_K_DEFAULT
