"""Reading settings again while a service runs, when SIGHUP asks for it."""

import logging
from collections.abc import Callable, Mapping

from graft.wire.events import event, start_logging
from graft.wire.setting_list import SETTINGS
from graft.wire.settings import SettingError, Settings

RELOADED = ("log_level", "log_format")
"""Settings that a running service takes over; all others hold until it is started again."""

log = logging.getLogger(__name__)


class Reloader:
    """Takes over what can be, and tells what cannot.

    Args:
        read: reads all settings as the service did when it began.
        started_with: what it read then.
        told: is given the values that were taken over, by name.
    """

    def __init__(
        self,
        read: Callable[[], Settings],
        started_with: Settings,
        told: Callable[[Mapping[str, str]], None] = lambda _: None,
    ) -> None:
        self._read = read
        self._started_with = started_with
        self._told = told

    def reload(self) -> None:
        """Read again; where a value cannot be meant nothing changes, and the log says why."""
        try:
            fresh = self._read()
        except SettingError as error:
            log.error(event("cannot reload", because=error))  # noqa: TRY400 - it is no bug
            return
        taken = {name: fresh.text(name) for name in RELOADED}
        start_logging(taken["log_level"], taken["log_format"])
        self._told(taken)
        waiting = [
            each.name
            for each in SETTINGS
            if each.name not in RELOADED
            and fresh.text(each.name) != self._started_with.text(each.name)
        ]
        log.warning(event("reloaded", **taken, wait_for_a_restart=", ".join(waiting)))
