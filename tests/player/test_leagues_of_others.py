"""A player in a league of others: it posts replies that are not read, and does not leave too early."""

import asyncio
import json
from typing import Any

import msgspec
import pytest

from agent_league.http.exchange import Answer
from agent_league.http.memory import Network
from agent_league.member import NotAdmittedError
from agent_league.player import Player, load_brain
from agent_league.player.open_matches import GRACE, LONGEST_SILENCE
from agent_league.protocol import tokens
from agent_league.serving.site import make_site
from agent_league.vocabulary import Json
from league_box import LEAGUE_URL, player_meta, player_url
from protocol.samples import SAMPLES
from scripted import hosted
from timewarp import clock, now, run

REFEREE_URL, URL = "http://referee1/mcp", player_url(1)
CALL = {"match_id": "R1M1", "sender": "referee:REF01", "auth_token": ""}


class Abroad:
    """A player in a league that signs nothing, and what is posted to the referee."""

    def __init__(self) -> None:
        self.posted: list[Json] = []
        self.net = Network()
        brain = load_brain("always_even")
        self.player = Player(
            "P01", self.net, LEAGUE_URL, meta=player_meta(URL), brain=brain, seed="7", clock=clock
        )
        self.player.token = ""
        self.net.host(URL, make_site(self.player))
        self.net.host(REFEREE_URL, hosted(self._take))

    def _take(self, body: bytes) -> Answer:
        self.posted.append(json.loads(body)["params"])
        return Answer(200, b'{"jsonrpc":"2.0","result":{"status":"ok"},"id":1}')

    async def send(self, method: str, params: Json) -> Any:
        frame = {"jsonrpc": "2.0", "method": method, "params": params, "id": 1}
        answer = await self.net.post(URL, json.dumps(frame).encode(), 5.0)
        return json.loads(answer.body)

    async def announce(self, **changes: Json) -> None:
        matches = [
            {
                "match_id": "R1M1",
                "game_type": "even_odd",
                "player_A_id": "P01",
                "player_B_id": "P02",
                "referee_endpoint": REFEREE_URL,
            }
        ]
        notice = msgspec.to_builtins(SAMPLES["ROUND_ANNOUNCEMENT"])
        await self.send("notify_round", notice | {"matches": matches, "round_id": 1} | changes)


def test_a_reply_is_posted_once_to_a_referee_that_may_not_read_the_answer() -> None:
    async def script() -> list[Json]:
        abroad = Abroad()
        await abroad.announce()
        for _ in range(2):
            await abroad.send("receive_game_invitation", CALL)
            await abroad.send("receive_parity_call", CALL)
            await asyncio.sleep(1)
        await abroad.player.close()
        return abroad.posted

    posted = run(script())
    assert [one["message_type"] for one in posted] == ["GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE"]
    assert {one["sender"] for one in posted} == {"player:P01"}
    assert not any(one.get("auth_token") for one in posted)


def test_nothing_is_posted_to_a_referee_that_writes_as_the_protocol_asks() -> None:
    async def script() -> list[Json]:
        abroad = Abroad()
        await abroad.announce()
        invitation = msgspec.to_builtins(SAMPLES["GAME_INVITATION"])
        whole = invitation | {"match_id": "R1M1", "auth_token": "tok_REF01_x"}
        await abroad.send("handle_game_invitation", whole)
        await asyncio.sleep(1)
        await abroad.player.close()
        return abroad.posted

    assert run(script()) == []


def test_a_stranger_does_not_say_where_a_reply_is_posted() -> None:
    """Whoever could, would learn the move of a player in a league that signs."""

    async def script(proof: str) -> list[Json]:
        abroad = Abroad()
        abroad.player.token, abroad.player.league_signs = "tok_P01_secret", True
        key = tokens.hash_token("tok_P01_secret")
        league_id = SAMPLES["ROUND_ANNOUNCEMENT"].league_id
        proof = proof or tokens.sign_for_any([key], "ROUND_ANNOUNCEMENT", str(league_id))
        await abroad.announce(auth_token=proof)
        ticket = tokens.sign_for_any([key], "R1M1", "conv", "P01")
        await abroad.send(
            "receive_parity_call", CALL | {"auth_token": ticket, "conversation_id": "conv"}
        )
        await asyncio.sleep(1)
        await abroad.player.close()
        return abroad.posted

    assert run(script("tkt_invented")) == []
    assert len(run(script(""))) == 1


async def end(abroad: Abroad) -> None:
    notice = msgspec.to_builtins(SAMPLES["LEAGUE_COMPLETED"])
    await abroad.send("notify_league_completed", notice)


def test_a_player_stays_while_a_match_that_was_announced_has_not_ended() -> None:
    async def script() -> float:
        abroad = Abroad()
        await abroad.announce()
        await end(abroad)
        await asyncio.sleep(GRACE * 2)
        assert not abroad.player.over.is_set()
        await abroad.send("receive_game_over", {**CALL, "winner": None})
        ended_at = now()
        await abroad.player.over.wait()
        await abroad.player.close()
        return now() - ended_at

    assert run(script()) >= GRACE


def test_a_player_does_not_stay_for_ever() -> None:
    async def script() -> float:
        abroad = Abroad()
        await abroad.announce()
        began_at = now()
        await end(abroad)
        await abroad.player.over.wait()
        await abroad.player.close()
        return now() - began_at

    assert LONGEST_SILENCE <= run(script()) < LONGEST_SILENCE + 30


def test_an_id_that_no_message_can_have_is_refused() -> None:
    def admit(body: bytes) -> Answer:
        given = {"status": "ACCEPTED", "player_id": "P\n01"}
        reply = msgspec.to_builtins(SAMPLES["LEAGUE_REGISTER_RESPONSE"]) | given
        frame = {"jsonrpc": "2.0", "result": reply, "id": json.loads(body)["id"]}
        return Answer(200, json.dumps(frame).encode())

    async def script() -> None:
        abroad = Abroad()
        abroad.net.host(LEAGUE_URL, hosted(admit))
        with pytest.raises(NotAdmittedError, match="an id that cannot be used"):
            await abroad.player.register()

    run(script())
