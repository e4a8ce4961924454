import pytest

from graft_memstore.provenance import Finding, SourceCheck, SourceState, check_of, state_of

A, B = "blake3:" + "a" * 64, "blake3:" + "b" * 64


@pytest.mark.parametrize(
    ("known", "finding", "state"),
    [
        (A, Finding(source_id=1, fingerprint=A), SourceState.SAME),
        (A, Finding(source_id=1, fingerprint=B), SourceState.CHANGED),
        (A, Finding(source_id=1, gone=True), SourceState.GONE),
        ("", Finding(source_id=1, gone=True), SourceState.GONE),
        (A, Finding(source_id=1), SourceState.UNCHECKED),
        ("", Finding(source_id=1, fingerprint=A), SourceState.UNCHECKED),
        (A, Finding(source_id=1, fingerprint="git:" + "a" * 40), SourceState.UNCHECKED),
    ],
)
def test_a_source_is_compared_with_what_was_known_of_it(
    known: str, finding: Finding, state: SourceState
) -> None:
    assert state_of(known, finding) is state


def test_one_that_has_changed_counts_for_all() -> None:
    same, changed, gone = SourceState.SAME, SourceState.CHANGED, SourceState.GONE

    assert check_of([same, same]) is SourceCheck.SAME
    assert check_of([same, SourceState.UNCHECKED]) is SourceCheck.UNCHECKED
    assert check_of([SourceState.UNCHECKED, gone]) is SourceCheck.GONE
    assert check_of([gone, changed, same]) is SourceCheck.CHANGED
