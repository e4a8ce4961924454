"""What a client tells of the log: verbs that `graft_client.client.Graft` has as well."""

from collections.abc import Iterator
from datetime import datetime

from graft_client import analytics_operations, audit_operations
from graft_client.analytics_reports import Analytics, ClearedAnalytics
from graft_client.audit_operations import LogFilter
from graft_client.calling import Call
from graft_client.calls import Calls
from graft_client.history import Event, LogHead, LogReport
from graft_client.scope import AllScopes
from graft_client.times import to_milliseconds


class LogCalls:
    """The verbs about what was done."""

    _calls: Calls
    _call: Call

    def log(
        self,
        *,
        note_id: str = "",
        since: datetime | None = None,
        action: str = "",
    ) -> Iterator[Event]:
        """List what was done, newest first; pages are fetched as they are needed.

        Args:
            note_id: only what was done to this note; an erased one by its full id.
            since: only what was done at or after this instant.
            action: only this, such as ``retire`` or ``refused``.
        """
        wanted = LogFilter(
            note_id=note_id,
            since_ms=0 if since is None else to_milliseconds(since),
            action=action,
        )
        before = 0
        while True:
            page = self._call(audit_operations.log_page(self._calls.profile, wanted, before))
            yield from page.events
            before = page.next_before
            if not before:
                return

    def verify_log(self, *, expected: LogHead | None = None) -> LogReport:
        """Compare the profile with its log: every row that does not agree is named.

        Args:
            expected: a head that was kept elsewhere, from `log_head`; the log must hold it.
        """
        return self._call(audit_operations.verify_log(self._calls.profile, expected))

    def log_head(self) -> LogHead:
        """Tell where the log ends; kept elsewhere it shows whether the log was made anew."""
        return self._call(audit_operations.log_head(self._calls.profile))

    def analytics(self, *, since: datetime | None = None, scope: str | AllScopes = "") -> Analytics:
        """Tell what the memory gave: answers by level, over time, by scope and agent, how fast.

        Args:
            since: only answers given at or after this instant.
            scope: whose questions; empty: those of the directory's scopes.
        """
        since_ms = 0 if since is None else max(to_milliseconds(since), 0)
        scopes = self._calls.read_scopes(scope)
        return self._call(
            analytics_operations.analytics(self._calls.profile, scopes, since_ms=since_ms)
        )

    def clear_analytics(
        self, *, scope: str | AllScopes = "", request_id: str | None = None
    ) -> ClearedAnalytics:
        """Forget what `analytics` would tell."""
        scopes = self._calls.read_scopes(scope)
        return self._call(
            analytics_operations.clear_analytics(
                self._calls.profile, scopes, request_id=self._calls.request_id(request_id)
            )
        )
