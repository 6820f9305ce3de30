"""Guests over real HTTP: one open port is enough, and referees notice nothing."""

import asyncio
import json
from collections import defaultdict
from pathlib import Path

from agent_league.season.settings import GuestRules
from agent_league.store.sqlite import SqliteStore
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague, settings
from guests.guest_box import Caller

Shape = tuple[str, str, tuple[str, ...]]
"""Who said which message, with which fields."""


def caller(league: HttpLeague, name: str) -> Caller:
    async def post(body: bytes) -> bytes:
        return (await league.wire.post(league.url, body, 60.0)).body

    return Caller(post, name)


async def read_shapes(
    store: SqliteStore, league_id: str, matches: list[str]
) -> dict[str, set[Shape]]:
    """Return what was said to and by each player, whatever it said in it."""
    shapes: dict[str, set[Shape]] = defaultdict(set)
    for match_id in matches:
        for entry in json.loads(await store.transcript(league_id, match_id) or "[]"):
            player = next(one for one in (entry["from"], entry["to"]) if one.startswith("player"))
            message: Json = entry["message"]
            kind = message.get("message_type", "ok")
            speaker = entry["from"].partition(":")[0]
            shapes[player].add((speaker, kind, tuple(sorted(message))))
    return shapes


def test_two_players_and_two_guests_complete_a_league_and_look_the_same(tmp_path: Path) -> None:
    guest_rules = GuestRules(linger=0)
    terms = {"awaited_players": 4, "awaited_referees": 2, "guests": guest_rules}

    async def main() -> tuple[HttpLeague, dict[str, set[Shape]]]:
        league = HttpLeague(**terms)
        league.store = store = SqliteStore(tmp_path / "l.db", "process")
        async with league:
            for _ in range(2):
                await league.add_referee()
                await league.add_player()
            guests = [caller(league, "Claude"), caller(league, "A person")]
            for guest in guests:
                await guest.join()
            season = asyncio.ensure_future(league.play())
            ended = await asyncio.gather(*(guest.play() for guest in guests))
            await season
            assert {over["status"] for over in ended} == {"LEAGUE_OVER"}
            matches = list(league.manager.season.results)
            shapes = await read_shapes(store, settings(**terms).league_id, matches)
        await store.close()
        return league, shapes

    league, shapes = asyncio.run(main())
    assert league.manager.season.played == 6
    assert league.manager.season.tally["TECHNICAL_LOSS"] == 0
    assert sorted(shapes) == ["player:P01", "player:P02", "player:P03", "player:P04"]
    assert len({frozenset(shape) for shape in shapes.values()}) == 1
    assert len(shapes["player:P03"]) == 6


def test_a_room_that_nobody_lives_in_is_not_there() -> None:
    async def main() -> list[int]:
        async with HttpLeague() as league:
            guest = caller(league, "Claude")
            await guest.join()
            endpoint = league.manager.season.roster[guest.player_id].endpoint
            body = b'{"jsonrpc":"2.0","method":"nothing","id":1}'
            nowhere = endpoint.replace("/guests/", "/guests/0")
            return [(await league.wire.post(url, body, 5.0)).status for url in (endpoint, nowhere)]

    assert asyncio.run(main()) == [200, 404]
