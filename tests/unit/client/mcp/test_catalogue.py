"""What clients are told of the tools: as committed, valid, nothing that only a person may."""

import json
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

from graft_client.json_output import as_json
from graft_client.mcp.catalogue import CATALOGUE
from graft_client.mcp.protocol import tool_of
from graft_client.mcp.schemas import schema_of
from graft_client.mcp.tools import HANDLERS
from graft_client.results import QueryAnswer
from graft_client.upkeep_reports import UpkeepStatus

SNAPSHOT = Path(__file__).with_name("tools.json")
"""Made anew with: python -m tests.unit.client.mcp.test_catalogue"""
FORBIDDEN = ("approve", "verify", "lift", "purge", "delete", "remove", "review")


def told() -> list[object]:
    return [
        tool_of(name).model_dump(mode="json", by_alias=True, exclude_none=True)
        for name in CATALOGUE
    ]


def test_the_tools_are_those_that_were_committed() -> None:
    assert told() == json.loads(SNAPSHOT.read_text("utf-8"))


def test_every_tool_has_a_handler_and_no_other() -> None:
    assert CATALOGUE.keys() == HANDLERS.keys()


def test_no_tool_does_what_is_a_persons_to_do() -> None:
    assert not [name for name in CATALOGUE if any(word in name for word in FORBIDDEN)]


@pytest.mark.parametrize("name", CATALOGUE)
def test_schemas_are_valid_and_tell_of_every_argument(name: str) -> None:
    spec = CATALOGUE[name]

    for schema in (spec.input_schema, spec.output_schema):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
    assert set(spec.required) <= spec.arguments.keys()
    assert not {"scopes", "profile", "actor", "session", "home"} & spec.arguments.keys()


def test_a_result_fits_the_schema_that_is_made_of_its_kind() -> None:
    status = UpkeepStatus(
        waiting={"duplicate": 1},
        scanned_at=datetime(2026, 1, 1, tzinfo=UTC),
        applied_at=None,
        edges_waiting=0,
        sweeping=True,
        next=("graft maintain scan",),
    )

    jsonschema.validate(as_json(status), schema_of(UpkeepStatus))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(as_json(status), schema_of(QueryAnswer))


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(told(), indent=1, ensure_ascii=False) + "\n", "utf-8")
