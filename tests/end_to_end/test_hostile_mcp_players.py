"""Players that are hostile MCP servers: whatever they do, the other matches of a round go on.

Everything runs on one event loop, so that a single frozen step would freeze them all. Each attack
begins, then waits until the other match of the round has ended, and only then goes on.
"""

import asyncio
from typing import Any, ClassVar

import pytest

from agent_league.http.exchange import HttpRequest, Response
from agent_league.protocol import Patience
from agent_league.store.events import MatchEnded
from end_to_end.http_league import HttpLeague, played
from mcp_peer import McpPeer, ServedMcpPeer, even, structured

CALM = Patience(join=20.0, move=20.0, game_over=5.0, report=5.0, generic=20.0)
BOMB = {"type": "object", "properties": {"parity_choice": {"type": "string", "pattern": "^(a+)+$"}}}
FUSE = "a" * 40 + "!"
MEGABYTE, MEGABYTES = b"x" * 1_000_000, 100


class Hostile(McpPeer):
    """Plays honestly but for one attack, and keeps its match pending for as long as it likes."""

    served_by: ClassVar[type[ServedMcpPeer]] = ServedMcpPeer

    def __init__(self) -> None:
        super().__init__({"choose_parity": self.choose})
        self.league: HttpLeague | None = None
        self.player_id = ""
        self.proofs: set[int] = set()
        """The rounds whose other match ended while the hostile one was pending."""
        self._ended = asyncio.Event()

    def attach(self, league: HttpLeague) -> None:
        self.league = league
        league.events.listen(lambda event: self._ended.set())

    async def others_end(self) -> None:
        """Wait until the other match of this round has ended, and see whether ours has."""
        assert self.league is not None
        season = self.league.manager.season
        if season.round_id in self.proofs or not season.round_id:
            return
        while not self._others():
            self._ended.clear()
            await self._ended.wait()
        if len(self._others()) == len(self._of_round()):
            self.proofs.add(season.round_id)

    def _of_round(self) -> list[MatchEnded]:
        assert self.league is not None
        season = self.league.manager.season
        return season.results_of(season.round_id)

    def _others(self) -> list[MatchEnded]:
        return [ended for ended in self._of_round() if self.player_id not in ended.players]

    async def choose(self, arguments: dict[str, Any]) -> Any:
        return even(arguments)

    def lists(self) -> int:
        return self.methods().count("tools/list")


class RegexBomb(Hostile):
    """Declares a pattern that takes ages to match, and says what takes them."""

    def listed(self, name: str) -> dict[str, Any]:
        return {**super().listed(name), "outputSchema": BOMB}

    async def choose(self, arguments: dict[str, Any]) -> Any:
        await self.others_end()
        return {**structured({"parity_choice": FUSE}), "content": []}


class ServedFlood(ServedMcpPeer):
    """Pours a hundred megabytes into each answer that asks for it."""

    async def write(self, received: Response, writer: asyncio.StreamWriter) -> None:
        before, flood, after = received.body.partition(b"FLOOD")
        if not flood:
            return await super().write(received, writer)
        length = len(before) + MEGABYTES * len(MEGABYTE) + len(after)
        kind = "content-type: application/json"
        writer.write(f"HTTP/1.1 200 So\r\n{kind}\r\ncontent-length: {length}\r\n\r\n".encode())
        for piece in (before, *[MEGABYTE] * MEGABYTES, after):
            writer.write(piece)
            await writer.drain()
        return None


class Flood(Hostile):
    """Answers with a hundred megabytes."""

    served_by = ServedFlood

    async def choose(self, arguments: dict[str, Any]) -> Any:
        await self.others_end()
        return structured({"parity_choice": "even", "padding": "FLOOD"})


class Shapeshifter(Hostile):
    """Shows other tools each time it is looked at."""

    async def answer(self, parcel: HttpRequest) -> Response:
        if b"tools/list" in parcel.body:
            self.tools[f"tool{self.lists()}"] = even
            await self.others_end()
        return await super().answer(parcel)


class Crowd(Hostile):
    """Offers more tools than anybody needs, in one list."""

    async def answer(self, parcel: HttpRequest) -> Response:
        if b"tools/list" in parcel.body:
            self.page = 3_000
            self.tools |= {f"t{number}": even for number in range(3_000)}
            await self.others_end()
        return await super().answer(parcel)


@pytest.mark.parametrize(
    ("attack", "termination"),
    [
        (RegexBomb, "invalid_move"),
        (Flood, "invalid_reply"),
        (Shapeshifter, "tools_changed"),
        (Crowd, "invalid_reply"),
    ],
)
def test_a_hostile_player_delays_no_match_but_its_own(
    attack: type[Hostile], termination: str
) -> None:
    hostile: list[Hostile] = []

    async def script(league: HttpLeague) -> None:
        server = attack()
        hostile.append(server)
        async with server.served_by(server) as served:
            await league.add_referee()
            server.player_id = await league.add_endpoint(served.url)
            for _ in range(3):
                await league.add_player()
            server.attach(league)
            await league.play()

    league = played(script, awaited_players=4, patience=CALM)
    assert hostile[0].proofs == {1, 2, 3}
    ended = [event for event in league.events if isinstance(event, MatchEnded)]
    theirs = [event for event in ended if hostile[0].player_id not in event.players]
    its_own = [event for event in ended if hostile[0].player_id in event.players]
    assert [event.termination for event in theirs] == ["completed"] * 3
    assert [event.termination for event in its_own] == [termination] * 3
