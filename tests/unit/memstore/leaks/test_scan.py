"""What looks like a secret is found, placed and masked; anything else is left alone."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graft_memstore.leaks.library import OVERLAP_CHARS, PLUGINS, WINDOW_CHARS, library_spots
from graft_memstore.leaks.scan import Finding, find_secrets
from graft_memstore.leaks.spot import Showing, Spot, merged

# Put together here, so that no scanner takes this file for a leak.
ALNUM = "a1B2c3D4e5F6g7H8i9J0"
KEY_TEXT = "MIIEpAIBAAKCAQEA75kmWqXh9vEqJ0JcV2mN"
JWT_PARTS = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
    "eyJzdWIiOiIxMjM0NTY3ODkwIn0",
    "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
)
TOKENS = {
    "AWS Access Key": "AKIA" + "Q3EGRTZ7WX4M7XYZ",
    "GitHub Token": "ghp_" + (ALNUM * 2)[:36],
    "GitLab Token": "glpat-" + ALNUM,
    "Slack Token": "xoxb-" + "123456789012-123456789012-" + ALNUM,
    "Stripe Access Key": "sk_live_" + (ALNUM * 2)[:24],
    "SendGrid API Key": f"SG.{(ALNUM * 2)[:22]}.{(ALNUM * 3)[:43]}",
    "PyPI Token": "pypi-AgEIcHlwaS5vcmc" + ALNUM * 5,
    "Azure Storage Account access key": "AccountKey=" + (ALNUM * 5)[:86] + "==",
    "Twilio API Key": "SK" + "0123456789abcdef" * 2,
    "Telegram Bot Token": "123456789:" + "AA" + (ALNUM * 2)[:33],
    "Mailchimp Access Key": "0123456789abcdef" * 2 + "-us12",
    "Square OAuth Secret": "sq0csp-" + (ALNUM * 3)[:43],
    "Discord Bot Token": f"M{(ALNUM * 2)[:23]}.{ALNUM[:6]}.{(ALNUM * 2)[:27]}",
    "JSON Web Token": ".".join(JWT_PARTS),
    "API key (sk-)": "sk-ant-api03-" + ALNUM * 2,
    "npm Token": "npm_" + (ALNUM * 2)[:36],
    "Google API Key": "AIza" + (ALNUM * 2)[:35],
    "Hugging Face Token": "hf_" + (ALNUM * 2)[:34],
}
HIDDEN_WHOLE = {
    "password": ("DB_PASSWORD=", "hunter2"),
    "passwd": ("passwd: ", "S3cr3t!pw"),
    "secret": ('client_secret = "', "8f14e45fceea167a5a36"),
    "secret access key": ("aws_secret_access_key=", "wJalrXUtnFEMI7K7MDENG0bPxRfiCYzzzzzzzzzz"),
    "api key": ("`api_key: ", ALNUM),
    "token": ("--token ", ALNUM),
    "Basic Auth Credentials": ("postgres://bob:", "s3cr3t"),
}


def kinds(text: str) -> list[str]:
    return [each.kind for each in find_secrets("body", text)]


@pytest.mark.parametrize(("kind", "token"), TOKENS.items())
def test_a_token_is_found_with_its_place_and_shows_its_ends_alone(kind: str, token: str) -> None:
    found = find_secrets("body", f"first line\nuse `{token}` here")

    start = token.index("=") + 1 if "=" in token and "Azure" not in kind else 0
    assert found == [
        Finding(
            kind=kind,
            field="body",
            line=2,
            column=6 + start,
            excerpt=f"{token[:4]}…{token[-4:]}",
        )
    ]


@pytest.mark.parametrize(("kind", "pair"), HIDDEN_WHOLE.items())
def test_what_a_person_may_have_chosen_is_hidden_whole(kind: str, pair: tuple[str, str]) -> None:
    before, secret = pair

    (found,) = find_secrets(
        "title", f"{before}{secret}@db/x" if "://" in before else before + secret
    )

    assert (found.kind, found.column) == (kind, len(before) + 1)
    assert secret not in found.excerpt
    assert found.excerpt.endswith("…")


def test_a_private_key_is_named_by_its_header_where_a_key_follows() -> None:
    header = "BEGIN ENCRYPTED PRIVATE KEY"

    (found,) = find_secrets("body", f"-----{header}-----\n{KEY_TEXT}\n{KEY_TEXT}\n-----END")

    assert (found.kind, found.excerpt, found.column) == ("Private Key", header, 6)
    assert find_secrets("body", f"The file must begin with `-----{header}-----`, says ssh.") == []


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "note 0190f3c8a1b27c3d8e4f5a6b7c8d9e0f, request 6e3a9c11-7b7e-4f7a-9d2c-1f2e3d4c5b6a",
        'integrity "sha512-oMt8L6eJ0Zr3f0Pp2Tn5m1cQw9yVvK5uXz3Jq0aB1c2D3e4F5g6H7i8J9k0L=="',
        "password = get_password(user)",
        "password: str = field(default='')",
        "DB_PASSWORD=${DB_PASSWORD} and token=<your-token-here-1>",
        "api_key=os.environ['KEY_1'], secret: {{ vault.secret_12 }}",
        "the password is reset every 90 days; the token expires after 3600 s",
        "postgres://user:password@localhost/db and amqp://guest:guest@mq",
        "set the token in settings.token2.value, next_page_token: page-token-2026-01",
        "ssh://git@github.com:22/a.git and http://127.0.0.1:8080/x@y",
        "the sk-learn-like-estimators-are-here, the APACHEBENCHMARK, 8.8.8.8",
        "keyword-only arguments; the keys: a1b2c3d4e5f6, the primary key: 12",
        "eyJ is how a token begins; eyJhbGciOiJub25l.eyJub3Q.anything_at_all_here",
    ],
)
def test_hashes_ids_code_templates_and_prose_are_left_alone(text: str) -> None:
    assert kinds(text) == []


def test_of_the_benchmarks_own_notes_hardly_one_is_taken_for_a_leak() -> None:
    """Notes of developers, with commands, errors, digests and versions in them."""
    files = sorted((Path(__file__).parents[4] / "bench" / "gate").rglob("notes.jsonl"))
    notes = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    assert len(notes) > 400

    told = [each["title"] for each in notes if kinds(f"{each['title']}\n{each['body']}")]

    assert len(told) <= 1, told


def test_one_place_is_one_finding_whoever_finds_it() -> None:
    token = TOKENS["GitHub Token"]

    assert kinds(f'token = "{token}"') == ["GitHub Token"]
    assert kinds(f"https://bob:{token}@github.com/a.git") == ["Basic Auth Credentials"]
    assert kinds(f"{token} and {token}") == ["GitHub Token"] * 2


def test_of_two_secrets_that_overlap_no_more_is_shown_than_of_the_one_to_hide() -> None:
    text = "x" * 40
    password = Spot(start=0, end=30, kind="a", showing=Showing.NOTHING)
    token = Spot(start=10, end=40, kind="b")

    (one,) = merged([token, password])

    assert (one.start, one.end, one.excerpt(text)) == (0, 40, "…")


def test_a_header_is_shown_without_what_touches_it() -> None:
    text = f"password=hunter2BEGIN PRIVATE KEY\n{KEY_TEXT}"

    (found,) = find_secrets("body", text)

    assert (found.kind, found.excerpt) == ("Private Key", "BEGIN PRIVATE KEY")


@pytest.mark.parametrize("before", range(0, WINDOW_CHARS + 2, 41))
def test_a_token_is_found_whole_wherever_windows_end(before: int) -> None:
    token = TOKENS["PyPI Token"]
    assert len(token) < OVERLAP_CHARS

    (found,) = find_secrets("body", "." * before + f" {token} " + "." * 3_000)

    assert (found.column, found.excerpt) == (before + 2, f"{token[:4]}…{token[-4:]}")


@given(
    pieces=st.lists(
        st.one_of(
            st.text(max_size=40),
            st.sampled_from(
                [*TOKENS.values(), "password=", "://a:", "@", "eyJ", "\x00", "İ", "\n"]
            ),
        ),
        max_size=12,
    )
)
def test_no_text_breaks_it_and_places_are_real(pieces: list[str]) -> None:
    text = "".join(pieces)

    for found in find_secrets("body", text):
        lines = text.split("\n")
        assert 1 <= found.line <= len(lines)
        assert 1 <= found.column <= len(lines[found.line - 1])


@given(
    secret=st.text(alphabet="abcDEF012345!#", min_size=6, max_size=60),
    before=st.sampled_from(["password=", 'api_key: "', "Authorization: Bearer ", "://u:", "sk-"]),
)
def test_no_excerpt_gives_a_secret_away(secret: str, before: str) -> None:
    for found in find_secrets("body", f'{before}{secret}"@h'):
        shown = found.excerpt.partition("=")[2] or found.excerpt
        assert len(shown.replace("…", "")) <= 8
        assert secret not in found.excerpt


def worst(piece: str, whole: int = 256 * 1024) -> str:
    return (piece * (whole // len(piece) + 1))[:whole]


@pytest.mark.parametrize(
    "text",
    [
        *map(
            worst,
            ("eyJ", "eyJa.", "sk-", "sk-a1", "awskey", "aws key '", "://a:", "//:", "xoxb-1-"),
        ),
        *map(
            worst, ("password", "password=", "password`", "'a' == secret", "glagent-", "token a1\t")
        ),
        *map(worst, ("-", "a", " ", "\n", "'\"", "AKIAABCDEFGHIJKLMNOP", "BEGIN A PRIVATE KEY")),
        "password" + " " * 262_144,
        "eyJ" + "a" * 262_144,
        "authorization: bearer " + "a1" * 131_072,
        "://" + "a" * 262_144 + ":b@",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_time_is_linear_however_bad_the_text(text: str) -> None:
    """A quarter of a mebibyte took 0.3 s at worst; the plugins left out take minutes."""
    begin = time.thread_time()
    find_secrets("body", text)

    assert time.thread_time() - begin < 3


def test_every_plugin_finds_only_what_has_one_of_its_words_in_it() -> None:
    """The words spare most texts the expressions, and must not cost a finding."""
    for token in TOKENS.values():
        for plugin in PLUGINS:
            if any(pattern.search(token) for pattern in plugin.finds.denylist):
                assert any(need in token.lower() for need in plugin.needs)
                assert list(library_spots(token))


def test_nothing_is_asked_over_the_network_and_nothing_is_written() -> None:
    program = f"""
import sys
def watch(event, _):
    if event.startswith(("socket.", "open", "subprocess.")) and armed:
        raise AssertionError(event)
armed = False
from graft_memstore.leaks.scan import find_secrets
sys.addaudithook(watch)
armed = True
assert len(find_secrets("body", {" ".join(TOKENS.values())!r})) >= {len(TOKENS) - 2}
armed = False
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=60)
