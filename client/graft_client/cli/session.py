"""What one run of the command line works with, made from its options when it is first needed."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, update_wrapper
from typing import Concatenate, ParamSpec, TypeVar

import click

import graft_client
from graft.wire.paths import Home
from graft.wire.setting_list import BY_NAME
from graft_client.cli.options import given
from graft_client.cli.output import Output, Style
from graft_client.errors import InputError
from graft_client.scope import ALL_SCOPES, AllScopes
from graft_client.settings import (
    Configuration,
    configure,
    configure_with_what_is_good,
    environment,
)

P = ParamSpec("P")
R = TypeVar("R")

_SETTINGS_OF_OPTIONS = {"profile": "profile", "scope": "scope", "timeout": "timeout_seconds"}


class Session:
    """One run: its settings, its output, its memory."""

    def __init__(self, context: click.Context) -> None:
        self._given = given(context)
        self._opened = False
        self.context = context
        self.output = Output(
            Style(
                as_json=bool(self._given.get("json")),
                quiet=bool(self._given.get("quiet")),
            )
        )
        if self._given.get("scope") and self._given.get("all_scopes"):
            raise InputError("--scope and --all-scopes cannot both be meant; leave one out")

    @cached_property
    def environ(self) -> dict[str, str]:
        """The environment of this run, the home that was given in it."""
        return environment(self._given.get("home"))

    @cached_property
    def home(self) -> Home:
        """The home of this run, whatever its settings file holds."""
        return Home.resolve(self.environ)

    @cached_property
    def configuration(self) -> Configuration:
        """Settings of this run."""
        return self.configured()

    def configured(self, **settings: str) -> Configuration:
        """Give the settings of this run with some that the command itself decides."""
        flags = {**self._flags(), **settings}
        return configure(home=self._given.get("home"), flags=flags, door="cli")

    def configured_to_start(self, **settings: str) -> Configuration:
        """Give the settings of this run with some that the services are to be started with."""
        found = self.configured(**settings)
        told = {BY_NAME[name].variable: value for name, value in settings.items()}
        return replace(found, environ={**found.environ, **told})

    def configured_with_what_is_good(
        self, **settings: str
    ) -> tuple[Configuration, tuple[str, ...]]:
        """Give the same without what cannot be used, and what that is."""
        flags = {**self._flags(), **settings}
        return configure_with_what_is_good(home=self._given.get("home"), flags=flags, door="cli")

    def do_without_wrong_settings(self) -> None:
        """Go on with the settings that are good, for a command that must work at any rate."""
        self.configuration, problems = self.configured_with_what_is_good()
        for problem in problems:
            self.output.say(f"graft: done without a setting: {problem}")

    @property
    def home_was_given(self) -> bool:
        """Tell whether the home was named on the command line."""
        return bool(self._given.get("home"))

    @property
    def chosen_profile(self) -> str:
        """The profile that was named on the command line; empty when none was."""
        return str(self._given.get("profile") or "")

    @property
    def chosen_scope(self) -> str:
        """The scope that was named on the command line; empty when none was."""
        return str(self._given.get("scope") or "")

    @cached_property
    def graft(self) -> "graft_client.Graft":
        """The memory; gRPC is loaded here and nowhere before."""
        self._opened = True
        return graft_client.Graft(configuration=self.configuration)

    @property
    def read_scope(self) -> str | AllScopes:
        """Where a read looks: as the options say; empty means the default scopes."""
        return ALL_SCOPES if self._given.get("all_scopes") else ""

    def refuse_all_scopes(self) -> None:
        """Refuse --all-scopes for a command that writes to one scope.

        Raises:
            InputError: it was given.
        """
        if self._given.get("all_scopes"):
            raise InputError("a note is saved to one scope; use --scope instead of --all-scopes")

    def close(self) -> None:
        """Close what was opened."""
        if self._opened:
            self.graft.close()

    def _flags(self) -> dict[str, str]:
        return {
            setting: str(self._given[option])
            for option, setting in _SETTINGS_OF_OPTIONS.items()
            if option in self._given
        }


def with_session(function: Callable[Concatenate[Session, P], R]) -> Callable[P, R]:
    """Call *function* with the run's session before its own arguments."""

    def called(*arguments: P.args, **keywords: P.kwargs) -> R:
        session = Session(click.get_current_context())
        try:
            return function(session, *arguments, **keywords)
        finally:
            session.close()

    return update_wrapper(called, function)
