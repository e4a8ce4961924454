"""Every command of docs/docker.md works as it stands there, one after another."""

import os
from pathlib import Path

import trustme
from tests.docker.conftest import ROOT, Stack, kept, services_user
from tests.e2e.conftest import GRAFT
from tests.e2e.test_from_outside import write_pair

PAGE = ROOT / "docs" / "docker.md"
IDENTITY = "#!/bin/sh\necho {user}\n"
COMMANDS = 20


def commands() -> list[str]:
    lines = PAGE.read_text("utf-8").splitlines()
    return [line.removeprefix("    ") for line in lines if line.startswith("    ")]


def test_every_command_of_the_page_works(tmp_path: Path) -> None:
    person = tmp_path / "person"
    (person / "tls").mkdir(parents=True)
    (person / "bin").mkdir()
    write_pair(person / "tls", trustme.CA())
    for path in (person / "tls", *(person / "tls").iterdir()):
        os.chown(path, services_user(), services_user())
    # Where root tests, somebody else is who the services are to be.
    (person / "bin" / "id").write_text(IDENTITY.format(user=services_user()))
    (person / "bin" / "id").chmod(0o755)
    stack = Stack(folder=person, environ={"COMPOSE_PROJECT_NAME": "graft-page"})
    taken = ("GRAFT_SOCKETS", "GRAFT_UID", "GRAFT_GID")
    around = {name: text for name, text in stack.environment().items() if name not in taken}
    programs = f"{person / 'bin'}:{GRAFT.parent}:{kept()['PATH']}"
    mine = {"HOME": str(person), "PATH": programs, "GRAFT_LISTEN_ON": "127.0.0.1:0"}
    script = "\n".join(["set -eux", *commands()])
    try:
        done = stack.run(["/bin/bash", "-c", script], {**around, **mine})
    finally:
        stack.docker("compose", "down", "--volumes")

    assert done.status == 0, (done.out[-2_000:], done.err[-6_000:])
    assert len(commands()) >= COMMANDS
    assert (person / "notes.graft-backup").is_file()
    assert done.out.count("Set it to the company's CA bundle.") == 2
