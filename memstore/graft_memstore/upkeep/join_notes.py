"""Joins notes whose titles have vectors by edges, a few at a time.

Each step compares in a snapshot, and writes what it found and what is done in one transaction. So
it can be interrupted anywhere and goes on where it was. While a store is small, what stands out in
it changes with every few notes: then all of its edges are made anew together with the background.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from graft_memstore.model import Model, ModelRole
from graft_memstore.recall.background import is_outgrown, sample_pairs, thresholds_of
from graft_memstore.recall.index import IndexView, VectorIndex
from graft_memstore.recall.neighbours import NeighbourSearch
from graft_memstore.store.background_samples import (
    SampledPair,
    read_sample,
    read_sampled_size,
    replace_sample,
)
from graft_memstore.store.database import Connection
from graft_memstore.store.edges import (
    FoundEdge,
    delete_derived,
    delete_outdated,
    has_outdated,
    insert_edges,
)
from graft_memstore.store.edges_pending import AskedEdges, delete_asked, read_asked
from graft_memstore.store.models import read_model
from graft_memstore.store.profile import Profile
from graft_memstore.store.titles import read_titles_of
from graft_memstore.store.transaction import Transaction

NOTES_IN_STEP = 16
OUTDATED_IN_STEP = 1_000
"""Edges of an earlier generation that go in one transaction."""
REMADE_TITLES_MAX = 256
"""Up to so many titles all edges are made anew when the background is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """What one step found.

    Attributes:
        served: notes that need not wait any more.
        sample: a new sample of the background, drawn from *titles*; None: the old one holds.
        anew: the edges are all there are to be.
    """

    model: Model
    served: Sequence[AskedEdges]
    titles: int
    sample: Sequence[SampledPair] | None
    anew: bool
    edges: Sequence[FoundEdge]


def join_some(profile: Profile[VectorIndex]) -> bool:
    """Do one step; tell whether there was anything to do.

    Raises:
        ServiceError: see `Profile.write`.
    """
    index = profile.index
    with profile.snapshot() as connection:
        asked = read_asked(connection, REMADE_TITLES_MAX)
        model = read_model(connection, ModelRole.SERVING)
        # Where index and snapshot are of two models, the profile has just moved: look again then.
        outdated = not asked and has_outdated(connection)
        joined = None
        if asked and index is not None and model is not None and index.model_id == model.model_id:
            view = index.catch_up(connection)
            joined = _join(connection, model, view, asked, profile.now_ms(connection))
    # The snapshot above is closed: without a write-ahead log it would hold up the writer.
    if joined is not None:
        profile.write(lambda transaction: _store(transaction, joined))
    elif outdated:
        profile.write(_delete_outdated)
    return joined is not None or outdated


def _join(
    connection: Connection,
    model: Model,
    view: IndexView,
    asked: Sequence[AskedEdges],
    now_ms: int,
) -> Joined:
    rows = view.titles()
    titles = len(rows.seqs)
    cosines = read_sample(connection, model.model_id)
    drawn = read_sampled_size(connection, model.model_id)
    sample = None
    if is_outgrown(drawn, titles, len(cosines)):
        sample = sample_pairs(connection, model.model_id, rows.seqs)
        cosines = [pair.cosine for pair in sample]
    anew = sample is not None and titles <= REMADE_TITLES_MAX
    served = asked if anew else asked[:NOTES_IN_STEP]
    seqs = rows.seqs.tolist() if anew else [each.seq for each in served]
    search = NeighbourSearch(connection, model.model_id, view, thresholds_of(cosines), now_ms)
    found = read_titles_of(connection, model.model_id, seqs)
    edges = [edge for title in found.values() for edge in search.edges_of(title)]
    return Joined(model=model, served=served, titles=titles, sample=sample, anew=anew, edges=edges)


def _delete_outdated(transaction: Transaction) -> None:
    # A note may have asked since; its edges are of this generation, too, when they are made.
    if not read_asked(transaction.connection, 1):
        delete_outdated(transaction.connection, OUTDATED_IN_STEP)


def _store(transaction: Transaction, joined: Joined) -> None:
    connection = transaction.connection
    if read_model(connection, ModelRole.SERVING) != joined.model:
        return  # the profile has moved to another model, by which all are asked for anew
    if joined.sample is not None:
        replace_sample(connection, joined.model.model_id, joined.titles, joined.sample)
    if joined.anew:
        delete_derived(connection)
    insert_edges(connection, joined.edges)
    delete_asked(connection, joined.served)
