"""Who may call from outside, for programs: `Graft.access` and its awaited twin."""

from graft_client import access_operations
from graft_client.access_reports import AccessToken, MadeAccessToken, NewAccessToken
from graft_client.calling import AsyncCall, Call
from graft_client.calls import Calls


class Access:
    """The access tokens of the home; asked for over its own socket."""

    def __init__(self, calls: Calls, call: Call) -> None:
        self._calls = calls
        self._call = call

    def create(self, wanted: NewAccessToken) -> MadeAccessToken:
        """Make a token for the profile; its secret is told now and never again.

        It takes a reviewer, see `Graft.reviewing`, or, where none has been set up, the command
        line.
        """
        return self._call(access_operations.create_token(self._calls.profile, wanted))

    def tokens(self) -> tuple[AccessToken, ...]:
        """List the tokens, oldest first."""
        return self._call(access_operations.list_tokens())

    def revoke(self, token: str) -> AccessToken:
        """Take a token away, by its name or its id; the next call with it is refused."""
        return self._call(access_operations.revoke_token(token))


class AsyncAccess:
    """The asyncio twin of `Access`."""

    def __init__(self, calls: Calls, call: AsyncCall) -> None:
        self._calls = calls
        self._call = call

    async def create(self, wanted: NewAccessToken) -> MadeAccessToken:
        """Make a token for the profile; its secret is told now and never again."""
        return await self._call(access_operations.create_token(self._calls.profile, wanted))

    async def tokens(self) -> tuple[AccessToken, ...]:
        """List the tokens, oldest first."""
        return await self._call(access_operations.list_tokens())

    async def revoke(self, token: str) -> AccessToken:
        """Take a token away, by its name or its id; the next call with it is refused."""
        return await self._call(access_operations.revoke_token(token))
