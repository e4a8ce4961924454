"""Which scope a directory stands for, and which scopes a call looks at or writes to."""

import os
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from graft_client.gitfiles import find_repository, remote_urls

USER = "user"
PROJECT_PREFIX = "project:"


class AllScopes(Enum):
    """Stands for every scope where a scope is asked for."""

    ALL = "all"


ALL_SCOPES: Final = AllScopes.ALL

_DEFAULT_PORTS = {
    "ssh": 22,
    "git+ssh": 22,
    "ssh+git": 22,
    "git": 9418,
    "http": 80,
    "https": 443,
    "ftp": 21,
    "ftps": 990,
}
# user@host:path, the form that scp has; the host may be a bracketed IPv6 address.
_SCP = re.compile(r"(?:[^@/]*@)?(\[[^\]/]+\]|[^:/\[\]]+):(?!:)(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The project of a directory.

    Attributes:
        scope: what is written to: the remote's form where there is one, else the path's.
        path_scope: ``project:`` and the absolute real path, where notes went while the
            repository had no remote.
    """

    scope: str
    path_scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeChoice:
    """Scopes that a read looks at."""

    scopes: tuple[str, ...] = ()
    all: bool = False


def find_project(directory: Path) -> Project | None:
    """Find the project that *directory* belongs to; None outside any repository."""
    repository = find_repository(directory)
    if repository is None:
        return None
    # A path may hold bytes that are no UTF-8; they are written out, so that the scope is text.
    path = os.fsencode(repository.root).decode("utf-8", "backslashreplace")
    path_scope = PROJECT_PREFIX + path
    remote = normal_remote(_chosen(remote_urls(repository.config)))
    return Project(
        scope=PROJECT_PREFIX + remote if remote else path_scope,
        path_scope=path_scope,
    )


def write_scope(project: Project | None, chosen: str) -> str:
    """Say where a note goes: *chosen* if it is not empty, else the project, else ``user``."""
    if chosen:
        return chosen
    return project.scope if project else USER


def read_scopes(project: Project | None, chosen: str | AllScopes) -> ScopeChoice:
    """Say where a read looks: in *chosen*, or, where that is empty, in the project and ``user``."""
    if chosen is ALL_SCOPES:
        return ScopeChoice(all=True)
    if chosen:
        return ScopeChoice(scopes=(chosen,))
    if project is None:
        return ScopeChoice(scopes=(USER,))
    return ScopeChoice(scopes=tuple(dict.fromkeys((project.scope, project.path_scope, USER))))


def normal_remote(url: str) -> str:
    """Reduce a git address to ``host/path``: no scheme, user, password, default port or ``.git``.

    Empty where the address has no host: a path, or a form that only a helper understands.
    """
    url = url.strip()
    if not url.isprintable():
        return ""
    if "://" in url:
        host, path = _split_url(url)
    else:
        scp = _SCP.fullmatch(url)
        host, path = (scp[1].lower(), scp[2]) if scp else ("", "")
    host = host.rstrip(".")
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if parts:
        parts[-1] = parts[-1].removesuffix(".git")
    parts = [part for part in parts if part]
    if not host or not parts:
        return ""
    return "/".join((host, *parts))


def _chosen(urls: dict[str, str]) -> str:
    """Pick origin, else the only remote, else the first by name."""
    if "origin" in urls:
        return urls["origin"]
    return urls[min(urls)] if urls else ""


def _split_url(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", ""
    # A helper's own form, such as codecommit::eu-west-1://name, has no host that means anything.
    if "::" in url.partition("://")[0] or parts.scheme == "file":
        return "", ""
    if ":" in host:
        host = f"[{host}]"
    if port is not None and port != _DEFAULT_PORTS.get(parts.scheme):
        host = f"{host}:{port}"
    return host, parts.path
