"""Every command of docs/remote.md works as it stands there, one after another."""

import shlex
from pathlib import Path

import trustme
from tests.e2e.conftest import Shell
from tests.e2e.test_from_outside import write_pair

PAGE = Path(__file__).parents[2] / "docs" / "remote.md"
COMMANDS = 8
PORT = ":7433"
ELSEWHERE = f"tls://memory.example.org{PORT}"


def test_every_command_of_the_page_works(shell: Shell, tmp_path: Path) -> None:
    authority = trustme.CA()
    write_pair(shell.directory, authority)
    (tmp_path / "ca.pem").write_bytes(authority.cert_pem.bytes())
    token_file = tmp_path / "laptop.token"
    lines = [each.strip() for each in PAGE.read_text().splitlines() if each.startswith("    ")]
    told: dict[str, str] = {}
    ran = 0

    for line in lines:
        words = shlex.split(line)
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            told[name] = value
            continue
        user = shell
        if told:
            assert told["GRAFT_TARGET"] == ELSEWHERE
            listening = shell.status()["memstore"]["listen"].replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - where it listens
            files = {"GRAFT_TOKEN_FILE": token_file, "GRAFT_TLS_CA": tmp_path / "ca.pem"}
            environ = {**told, **{name: str(path) for name, path in files.items()}}
            user = Shell(
                home=tmp_path / "elsewhere",
                directory=tmp_path,
                environ={**environ, "GRAFT_TARGET": listening},
            )
        yes = ("--yes",) if "revoke" in words else ()
        # No two runs on one machine may want the same port.
        done = user.run(*(each.replace(PORT, ":0") for each in words[1:]), *yes)
        assert done.status == 0, (line, done.err)
        if "laptop" in words:
            token_file.write_text(done.out)
        ran += 1

    assert ran == COMMANDS
    assert set(told) == {"GRAFT_TARGET", "GRAFT_TOKEN_FILE", "GRAFT_TLS_CA"}
