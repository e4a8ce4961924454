"""Graft's client: `Graft` and `AsyncGraft`, what they return, and what they raise.

Names are imported when they are first used, so that a program which only needs one of the light
modules, as the command line does for its help, does not pay for gRPC.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graft_client.async_client import AsyncGraft as AsyncGraft
    from graft_client.client import Graft as Graft
    from graft_client.errors import GraftError as GraftError
    from graft_client.requests import NewNote as NewNote
    from graft_client.results import Source as Source
    from graft_client.scope import ALL_SCOPES as ALL_SCOPES

_HOMES = {
    "ALL_SCOPES": "graft_client.scope",
    "AsyncGraft": "graft_client.async_client",
    "Graft": "graft_client.client",
    "GraftError": "graft_client.errors",
    "NewNote": "graft_client.requests",
    "Source": "graft_client.results",
}

__all__ = ["ALL_SCOPES", "AsyncGraft", "Graft", "GraftError", "NewNote", "Source"]


def __getattr__(name: str) -> object:
    """Import *name* from its module; Python asks when the package does not have it yet."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
