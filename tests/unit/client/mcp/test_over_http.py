"""Who is let in over HTTP: by the server's own name, no page of another site, with the token."""

import asyncio
import stat
from pathlib import Path

import pytest
from starlette.types import Message, Receive, Scope, Send

from graft.wire.paths import Home
from graft_client.errors import GraftError
from graft_client.mcp.bearer import bearer_token
from graft_client.mcp.over_http import Guard, listen, url_of

TOKEN = "x" * 43
GOOD = [("host", "127.0.0.1:8472"), ("authorization", f"Bearer {TOKEN}")]


def status_of(headers: list[tuple[str, str]]) -> int:
    """Return what a request with *headers* gets; 200 is what the app behind the guard says."""
    sent: list[Message] = []

    async def app(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> Message:
        raise AssertionError("nothing is read of a request that is refused")

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }
    asyncio.run(Guard(app, token=TOKEN, port=8472)(scope, receive, send))
    return int(sent[0]["status"])


def changed(name: str, *values: str) -> list[tuple[str, str]]:
    return [each for each in GOOD if each[0] != name] + [(name, value) for value in values]


@pytest.mark.parametrize(
    "headers",
    [
        GOOD,
        changed("host", "localhost:8472"),
        changed("host", "LOCALHOST:8472"),
        changed("authorization", f"bearer {TOKEN}"),
        changed("origin", "http://127.0.0.1:8472"),
        changed("origin", "http://localhost:8472"),
    ],
)
def test_who_comes_by_the_servers_name_with_its_token_is_let_in(
    headers: list[tuple[str, str]],
) -> None:
    assert status_of(headers) == 200


@pytest.mark.parametrize(
    "values",
    [
        (),
        ("evil.example:8472",),
        ("127.0.0.1.evil.example:8472",),
        ("127.0.0.1:8472.evil.example",),
        ("127.0.0.1@evil.example:8472",),
        ("evil.example@127.0.0.1:8472",),
        ("127.0.0.1:8473",),
        ("127.0.0.1",),
        ("127.0.0.1:8472/x",),
        ("localhost.:8472",),
        ("[::1]:8472",),
        ("[",),
        ("127.0.0.1:port",),
        ("",),
        ("127.0.0.1:8472", "evil.example"),
        ("127.0.0.1:8472", "127.0.0.1:8472"),
        ("ⓛocalhost:8472".encode().decode("latin-1"),),
    ],
)
def test_another_name_is_refused(values: tuple[str, ...]) -> None:
    assert status_of(changed("host", *values)) == 421


@pytest.mark.parametrize(
    "value",
    [
        "null",
        "https://evil.example",
        "http://evil.example:8472",
        "http://127.0.0.1:8472.evil.example",
        "http://127.0.0.1:3000",
        "https://127.0.0.1:8472",
        "http://localhost:8472/",
        "http://evil@localhost:8472",
        "",
        "file://",
    ],
)
def test_a_page_of_another_origin_is_refused(value: str) -> None:
    assert status_of(changed("origin", value)) == 403


@pytest.mark.parametrize(
    "values",
    [
        (),
        ("",),
        ("Bearer",),
        ("Bearer ",),
        (f"Bearer {TOKEN}x",),
        (f"Bearer {TOKEN[:-1]}",),
        (f"Basic {TOKEN}",),
        (TOKEN,),
        ("Bearer é",),
        (f"Bearer {TOKEN}", f"Bearer {TOKEN}"),
    ],
)
def test_who_does_not_show_the_token_is_refused(values: tuple[str, ...]) -> None:
    assert status_of(changed("authorization", *values)) == 401


def test_a_token_is_made_once_is_private_and_can_be_made_anew(tmp_path: Path) -> None:
    home = Home(root=tmp_path / "home")

    first = bearer_token(home)

    assert len(first) >= 43
    assert bearer_token(home) == first
    assert stat.S_IMODE(home.mcp_token_file.stat().st_mode) == 0o600
    assert bearer_token(home, renew=True) not in ("", first)
    assert [each.name for each in home.root.iterdir()] == ["mcp.token"]


def test_a_token_that_others_can_read_or_that_is_none_is_not_used(tmp_path: Path) -> None:
    home = Home(root=tmp_path / "home")
    bearer_token(home)

    home.mcp_token_file.chmod(0o644)
    with pytest.raises(GraftError, match="can be read by others"):
        bearer_token(home)
    home.mcp_token_file.chmod(0o600)
    home.mcp_token_file.write_text("short\n")
    with pytest.raises(GraftError, match="holds no token"):
        bearer_token(home)
    home.mcp_token_file.unlink()
    home.mcp_token_file.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_text("x" * 50)
    with pytest.raises(GraftError, match="cannot be used"):
        bearer_token(home)
    assert bearer_token(home, renew=True)


def test_a_port_that_is_taken_is_named() -> None:
    with listen(0) as first:
        port = first.getsockname()[1]
        assert url_of(first) == f"http://127.0.0.1:{port}/mcp"
        with pytest.raises(GraftError, match=rf"port {port} of 127\.0\.0\.1 cannot be had"):
            listen(port)
