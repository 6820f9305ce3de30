"""An error belongs to the conversation of the message that it is about."""

import json
from typing import Any

import pytest

from league_box import LEAGUE_URL, Box
from protocol.samples import BY_PLAYER
from timewarp import run


def refused(body: Any) -> dict[str, Any]:
    """Return what a league answers to *body*."""

    async def main() -> dict[str, Any]:
        box = Box(guests=1)
        await box.open()
        answer = await box.net.post(LEAGUE_URL, json.dumps(body).encode(), 5)
        await box.close()
        found: dict[str, Any] = json.loads(answer.body)
        return found

    return run(main())


def query(**changes: Any) -> dict[str, Any]:
    """Return a query that is refused, because it comes without a token."""
    message = {**BY_PLAYER, "message_type": "LEAGUE_QUERY", "league_id": "x", "auth_token": None}
    asked = {"query_type": "GET_STANDINGS", "query_params": {}, "conversation_id": "conv-guest"}
    return {**message, **asked, **changes}


def framed(message: Any, method: str = "league_query") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": message, "id": 1}


@pytest.mark.parametrize(
    "message",
    [query(), query(auth_token="tok_forged"), query(query_type="GET_FOO"), query(sender=7)],
    ids=["no token", "forged token", "no such query", "bad field"],
)
@pytest.mark.parametrize("method", ["league_query", "LEAGUE_QUERY", "something_else"])
def test_an_error_is_part_of_the_conversation_of_its_request(message: Any, method: str) -> None:
    assert refused(framed(message, method))["error"]["data"]["conversation_id"] == "conv-guest"


def test_an_error_to_a_bare_message_is_part_of_its_conversation_too() -> None:
    assert refused(query(auth_token="tok_forged"))["conversation_id"] == "conv-guest"


def test_an_error_through_mcp_is_part_of_its_conversation_too() -> None:
    call = {"name": "league_query", "arguments": query(auth_token="tok_forged")}
    result = refused(framed(call, "tools/call"))["result"]
    assert json.loads(result["content"][0]["text"])["conversation_id"] == "conv-guest"


@pytest.mark.parametrize("wrong", [None, 7, "", "x" * 201])
def test_without_a_valid_conversation_an_error_has_one_of_its_own(wrong: Any) -> None:
    found = refused(framed(query(conversation_id=wrong)))["error"]["data"]
    assert found["conversation_id"] == f"conv-error-{found['error_code'].lower()}"
