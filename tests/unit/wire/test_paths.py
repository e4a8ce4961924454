"""A home's directories are ours alone, and its sockets' paths are short enough."""

from pathlib import Path

import pytest

from graft.wire.models import MODEL_NAME
from graft.wire.paths import SOCKET_PATH_BYTES_MAX, Home, UnsafeDirectoryError, private_directory


def test_an_empty_directory_of_ours_is_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "open"
    path.mkdir(mode=0o755)

    private_directory(path)

    assert path.stat().st_mode & 0o777 == 0o700


def test_a_home_that_a_person_prepared_is_closed_to_others(tmp_path: Path) -> None:
    root = tmp_path / "home"
    root.mkdir(mode=0o755)
    (root / "config.toml").touch()
    (root / "models").symlink_to(tmp_path)

    Home(root=root).create()

    assert root.stat().st_mode & 0o777 == 0o700


def test_a_directory_with_content_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "open"
    path.mkdir(mode=0o755)
    (path / "file").touch()

    with pytest.raises(UnsafeDirectoryError, match="chmod 700"):
        private_directory(path)


def test_a_link_in_place_of_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")

    with pytest.raises(UnsafeDirectoryError, match="must be a directory of yours"):
        private_directory(tmp_path / "link")


def test_the_home_is_known_by_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert Home.resolve({"GRAFT_HOME": str(tmp_path / "link")}) == Home.resolve(
        {"GRAFT_HOME": str(tmp_path / "real")}
    )


def test_the_runtime_variable_moves_the_sockets(tmp_path: Path) -> None:
    home = Home.resolve({"GRAFT_HOME": str(tmp_path), "GRAFT_RUNTIME": str(tmp_path / "r")})

    assert home.socket("memstore") == tmp_path / "r" / "memstore.sock"


@pytest.mark.parametrize("length", [10, 60, 90, 300])
@pytest.mark.parametrize("service", ["memstore", "embedder-" + "m" * 40])
def test_every_home_has_sockets_that_can_be_bound(length: int, service: str) -> None:
    home = Home(root=Path("/" + "h" * min(length, 200) + "/" + "x" * max(length - 200, 1)))

    assert len(bytes(home.socket(service))) <= SOCKET_PATH_BYTES_MAX


@pytest.mark.parametrize("runtime", ["/r", "/" + "r" * 60])
@pytest.mark.parametrize("name", ["x", "m" * 34])
@pytest.mark.parametrize(
    "suffix", ["", ".start", ".lock", ".log", ".log.1", ".json", ".sock", ".1"]
)
def test_no_two_models_share_a_file(runtime: str, name: str, suffix: str) -> None:
    home = Home(root=Path("/h"), runtime=Path(runtime))
    # Where a socket's name is cut, a model may be named like what is left of it.
    cut = home.socket(f"embedder-{name}").stem.removeprefix("embedder-")
    others = {each for each in (name + suffix, cut) if MODEL_NAME.fullmatch(each)} - {name}

    shared = [files_of(home, name) & files_of(home, other) for other in others]

    assert not any(shared)


def files_of(home: Home, model: str) -> set[Path]:
    service = f"embedder-{model}"
    log = home.log(service)
    return {
        *(home.life_lock(service), home.start_lock(service), home.record(service)),
        *(log, log.with_suffix(".log.1"), home.socket(service)),
    }


def test_two_long_homes_have_two_runtime_directories() -> None:
    first, second = (Home(root=Path("/" + letter * 200)) for letter in "ab")

    assert first.runtime_path() != second.runtime_path()


def test_a_file_in_place_of_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(UnsafeDirectoryError, match="must be a directory of yours"):
        private_directory(tmp_path / "file")


def test_a_chosen_directory_that_is_too_long_for_sockets_is_refused(tmp_path: Path) -> None:
    home = Home(root=tmp_path, runtime=tmp_path / ("r" * 120))

    with pytest.raises(UnsafeDirectoryError, match="GRAFT_RUNTIME to a shorter"):
        home.runtime_directory()
