"""What a caller that is bound to scopes may see: those, and nothing that would tell of others."""

from dataclasses import dataclass

from graft_memstore.model import ScopeFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """The scopes that a caller cannot look beyond; at least one.

    A filter that it asks with is cut down to them, so no argument widens what it sees: not another
    scope's name, not all of them. That a scope is outside is said whether it exists or not.
    """

    scopes: tuple[str, ...]

    def holds(self, scope: str) -> bool:
        """Tell whether a scope lies inside."""
        return scope in self.scopes

    def narrowed(self, asked: ScopeFilter) -> ScopeFilter:
        """Return what of *asked* lies inside; nothing of it may."""
        if asked.all:
            return ScopeFilter(scopes=self.scopes)
        return ScopeFilter(scopes=tuple(each for each in asked.scopes if self.holds(each)))

    def holds_all(self, asked: ScopeFilter) -> bool:
        """Tell whether everything that was asked with *asked* lies inside."""
        return not asked.all and all(self.holds(each) for each in asked.scopes)
