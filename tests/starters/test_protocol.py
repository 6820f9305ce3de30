"""The plain starters keep the protocol as our own player does, to the letter."""

import asyncio
import json
import runpy
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
from msgspec import inspect

from agent_league.http.exchange import Answer
from agent_league.http.memory import Network
from agent_league.peers.endpoint import Endpoint
from agent_league.player import Player, load_brain
from agent_league.protocol import MESSAGES, Message
from agent_league.protocol.play import GameOver, ParityCall
from golden_files import GOLDEN
from league_box import player_meta
from peers.plain_dialect import PLAIN
from protocol.samples import SAMPLES
from starters.programs import PLAIN_PLAYERS, listening, posted, written

pytestmark = pytest.mark.slow

OURS = Player(
    "player",
    Network(),
    "http://league/mcp",
    meta=player_meta("http://p/mcp"),
    brain=load_brain("random"),
)
HEARD = {name: kind for name, kind in MESSAGES.items() if kind in OURS.handlers()}


def demanded(kind: type[Message]) -> set[str]:
    """Return the fields that must be there and must not be null."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return {
        field.encode_name for field in info.fields if field.required and not _nullable(field.type)
    }


def _nullable(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.UnionType):
        return any(isinstance(one, inspect.NoneType) for one in kind.types)
    return isinstance(kind, inspect.AnyType)


INVALID = {
    f"{sent}: {case['why']}": (kind.route.tool, case["body"])
    for sent, kind in HEARD.items()
    for case in json.loads((GOLDEN / f"invalid/{sent}.json").read_text(encoding="utf-8"))
    # The starters look at the fields that they need, and not at the fields of those fields.
    if case["field"] in {"message_type", *demanded(kind)}
}
FRAMES = {
    "not json": b'{"jsonrpc": "2.0", ',
    "not utf-8": b'{"jsonrpc": "2.0", "method": "\xff", "id": 1}',
    "nothing": b"",
    "not a number of JSON": b'{"jsonrpc": "2.0", "method": "x", "id": NaN}',
    "too deep": b'{"a":' + b"[" * 100_000,
    "a batch": b"[]",
    "a word": b'"hello"',
    "no version": b'{"method": "choose_parity", "id": 1}',
    "another version": b'{"jsonrpc": "1.0", "method": "choose_parity", "id": "a"}',
    "no method": b'{"jsonrpc": "2.0", "id": 7}',
    "a method that is no name": b'{"jsonrpc": "2.0", "method": 1, "id": 7}',
    "an id that is true": b'{"jsonrpc": "2.0", "method": "x", "id": true}',
    "an id that is an object": b'{"jsonrpc": "2.0", "method": "x", "id": {}}',
    "params that are text": b'{"jsonrpc": "2.0", "method": "x", "params": "y", "id": 1}',
    "an unknown method": b'{"jsonrpc": "2.0", "method": "no_such_method", "params": {}, "id": 1}',
    "an unknown method without params": b'{"jsonrpc": "2.0", "method": "no_such_method", "id": 1}',
    "an unknown message": b'{"jsonrpc":"2.0","method":"x","params":{"message_type":"X"},"id":1}',
    "a message for others": b'{"jsonrpc":"2.0","method":"x","params":{"message_type":"LEAGUE_QUERY"},"id":1}',
    "a known method without a message": b'{"jsonrpc":"2.0","method":"choose_parity","params":{},"id":1}',
}


@pytest.fixture(scope="module", params=PLAIN_PLAYERS)
def endpoint(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("starter")
    with listening(written(folder, "player", "Ada", "--lang", request.param)) as url:
        yield url


def ours(body: bytes) -> Any:
    """Return what our own player answers, but for its patience with the habits of strangers."""
    endpoint = Endpoint(OURS.handlers(), {}, OURS, [PLAIN])

    async def main() -> Answer:
        answer = endpoint.answer(body)
        return answer if isinstance(answer, Answer) else await answer

    answer = asyncio.run(main())
    return answer.status, json.loads(answer.body) if answer.body else None


def essence(answered: tuple[int, Any]) -> Any:
    """Return what must be the same, whoever answers: the sentences may differ."""
    status, frame = answered
    error = (frame or {}).get("error")
    sent = error and (error["code"], (error.get("data") or {}).get("error_code"))
    if sent == (-32600, None):  # of what is no request, the id may be told or not
        return status, sent
    return status, sent, frame and frame["id"], frame and frame["jsonrpc"]


def called(message: Message | Any, id_: Any = 1, method: str = "any") -> bytes:
    frame = {"jsonrpc": "2.0", "method": method, "params": message, "id": id_}
    return msgspec.json.encode(frame)


@pytest.mark.parametrize("body", FRAMES.values(), ids=FRAMES.keys())
def test_a_wrong_frame_is_refused_like_ours(endpoint: str, body: bytes) -> None:
    if b"LEAGUE_QUERY" in body:
        assert posted(endpoint, body)[1]["error"]["code"] == -32601
    else:
        assert essence(posted(endpoint, body)) == essence(ours(body))


@pytest.mark.parametrize("wrong", INVALID.values(), ids=INVALID.keys())
def test_a_wrong_message_is_refused_with_the_same_code(endpoint: str, wrong: Any) -> None:
    tool, message = wrong
    body = called(message, method=tool)
    assert essence(posted(endpoint, body)) == essence(ours(body))


@pytest.mark.parametrize("sent", sorted(HEARD))
def test_every_message_for_a_player_is_answered_as_its_reply_is_declared(
    endpoint: str, sent: str
) -> None:
    status, frame = posted(endpoint, called(SAMPLES[sent]))
    reply = getattr(HEARD[sent], "reply", None)
    assert status == 200
    if reply is None:
        assert frame["result"]["status"] == "ok"
    else:
        read = msgspec.convert(frame["result"], reply)
        assert read.conversation_id == SAMPLES[sent].conversation_id


@pytest.mark.parametrize("id_", [0, -1, 2**53, "an id", "", "\u05d0 \U0001f3b2", 1.5, None])
def test_an_id_of_any_type_comes_back(endpoint: str, id_: Any) -> None:
    _, frame = posted(endpoint, called(SAMPLES["GAME_INVITATION"], id_))
    assert frame["id"] == id_
    assert frame["result"]["accept"] is True


def test_a_notification_is_answered_with_nothing(endpoint: str) -> None:
    frame = json.loads(called(SAMPLES["GAME_INVITATION"]))
    del frame["id"]
    assert posted(endpoint, json.dumps(frame).encode()) == (202, None)
    frame["params"] = {}
    assert posted(endpoint, json.dumps(frame).encode()) == (202, None)


def test_a_call_that_comes_twice_is_answered_the_same(endpoint: str) -> None:
    call = SAMPLES["CHOOSE_PARITY_CALL"]
    assert isinstance(call, ParityCall)
    for number in range(20):
        again = called(msgspec.structs.replace(call, match_id=f"R{number + 1}M1"))
        one, other = (posted(endpoint, again)[1]["result"] for _ in range(2))
        assert one["parity_choice"] == other["parity_choice"]


def test_a_seat_in_an_unknown_game_is_declined(endpoint: str) -> None:
    invitation = json.loads(msgspec.json.encode(SAMPLES["GAME_INVITATION"]))
    _, frame = posted(endpoint, called({**invitation, "game_type": "chess"}))
    assert frame["result"]["accept"] is False


def test_a_result_of_another_shape_does_no_harm(endpoint: str) -> None:
    over = SAMPLES["GAME_OVER"]
    assert isinstance(over, GameOver)
    body = json.loads(msgspec.json.encode(over))
    for result in ({}, {"choices": None}, {"choices": ["even"]}):
        _, frame = posted(endpoint, called({**body, "game_result": result}))
        assert frame["result"]["status"] == "ok"


def raw(url: str, request: bytes) -> bytes:
    """Say *request* over a bare socket, hang up, and return what came back."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as sock:
        sock.sendall(request)
        sock.shutdown(socket.SHUT_WR)
        found = b""
        while chunk := sock.recv(65536):
            found += chunk
        return found


def test_what_is_not_http_or_breaks_off_ends_nothing(endpoint: str) -> None:
    head = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    raw(endpoint, b"\x00\x01\x02\r\n\r\n")
    raw(endpoint, head + b"Content-Length: 100\r\n\r\n{")
    raw(endpoint, head)
    assert raw(endpoint, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").startswith(
        b"HTTP/1.1 200"
    )
    assert (
        b" 405 " in raw(endpoint, b"GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")[:20]
    )
    assert (
        b" 404 " in raw(endpoint, b"GET //x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")[:20]
    )
    assert posted(endpoint, called(SAMPLES["GAME_INVITATION"]))[0] == 200


def test_the_table_of_the_plain_player_is_in_step_with_the_messages(tmp_path: Path) -> None:
    program = written(tmp_path, "player", "Ada", "--lang", "python-plain")
    table = runpy.run_path(str(program))
    assert set(table["REQUIRED_FIELDS"]) == set(HEARD)
    assert set(table["METHODS"]) == {kind.route.tool for kind in HEARD.values()}
    for sent, kind in HEARD.items():
        asked = {*table["ENVELOPE_FIELDS"].split(), *table["REQUIRED_FIELDS"][sent].split()}
        assert asked == demanded(kind), sent


def test_the_table_of_the_javascript_player_is_the_same(tmp_path: Path) -> None:
    plain = runpy.run_path(str(written(tmp_path, "player", "Ada", "--lang", "python-plain")))
    js = written(tmp_path, "player", "Eve", "--lang", "js").read_text(encoding="utf-8")
    for sent, fields in plain["REQUIRED_FIELDS"].items():
        assert f'  {sent}: "{fields}",\n' in js
    for code, (name, number) in plain["ERRORS"].items():
        assert f'  {code}: ["{name}", {number}],\n' in js
