"""How results are written as JSON: field names are those of the results."""

from dataclasses import fields, is_dataclass
from datetime import datetime

from graft_client.times import format_time


def as_json(value: object) -> object:
    """Turn a result into what ``json.dumps`` takes; instants become RFC 3339 in UTC."""
    if is_dataclass(value):
        return {each.name: as_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, dict):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [as_json(each) for each in value]
    return value
