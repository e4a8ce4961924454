"""What a client does with backups, which `graft_client.client.Graft` has as well."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from google.protobuf.message import Message

from graft_client.backups import Backups
from graft_client.calling import Stream
from graft_client.calls import Calls
from graft_client.connection import Connection
from graft_client.operation import Operation

ReplyT = TypeVar("ReplyT", bound=Message)
ResultT = TypeVar("ResultT")


class BackupCalls:
    """The way to backups."""

    _calls: Calls
    _connection: Connection
    _seconds: float
    _stream: Stream
    # Token of the session that its calls go with; empty for an agent's.
    _reviewer_token: str

    @property
    def backups(self) -> Backups:
        """Copies of profiles, as files."""
        return Backups(self._calls.profile, self._stream, self._send)

    def _send(
        self,
        operation: Operation[ReplyT, ResultT],
        following: Iterator[Message],
        seconds_min: float,
        /,
    ) -> ResultT:
        made = replace(operation, reviewer_token=self._reviewer_token)
        return self._connection.send(made, following, max(self._seconds, seconds_min))
