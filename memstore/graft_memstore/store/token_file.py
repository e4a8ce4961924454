"""The file of a home's access tokens: what each may do, and of its secret a hash."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graft.wire.errors import WrongStateError
from graft_memstore.access import AccessToken, Right
from graft_memstore.store.whole_file import write_whole

VERSION = 1


class TokenFile:
    """Reads and writes the file; its memstore alone does."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> tuple[AccessToken, ...]:
        """Return the tokens, oldest first; none where there is no file.

        Raises:
            WrongStateError: it cannot be read, or holds something else.
        """
        try:
            return _tokens(json.loads(self._path.read_text("utf-8")))
        except FileNotFoundError:
            return ()
        except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise WrongStateError(
                f"{self._path} cannot be used ({type(error).__name__}); put it back from a backup,"
                " or move it away and make new tokens",
                metadata={"state": "damaged"},
            ) from error

    def write(self, tokens: Sequence[AccessToken]) -> None:
        """Put *tokens* in the place of those before: all of them, or none.

        Raises:
            DiskFullError, WrongStateError: they cannot be written; what was there stays.
        """
        listed = [{**asdict(each), "rights": sorted(each.rights)} for each in tokens]
        write_whole(self._path, {"version": VERSION, "tokens": listed})


def _tokens(content: dict[str, Any]) -> tuple[AccessToken, ...]:
    if content["version"] != VERSION:
        raise ValueError("it is of another version")
    return tuple(_token(each) for each in content["tokens"])


def _token(kept: dict[str, object]) -> AccessToken:
    scopes, rights = kept.pop("scopes"), kept.pop("rights")
    if not isinstance(scopes, list) or not isinstance(rights, list):
        raise TypeError("scopes and rights are lists")
    return AccessToken(
        scopes=tuple(scopes),
        rights=frozenset(Right(each) for each in rights),
        **kept,  # type: ignore[arg-type]  # names and kinds are what write() wrote
    )
