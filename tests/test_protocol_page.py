"""The examples of docs/protocol.md are read here by the product, as a peer would send them."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from agent_league.protocol import MESSAGES, ProtocolError, Role, name, read
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague
from timewarp import run_over_sockets

PAGE = Path(__file__).parent.parent / "docs" / "protocol.md"
SECTION = re.compile(r"^### ([A-Z_]+)\n(.*?)(?=^##|^<!-- end)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"```json\n(.*?)```\n", re.DOTALL)
REFUSAL = re.compile(r"^(E\d{3}) `(\w+)`: `(.*)`$", re.MULTILINE)


class Section(NamedTuple):
    """What the page shows of one message."""

    valid: bytes
    invalid: bytes
    refusals: list[tuple[str, ...]]


def read_sections() -> dict[str, Section]:
    sections = {}
    for wire_name, text in SECTION.findall(PAGE.read_text(encoding="utf-8")):
        valid, invalid = BLOCK.findall(text)
        sections[wire_name] = Section(valid.encode(), invalid.encode(), REFUSAL.findall(text))
    return sections


SECTIONS = read_sections()


def test_the_page_has_two_examples_of_every_message() -> None:
    assert SECTIONS.keys() == MESSAGES.keys()


@pytest.mark.parametrize("wire_name", SECTIONS)
def test_the_valid_example_is_read(wire_name: str) -> None:
    assert name(type(read(SECTIONS[wire_name].valid))) == wire_name


@pytest.mark.parametrize("wire_name", SECTIONS)
def test_the_invalid_example_gets_the_error_that_the_page_shows(wire_name: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        read(SECTIONS[wire_name].invalid)
    error = caught.value
    assert SECTIONS[wire_name].refusals == [(error.code.value, error.code.name, error.detail)]


@pytest.mark.parametrize("wire_name", SECTIONS)
def test_the_two_examples_differ_in_one_field(wire_name: str) -> None:
    valid, invalid = (json.loads(raw) for raw in SECTIONS[wire_name][:2])
    # As text, because True == 1 in Python.
    lines = [{json.dumps(field, sort_keys=True) for field in m.items()} for m in (valid, invalid)]
    assert len({json.loads(line)[0] for line in lines[0] ^ lines[1]}) == 1


def test_the_examples_show_every_code_that_a_message_alone_can_get() -> None:
    shown = {code for section in SECTIONS.values() for code, *_ in section.refusals}
    assert {"E003", "E004", "E018", "E021", "E022"} <= shown


async def post_invalid_examples() -> dict[str, tuple[str, str] | None]:
    """Return the code and the sentence with which the receiver of each call refuses it."""
    calls = {wire_name: MESSAGES[wire_name].route for wire_name in SECTIONS}
    refusals: dict[str, tuple[str, str] | None] = {}
    async with HttpLeague(strictness="strict") as league:
        player, referee = await league.add_player(), await league.add_referee()
        urls = {
            Role.LEAGUE: league.url,
            Role.PLAYER: player.endpoint,
            Role.REFEREE: referee.endpoint,
        }
        for wire_name, route in calls.items():
            if route.tool:
                frame = {"jsonrpc": "2.0", "id": 1, "method": route.tool}
                body = {**frame, "params": json.loads(SECTIONS[wire_name].invalid)}
                reply = await league.wire.post(
                    urls[route.receiver[0]], json.dumps(body).encode(), 5.0
                )
                refusals[wire_name] = read_refusal(json.loads(reply.body))
    return refusals


def read_refusal(reply: Json) -> tuple[str, str] | None:
    """Return the error; None if the message was taken all the same."""
    data = reply["error"]["data"] if "error" in reply else None
    return (data["error_code"], data["detail"]) if data else None


def test_the_receiver_of_an_invalid_call_answers_with_that_error_over_http() -> None:
    refusals = run_over_sockets(post_invalid_examples())
    assert len(refusals) == len([kind for kind in MESSAGES.values() if kind.route.tool])
    for wire_name, refusal in refusals.items():
        (shown,) = SECTIONS[wire_name].refusals
        # A player can do without most fields, but not without a ticket.
        is_for_players = Role.PLAYER in MESSAGES[wire_name].route.receiver
        is_spared = is_for_players and (refusal is None or refusal[0] in {"E011", "E012"})
        assert is_spared or refusal == (shown[0], shown[2]), wire_name
