"""JSON schemas of what tools answer, made from the results themselves."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Schema = dict[str, Any]

_PLAIN: Mapping[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    object: {},
    datetime: {"type": "string", "format": "date-time"},
}


def schema_of(kind: Any, *, whole: bool = True) -> Schema:
    """Return the schema of what `as_json` makes of a value of *kind*.

    Results inside of it are objects and no more: clients put schemas before the model, and all of
    them in full would fill a window that the work needs.

    Raises:
        TypeError: results have no such fields.
    """
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if is_dataclass(kind):
        return _of_fields(kind) if whole else {"type": "object"}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    inner = [schema_of(each, whole=False) for each in arguments if each is not Ellipsis]
    if origin in {Union, UnionType}:
        return {"anyOf": inner}
    if origin in {tuple, list}:
        return {"type": "array", "items": inner[0]}
    if origin in {dict, Mapping}:
        return {"type": "object", "additionalProperties": inner[1]}
    raise TypeError(f"no schema is known for {kind}")


def _of_fields(kind: Any) -> Schema:
    hints = get_type_hints(kind)
    names = [each.name for each in fields(kind)]
    return {
        "type": "object",
        "properties": {name: schema_of(hints[name], whole=False) for name in names},
        "required": names,
    }
