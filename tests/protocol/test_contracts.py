"""The contract for machines: right by the books of those who read it, and in step with the messages."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from agent_league.agent import Agent
from agent_league.dialects.v1.messages import schemas_v1
from agent_league.http.memory import Network
from agent_league.protocol import MESSAGES, TOOLS, ErrorCode, Role, name
from agent_league.protocol.contracts import DOCUMENTS, find_contract, openapi, openrpc, schemas
from agent_league.serving.site import Pages
from agent_league.vocabulary import Json
from cli.league_command import league
from protocol.samples import SAMPLES

METHODS = {method["name"]: method for method in openrpc()["methods"]}
every_tool = pytest.mark.parametrize("tool", sorted(TOOLS))
every_document = pytest.mark.parametrize("document", ["openrpc", "openapi"])


def inside(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield every key with its value, at any depth."""
    if isinstance(value, dict):
        yield from value.items()
    children = value.values() if isinstance(value, dict) else value
    for child in children if isinstance(value, dict | list) else ():
        yield from inside(child)


def validator(document: dict[str, Any], schema: Json) -> Draft202012Validator:
    """Return what judges by *schema*, which may point into *document*."""
    return Draft202012Validator({**schema, "components": document["components"]})


def test_the_openapi_document_is_valid_by_the_official_schema() -> None:
    OpenAPIV31SpecValidator(openapi()).validate()


@every_document
def test_every_reference_leads_somewhere_and_every_schema_is_valid(document: str) -> None:
    whole = DOCUMENTS[document]()
    known = whole["components"]["schemas"]
    found = {value for key, value in inside(whole) if key == "$ref"}
    assert {ref.removeprefix("#/components/schemas/") for ref in found} <= set(known)
    for schema in known.values():
        Draft202012Validator.check_schema(schema)
    assert {*MESSAGES, "ACKNOWLEDGEMENT"} <= set(known)


def test_the_calls_are_exactly_the_tools_and_have_what_openrpc_asks_of_a_method() -> None:
    document = openrpc()
    assert set(document) == {"openrpc", "info", "servers", "methods", "components"}
    assert set(document["info"]) == {"title", "version", "description"}
    assert [method["name"] for method in document["methods"]] == list(TOOLS)
    allowed = "name summary description tags paramStructure params result errors"
    for method in METHODS.values():
        assert set(method) == set(allowed.split())
        assert all(set(one) == {"name", "required", "schema"} for one in method["params"])
        assert set(method["result"]) == {"name", "schema"}
        codes = [error["code"] for error in method["errors"]]
        assert len(codes) == len(set(codes))
        assert {code.rpc for code in ErrorCode} <= set(codes)


@every_tool
def test_the_parameters_of_a_call_are_the_fields_of_its_message(tool: str) -> None:
    schema = schemas()[name(TOOLS[tool])]
    params = METHODS[tool]["params"]
    assert {one["name"] for one in params} == set(schema["properties"])
    assert {one["name"] for one in params if one["required"]} == set(schema["required"])
    sample = msgspec.to_builtins(SAMPLES[name(TOOLS[tool])])
    for one in params:
        if one["name"] in sample:
            validator(openrpc(), one["schema"]).validate(sample[one["name"]])


@every_tool
def test_a_call_that_we_would_send_is_valid_by_openapi_and_another_is_not(tool: str) -> None:
    call = validator(openapi(), {"$ref": "#/components/schemas/Call"})
    sample = msgspec.to_builtins(SAMPLES[name(TOOLS[tool])])
    frame = {"jsonrpc": "2.0", "method": tool, "params": sample, "id": 1}
    call.validate(frame)
    assert not call.is_valid({**frame, "method": "no_such_tool"})
    assert not call.is_valid({**frame, "params": {**sample, "protocol": "league.v9"}})


def test_an_answer_is_a_result_or_an_error_and_not_both() -> None:
    returned = validator(openapi(), {"$ref": "#/components/schemas/Returned"})
    result, error = {"status": "ok"}, {"code": -32601, "message": "no"}
    returned.validate({"jsonrpc": "2.0", "result": result, "id": "a"})
    returned.validate({"jsonrpc": "2.0", "error": error, "id": None})
    assert not returned.is_valid({"jsonrpc": "2.0", "result": result, "error": error, "id": 1})
    assert not returned.is_valid({"jsonrpc": "2.0", "id": 1})


class Anybody(Agent):
    role = Role.PLAYER


def test_every_agent_publishes_the_contract_under_schemas() -> None:
    find_page = Pages(Anybody("P01", Network()), {}).find
    index = find_page("/schemas/")
    assert index == find_page("/schemas")
    assert isinstance(index, dict)
    for path in [*index["documents"].values(), *index["messages"].values()]:
        assert json.loads(json.dumps(find_page(path)))
    assert index["messages"].keys() == schemas().keys()
    assert find_page("/schemas/GAME_OVER.json") == schemas()["GAME_OVER"]
    assert find_page(index["earlier"]["league.v1"]) == schemas_v1()


@pytest.mark.parametrize(
    "path",
    ["/schemas/NOTHING.json", "/schemas/GAME_OVER", "/schemas/.json", "/schema", "/schemas/x/y"],
)
def test_what_is_not_published_is_not_there(path: str) -> None:
    assert find_contract(path) is None


@pytest.mark.parametrize("document", sorted(DOCUMENTS))
def test_the_command_prints_each_document(document: str) -> None:
    assert json.loads(league("schema", "--format", document).stdout) == DOCUMENTS[document]()


def test_one_message_has_a_schema_and_no_document_of_another_kind() -> None:
    done = league("schema", "GAME_OVER", "--format", "openapi")
    assert done.returncode == 2
    assert "openapi is one document" in done.stderr
