"""docs/graph.md tells the figures that the memstore goes by."""

from pathlib import Path

import pytest

from graft_memstore import beam
from graft_memstore.recall import background, classify, explore, neighbours
from graft_memstore.upkeep import join_notes

PAGE = (Path(__file__).parents[2] / "docs" / "graph.md").read_text("utf-8")


@pytest.mark.parametrize(
    "words",
    [
        f"{neighbours.KEYWORD_NEIGHBOURS_MAX} for each keyword",
        f"| {neighbours.SEMANTIC_NEIGHBOURS_MAX} |",
        f"the {neighbours.POOL_MAX} nearest",
        f"the newest {neighbours.KEYWORD_NOTES_MAX:,}",
        f"the {background.KEYWORD_PERCENTILE:.0f}th percentile",
        f"the {background.SEMANTIC_PERCENTILE:.0f}th percentile",
        f"up to {background.PAIRS_MAX:,} pairs",
        f"up to {join_notes.REMADE_TITLES_MAX} notes",
        f"ln {beam.STEP_DECAY}",
        f"{beam.SIMILARITY_SHARE} · ln similarity",
        f"{beam.REDUNDANCY_WEIGHT} · redundancy",
        f"the {explore.EDGES_WALKED_MAX}",
        f"the {classify.NEIGHBOURS_WANTED} notes nearest",
        f"{classify.SHARE_MIN:.0%}".replace("%", " %"),
    ],
)
def test_the_page_on_the_graph_tells_the_figures(words: str) -> None:
    assert words in PAGE
