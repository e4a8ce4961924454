"""What a client does for a reviewer: its verbs, which `graft_client.client.Graft` has as well."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from typing import Self

from graft_client import review_operations
from graft_client.access import Access
from graft_client.authority import Oracle, ReviewerStatus
from graft_client.calling import Call
from graft_client.calls import Calls
from graft_client.errors import GraftError
from graft_client.results import Changed
from graft_client.reviews import Decided, ReviewDecision, ReviewItem, ReviewKind
from graft_client.scope import AllScopes


class ReviewCalls:
    """The verbs about the reviewer and the queue."""

    _calls: Calls
    _call: Call
    # Token of the session that its calls go with; empty for an agent's.
    _reviewer_token: str

    @property
    def access(self) -> Access:
        """Tokens of callers from outside."""
        return Access(self._calls, self._call)

    def reviewer(self) -> ReviewerStatus:
        """Tell whether the home has a reviewer."""
        return self._call(review_operations.get_reviewer())

    def set_reviewer(self, passphrase: str, *, old: str = "") -> ReviewerStatus:
        """Set the reviewer's passphrase, where there is one already with the old one."""
        return self._call(review_operations.set_reviewer(self._calls.profile, passphrase, old))

    @contextmanager
    def reviewing(self, passphrase: str) -> Iterator[Self]:
        """Lend a twin on the same connection whose calls are the reviewer's.

        The session is kept in memory, and ends with the block, or by itself after 15 minutes.
        """
        operation = review_operations.open_session(self._calls.profile, passphrase)
        twin = copy(self)
        twin._reviewer_token = self._call(operation)  # noqa: SLF001 - of our own class
        try:
            yield twin
        finally:
            with suppress(GraftError):
                self._call(review_operations.close_session(twin._reviewer_token))  # noqa: SLF001

    def review_items(
        self,
        *,
        kinds: Sequence[ReviewKind] = (),
        decided: bool = False,
        scope: str | AllScopes = "",
    ) -> Iterator[ReviewItem]:
        """List what waits, oldest first, or what was decided, newest first; without bodies.

        Args:
            kinds: only these; none means all.
            decided: what was decided instead of what waits.
            scope: only this scope, or `ALL_SCOPES`; empty: the default ones.
        """
        choice, token = self._calls.read_scopes(scope), ""
        while True:
            page = self._call(
                review_operations.list_page(
                    self._calls.profile, choice, kinds, decided=decided, page_token=token
                )
            )
            yield from page.items
            token = page.next_page_token
            if not token:
                return

    def review_item(self, item: int) -> ReviewItem:
        """Show one item of the queue with its notes whole."""
        return self._call(review_operations.get_item(self._calls.profile, item))

    def decide(
        self,
        item: int,
        decision: ReviewDecision,
        *,
        reason: str,
        note: str = "",
        request_id: str | None = None,
    ) -> Decided:
        """Decide of an item of the queue, as the reviewer.

        Args:
            item: its number.
            decision: one of its own *decisions*.
            reason: why.
            note: of a pair the one that stays (supersede) or was wrong (reject).
            request_id: UUID that makes a repeated call safe over programs; None: a new one.
        """
        wanted = review_operations.Decision(item=item, decision=decision, note=note, reason=reason)
        return self._call(
            review_operations.decide(
                self._calls.profile, wanted, request_id=self._calls.request_id(request_id)
            )
        )

    def verify(
        self, note_id: str, oracle: Oracle, *, reason: str, request_id: str | None = None
    ) -> Changed:
        """Record by what a note was verified; a reviewer's word takes a reviewer."""
        return self._call(
            review_operations.verify(
                self._calls.profile,
                note_id,
                oracle,
                reason=reason,
                request_id=self._calls.request_id(request_id),
            )
        )
