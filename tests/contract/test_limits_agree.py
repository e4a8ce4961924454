"""The limits that the client documents are the ones that the services keep."""

import pytest

from graft_client import limits as told
from graft_client.surroundings import find
from graft_embedder import limits as embedder
from graft_memstore import applicability, embedding
from graft_memstore.service import recall
from graft_memstore.write import limits as kept

SHARED = sorted(set(vars(told)) & set(vars(kept)) - {"Limit"})


@pytest.mark.parametrize("name", [name for name in SHARED if name.isupper()])
def test_client_and_memstore_name_the_same_limit(name: str) -> None:
    assert getattr(told, name) == getattr(kept, name)


def test_the_names_were_found() -> None:
    assert {"TITLE_CHARS_MAX", "BODY_BYTES_MAX", "BATCH_NOTES_MAX"} <= set(SHARED)


def test_questions_have_the_documented_limits() -> None:
    assert told.QUERY_BYTES_MAX == recall.TEXT_BYTES_MAX
    assert (told.TOP_K, told.TOP_K_MAX) == (recall.TOP_K_DEFAULT, recall.TOP_K_MAX)


def test_the_embedder_takes_what_the_memstore_stores() -> None:
    assert embedder.TEXT_BYTES_MAX >= kept.BODY_BYTES_MAX
    assert embedder.TEXTS_MAX >= kept.BATCH_NOTES_MAX
    assert embedder.WINDOWS_MAX >= told.PASSAGES_MAX == embedding.PASSAGES_MAX


def test_a_project_gives_no_more_versions_of_a_name_than_are_taken() -> None:
    assert find.VERSIONS_MAX == applicability.VERSIONS_MAX
