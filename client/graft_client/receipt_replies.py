"""How replies about answers become plain results."""

from graft.memory.v1 import recall_service_pb2
from graft_client import explanations
from graft_client.replies import source
from graft_client.times import from_milliseconds
from graft_client.vocabulary import CONDITIONS, HITS, SOURCE_CHECKS, SOURCE_STATES


# One that this program does not know comes from a newer service; it is shown as what may do least.
def explanation(reply: recall_service_pb2.ExplainResponse) -> explanations.Explanation:
    """Read what an answer was made of."""
    return explanations.Explanation(
        receipt=reply.receipt,
        hit=HITS.get(reply.hit, "MISS"),
        probability=reply.probability,
        bias=reply.bias,
        signals=tuple(
            explanations.Contribution(
                name=each.name,
                value=each.value,
                weight=each.weight,
                contribution=each.contribution,
            )
            for each in reply.signals
        ),
        thresholds=tuple(
            explanations.Threshold(
                hit=HITS.get(each.hit, "MISS"),
                probability=each.probability,
                distance=each.distance,
                own=each.own,
            )
            for each in reply.thresholds
        ),
        rules=tuple(
            explanations.Rule(name=each.name, kept=each.kept, lowered=each.lowered)
            for each in reply.rules
        ),
        arms=tuple(reply.arms),
        degraded=tuple(reply.degraded),
        looked_at=tuple(
            explanations.LookedAtNote(
                id=each.id,
                probability=each.probability,
                now=CONDITIONS.get(each.now, "retired"),
                title=each.title or None,
            )
            for each in reply.looked_at
        ),
        withheld=tuple(
            explanations.WithheldNote(
                id=each.id,
                state=CONDITIONS.get(each.condition, "retired"),
                now=CONDITIONS.get(each.now, "retired"),
            )
            for each in reply.withheld
        ),
        scopes=tuple(reply.scopes),
        all_scopes=reply.all_scopes,
        background=explanations.CosineBackground(
            mean=reply.background_mean, deviation=reply.background_deviation
        ),
        index=reply.index,
        model=reply.model,
        model_identity=reply.model_identity,
        at=from_milliseconds(reply.at_ms),
        event=reply.event,
        source_check=SOURCE_CHECKS.get(reply.source_check),
        sources=tuple(
            explanations.CheckedSource(
                source=source(each.source), state=SOURCE_STATES.get(each.state)
            )
            for each in reply.sources
        ),
    )


def misses(reply: recall_service_pb2.ListMissesResponse) -> explanations.Misses:
    """Read questions that nothing answered."""
    return explanations.Misses(
        groups=tuple(
            explanations.MissGroup(
                question=each.question,
                count=each.count,
                first_at=from_milliseconds(each.first_at_ms),
                last_at=from_milliseconds(each.last_at_ms),
                scopes=tuple(each.scopes),
                all_scopes=each.all_scopes,
                answered_by=each.answered_by or None,
            )
            for each in reply.groups
        ),
        kept=reply.kept,
    )


def cleared_misses(reply: recall_service_pb2.ClearMissesResponse) -> explanations.ClearedMisses:
    """Read what was erased."""
    return explanations.ClearedMisses(
        groups=reply.groups, questions=reply.questions, erasing=reply.erasing
    )
