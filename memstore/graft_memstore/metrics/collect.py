"""Looks at open profiles and running embedders when somebody asks for the metrics."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from typing_extensions import override

from graft.embedder.v1 import embedder_pb2
from graft.wire.errors import ServiceError
from graft_memstore.embedder_process import EmbedderReport
from graft_memstore.metrics import families
from graft_memstore.metrics.families import Family
from graft_memstore.model import ModelRole
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.coverage import count_vectors
from graft_memstore.store.database import Connection
from graft_memstore.store.erasures import count_erasures
from graft_memstore.store.models import read_model
from graft_memstore.store.pending import count_pending, waiting_since
from graft_memstore.store.profile import Profile
from graft_memstore.store.profiles import Profiles
from graft_memstore.store.vectors import count_chunks_until

WAL_SUFFIX = "-wal"
Series = dict[tuple[str, ...], float]
"""Values of one metric, by those of its labels."""


class HomeCollector(Collector):
    """Tells how a home is; opens no profile and starts no embedder.

    Args:
        profiles: of the home.
        reports: tells how the embedders of the given models are; starts nothing.
        dropped: tells how many receipts of a profile were lost.
        now_ms: clock of what is recorded.
        build: of this installation.
    """

    def __init__(
        self,
        profiles: Profiles[VectorIndex],
        reports: Callable[[Sequence[str]], list[EmbedderReport]],
        dropped: Callable[[str], int],
        now_ms: Callable[[], int],
        build: str,
    ) -> None:
        self._profiles = profiles
        self._reports = reports
        self._dropped = dropped
        self._now_ms = now_ms
        self._build = build

    @override
    def collect(self) -> Iterator[Metric]:
        """Yield every family with what it is now."""
        opened = self._profiles.opened()
        yield _gauge(families.BUILD, {(self._build,): 1})
        yield _gauge(families.PROFILES_OPEN, {(): len(opened)})
        gauges: dict[str, Series] = {}
        models: dict[str, None] = {}
        for profile in opened:
            try:
                with profile.snapshot() as connection:
                    figures, model = self._figures(profile, connection)
            except ServiceError:
                continue  # it is being closed, or cannot be read; the others are told
            for family, value in figures.items():
                gauges.setdefault(family.name, {})[profile.name,] = value
            if model:
                models[model] = None
        for family in PROFILE_GAUGES:
            yield _gauge(family, gauges.get(family.name, {}))
        dropped = CounterMetricFamily(
            families.RECEIPTS_DROPPED.name,
            families.RECEIPTS_DROPPED.about,
            labels=families.RECEIPTS_DROPPED.labels,
        )
        for profile in opened:
            dropped.add_metric([profile.name], self._dropped(profile.name))
        yield dropped
        yield from _embedders(self._reports(list(models)))

    def _figures(
        self, profile: Profile[VectorIndex], connection: Connection
    ) -> tuple[dict[Family, float], str]:
        """Return what is told of a profile, and the name of its model."""
        model = read_model(connection, ModelRole.SERVING)
        # Looked at before the file's rows are counted: what comes in between counts as behind.
        index = profile.index
        view = None if index is None else index.view
        vectors = 0 if model is None else count_vectors(connection, model.model_id)
        taken_in = 0
        if view is not None and index is not None and model is not None:
            is_of_model = index.model_id == model.model_id
            taken_in = (
                count_chunks_until(connection, model.model_id, view.mark) if is_of_model else 0
            )
        figures: dict[Family, float] = {
            families.VECTORS: vectors,
            families.PENDING: count_pending(connection),
            families.PENDING_SECONDS: self._waited_seconds(connection),
            families.INDEX_LOADED: int(view is not None),
            families.INDEX_ROWS: 0 if view is None else view.count,
            families.INDEX_BEHIND: vectors - taken_in,
            families.ERASING: count_erasures(connection),
            families.DATABASE_BYTES: _size(profile.path),
            families.WAL_BYTES: _size(profile.path.with_name(profile.path.name + WAL_SUFFIX)),
        }
        return figures, "" if model is None else model.name

    def _waited_seconds(self, connection: Connection) -> float:
        since = waiting_since(connection)
        # A note may come from a machine whose clock is ahead.
        return 0.0 if since is None else max(self._now_ms() - since, 0) / 1_000


PROFILE_GAUGES = (
    families.VECTORS,
    families.PENDING,
    families.PENDING_SECONDS,
    families.INDEX_LOADED,
    families.INDEX_ROWS,
    families.INDEX_BEHIND,
    families.ERASING,
    families.DATABASE_BYTES,
    families.WAL_BYTES,
)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # SQLite has no log open


def _embedders(reports: Sequence[EmbedderReport]) -> Iterator[Metric]:
    ready: Series = {(each.model,): float(each.state == "ready") for each in reports}
    yield _gauge(families.EMBEDDER_READY, ready)
    queued: Series = {(each.model,): each.queued for each in reports}
    yield _gauge(families.EMBEDDER_QUEUE, queued)
    told = [(each.model, each.work) for each in reports if each.work is not None]
    waits = [(model, work.wait_seconds) for model, work in told]
    yield _histogram(families.EMBEDDER_WAIT, waits)
    yield _histogram(families.BATCH_TOKENS, [(model, work.batch_tokens) for model, work in told])
    yield _histogram(families.BATCH_WINDOWS, [(model, work.batch_windows) for model, work in told])


def _gauge(family: Family, values: Series) -> Metric:
    metric = GaugeMetricFamily(family.name, family.about, labels=family.labels)
    for labels, value in values.items():
        metric.add_metric(labels, value)
    return metric


def _histogram(family: Family, values: Sequence[tuple[str, embedder_pb2.Histogram]]) -> Metric:
    metric = HistogramMetricFamily(family.name, family.about, labels=family.labels)
    for model, told in values:
        buckets, below = [], 0
        for bound, count in zip((*map(str, told.bounds), "+Inf"), told.counts, strict=False):
            below += count  # Prometheus counts what is at most as large
            buckets.append((bound, below))
        metric.add_metric([model], buckets, told.sum)
    return metric
