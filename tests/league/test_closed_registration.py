"""The organiser closes registration before the league begins, and opens it again."""

import asyncio
from typing import Any

import msgspec
import pytest

from agent_league.offer import Caller
from agent_league.protocol import ProtocolError
from agent_league.season.season import Season
from agent_league.season.snapshots import copy_season, restore_season
from agent_league.store.events import SeasonStarted
from end_to_end.http_league import HttpLeague, settings

META = {"display_name": "Ada", "version": "1.0.0", "game_types": ["even_odd"]}
AT = "2025-01-15T10:30:00.000Z"


async def order(league: HttpLeague, name: str, token: str, **arguments: Any) -> None:
    card = next(one for one in league.manager.organiser.cards() if one.name == name)
    await card.call({**arguments, "auth_token": token}, Caller())  # type: ignore[misc]  # an order is awaited


async def apply(league: HttpLeague, endpoint: str) -> tuple[str, str | None]:
    """Return how the league answers a player that wants to register."""
    message = {
        "protocol": "league.v2",
        "message_type": "LEAGUE_REGISTER_REQUEST",
        "sender": "player:ada",
        "timestamp": "2025-01-15T10:30:00Z",
        "conversation_id": "conv-1",
        "player_meta": {**META, "contact_endpoint": endpoint},
    }
    frame = {"jsonrpc": "2.0", "method": "register_player", "params": message, "id": 1}
    answer = await league.wire.post(league.url, msgspec.json.encode(frame), 5.0)
    result = msgspec.json.decode(answer.body)["result"]
    return result["status"], result.get("reason")


def test_nobody_registers_while_it_is_closed() -> None:
    async def main() -> None:
        async with HttpLeague() as league:
            token = await league.manager.organiser.appoint()
            await order(league, "close_registration", token)
            refused = ("REJECTED", "Registration closed by the organiser")
            assert await apply(league, "http://127.0.0.1:9/mcp") == refused
            await order(league, "open_registration", token)
            assert await apply(league, "http://127.0.0.1:9/mcp") == ("ACCEPTED", None)
            await order(league, "close_registration", token, closed=False)
            assert not league.manager.season.registration_closed

    asyncio.run(main())


def test_it_cannot_be_opened_once_the_league_has_begun() -> None:
    async def main() -> None:
        async with HttpLeague() as league:
            token = await league.manager.organiser.appoint()
            await league.events.append(SeasonStarted(at=AT, players=[]))
            with pytest.raises(ProtocolError, match="has begun"):
                await order(league, "open_registration", token)
            with pytest.raises(ProtocolError, match="closed: expected true or false"):
                await order(league, "close_registration", token, closed="no")

    asyncio.run(main())


def test_a_snapshot_remembers_it() -> None:
    season, restored = Season(settings()), Season(settings())
    season.registration_closed = True
    assert restore_season(restored, copy_season(season).encode())
    assert restored.registration_closed
