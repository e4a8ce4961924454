"""What the memstore reads from its environment and its home."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from graft.wire.endpoints import Endpoint
from graft.wire.listening import Listening, TlsFiles
from graft.wire.models import BGE_M3, STARTER, default_model_name, read_registry
from graft.wire.paths import Home
from graft.wire.setting_list import SETTINGS
from graft.wire.settings import SettingError, Settings, load

KEY_VARIABLE = "GRAFT_DB_KEY"


class EncryptionError(Exception):
    """Encryption was asked for and cannot be had; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemstoreSettings:
    """Everything that the process is told from outside.

    Attributes:
        environ: environment that embedders are started with, cut down by the launcher.
    """

    home: Home
    values: Settings
    environ: Mapping[str, str]

    @classmethod
    def read(cls, home_argument: str, environ: Mapping[str, str] | None = None) -> Self:
        """Read the environment; *home_argument* wins over GRAFT_HOME.

        Raises:
            EncryptionError: `KEY_VARIABLE` is set.
            SettingError: a setting has a value that cannot be meant.
        """
        environ = dict(os.environ if environ is None else environ)
        if environ.get(KEY_VARIABLE):
            raise EncryptionError(
                f"{KEY_VARIABLE} is set, but this build of SQLite cannot encrypt; nothing was "
                "started, so that nothing is stored in the clear by mistake. Unset it, and keep "
                "the home on an encrypted disk instead"
            )
        if home_argument:
            environ["GRAFT_HOME"] = home_argument
        home = Home.resolve(environ)
        return cls(home=home, values=load(environ, home.config_file), environ=environ)

    def read_again(self) -> Settings:
        """Return what the settings would be if the process were started now.

        Raises:
            SettingError: a setting has a value that cannot be meant.
        """
        return load(self.environ, self.home.config_file)

    def listening(self) -> Listening | None:
        """Return where to listen besides the socket; None: nowhere.

        Raises:
            SettingError: one of a certificate and its key is missing.
        """
        address = self.values.text("listen")
        if not address:
            return None
        paths = [self._file(f"listen_{name}") for name in ("cert", "key", "client_ca")]
        certificate, key, client_ca = paths
        files = None
        if certificate is not None and key is not None:
            files = TlsFiles(certificate=certificate, key=key, client_ca=client_ca)
        elif any(paths):
            raise SettingError(
                "listen_cert and listen_key go together, and listen_client_ca with both; one is"
                " missing"
            )
        endpoint = Endpoint.to_listen(address, tls=files is not None)
        return Listening(endpoint=endpoint, files=files)

    def _file(self, name: str) -> Path | None:
        path = self.values.text(name)
        return Path(path).expanduser() if path else None

    def default_model(self) -> str:
        """Return the name of the model for profiles without vectors.

        Raises:
            RegistryError: the registry of models cannot be read.
        """
        return default_model_name(self.home, self.values.text("model"))

    def embedder_socket(self) -> Path | None:
        """Return the socket of an embedder that others run, None where there is none."""
        address = self.values.text("embedder")
        return Path(address.removeprefix("unix:")) if address else None

    def metrics_at(self) -> Endpoint | None:
        """Return where metrics are told; None: nowhere."""
        address = self.values.text("metrics")
        return Endpoint.to_listen(address, tls=False) if address else None

    def model_names(self) -> list[str]:
        """Return every model that a profile can be moved to.

        Raises:
            RegistryError: the registry of models cannot be read.
        """
        registered = read_registry(self.home).get("registered")
        names = set(registered) if isinstance(registered, dict) else set()
        # Where others run the embedder, its model may be registered with them alone.
        names |= {self.values.text("model")} - {""}
        return [STARTER, BGE_M3, *sorted(names - {STARTER, BGE_M3})]

    def shown(self) -> dict[str, str]:
        """Return the values that status shows, by name; none of them is a secret."""
        return {setting.name: self.values.text(setting.name) for setting in SETTINGS}
