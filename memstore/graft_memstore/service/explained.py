"""What answers were made of, as the proto tells it."""

from collections.abc import Mapping

from graft.memory.v1 import note_pb2
from graft.memory.v1 import recall_service_pb2 as pb
from graft_memstore.model import NoteId, Source
from graft_memstore.recall.index import VectorIndex
from graft_memstore.recall.receipt import Receipt
from graft_memstore.service.convert import (
    CONDITIONS,
    HITS,
    SOURCE_CHECKS,
    SOURCE_STATES,
    source_message,
)
from graft_memstore.store.database import Connection
from graft_memstore.store.profile import Profile
from graft_memstore.store.sources import read_sources
from graft_memstore.store.withheld import PresentNote, present_notes
from graft_memstore.upkeep.scribe import Scribe
from graft_memstore.visibility import View


def explain(
    profile: Profile[VectorIndex], scribe: Scribe, request: pb.ExplainRequest
) -> pb.ExplainResponse:
    """Answer what a receipt tells.

    Raises:
        ServiceError: see `Scribe.find`.
    """
    receipt = scribe.find(request.receipt)
    looked_at = [each.note_id for each in receipt.looked_at]
    withheld = [each.note_id for each in receipt.withheld]
    with profile.snapshot() as connection:
        looking = View(scope=receipt.scope, now_ms=profile.now_ms(connection))
        present = present_notes(connection, looked_at + withheld, looking)
        sources = _sources_of(connection, receipt) if receipt.sources else {}
    return _message(receipt, present, sources)


def _sources_of(connection: Connection, receipt: Receipt) -> Mapping[int, Source]:
    """Return the sources that the note of an answer has now."""
    note_id = receipt.looked_at[0].note_id
    found = read_sources(connection, [note_id]).get(note_id, ())
    return {each.source_id: each for each in found}


def _message(
    receipt: Receipt, present: Mapping[NoteId, PresentNote], sources: Mapping[int, Source]
) -> pb.ExplainResponse:
    account = receipt.account
    return pb.ExplainResponse(
        receipt=receipt.receipt_id,
        hit=HITS[receipt.hit],
        probability=receipt.probability,
        bias=account.bias,
        signals=[
            pb.Contribution(
                name=each.name,
                value=each.value,
                weight=each.weight,
                contribution=each.contribution,
            )
            for each in account.signals
        ],
        thresholds=[
            pb.Threshold(
                hit=HITS[each.hit],
                probability=each.probability,
                distance=receipt.probability - each.probability,
                own=each.own,
            )
            for each in account.thresholds
        ],
        rules=[
            pb.Rule(name=each.name, kept=each.kept, lowered=each.lowered) for each in account.rules
        ],
        arms=receipt.arms,
        degraded=receipt.degraded,
        looked_at=[
            pb.LookedAtNote(
                id=each.note_id,
                probability=each.probability,
                now=CONDITIONS[present[each.note_id].condition],
                title=present[each.note_id].title,
            )
            for each in receipt.looked_at
        ],
        withheld=[
            pb.WithheldNote(
                id=each.note_id,
                condition=CONDITIONS[each.condition],
                now=CONDITIONS[present[each.note_id].condition],
            )
            for each in receipt.withheld
        ],
        scopes=receipt.scope.scopes,
        all_scopes=receipt.scope.all,
        background_mean=receipt.background.mean,
        background_deviation=receipt.background.deviation,
        index=receipt.index,
        model=receipt.model,
        model_identity=receipt.model_identity,
        at_ms=receipt.at_ms,
        event=receipt.event,
        sources=[
            pb.CheckedSource(
                source=source_message(sources[each.source_id])
                if each.source_id in sources
                else note_pb2.Source(id=each.source_id, fingerprint=each.known),
                state=note_pb2.SOURCE_STATE_UNSPECIFIED
                if each.state is None
                else SOURCE_STATES[each.state],
            )
            for each in receipt.sources
        ],
        source_check=pb.SOURCE_CHECK_UNSPECIFIED
        if receipt.check is None
        else SOURCE_CHECKS[receipt.check],
    )
