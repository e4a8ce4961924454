import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.client.conftest import Command

from graft.wire.launch import is_alive, kill_service, wait_until_gone
from graft.wire.paths import Home
from graft_client.connection import Connection
from graft_client.errors import NobodyAnsweredError, SettingsError, WrongBuildError
from graft_client.services import Services, may_talk
from graft_client.settings import configure
from graft_client.upkeep import End, read_status, stop_services

ROOT = Path(__file__).parents[3]
SECONDS = 30.0

MakeServices = Callable[..., Services]


@pytest.fixture
def services(place: Path) -> Iterator[MakeServices]:
    """Make services of one home whose memstore is a process with the fake's answers."""
    home = place / "home"

    def make(*flags: str, build: str = "", autostart: str = "1") -> Services:
        program = (
            f"import sys; sys.path.insert(0, {str(ROOT)!r});"
            "from tests.unit.client.fake_daemon import main; sys.exit(main())"
        )
        command = (sys.executable, "-c", program, "--home", str(home), *flags)
        configuration = configure(home=home, flags={"autostart": autostart}, environ={})
        if build:
            return Services(configuration, command=command, build=lambda: build)
        return Services(configuration, command=command)

    yield make
    kill_service(Home(root=home), "memstore")
    assert wait_until_gone(Home(root=home), "memstore", time.monotonic() + SECONDS)


def deadline() -> float:
    return time.monotonic() + SECONDS


def stop(services: Services, *, force: bool = False, seconds: float = SECONDS) -> int | None:
    return stop_services(services, Connection(services), End(force=force, seconds=seconds))


def test_many_callers_at_once_get_one_memstore(services: MakeServices) -> None:
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(services().ensure(deadline()).pid))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)

    assert len(found) == 8
    assert len(set(found)) == 1


def test_a_caller_of_another_build_replaces_an_idle_memstore(services: MakeServices) -> None:
    old = services().ensure(deadline())

    new = services(build="0.1.0+99").ensure(deadline())

    assert new.pid != old.pid
    assert new.at == old.at


def test_a_busy_memstore_of_a_neighbouring_version_goes_on_being_used(
    services: MakeServices,
) -> None:
    old = services("--busy").ensure(deadline())
    version = services().build.partition("+")[0]

    assert services(build=f"{version}+99").ensure(deadline()) == old


def test_a_busy_memstore_of_a_far_version_is_refused_with_the_next_command(
    services: MakeServices,
) -> None:
    services("--busy").ensure(deadline())

    with pytest.raises(WrongBuildError, match="graft stop"):
        services(build="9.0.0+99").ensure(deadline())


def test_where_nothing_may_be_started_nothing_is_replaced_either(services: MakeServices) -> None:
    old = services().ensure(deadline())
    version = services().build.partition("+")[0]

    assert services(build=f"{version}+99", autostart="0").ensure(deadline()) == old
    stop(services())
    with pytest.raises(NobodyAnsweredError, match="graft start"):
        services(autostart="0").ensure(deadline())


def test_a_start_that_was_asked_for_is_allowed_where_calls_may_not(services: MakeServices) -> None:
    located = services(autostart="0").ensure(deadline(), asked=True)

    assert services(autostart="0").find() == located


def test_stopping_waits_for_the_end_and_says_which_process_it_was(services: MakeServices) -> None:
    located = services().ensure(deadline())

    assert stop(services()) == located.pid
    assert stop(services()) is None
    assert services().find() is None


@pytest.mark.parametrize(
    "content", ["gpu_layers = 'many'", "timeout = 5", "[[[", "\0", "timeout_seconds = 0"]
)
def test_wrong_settings_keep_nobody_from_looking_at_the_services_and_ending_them(
    services: MakeServices, command: Command, home: Path, content: str
) -> None:
    (home / "config.toml").write_text("")
    located = services().ensure(deadline())
    (home / "config.toml").write_text(content)

    looked, ended = command("status"), command("stop", "--timeout", "20")

    assert f"process {located.pid}" in looked.out
    assert "graft: done without a setting: " in looked.err
    assert str(home / "config.toml") in looked.err
    assert (ended.code, ended.out) == (0, f"stopped process {located.pid}\n")
    assert command("status", "--json").json()["memstore"] is None
    assert command("config", "path").out == f"{home / 'config.toml'}\n"
    assert command("stats").code == 2


def test_a_memstore_that_does_not_answer_is_ended_by_force(services: MakeServices) -> None:
    located = services("--deaf").ensure(deadline())

    assert stop(services(), force=True, seconds=SECONDS) == located.pid
    assert services().find() is None


def test_a_held_lock_without_a_socket_names_the_process_and_force_ends_it(
    services: MakeServices,
) -> None:
    located = services("--deaf").ensure(deadline())
    home = services().configuration.home
    home.record("memstore").unlink()

    with pytest.raises(NobodyAnsweredError, match=rf"process {located.pid}.*graft stop --force"):
        stop(services())

    assert stop(services(), force=True) == located.pid
    assert not is_alive(home, "memstore")


def test_the_status_comes_from_the_process_that_answers(services: MakeServices) -> None:
    located = services().ensure(deadline())

    status = read_status(services(), Connection(services()), SECONDS)

    assert status.memstore is not None
    assert status.memstore.pid == located.pid
    assert status.memstore.socket == str(located.at)


def test_a_key_is_refused_even_where_a_memstore_runs_already(
    services: MakeServices, place: Path
) -> None:
    services().ensure(deadline())
    keyed = Services(configure(home=place / "home", environ={"GRAFT_DB_KEY": "k"}))

    with pytest.raises(SettingsError, match="cannot encrypt"):
        keyed.ensure(deadline())

    assert keyed.find() is not None


def test_a_home_that_cannot_be_used_is_refused_with_the_reason(place: Path) -> None:
    (place / "home" / "something").mkdir(parents=True)
    (place / "home").chmod(0o755)
    open_home = Services(configure(home=place / "home", environ={}), command=("/bin/true",))

    with pytest.raises(NobodyAnsweredError, match=rf"chmod 700 {place}/home.*graft doctor"):
        open_home.ensure(deadline())


@pytest.mark.parametrize(
    ("theirs", "ours", "expected"),
    [
        ("0.1.0+1", "0.1.0+2", True),
        ("0.1.9+1", "0.2.0+2", True),
        ("0.3.0+1", "0.2.0+2", True),
        ("0.1.0+1", "0.3.0+2", False),
        ("1.0.0+1", "0.1.0+2", False),
        ("0+1", "0+2", True),
        ("", "0.1.0+2", True),
    ],
)
def test_versions_one_minor_apart_understand_each_other(
    theirs: str, ours: str, *, expected: bool
) -> None:
    assert may_talk(theirs, ours) is expected
