"""Callers over TCP: with TLS, with a token, and never further than it goes."""

import json
import ssl
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import grpc
import pytest
import trustme
from tests.e2e.conftest import Shell

from graft.memory.v1 import (
    daemon_service_pb2,
    daemon_service_pb2_grpc,
    note_pb2,
    notes_service_pb2,
    notes_service_pb2_grpc,
    recall_service_pb2,
    recall_service_pb2_grpc,
    tokens_service_pb2,
    tokens_service_pb2_grpc,
)
from graft.wire.channel import open_channel
from graft.wire.endpoints import Endpoint, Trust
from graft.wire.errors import Refusal, read_refusal

CLIENTS = 100
ROTATIONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """A memstore that listens, and what a caller from outside has of it."""

    shell: Shell
    endpoint: Endpoint
    authority: trustme.CA
    folder: Path

    def trust(self) -> Trust:
        """Return by what the memstore is known."""
        return Trust(roots=self.authority.cert_pem.bytes())

    def elsewhere(self, **environ: str) -> Shell:
        """Return the shell of another machine's user: another home, and the target."""
        roots = self.folder / "roots.pem"
        roots.write_bytes(self.authority.cert_pem.bytes())
        told = {"GRAFT_TARGET": str(self.endpoint), "GRAFT_TLS_CA": str(roots), **environ}
        return Shell(home=self.folder / "elsewhere", directory=self.folder, environ=told)

    def token(self, name: str, *options: str) -> str:
        """Make a token and return it."""
        made = self.shell.run("token", "create", name, "--json", *options).json()
        secret = made["secret"]
        assert isinstance(secret, str)
        return secret

    def call(
        self,
        token: str,
        make: Callable[[grpc.Channel], Callable[..., object]],
        request: object,
        *more: tuple[str, str],
    ) -> object:
        """Make one call with a token; empty: without one."""
        bearer = (("authorization", f"Bearer {token}"),) if token else ()
        with open_channel(self.endpoint, self.trust()) as channel:
            return make(channel)(request, timeout=60, metadata=(*bearer, *more))

    def refusal(
        self,
        token: str,
        make: Callable[[grpc.Channel], Callable[..., object]],
        request: object,
        *more: tuple[str, str],
    ) -> Refusal:
        """Make one call that is refused; return how."""
        with pytest.raises(grpc.RpcError) as refused:
            self.call(token, make, request, *more)
        return read_refusal(refused.value)


def write_pair(folder: Path, authority: trustme.CA) -> tuple[Path, Path]:
    """Write a certificate for this machine and its key, the certificate first."""
    made = authority.issue_cert("127.0.0.1", "localhost")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    certificate.write_bytes(b"".join(each.bytes() for each in made.cert_chain_pems))
    key.write_bytes(made.private_key_pem.bytes())
    return certificate, key


def listen(shell: Shell, *options: str) -> Endpoint:
    """Start the memstore so that it listens on a port of its choice."""
    started = shell.run("start", "--listen", "127.0.0.1:0", "--json", *options).json()
    return Endpoint.parse(started["memstore"]["listen"])


@pytest.fixture
def outside(shell: Shell, tmp_path: Path) -> Outside:
    authority = trustme.CA()
    certificate, key = write_pair(tmp_path, authority)
    endpoint = listen(shell, "--listen-cert", str(certificate), "--listen-key", str(key))
    return Outside(shell=shell, endpoint=endpoint, authority=authority, folder=tmp_path)


def get_status(channel: grpc.Channel) -> Callable[..., object]:
    return daemon_service_pb2_grpc.DaemonServiceStub(channel).GetStatus


def stop(channel: grpc.Channel) -> Callable[..., object]:
    return daemon_service_pb2_grpc.DaemonServiceStub(channel).Stop


def list_notes(channel: grpc.Channel) -> Callable[..., object]:
    return notes_service_pb2_grpc.NotesServiceStub(channel).ListNotes


def insert(channel: grpc.Channel) -> Callable[..., object]:
    return notes_service_pb2_grpc.NotesServiceStub(channel).InsertNote


def list_tokens(channel: grpc.Channel) -> Callable[..., object]:
    return tokens_service_pb2_grpc.TokensServiceStub(channel).ListTokens


EVERYTHING = notes_service_pb2.ListNotesRequest(scope=note_pb2.ScopeFilter(all=True))


def test_a_note_is_saved_and_found_from_another_machine(outside: Outside) -> None:
    token_file = outside.folder / "token"
    done = outside.shell.run(
        "token", "create", "web", "--scope", "team:web", "--out", str(token_file)
    )
    user = outside.elsewhere(GRAFT_TOKEN_FILE=str(token_file), GRAFT_SCOPE="team:web")

    saved = user.insert("the proxy wants a client certificate", "set PIP_CERT")
    found = user.query("the proxy wants a client certificate")

    assert done.status == 0
    assert token_file.stat().st_mode & 0o777 == 0o600
    assert saved["scope"] == "team:web"
    assert (found["hit"], found["note"]["id"]) == ("STRONG", saved["id"])
    assert not (outside.folder / "elsewhere" / "memstore.json").exists()
    assert outside.shell.run("get", saved["id"], "--json").json()["id"] == saved["id"]


def test_what_is_no_good_token_is_refused_alike_recorded_and_told_nothing(
    outside: Outside,
) -> None:
    good = outside.token("good", "--all-scopes")
    gone = outside.token("gone", "--all-scopes")
    outside.shell.run("token", "revoke", "gone", "--yes")
    wrong = f"{good[:-4]}AAAA"

    told = [
        outside.refusal(token, list_notes, EVERYTHING)
        for token in ("", "graft_", "x" * 200, wrong, gone)
    ]

    assert outside.call(good, list_notes, EVERYTHING) is not None
    assert {(each.code, each.reason, each.message) for each in told} == {
        (
            grpc.StatusCode.UNAUTHENTICATED,
            "NO_ACCESS",
            "this takes a token that is let in; ask whoever runs the memstore for one",
        )
    }
    outside.shell.run("stop")  # by then every refusal has been written
    events = outside.shell.run("log", "--action", "refused", "--json").lines()
    assert {each["reason"] for each in events} == {"ListNotes: NO_ACCESS"}
    kept = (outside.shell.home / "tokens.json").read_text()
    log = (outside.shell.home / "memstore.log").read_text()
    assert good.rpartition("_")[2] not in kept + log
    assert good.split("_")[1] in kept


def test_a_token_that_has_expired_lets_nobody_in_any_more(outside: Outside) -> None:
    token = outside.token("short", "--all-scopes", "--expires", "2027-01-01T00:00:00Z")
    assert outside.call(token, list_notes, EVERYTHING) is not None
    outside.shell.run("stop")
    file = outside.shell.home / "tokens.json"
    content = json.loads(file.read_text())
    content["tokens"][0]["expires_ms"] = content["tokens"][0]["created_ms"] + 1
    file.write_text(json.dumps(content))
    again = replace(outside, endpoint=listen(outside.shell, *files_of(outside)))

    assert again.refusal(token, list_notes, EVERYTHING).reason == "NO_ACCESS"
    assert "has expired" in (outside.shell.home / "memstore.log").read_text()


def files_of(outside: Outside) -> tuple[str, ...]:
    return (
        *("--listen-cert", str(outside.folder / "cert.pem")),
        *("--listen-key", str(outside.folder / "key.pem")),
    )


def test_no_token_ends_the_memstore_or_makes_tokens_or_leaves_its_profile(
    outside: Outside,
) -> None:
    outside.shell.run("profile", "add", "other")
    rights = ("--right", "read", "--right", "write", "--right", "manage")
    token = outside.token("all", "--all-scopes", *rights)
    reader = outside.token("reader", "--all-scopes", "--right", "read")
    other = notes_service_pb2.ListNotesRequest(profile="other")
    note = notes_service_pb2.InsertNoteRequest(
        request_id="5b0c77e1-2f8b-4c9f-8f0a-1d2e3f405060",
        note=notes_service_pb2.NewNote(title="t", body="b"),
    )

    refused = [
        outside.refusal(token, stop, daemon_service_pb2.StopRequest()),
        outside.refusal(token, list_tokens, tokens_service_pb2.ListTokensRequest()),
        outside.refusal(token, list_notes, other),
        outside.refusal(reader, insert, note),
    ]

    assert {(each.code, each.message) for each in refused} == {
        (grpc.StatusCode.PERMISSION_DENIED, "this token is not for that")
    }
    assert outside.call(token, insert, note) is not None
    assert outside.call(reader, list_notes, EVERYTHING) is not None
    status = outside.call(token, get_status, daemon_service_pb2.GetStatusRequest())
    assert isinstance(status, daemon_service_pb2.GetStatusResponse)
    assert (dict(status.settings), status.listen) == ({}, "")
    assert {each.name for each in status.profiles} <= {"default"}


def test_a_caller_cannot_say_that_it_is_a_person_a_reviewer_or_another_token(
    outside: Outside,
) -> None:
    token = outside.token("bob", "--all-scopes")
    user = outside.elsewhere(GRAFT_TOKEN=token)
    saved = outside.shell.insert("a note of this machine", "it stays")

    deleted = user.run("delete", saved["id"], "--reason", "gone", "--yes", "--json").json()
    claims = (("graft-token", "alice"), ("graft-reviewer", "ab" * 16), ("graft-door", "cli"))
    outside.call(token, list_notes, EVERYTHING, *claims)

    assert deleted["outcome"] == "retired"
    assert outside.shell.run("get", saved["id"], "--json").json()["state"] == "retired"
    event = outside.shell.run("log", "--note", saved["id"], "--json").lines()[0]
    assert (event["action"], event["session"]) == ("retire", "token:bob:")


def test_a_hundred_clients_with_mixed_rights_see_what_they_may(outside: Outside) -> None:
    scopes = [f"team:{number}" for number in range(4)]
    for scope in scopes:
        outside.shell.insert(f"a note of {scope}", "its body", "--scope", scope)
    tokens = [
        outside.token(f"t{number}", "--scope", scope, "--right", "read", "--calls-at-once", "32")
        for number, scope in enumerate(scopes)
    ]

    def look(number: int) -> tuple[str, list[str], str]:
        scope, token = scopes[number % 4], tokens[number % 4]
        asked = note_pb2.ScopeFilter(all=True)
        bearer = (("authorization", f"Bearer {token}"),)
        with open_channel(outside.endpoint, outside.trust()) as channel:
            notes = notes_service_pb2_grpc.NotesServiceStub(channel)
            recall = recall_service_pb2_grpc.RecallServiceStub(channel)
            listed = notes.ListNotes(
                notes_service_pb2.ListNotesRequest(scope=asked), timeout=90, metadata=bearer
            )
            answer = recall.Query(
                recall_service_pb2.QueryRequest(
                    scope=asked, text=f"a note of {scopes[number % 3]}"
                ),
                timeout=90,
                metadata=bearer,
            )
        seen = [each.scope for each in listed.notes]
        return scope, seen, answer.note.scope if answer.HasField("note") else ""

    with ThreadPoolExecutor(CLIENTS) as pool:
        found = list(pool.map(look, range(CLIENTS)))

    assert len(found) == CLIENTS
    for scope, listed, answered in found:
        assert listed == [scope]
        assert answered in {"", scope}


def test_a_certificate_is_changed_under_load_without_one_failed_call(outside: Outside) -> None:
    token = outside.token("busy", "--all-scopes", "--calls-per-minute", "60000")
    ended = threading.Event()
    made: list[int] = []

    def keep_calling() -> None:
        while not ended.is_set():
            # A new connection each time, so that each sees the certificate of the moment.
            outside.call(token, list_notes, EVERYTHING)
            made.append(1)

    def serial() -> bytes:
        return ssl_certificate(outside.endpoint)

    with ThreadPoolExecutor(4) as pool:
        callers = [pool.submit(keep_calling) for _ in range(4)]
        seen = {serial()}
        for _ in range(ROTATIONS):
            before = len(made)
            write_pair(outside.folder, outside.authority)
            while len(made) < before + 8 and not any(each.done() for each in callers):
                seen.add(serial())
        ended.set()
        for each in callers:
            each.result(timeout=60)

    assert len(seen) > 1
    assert len(made) >= ROTATIONS * 8
    log = (outside.shell.home / "memstore.log").read_text()
    assert "certificate changed" in log


def ssl_certificate(endpoint: Endpoint) -> bytes:
    """Return the certificate that is shown now."""
    return ssl.get_server_certificate((endpoint.host, endpoint.port)).encode()


def test_a_caller_s_certificate_is_asked_for_where_that_is_wanted(
    shell: Shell, tmp_path: Path
) -> None:
    authority = trustme.CA()
    certificate, key = write_pair(tmp_path, authority)
    callers = trustme.CA()
    (tmp_path / "callers.pem").write_bytes(callers.cert_pem.bytes())
    endpoint = listen(
        shell,
        *("--listen-cert", str(certificate), "--listen-key", str(key)),
        *("--listen-client-ca", str(tmp_path / "callers.pem")),
    )
    outside = Outside(shell=shell, endpoint=endpoint, authority=authority, folder=tmp_path)
    token = outside.token("mutual", "--all-scopes")
    mine = callers.issue_cert("somebody@example.org")
    (tmp_path / "mine.pem").write_bytes(mine.cert_chain_pems[0].bytes())
    (tmp_path / "mine.key").write_bytes(mine.private_key_pem.bytes())
    shown = {
        "GRAFT_TLS_CERT": str(tmp_path / "mine.pem"),
        "GRAFT_TLS_KEY": str(tmp_path / "mine.key"),
    }

    with_one = outside.elsewhere(GRAFT_TOKEN=token, **shown).run("list", "--all-scopes")
    without = outside.elsewhere(GRAFT_TOKEN=token).run("list", "--all-scopes")

    assert with_one.status == 0, with_one.err
    assert without.status == 3
    assert "tls_cert and tls_key" in without.err


def test_why_it_cannot_be_reached_is_told(outside: Outside) -> None:
    token = outside.token("any", "--all-scopes")
    strangers = outside.folder / "strangers.pem"
    strangers.write_bytes(trustme.CA().cert_pem.bytes())

    untrusted = outside.elsewhere(GRAFT_TOKEN=token, GRAFT_TLS_CA=str(strangers)).run("list")
    nobody = outside.elsewhere(GRAFT_TOKEN=token, GRAFT_TARGET="tls://127.0.0.1:1").run("list")
    no_token = outside.elsewhere().run("list")

    assert (untrusted.status, nobody.status, no_token.status) == (3, 3, 2)
    assert "its certificate is not trusted" in untrusted.err
    assert "no connection" in nobody.err
    assert "graft token create" in no_token.err
    assert untrusted.err.count("\n") == 1


def test_without_a_certificate_it_listens_on_the_loopback_address_alone(shell: Shell) -> None:
    refused = shell.run("start", "--listen", "0.0.0.0:0")
    plain = listen(shell)
    outside = Outside(shell=shell, endpoint=plain, authority=trustme.CA(), folder=shell.directory)
    token = outside.token("plain", "--all-scopes")

    assert refused.status == 3
    assert "listen_cert" in refused.err
    assert str(plain).startswith("tcp://127.0.0.1:")
    assert outside.call(token, list_notes, EVERYTHING) is not None
    assert outside.refusal("", list_notes, EVERYTHING).reason == "NO_ACCESS"


def test_an_agent_s_hook_asks_a_memory_elsewhere(outside: Outside) -> None:
    outside.shell.insert(
        "the linker cannot find libssl on arm64", "install libssl-dev:arm64", "--scope", "user"
    )
    token = outside.token("hooks", "--scope", "user")
    user = outside.elsewhere(GRAFT_TOKEN=token, GRAFT_HOOK_MS="10000")
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s",
        "cwd": str(outside.folder),
        "prompt": "the linker cannot find libssl on arm64",
    }
    outside.shell.query("the linker cannot find libssl on arm64", "--scope", "user")

    told = user.run("hook", "prompt", text=json.dumps(event))

    assert "libssl-dev:arm64" in told.out
