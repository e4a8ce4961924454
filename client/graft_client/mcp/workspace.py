"""To what an agent is bound: a directory's project and user, or user alone."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from graft_client.scope import USER, Project, find_project
from graft_client.settings import SESSION_VARIABLE, Configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where an agent works.

    Attributes:
        directory: whose files notes may rest on.
        project: None outside any repository: then a note goes to `user`, on purpose alone.
    """

    directory: Path
    project: Project | None

    @property
    def scopes(self) -> tuple[str, ...]:
        """Scopes that no call of the agent looks beyond; a note goes to the first."""
        if self.project is None:
            return (USER,)
        return tuple(dict.fromkeys((self.project.scope, self.project.path_scope, USER)))

    def bind(self, configuration: Configuration, *, one_of_many: bool = False) -> Configuration:
        """Return *configuration* bound to the workspace, as an agent's session.

        The session has the name in the environment; without one, or where it is *one_of_many*
        that a server has, it has a name that no other has.
        """
        environ = dict(configuration.environ)
        if one_of_many or not environ.get(SESSION_VARIABLE):
            environ[SESSION_VARIABLE] = f"mcp-{secrets.token_hex(16)}"
        return replace(
            configuration,
            door="mcp",
            directory=self.directory,
            environ=environ,
            bound_scopes=self.scopes,
        )


def workspace_of(directory: Path) -> Workspace:
    """Find the workspace of a directory; one that is not there has no project."""
    return Workspace(directory=directory, project=find_project(directory))


def workspace_among(roots: Iterable[str], otherwise: Path) -> Workspace:
    """Find the workspace of the folders that a client has open, given as file URIs.

    It is the first with a project, else the first; *otherwise* where the client names none.
    """
    named = [workspace_of(each) for each in map(_path_of, roots) if each is not None]
    with_project = (each for each in named if each.project is not None)
    return next(with_project, named[0] if named else workspace_of(otherwise))


def _path_of(uri: str) -> Path | None:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or "\0" in path:
        return None
    return Path(path) if path.startswith("/") else None
