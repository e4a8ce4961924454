"""The system that a question is asked on, as what notes apply to names it."""

import sys
from collections.abc import Sequence

from graft.wire.ecosystems import Ecosystem, system_of

_SYSTEM = f"{Ecosystem.OS}:"


def system_here(given: Sequence[str]) -> tuple[str, ...]:
    """Return this machine's system, unless a context that was *given* names one."""
    system = system_of(sys.platform)
    named = any(each.strip().lower().startswith(_SYSTEM) for each in given)
    return () if system is None or named else (_SYSTEM + system,)
