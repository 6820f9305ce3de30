"""A player that passes every message on to an agent that cannot listen."""

import json
from typing import Any

import pytest

from agent_league.dialects.dialect import Outgoing, PeerSession
from agent_league.http.memory import Network
from agent_league.player import Player, Relay, RemoteSession, load_brain
from agent_league.player.relay import PLAYER_MESSAGES
from agent_league.protocol.deviations import NO_LEDGER, Ledger
from agent_league.protocol.failures import (
    LateError,
    NoAnswerError,
    NonsenseError,
    UnreachableError,
)
from agent_league.serving.site import make_site
from league_box import LEAGUE_URL, Box, player_meta
from timewarp import clock, run

URL = "http://relay/mcp"


class Spoken(PeerSession):
    """Somebody who is spoken to; *says* answers a move, or is raised."""

    dialect = "test"

    def __init__(self, says: str | NoAnswerError) -> None:
        self.says, self.received, self.who = says, list[str](), ""
        self.hung_up = 0

    def begin(self, who: str) -> "Spoken":
        self.who = who
        return self

    async def hang_up(self) -> None:
        self.hung_up += 1

    async def send(self, letter: Outgoing, within: float, ledger: Ledger = NO_LEDGER) -> bytes:
        asked = json.loads(letter.body)
        self.received.append(asked["message_type"])
        if isinstance(self.says, NoAnswerError):
            raise self.says
        stamp = {key: asked[key] for key in ("protocol", "timestamp", "conversation_id")}
        same = {**stamp, "sender": f"player:{self.who}", "player_id": self.who}
        replies: dict[str, dict[str, Any]] = {
            "GAME_INVITATION": {
                "message_type": "GAME_JOIN_ACK",
                "arrival_timestamp": asked["timestamp"],
                "accept": True,
            },
            "CHOOSE_PARITY_CALL": {
                "message_type": "CHOOSE_PARITY_RESPONSE",
                "parity_choice": self.says,
            },
        }
        reply = replies.get(asked["message_type"], {})
        return json.dumps({**same, "match_id": asked.get("match_id"), **reply}).encode()


def league_with(other: Spoken) -> Box:
    async def main() -> Box:
        box = Box(["always_odd"], guests=1)
        relay = Relay(
            "relay",
            box.net,
            LEAGUE_URL,
            meta=player_meta(URL),
            remote=RemoteSession(other.begin, other.hang_up),
            clock=clock,
        )
        await box.open()
        box.net.host(URL, make_site(relay))
        await box.fill()
        await relay.register()
        await box.manager.run()
        await box.close()
        await relay.close()
        assert relay.over.is_set()
        return box

    return run(main())


def test_it_plays_what_the_other_says_and_tells_it_everything() -> None:
    other = Spoken("even")
    box = league_with(other)
    (ended,) = box.season.results.values()
    assert ended.termination == "completed"
    assert ended.details["choices"] == {"P01": "odd", "P02": "even"}
    received = ["ROUND_ANNOUNCEMENT", "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"]
    assert [kind for kind in other.received if kind in received] == received
    assert "LEAGUE_COMPLETED" in other.received
    assert (other.who, other.hung_up) == ("P02", 1)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (LateError("late"), "E001"),
        (UnreachableError("gone"), "E009"),
        (NonsenseError("what?"), "E022"),
    ],
)
def test_why_the_other_does_not_answer_is_passed_on(error: NoAnswerError, code: str) -> None:
    box = league_with(Spoken(error))
    (ended,) = box.season.results.values()
    assert ended.technical_losses == ["P02"]
    asked = [one for one in box.exchanges if one.kind == "GAME_INVITATION" and one.url == URL]
    refused = json.loads(asked[0].answer.body)["error"]  # type: ignore[union-attr]
    assert refused["data"]["error_code"] == code


def test_a_relay_passes_on_exactly_the_messages_that_a_player_answers() -> None:
    player = Player("P01", Network(), LEAGUE_URL, meta=player_meta(URL), brain=load_brain("random"))
    assert set(PLAYER_MESSAGES) == player.handlers().keys()
