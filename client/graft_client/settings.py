"""What one program's calls go by: home, settings and who calls; the client's only look outside."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from graft.wire.endpoints import Endpoint, Trust
from graft.wire.metadata import CallMetadata
from graft.wire.paths import Home
from graft.wire.settings import Settings, load_what_is_good
from graft_client.errors import SettingsError
from graft_client.scope import Project, find_project

DATABASE_KEY_VARIABLE = "GRAFT_DB_KEY"
SESSION_VARIABLE = "GRAFT_SESSION"
HOME_VARIABLE = "GRAFT_HOME"
TOKEN_VARIABLE = "GRAFT_TOKEN"  # noqa: S105 - a variable's name

TOKEN_CHARS_MAX = 256
FILE_BYTES_MAX = 1024 * 1024
"""No file of certificates, of a key or of a token is larger."""


class SettingFields(TypedDict, total=False):
    """Settings that a program chooses for itself."""

    profile: str
    scope: str
    author: str
    timeout_seconds: float
    autostart: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentVariable:
    """A variable that stands in no settings file."""

    variable: str
    help: str


ENVIRONMENT_ONLY = (
    EnvironmentVariable(
        variable=HOME_VARIABLE, help="Directory of the memory; default: ~/.graft. Flag: --home."
    ),
    EnvironmentVariable(
        variable="GRAFT_RUNTIME", help="Directory of the sockets; default: run/ in the home."
    ),
    EnvironmentVariable(
        variable=SESSION_VARIABLE, help="Name of the agent's session, kept with what it changes."
    ),
    EnvironmentVariable(
        variable=TOKEN_VARIABLE, help="Token that a target on TCP asks for; see `graft token`."
    ),
    EnvironmentVariable(
        variable=DATABASE_KEY_VARIABLE,
        help="Refused: this build cannot encrypt, so a key must not seem to work.",
    ),
    EnvironmentVariable(
        variable="VISUAL",
        help="Editor of `graft note` and `graft edit`; default: EDITOR, else nano or vi.",
    ),
    EnvironmentVariable(variable="EDITOR", help="Editor where VISUAL names none."),
    EnvironmentVariable(
        variable="PAGER", help="Pager of `graft open` and `graft ask`; default: less; empty: none."
    ),
    EnvironmentVariable(variable="NO_COLOR", help="Any value: no colours."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What calls go by.

    Attributes:
        home: the memory's directory.
        settings: values of all settings and where each came from.
        directory: working directory, which the default scope comes from.
        door: kind of program that calls, one of ``graft.wire.metadata.DOORS``.
        environ: the caller's environment; a service that is started gets a part of it.
        bound_scopes: scopes that no call looks beyond, whatever it asks; empty: it is not bound.
        agent: what the agent that calls names itself; empty where there is none.
    """

    home: Home
    settings: Settings
    directory: Path
    door: str
    environ: Mapping[str, str]
    bound_scopes: tuple[str, ...] = ()
    agent: str = ""

    @property
    def profile(self) -> str:
        """Profile that calls go to."""
        return self.settings.text("profile")

    @property
    def timeout_seconds(self) -> float:
        """Seconds that a call may take."""
        return self.settings.number("timeout_seconds")

    @property
    def target(self) -> Path | Endpoint | None:
        """Where a memstore is called instead of the home's own; None: the home's own."""
        target = self.settings.text("target")
        if "://" in target:
            return Endpoint.parse(target)
        return Path(target.removeprefix("unix:")) if target else None

    def token(self) -> str:
        """Read the token that a target on TCP asks for; anew each time, for it may be replaced.

        Raises:
            SettingsError: there is none, or it is none.
        """
        token = self.environ.get(TOKEN_VARIABLE, "")
        source = TOKEN_VARIABLE
        if not token:
            source = "token_file"
            token = (self._content(source) or b"").decode("utf-8", "replace")
        token = token.strip()
        if not token:
            raise SettingsError(
                f"{self.settings.text('target')} takes a token: put it into a file that token_file"
                f" (GRAFT_TOKEN_FILE) names, or into {TOKEN_VARIABLE}; whoever runs the memstore"
                " makes one with: graft token create"
            )
        if len(token) > TOKEN_CHARS_MAX or not token.isascii() or not token.isprintable():
            raise SettingsError(f"what {source} holds is no token: one is a short line of ASCII")
        return token

    def trust(self) -> Trust:
        """Read what TLS takes from files.

        Raises:
            SettingsError: one cannot be read, or one of a certificate and its key is missing.
        """
        certificate, key = self._content("tls_cert"), self._content("tls_key")
        if (certificate is None) is not (key is None):
            raise SettingsError("tls_cert and tls_key go together; one of them is missing")
        return Trust(roots=self._content("tls_ca"), certificate=certificate, key=key)

    def _content(self, name: str) -> bytes | None:
        """Return what the file holds that the setting *name* names; None where it names none."""
        path = self.settings.text(name)
        if not path:
            return None
        try:
            with Path(path).expanduser().open("rb") as file:
                content = file.read(FILE_BYTES_MAX + 1)
        except (OSError, RuntimeError) as error:
            raise SettingsError(f"{name} is {path}, which cannot be read: {error}") from error
        if len(content) > FILE_BYTES_MAX:
            raise SettingsError(f"{name} is {path}, which has more than {FILE_BYTES_MAX:,} bytes")
        return content

    @property
    def may_start(self) -> bool:
        """Whether a call may start the services."""
        return self.settings.flag("autostart") and not self.settings.text("target")

    def project(self) -> Project | None:
        """Find the project of the working directory."""
        return find_project(self.directory)

    def metadata(self, build: str) -> tuple[tuple[str, str], ...]:
        """Give the metadata of every call; *build* is this program's own."""
        session = self.environ.get(SESSION_VARIABLE, "")
        told = CallMetadata(
            session=session,
            agent=self.agent,
            door=self.door,
            build=build,
            bound=self.bound_scopes,
        )
        return told.to_pairs()


def configure(
    *,
    home: str | Path | None = None,
    flags: Mapping[str, str] | None = None,
    door: str = "library",
    directory: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    bound_scopes: Sequence[str] = (),
) -> Configuration:
    """Read the environment and the settings file; *flags* beat both.

    Args:
        home: directory of the memory; None: GRAFT_HOME, else ``~/.graft``.
        flags: values of settings by name, as text.
        door: kind of program that calls.
        directory: working directory; None: the process's own.
        environ: environment; None: the process's own.
        bound_scopes: scopes that no call may look beyond, for programs that answer agents.

    Raises:
        SettingsError: a value cannot be used, or the settings file cannot be read.
    """
    configuration, problems = configure_with_what_is_good(
        home=home, flags=flags, door=door, directory=directory, environ=environ
    )
    if problems:
        raise SettingsError(problems[0])
    return replace(configuration, bound_scopes=tuple(bound_scopes))


def configure_with_what_is_good(
    *,
    home: str | Path | None = None,
    flags: Mapping[str, str] | None = None,
    door: str = "library",
    directory: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[Configuration, tuple[str, ...]]:
    """Read what `configure` does, leaving out what cannot be used; return what that is too."""
    around = environment(home, environ)
    place = Home.resolve(around)
    settings, problems = load_what_is_good(around, place.config_file, flags)
    configuration = Configuration(
        home=place,
        settings=settings,
        directory=Path(directory) if directory is not None else _working_directory(),
        door=door,
        environ=around,
    )
    return configuration, tuple(str(problem) for problem in problems)


def environment(
    home: str | Path | None = None, environ: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Give *environ*, the process's own by default, with *home* in it where one is given."""
    around = dict(os.environ if environ is None else environ)
    if home is not None:
        around[HOME_VARIABLE] = os.fspath(home)
    return around


def as_flags(settings: SettingFields) -> dict[str, str]:
    """Write *settings* as text, as `configure` takes them."""
    return {
        name: str(int(value)) if isinstance(value, bool) else str(value)
        for name, value in settings.items()
    }


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        # The directory was removed under the shell; there is no project there any more.
        return Path("/")


def wants_color() -> bool:
    """Tell whether the environment lets a terminal have colours (no-color.org, TERM=dumb)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
