"""To what a server is bound when it starts: a directory's project and user, or user alone."""

import secrets
from dataclasses import dataclass, replace
from pathlib import Path

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

    def bind(self, configuration: Configuration) -> Configuration:
        """Return *configuration* bound to the workspace, as an agent's session.

        Without a name of the session's own it has one that no other has.
        """
        environ = dict(configuration.environ)
        environ.setdefault(SESSION_VARIABLE, f"mcp-{secrets.token_hex(16)}")
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
