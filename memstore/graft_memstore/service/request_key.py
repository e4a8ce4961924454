"""What tells a retry of a change from another one."""

from blake3 import blake3
from google.protobuf.message import Message

from graft_memstore.write.receipts import RequestKey
from graft_memstore.write.validate import check_request_id


def request_key(request: Message, request_id: str, method: str) -> RequestKey:
    """Return the key of *request*, whose field ``request_id`` is *request_id*.

    Raises:
        BadFieldError: that is no UUID.
    """
    checked = check_request_id(request_id)
    payload = type(request).FromString(request.SerializeToString())
    payload.ClearField("request_id")
    return RequestKey(
        request_id=checked,
        method=method,
        payload_hash=blake3(payload.SerializeToString(deterministic=True)).digest(),
    )
