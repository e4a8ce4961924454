"""All of it put together, for a memstore that is told to."""

from collections.abc import Callable, Collection, Sequence

from prometheus_client import CollectorRegistry, disable_created_metrics
from prometheus_client.process_collector import ProcessCollector

from graft.wire.build import build_id
from graft.wire.endpoints import Endpoint
from graft_memstore.embedder_process import EmbedderReport
from graft_memstore.metrics.calls import CallMetrics
from graft_memstore.metrics.collect import HomeCollector
from graft_memstore.metrics.page import MetricsPage
from graft_memstore.recall.index import VectorIndex
from graft_memstore.store.profiles import Profiles


class Metrics:
    """The metrics of one memstore.

    Attributes:
        calls: counts calls; stands before every other interceptor.
        page: serves what was counted.
    """

    def __init__(self, endpoint: Endpoint, known: Collection[str]) -> None:
        # Otherwise each counter has a second series, of no use to anybody here.
        disable_created_metrics()  # type: ignore[no-untyped-call] # the library's types lack it
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.calls = CallMetrics(self._registry, known)
        self.page = MetricsPage(endpoint, self._registry)

    def look_at(
        self,
        profiles: Profiles[VectorIndex],
        reports: Callable[[Sequence[str]], list[EmbedderReport]],
        dropped: Callable[[str], int],
        now_ms: Callable[[], int],
    ) -> None:
        """Tell of a home as well; see `HomeCollector`."""
        collector = HomeCollector(profiles, reports, dropped, now_ms, build_id())
        self._registry.register(collector)
