"""T12, T18: JSON that parsers read differently, or not at all, is refused with one code, everywhere."""

import json
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.protocol.strict_json import find_json_fault
from attacks.stranger import write
from end_to_end.test_no_server_error import Served, request
from protocol.json_corpus import BAD, GOOD
from serving.callers import BOTH

AGENTS = ("manager", "referee", "player")
FORMS = {"league": {}, "mcp": {"accept": BOTH}}
PARSE_ERROR = -32700


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.close()


def put_into_a_query(text: bytes) -> bytes:
    """Return a query of the league that is right in all but *text*."""
    query = write("LEAGUE_QUERY", "player:P01", query_type="GET_STANDINGS", extra="TEXT")
    frame = {"jsonrpc": "2.0", "id": 1, "method": "league_query", "params": query}
    return json.dumps(frame).encode().replace(b'"TEXT"', text)


def put_into_a_tool_call(text: bytes) -> bytes:
    call = {"name": "get_standings", "arguments": {"extra": "TEXT"}}
    frame = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return json.dumps(frame).encode().replace(b'"TEXT"', text)


@pytest.mark.parametrize("name", GOOD)
def test_right_json_is_read(name: str) -> None:
    assert find_json_fault(GOOD[name]) is None


@pytest.mark.parametrize("name", BAD)
def test_wrong_json_is_found(name: str) -> None:
    assert find_json_fault(BAD[name])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_whatever_is_written_as_json_is_read(value: Any) -> None:
    assert find_json_fault(json.dumps(value).encode()) is None


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("agent", range(3), ids=AGENTS)
def test_every_agent_refuses_wrong_json_with_the_same_code(
    served: Served, agent: int, form: str
) -> None:
    for name, text in BAD.items():
        bodies = [text]
        if text.strip() and "brackets" not in name and "comment" not in name:
            bodies += [put_into_a_query(text), put_into_a_tool_call(text)]
        for body in bodies:
            answer = served.ask(agent, request("POST", "/mcp", FORMS[form], body))
            assert answer["error"]["code"] == PARSE_ERROR, (name, body[:80], answer)


@pytest.mark.parametrize("agent", range(3), ids=AGENTS)
def test_right_json_is_never_called_wrong(served: Served, agent: int) -> None:
    for name, text in GOOD.items():
        for body in (text, put_into_a_query(text), put_into_a_tool_call(text)):
            answer = served.ask(agent, request("POST", "/mcp", {}, body))
            code = answer.get("error", {}).get("code")
            assert code != PARSE_ERROR, (name, answer)


def test_a_second_token_or_sender_in_a_message_is_refused(served: Served) -> None:
    for again in (b'"auth_token":"tok_x",', b'"sender":"referee:REF01",'):
        body = put_into_a_query(b'{"k":1}').replace(b'"params": {', b'"params": {' + again)
        doubled = body.replace(b'"query_type"', again + b'"query_type"')
        answer = served.ask(0, request("POST", "/mcp", {}, doubled))
        assert answer["error"]["code"] == PARSE_ERROR
        assert "is there twice" in answer["error"]["message"]


def test_a_thousand_broken_bodies_take_no_memory(served: Served) -> None:
    process = psutil.Process()
    bodies = [request("POST", "/mcp", {}, text) for text in BAD.values()]
    for body in bodies:
        served.send(0, body)
    before = process.memory_info().rss
    for number in range(1000):
        served.send(number % 3, bodies[number % len(bodies)])
    assert process.memory_info().rss - before < 20 * 2**20
