"""A player that hands everything on to somebody who cannot listen."""

import json
from typing import Any

import pytest

from agent_league.dialects import Ledger
from agent_league.player import StandIn
from agent_league.transport import LateError, NoAnswerError, NonsenseError, UnreachableError
from agent_league.transport.speech import Letter
from league_box import LEAGUE_URL, Box, player_meta
from timewarp import clock, run

URL = "http://stand-in/mcp"


class Spoken:
    """Somebody who is spoken to; *says* answers a move, or is raised."""

    dialect = "test"

    def __init__(self, says: str | NoAnswerError) -> None:
        self.says, self.heard, self.who = says, list[str](), ""
        self.hung_up = 0

    def begin(self, who: str) -> "Spoken":
        self.who = who
        return self

    async def hang_up(self) -> None:
        self.hung_up += 1

    async def deliver(self, letter: Letter, within: float, ledger: Ledger | None = None) -> bytes:
        asked = json.loads(letter.body)
        self.heard.append(asked["message_type"])
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
        stand_in = StandIn(
            "stand-in",
            box.net,
            LEAGUE_URL,
            meta=player_meta(URL),
            speech=other.begin,
            hang_up=other.hang_up,
            clock=clock,
        )
        await box.open()
        box.net.host(URL, stand_in.site())
        await box.fill()
        await stand_in.register()
        await box.manager.run()
        await box.close()
        await stand_in.close()
        assert stand_in.over.is_set()
        return box

    return run(main())


def test_it_plays_what_the_other_says_and_tells_it_everything() -> None:
    other = Spoken("even")
    box = league_with(other)
    (ended,) = box.season.results.values()
    assert ended.termination == "completed"
    assert ended.details["choices"] == {"P01": "odd", "P02": "even"}
    heard = ["ROUND_ANNOUNCEMENT", "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"]
    assert [kind for kind in other.heard if kind in heard] == heard
    assert "LEAGUE_COMPLETED" in other.heard
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
