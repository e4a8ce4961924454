"""How replies of the service become plain results."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

from graft.embedder.v1 import embedder_pb2
from graft.memory.v1 import (
    daemon_service_pb2,
    lifecycle_service_pb2,
    note_pb2,
    notes_service_pb2,
    profiles_service_pb2,
    recall_service_pb2,
)
from graft_client import authority_replies, results, walks
from graft_client.notices import GivenTo, Notice
from graft_client.secret_replies import secret_findings
from graft_client.times import from_milliseconds
from graft_client.vocabulary import (
    CONDITIONS,
    EDGES,
    FITS,
    HAPPENINGS,
    HITS,
    KINDS,
    OUTCOMES,
    SOURCE_CHECKS,
    SOURCES,
    STATES,
    TRUSTS,
)

_MODEL_STATES: dict[int, str] = {
    embedder_pb2.MODEL_STATE_CONVERTING: "converting",
    embedder_pb2.MODEL_STATE_LOADING: "loading",
    embedder_pb2.MODEL_STATE_READY: "ready",
    embedder_pb2.MODEL_STATE_FAILED: "failed",
}
_BACKENDS: dict[int, str] = {
    embedder_pb2.BACKEND_CPU: "cpu",
    embedder_pb2.BACKEND_CUDA: "cuda",
    embedder_pb2.BACKEND_ROCM: "rocm",
    embedder_pb2.BACKEND_OTHER_GPU: "gpu",
}


def note(reply: note_pb2.Note, *, with_body: bool = True) -> results.Note:
    """Read a note; without body where the service hands out its title alone."""
    return results.Note(
        id=reply.id,
        title=reply.title,
        body=reply.body if with_body else None,
        kind=KINDS.get(reply.kind, "note"),
        keywords=tuple(reply.keywords),
        author=reply.author,
        scope=reply.scope,
        state=STATES.get(reply.lifecycle, "retired"),
        trust=TRUSTS.get(reply.trust, "candidate"),
        valid_from=instant_of(reply, "valid_from_ms"),
        valid_to=instant_of(reply, "valid_to_ms"),
        expires_at=instant_of(reply, "expires_at_ms"),
        recorded_at=from_milliseconds(reply.recorded_at_ms),
        superseded_by=reply.superseded_by or None,
        sources=tuple(source(each) for each in reply.sources),
        pending=reply.pending,
        applies_to=tuple(reply.applies_to),
        state_reason=reply.state_reason,
        state_event=reply.state_event,
        condition=CONDITIONS.get(reply.condition, "retired"),
        oracle=authority_replies.oracle(reply.oracle) if reply.HasField("oracle") else None,
    )


def inserted(reply: notes_service_pb2.InsertedNote, degraded: Sequence[str]) -> results.Inserted:
    """Read what became of one note."""
    return results.Inserted(
        id=reply.id,
        duplicate=reply.duplicate,
        state=STATES.get(reply.lifecycle, "retired"),
        trust=TRUSTS.get(reply.trust, "candidate"),
        scope=reply.scope,
        pending=reply.pending,
        similar=tuple(
            results.SimilarNote(id=each.id, title=each.title, similarity=each.similarity)
            for each in reply.similar
        ),
        event=reply.event or None,
        uncovered_from_char=reply.uncovered_from_char or None,
        answers=reply.answers,
        superseded=reply.superseded or None,
        superseded_event=reply.superseded_event or None,
        restored=reply.restored,
        degraded=tuple(degraded),
        recalled=reply.recalled,
        proposal=reply.proposal or None,
        given_to=given_to(reply.given_to),
        findings=secret_findings(reply.findings),
        findings_more=reply.findings_more,
    )


def query_answer(reply: recall_service_pb2.QueryResponse) -> results.QueryAnswer:
    """Read the gate's answer."""
    hit = HITS.get(reply.hit, "MISS")
    return results.QueryAnswer(
        hit=hit,
        probability=reply.probability,
        note=note(reply.note, with_body=hit == "STRONG") if reply.HasField("note") else None,
        signals={signal.name: signal.value for signal in reply.signals},
        near=tuple(map(_near, reply.near)),
        against=tuple(map(_near, reply.against)),
        degraded=tuple(reply.degraded),
        missing=tuple(reply.missing),
        receipt=reply.receipt or None,
        scopes=tuple(reply.scopes),
        notes_elsewhere=reply.notes_elsewhere,
        service_ms=reply.service_ms,
        embed_ms=reply.embed_ms,
        applicability=_applicability(reply.applicability),
        dead_ends=tuple(
            results.DeadEnd(
                id=each.id,
                title=each.title,
                trust=TRUSTS.get(each.trust, "candidate"),
                applicability=_applicability(each.applicability),
            )
            for each in reply.dead_ends
        ),
        context_wanted=tuple(reply.context_wanted),
        source_check=SOURCE_CHECKS.get(reply.source_check),
        to_confirm=tuple(source(each) for each in reply.to_confirm),
        notices=notices(reply.notices),
    )


def _near(near: recall_service_pb2.NearNote) -> results.NearNote:
    return results.NearNote(
        id=near.id,
        title=near.title,
        why=near.why,
        trust=TRUSTS.get(near.trust, "candidate"),
        kind=KINDS.get(near.kind, "note"),
    )


def retrieved(reply: recall_service_pb2.RetrieveResponse) -> results.Retrieved:
    """Read the results of a search."""
    return results.Retrieved(
        results=tuple(
            results.RetrievedNote(
                id=each.id,
                title=each.title,
                score=each.score,
                arms={
                    arm.arm: results.ArmScore(rank=arm.rank, score=arm.score) for arm in each.arms
                },
                trust=TRUSTS.get(each.trust, "candidate"),
                trust_reason=each.trust_reason,
                keywords=tuple(each.keywords),
                scope=each.scope,
                kind=KINDS.get(each.kind, "note"),
                applies_to=tuple(each.applies_to),
            )
            for each in reply.results
        ),
        degraded=tuple(reply.degraded),
        scopes=tuple(reply.scopes),
        notes_elsewhere=reply.notes_elsewhere,
        service_ms=reply.service_ms,
        embed_ms=reply.embed_ms,
        notices=notices(reply.notices),
    )


def explored(reply: recall_service_pb2.ExploreResponse) -> walks.Explored:
    """Read what a walk found."""
    return walks.Explored(
        nodes=tuple(
            walks.ExploredNode(
                id=each.id,
                title=each.title,
                score=each.score,
                cosine=each.cosine if each.HasField("cosine") else None,
                depth=each.depth,
                trust=TRUSTS.get(each.trust, "candidate"),
                trust_reason=each.trust_reason,
                keywords=tuple(each.keywords),
                scope=each.scope,
            )
            for each in reply.nodes
        ),
        edges=tuple(
            walks.ExploredEdge(
                src=each.src,
                dst=each.dst,
                kind=EDGES.get(each.kind, "SEMANTIC"),
                keyword=each.keyword or None,
                weight=each.weight,
            )
            for each in reply.edges
        ),
        paths=tuple(
            walks.ExploredPath(ids=tuple(each.ids), score=each.score) for each in reply.paths
        ),
        hint=reply.hint or None,
        degraded=tuple(reply.degraded),
        scopes=tuple(reply.scopes),
        notes_elsewhere=reply.notes_elsewhere,
        service_ms=reply.service_ms,
        embed_ms=reply.embed_ms,
    )


def classified(reply: recall_service_pb2.ClassifyResponse) -> walks.Classified:
    """Read suggested keywords."""
    return walks.Classified(
        suggestions=tuple(
            walks.SuggestedKeyword(keyword=each.keyword, score=each.score)
            for each in reply.suggestions
        ),
        degraded=tuple(reply.degraded),
        scopes=tuple(reply.scopes),
        service_ms=reply.service_ms,
        embed_ms=reply.embed_ms,
    )


def deleted(reply: notes_service_pb2.DeleteNoteResponse) -> results.Deleted:
    """Read how a note was taken away."""
    return results.Deleted(
        id=reply.id,
        outcome=OUTCOMES.get(reply.outcome, "retired"),
        event=reply.event,
        given_to=given_to(reply.given_to),
    )


def stats(reply: notes_service_pb2.GetStatsResponse) -> results.Stats:
    """Read counts."""
    return results.Stats(
        notes=reply.notes,
        scopes={each.scope: each.notes for each in reply.scopes},
        inactive_notes=reply.inactive_notes,
        keywords=reply.keywords,
        vectors=reply.vectors,
        pending=reply.pending,
        events=reply.events,
        file_bytes=reply.file_bytes,
        model=reply.model,
        notes_elsewhere=reply.notes_elsewhere,
    )


def profile(reply: profiles_service_pb2.Profile) -> results.Profile:
    """Read one profile."""
    return results.Profile(
        name=reply.name,
        model=reply.model,
        dimensions=reply.dimensions,
        file_bytes=reply.file_bytes,
    )


def reindex_progress(
    reply: profiles_service_pb2.GetReindexResponse,
) -> results.ReindexProgress:
    """Read how far a reindex is."""
    state: dict[int, results.ReindexState] = {
        profiles_service_pb2.REINDEX_STATE_RUNNING: "running",
        profiles_service_pb2.REINDEX_STATE_WAITING: "waiting",
    }
    return results.ReindexProgress(
        state=state.get(reply.state, "none"),
        target_model=reply.target_model,
        serving_model=reply.serving_model,
        done=reply.done,
        total=reply.total,
        problem=reply.problem,
    )


def memstore_status(
    reply: daemon_service_pb2.GetStatusResponse, socket: str
) -> results.MemstoreStatus:
    """Read how the memstore on *socket* is."""
    return results.MemstoreStatus(
        pid=reply.pid,
        socket=socket,
        version=reply.build,
        uptime_s=reply.uptime_ms / 1000,
        pending=reply.pending,
        erasing=reply.erasing,
        calls=reply.calls,
        profiles=tuple(
            results.ProfileStatus(
                name=each.name,
                pending=each.pending,
                erasing=each.erasing,
                index=each.index,
                vectors=each.vectors,
                receipts_dropped=each.receipts_dropped,
            )
            for each in reply.profiles
        ),
        reviewer=authority_replies.reviewer(reply.reviewer),
        settings=dict(reply.settings),
        listen=reply.listen,
    )


def embedder_status(reply: daemon_service_pb2.EmbedderStatus) -> results.EmbedderStatus:
    """Read how one embedder is, as the memstore sees it."""
    return results.EmbedderStatus(
        pid=reply.pid,
        socket=reply.socket,
        model=reply.model,
        state=reply.state,
        percent=reply.percent,
        problem=reply.problem,
        uptime_s=reply.uptime_ms / 1000,
        backend=reply.backend,
    )


def embedder_model(
    reply: embedder_pb2.GetModelResponse, *, name: str, socket: str
) -> results.EmbedderStatus:
    """Read how the embedder on *socket* is, asked without a memstore between."""
    return results.EmbedderStatus(
        pid=reply.pid,
        socket=socket,
        model=reply.model.name or name,
        state=_MODEL_STATES.get(reply.state, "starting"),
        percent=reply.percent,
        problem=reply.problem,
        uptime_s=reply.uptime_ms / 1000,
        backend=_BACKENDS.get(reply.backend, ""),
    )


_InstantField = Literal["valid_from_ms", "valid_to_ms", "expires_at_ms"]


def instant_of(
    reply: note_pb2.Note | lifecycle_service_pb2.ChangedNote, field: _InstantField
) -> datetime | None:
    """Read one of a note's times; None for none."""
    return from_milliseconds(getattr(reply, field)) if reply.HasField(field) else None


def notices(replies: Iterable[note_pb2.Notice]) -> tuple[Notice, ...]:
    """Read what a session is told."""
    return tuple(
        Notice(
            id=each.id,
            title=each.title or None,
            happened=HAPPENINGS.get(each.happened, "retired"),
            successor=each.successor or None,
            event=each.event,
            at=from_milliseconds(each.at_ms),
        )
        for each in replies
    )


def given_to(reply: note_pb2.GivenTo) -> GivenTo:
    """Read which sessions will be told."""
    return GivenTo(count=reply.count, sessions=tuple(reply.sessions))


def _applicability(
    replies: Iterable[note_pb2.Applicability],
) -> tuple[results.Applicability, ...]:
    return tuple(
        results.Applicability(
            name=each.name,
            range=each.range,
            fit=FITS.get(each.fit, "unknown"),
            here=tuple(each.here),
            words=each.words,
        )
        for each in replies
    )


def source(reply: note_pb2.Source) -> results.Source:
    """Read a source."""
    return results.Source(
        kind=SOURCES.get(reply.kind, "manual"),
        locator=reply.locator,
        project=reply.project,
        observed_at=from_milliseconds(reply.observed_at_ms) if reply.observed_at_ms else None,
        fingerprint=reply.fingerprint,
        id=reply.id,
    )
