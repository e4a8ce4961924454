"""Downloads against a server that cuts, lies, ignores ranges, or is not there."""

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typing_extensions import override

from graft_embedder.catalogue import BY_NAME, Download
from graft_embedder.download import Fetch, addresses, run
from graft_embedder.errors import ModelFileError

CONTENT = bytes(range(256)) * 4_000
SOURCE = Download(
    repository="someone/model",
    revision="abc",
    file="model.gguf",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    megabytes=1,
)
HUB_PATH = "/someone/model/resolve/abc/model.gguf"


@dataclass(slots=True, kw_only=True)
class Behaviour:
    """How the server answers.

    Attributes:
        content: what it serves.
        tag: ETag; empty for none.
        cuts: for each of the first answers, after how many bytes the connection is cut.
        ranges: whether it honours Range.
        paths: the paths that exist.
        statuses: for each of the first answers, a status to refuse with instead.
        shift: bytes by which ranges begin too late.
        with_length: whether it tells how long the file is.
    """

    content: bytes = CONTENT
    tag: str = '"v1"'
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    paths: tuple[str, ...] = (HUB_PATH,)
    statuses: list[int] = field(default_factory=list)
    shift: int = 0
    with_length: bool = True
    asked: list[tuple[str, str]] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    """Answers as the server's behaviour says."""

    def do_GET(self) -> None:
        """Send the file, or the rest of it, or a piece of it."""
        assert isinstance(self.server, Server)
        behaviour = self.server.behaviour
        wanted = self.headers.get("Range", "")
        behaviour.asked.append((self.path, wanted))
        if behaviour.statuses:
            self.send_error(behaviour.statuses.pop(0))
            return
        if self.path not in behaviour.paths:
            self.send_error(404)
            return
        self._send(behaviour, self._start(behaviour, wanted))

    def _start(self, behaviour: Behaviour, wanted: str) -> int:
        matches = self.headers.get("If-Range", behaviour.tag) == behaviour.tag
        if not (wanted and behaviour.ranges and matches):
            return 0
        return int(wanted.removeprefix("bytes=").removesuffix("-"))

    def _send(self, behaviour: Behaviour, start: int) -> None:
        whole = len(behaviour.content)
        if start >= whole:
            self.send_error(416)
            return
        body = behaviour.content[start:]
        self.send_response(206 if start else 200)
        if start:
            first = start + behaviour.shift
            self.send_header("Content-Range", f"bytes {first}-{whole - 1}/{whole}")
        if behaviour.with_length:
            self.send_header("Content-Length", str(len(body)))
        if behaviour.tag:
            self.send_header("ETag", behaviour.tag)
        self.end_headers()
        self.wfile.write(body[: behaviour.cuts.pop(0)] if behaviour.cuts else body)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A server on a port of the machine's choosing."""

    daemon_threads = True
    behaviour: Behaviour


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that behaves well until told otherwise."""
    server = Server(("127.0.0.1", 0), Handler)
    server.behaviour = Behaviour()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a download told while it ran."""

    progress: list[tuple[int, int | None]]
    pauses: list[float]


def download(server: Server, target: Path, mirror: str | None = None) -> Told:
    """Download to *target* and return what was told."""
    told = Told(progress=[], pauses=[])
    address = f"http://127.0.0.1:{server.server_port}" if mirror is None else mirror
    run(
        Fetch(
            source=SOURCE,
            target=target,
            mirror=address,
            progress=lambda done, total: told.progress.append((done, total)),
            pause=told.pauses.append,
        )
    )
    return told


def names(folder: Path) -> list[str]:
    """Return the names in *folder*."""
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_fetched_checked_and_put_in_place(server: Server, tmp_path: Path) -> None:
    told = download(server, tmp_path / "m.gguf")

    assert (tmp_path / "m.gguf").read_bytes() == CONTENT
    assert names(tmp_path) == ["m.gguf"]
    assert told.progress[0] == (0, len(CONTENT))
    assert told.progress[-1] == (len(CONTENT), len(CONTENT))
    assert told.pauses == []


def test_cuts_are_mended_from_where_they_were(server: Server, tmp_path: Path) -> None:
    server.behaviour.cuts = [300_000, 200_000]

    told = download(server, tmp_path / "m.gguf")

    assert (tmp_path / "m.gguf").read_bytes() == CONTENT
    assert server.behaviour.asked == [
        (HUB_PATH, ""),
        (HUB_PATH, "bytes=300000-"),
        (HUB_PATH, "bytes=500000-"),
    ]
    assert told.pauses == [1.0, 1.0]


def test_a_download_that_was_given_up_goes_on_in_the_next_run(
    server: Server, tmp_path: Path
) -> None:
    server.behaviour.cuts = [1_000, 0, 0, 0, 0]
    with pytest.raises(ModelFileError, match="the same command goes on"):
        download(server, tmp_path / "m.gguf")
    server.behaviour.asked.clear()

    download(server, tmp_path / "m.gguf")

    assert server.behaviour.asked == [(HUB_PATH, "bytes=1000-")]
    assert (tmp_path / "m.gguf").read_bytes() == CONTENT


def test_pauses_grow_while_nothing_comes(server: Server, tmp_path: Path) -> None:
    server.behaviour.statuses = [503, 502, 500]

    told = download(server, tmp_path / "m.gguf")

    assert told.pauses == [1.0, 2.0, 4.0]


def test_a_server_that_ignores_ranges_sends_all_again(server: Server, tmp_path: Path) -> None:
    server.behaviour.cuts = [300_000]
    server.behaviour.ranges = False

    download(server, tmp_path / "m.gguf")

    assert (tmp_path / "m.gguf").read_bytes() == CONTENT


def test_another_version_on_the_server_is_fetched_from_its_beginning(
    server: Server, tmp_path: Path
) -> None:
    server.behaviour.cuts = [300_000, 0, 0, 0, 0]
    server.behaviour.content = bytes(len(CONTENT))
    with pytest.raises(ModelFileError):
        download(server, tmp_path / "m.gguf")

    server.behaviour = Behaviour(tag='"v2"')
    download(server, tmp_path / "m.gguf")

    assert (tmp_path / "m.gguf").read_bytes() == CONTENT


def test_without_a_version_tag_nothing_is_pieced_together(server: Server, tmp_path: Path) -> None:
    server.behaviour.tag = ""
    server.behaviour.cuts = [300_000]

    download(server, tmp_path / "m.gguf")

    assert server.behaviour.asked == [(HUB_PATH, ""), (HUB_PATH, "")]
    assert (tmp_path / "m.gguf").read_bytes() == CONTENT


def test_a_shorter_file_than_what_came_is_fetched_from_its_beginning(
    server: Server, tmp_path: Path
) -> None:
    (tmp_path / ".m.gguf.part").write_bytes(CONTENT + b"more")
    (tmp_path / ".m.gguf.part.json").write_text('{"tag": "\\"v1\\""}')

    download(server, tmp_path / "m.gguf")

    assert (tmp_path / "m.gguf").read_bytes() == CONTENT


def test_a_range_that_begins_elsewhere_is_not_taken(server: Server, tmp_path: Path) -> None:
    server.behaviour.cuts = [300_000]
    server.behaviour.shift = 5

    download(server, tmp_path / "m.gguf")

    assert (tmp_path / "m.gguf").read_bytes() == CONTENT


def test_a_length_that_nobody_tells_is_shown_as_unknown(server: Server, tmp_path: Path) -> None:
    server.behaviour.with_length = False

    told = download(server, tmp_path / "m.gguf")

    assert told.progress[-1] == (len(CONTENT), None)
    assert (tmp_path / "m.gguf").read_bytes() == CONTENT


def test_a_wrong_hash_leaves_nothing_behind_and_names_both(server: Server, tmp_path: Path) -> None:
    server.behaviour.content = b"not the model"

    with pytest.raises(ModelFileError, match=SOURCE.sha256) as caught:
        download(server, tmp_path / "m.gguf")

    assert hashlib.sha256(b"not the model").hexdigest() in str(caught.value)
    assert names(tmp_path) == []


def test_a_plain_folder_serves_as_mirror(server: Server, tmp_path: Path) -> None:
    server.behaviour.paths = ("/files/model.gguf",)

    download(server, tmp_path / "m.gguf", f"http://127.0.0.1:{server.server_port}/files/")

    assert [path for path, _ in server.behaviour.asked] == [
        f"/files{HUB_PATH}",
        "/files/model.gguf",
    ]


def test_a_file_that_is_nowhere_names_the_ways_out(server: Server, tmp_path: Path) -> None:
    server.behaviour.paths = ()

    with pytest.raises(ModelFileError, match=r"404.*GRAFT_MODEL_MIRROR.*graft model use PATH"):
        download(server, tmp_path / "m.gguf")


def test_nobody_at_the_address_fails_at_once_and_names_the_ways_out(tmp_path: Path) -> None:
    told = Told(progress=[], pauses=[])
    with Server(("127.0.0.1", 0), Handler) as closed:
        port = closed.server_port

    with pytest.raises(ModelFileError, match=r"GRAFT_MODEL_MIRROR.*starter"):
        run(
            Fetch(
                source=SOURCE,
                target=tmp_path / "m.gguf",
                mirror=f"http://127.0.0.1:{port}",
                progress=lambda _done, _total: None,
                pause=told.pauses.append,
            )
        )

    assert told.pauses == []


def test_a_disk_without_room_is_told_before_the_first_byte(server: Server, tmp_path: Path) -> None:
    server.behaviour.paths = ()
    part = tmp_path / ".m.gguf.part"

    class Endless(Handler):
        """Promises more than any disk holds."""

        @override
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(2**60))
            self.end_headers()

    server.RequestHandlerClass = Endless
    with pytest.raises(ModelFileError, match="MB are needed"):
        download(server, tmp_path / "m.gguf")

    assert not part.exists()


@pytest.mark.parametrize("mirror", ["file:///etc", "ftp://x", "models.example"])
def test_a_mirror_must_be_http(mirror: str) -> None:
    with pytest.raises(ModelFileError, match="GRAFT_MODEL_MIRROR"):
        addresses(SOURCE, mirror)


def test_bge_m3_is_pinned_by_revision_and_hash() -> None:
    source = BY_NAME["bge-m3"].download
    assert source is not None

    assert addresses(source, "") == [
        f"https://huggingface.co/lm-kit/bge-m3-gguf/resolve/{source.revision}/bge-m3-Q8_0.gguf"
    ]
    assert source.revision == "9379ce497e8814b200f2dc0d18eb4045426dcb8c"
    assert source.sha256 == "c98c7c907bb3ab8c3be4c8ad827cc934c7c1a7e014d1c999e0c45c8027c158bb"
