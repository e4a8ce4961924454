"""Fetch a model file: resume where it was cut, check its hash, put it in place by rename."""

import hashlib
import json
import os
import shutil
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

from graft_embedder.catalogue import MODEL_HUB, Download
from graft_embedder.errors import ModelFileError
from graft_embedder.files import replace_text

CHUNK_BYTES = 256 * 1024
TIMEOUT_SECONDS = 30.0
"""Seconds without a single byte after which a connection counts as cut."""

CUTS_MAX = 5
"""Cuts in a row without progress after which the download gives up; what came is kept."""

PAUSE_SECONDS = 1.0
"""Pause after a cut; doubled by every further one."""

SPARE_BYTES = 64 * 1024 * 1024
"""Room left on the disk beside the file."""

Progress = Callable[[int, int | None], None]
"""Told bytes that are here and bytes in all, None while that is not known."""


class _CutError(Exception):
    """The connection ended early; trying again may go on from there."""


class _UnreachableError(_CutError):
    """Nobody answers at that address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """One download: what, where to, from which mirror, who watches, how to pause."""

    source: Download
    target: Path
    mirror: str
    progress: Progress
    pause: Callable[[float], object]


def fetch(source: Download, target: Path, mirror: str, progress: Progress) -> None:
    """Put the file of *source* at *target*; a download that was cut before goes on.

    *mirror* replaces the model hub's address; a file below it under the hub's path is taken,
    else one of that name right under it. The caller holds a lock for *target*.

    Raises:
        ModelFileError: nobody answers, the disk is full, or the hash is wrong; says what to do.
    """
    job = Fetch(
        source=source,
        target=target,
        mirror=mirror,
        progress=progress,
        pause=threading.Event().wait,
    )
    run(job)


def run(job: Fetch) -> None:
    """Do *job*; `fetch` with a pause of the caller's choosing."""
    part = _Part(job.target)
    urls = addresses(job.source, job.mirror)
    cuts, answered = 0, False
    while True:
        before = part.size()
        try:
            _receive(job, part, urls)
            break
        except _CutError as error:
            cuts = 1 if part.size() > before else cuts + 1
            answered = answered or not isinstance(error, _UnreachableError)
            if cuts >= CUTS_MAX or not answered:
                raise ModelFileError(_offline(urls[0], str(error))) from error
            job.pause(PAUSE_SECONDS * 2 ** (cuts - 1))
    _check(job, part, urls[0])
    try:
        part.path.replace(job.target)
    except OSError as error:
        raise ModelFileError(f"cannot write {job.target}: {error.strerror or error}") from error
    part.forget()


def addresses(source: Download, mirror: str) -> list[str]:
    """Return the addresses to try, in order.

    Raises:
        ModelFileError: the mirror is no http or https address.
    """
    base = (mirror or MODEL_HUB).rstrip("/")
    if not base.startswith(("http://", "https://")):
        raise ModelFileError(
            f"model_mirror (GRAFT_MODEL_MIRROR) is {mirror!r}; it must begin with http:// or"
            " https://"
        )
    path = f"{source.repository}/resolve/{source.revision}/{source.file}"
    return [f"{base}/{path}", f"{base}/{source.file}"] if mirror else [f"{base}/{path}"]


class _Part:
    """What has come so far, and which version of the file it belongs to."""

    def __init__(self, target: Path) -> None:
        self.path = target.with_name(f".{target.name}.part")
        self._facts = target.with_name(f".{target.name}.part.json")

    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def version(self) -> str:
        """Return the version's tag; empty where it cannot be asked for."""
        try:
            content = json.loads(self._facts.read_text("utf-8"))
        except (OSError, ValueError):
            return ""
        return content["tag"] if isinstance(content, dict) and "tag" in content else ""

    def begin(self, tag: str) -> None:
        """Start anew with the version *tag*."""
        self.path.unlink(missing_ok=True)
        replace_text(self._facts, json.dumps({"tag": tag}))

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)
        self._facts.unlink(missing_ok=True)


def _receive(job: Fetch, part: _Part, urls: list[str]) -> None:
    """Fetch what is missing.

    Raises:
        _CutError: the connection ended early.
        ModelFileError: it cannot be had.
    """
    try:
        with _open(part, urls) as response:
            start, total = _place(response, part)
            _check_space(job, start, total)
            if start == 0:
                part.begin(_tag(response))
            _copy(job, part, response, (start, total))
    except (HTTPException, TimeoutError, ConnectionError) as error:
        raise _CutError(str(error) or type(error).__name__) from error
    except OSError as error:
        raise ModelFileError(
            f"cannot write {part.path}: {error.strerror or error}; free some space or choose"
            " another folder, then run the same command: it goes on from here"
        ) from error


def _open(part: _Part, urls: list[str]) -> Any:
    """Return the response of the first address that has the file.

    Raises:
        _CutError: nobody answers now.
        ModelFileError: the file is not there.
    """
    refused = ""
    for url in urls:
        request = urllib.request.Request(url, headers={"User-Agent": "graft-memory"})  # noqa: S310 - addresses() let nothing but http and https through
        size, tag = part.size(), part.version()
        if size and tag:
            request.add_header("Range", f"bytes={size}-")
            request.add_header("If-Range", tag)
        try:
            return urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)  # noqa: S310 - as above
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                # More is here than there: another file. Begin again.
                part.forget()
                raise _CutError(f"{url} has no byte {size}") from error
            if error.code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise _CutError(f"{url} answers {error.code}") from error
            refused = f"{url} answers {error.code} {error.reason}"
        except urllib.error.URLError as error:
            raise _UnreachableError(str(error.reason)) from error
    raise ModelFileError(
        f"{refused}; check GRAFT_MODEL_MIRROR, or fetch the file elsewhere and register it with"
        " `graft model use PATH`"
    )


def _place(response: HTTPResponse, part: _Part) -> tuple[int, int | None]:
    """Return where the response's first byte belongs and the size of the whole file."""
    length = response.headers.get("Content-Length", "")
    remaining = int(length) if length.isdecimal() else None
    if response.status != HTTPStatus.PARTIAL_CONTENT:
        return 0, remaining
    # "bytes 100-199/200"
    span, _, whole = response.headers.get("Content-Range", "").partition("/")
    first = span.removeprefix("bytes ").partition("-")[0]
    if first != str(part.size()):
        part.forget()
        raise _CutError(f"the server sent from byte {first or 'unknown'}")
    return int(first), int(whole) if whole.isdecimal() else None


def _tag(response: HTTPResponse) -> str:
    tag: str = response.headers.get("ETag", "")
    # A weak tag promises meaning, not bytes; only the date is left then.
    return tag if tag and not tag.startswith("W/") else response.headers.get("Last-Modified", "")


def _check_space(job: Fetch, start: int, total: int | None) -> None:
    if total is None:
        return
    free = shutil.disk_usage(job.target.parent).free
    needed = total - start + SPARE_BYTES
    if free < needed:
        raise ModelFileError(
            f"{job.target.parent} has {free // 1_000_000} MB free and"
            f" {needed // 1_000_000} MB are needed; free some space or choose another folder"
        )


def _copy(job: Fetch, part: _Part, response: HTTPResponse, place: tuple[int, int | None]) -> None:
    done, total = place
    with part.path.open("ab") as file:
        job.progress(done, total)
        while chunk := response.read(CHUNK_BYTES):
            file.write(chunk)
            done += len(chunk)
            job.progress(done, total)
        file.flush()
        os.fsync(file.fileno())
    if total is not None and done < total:
        raise _CutError(f"{done} of {total} bytes came")


def _check(job: Fetch, part: _Part, url: str) -> None:
    hasher = hashlib.sha256()
    with part.path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            hasher.update(chunk)
    found = hasher.hexdigest()
    if found != job.source.sha256:
        part.forget()
        raise ModelFileError(
            f"the file from {url} is not the one that was asked for: its SHA-256 is {found},"
            f" not {job.source.sha256}; it was removed, try again or try another mirror"
        )


def _offline(url: str, problem: str) -> str:
    return (
        f"cannot fetch {url} ({problem}); what came is kept and the same command goes on from"
        " there. Without a way to that address set GRAFT_MODEL_MIRROR to a mirror, copy the file"
        " by other means and run `graft model use PATH`, or stay with the starter model"
    )
