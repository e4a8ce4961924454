"""Tokens are written and read back, counted, and kept whole."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft.wire.errors import BusyError, WrongStateError
from graft_memstore.access import (
    AccessToken,
    Right,
    digest_of,
    make_credentials,
    read_credentials,
)
from graft_memstore.service.pace import Pace
from graft_memstore.store.token_file import TokenFile


def token(**changes: object) -> AccessToken:
    fields = {
        "id": "abcdefgh",
        "name": "n",
        "profile": "default",
        "scopes": ("team:web",),
        "rights": frozenset({Right.READ}),
        "created_ms": 1,
        "expires_ms": 0,
        "calls_per_minute": 60,
        "calls_at_once": 2,
        "digest": digest_of("s"),
        **changes,
    }
    return AccessToken(**fields)  # type: ignore[arg-type]  # as each test names them


@given(st.binary(min_size=64, max_size=64))
def test_what_is_made_is_read_back_and_fits_its_digest(noise: bytes) -> None:
    made = make_credentials(lambda count: noise[:count])

    read = read_credentials([f"Bearer {made}"])

    assert read == made
    assert token(digest=digest_of(made.secret)).has_secret(read.secret)
    assert not token(digest=digest_of(made.secret)).has_secret(read.secret + "x")


@given(st.text(max_size=80))
def test_no_other_text_is_a_token(text: str) -> None:
    assert read_credentials([text]) is None
    assert read_credentials([f"Bearer {text}"]) is None


def test_two_headers_are_none() -> None:
    made = str(make_credentials(bytes))

    assert read_credentials([f"Bearer {made}"]) is not None
    assert read_credentials([f"Bearer {made}"] * 2) is None
    assert read_credentials([]) is None


def test_a_secret_is_shown_nowhere() -> None:
    made = make_credentials(bytes)

    assert made.secret not in repr(made)
    assert digest_of("s") not in repr(token())


def test_the_file_gives_back_what_it_was_given_for_its_owner_alone(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    kept = (token(), token(id="ijklmnop", name="m", scopes=(), rights=frozenset(Right)))

    assert file.read() == ()
    file.write(kept)

    assert file.read() == kept
    assert (tmp_path / "tokens.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"version": 2, "tokens": []}',
        '{"version": 1, "tokens": [{}]}',
        "[" * 5_000,
        '{"version": 1, "tokens": [{"scopes": [], "rights": ["all"]}]}',
    ],
)
def test_a_file_that_is_damaged_lets_nobody_in(tmp_path: Path, content: str) -> None:
    (tmp_path / "tokens.json").write_text(content)

    with pytest.raises(WrongStateError, match=r"tokens\.json cannot be used"):
        TokenFile(tmp_path / "tokens.json").read()


def test_more_calls_at_once_than_a_token_may_make_are_refused_for_a_moment() -> None:
    pace = Pace(lambda: 0.0)

    with pace.running(token()), pace.running(token()):
        with (
            pytest.raises(BusyError, match="2 calls of this token run already"),
            pace.running(token()),
        ):
            pass
        with pace.running(token(id="another1")):
            pass
    with pace.running(token()):
        pass


def test_a_minute_s_calls_may_come_at_once_and_then_as_fast_as_they_are_allowed() -> None:
    now = 0.0
    pace = Pace(lambda: now)
    for _ in range(60):
        with pace.running(token()):
            pass

    with pytest.raises(BusyError, match="60 calls a minute") as refused, pace.running(token()):
        pass
    now = 1.0
    with pace.running(token()):
        pass
    with pytest.raises(BusyError), pace.running(token()):
        pass

    assert refused.value.retry_after_ms == 1_001
