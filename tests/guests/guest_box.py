"""A league in a box with a desk for guests, and guests that call it by hand."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_league.guests import GuestDesk
from agent_league.http.memory import Network
from agent_league.vocabulary import Json
from league_box import LEAGUE_URL, Box

Post = Callable[[bytes], Awaitable[bytes]]


class ToolError(Exception):
    """A tool answered with an error; *said* is the LEAGUE_ERROR that came with it."""

    def __init__(self, reply: Json) -> None:
        super().__init__(reply)
        self.said = reply

    @property
    def code(self) -> str:
        return str(self.said["error_code"])


@dataclass
class Caller:
    """A client that cannot listen: it only calls the league's tools, in the league's dialect."""

    post: Post
    name: str = "Claude"
    token: str = ""
    player_id: str = ""
    turns: list[Json] = field(default_factory=list)
    """Every turn that it was handed."""

    async def call(self, tool: str, **arguments: Json) -> Json:
        frame = {"jsonrpc": "2.0", "method": tool, "params": arguments, "id": 7}
        reply = json.loads(await self.post(json.dumps(frame).encode()))
        if "error" in reply:
            raise ToolError(reply["error"]["data"])
        return reply["result"]

    async def join(self, **more: Json) -> Json:
        joined = await self.call("join_league", display_name=self.name, **more)
        self.token, self.player_id = joined["auth_token"], joined["player_id"]
        return joined

    async def wait(self, seconds: float | None = None) -> Json:
        limit = {} if seconds is None else {"max_wait_sec": seconds}
        return await self.call("wait_for_turn", auth_token=self.token, **limit)

    async def turn(self) -> Json:
        """Wait until there is a turn."""
        while (answer := await self.wait())["status"] == "NO_TURN_YET":
            pass
        return answer

    async def move(self, turn: Json, move: Json, **more: Json) -> Json:
        arguments = {"auth_token": self.token, "turn_id": turn["turn_id"], "move": move}
        return await self.call("make_move", **{**arguments, **more})

    async def play(self) -> Json:
        """Play the first legal move until the league is over; return how it ended."""
        answer = await self.wait()
        while answer["status"] != "LEAGUE_OVER":
            if answer["status"] == "YOUR_TURN":
                self.turns.append(answer)
                answer = (await self.move(answer, answer["legal_moves"][0]))["next"]
            else:
                answer = await self.wait()
        return answer


def caller(net: Network, name: str = "Claude", url: str = LEAGUE_URL) -> Caller:
    async def post(body: bytes) -> bytes:
        # Not as a member of the league would: a `Recorder` keeps only what members say.
        return (await Network.post(net, url, body, 600.0)).body

    return Caller(post, name)


class GuestBox(Box):
    """A league in a box that takes guests in: *callers* of them."""

    def __init__(
        self, players: Sequence[str] = ("random",), *, callers: int = 1, **settings: Any
    ) -> None:
        super().__init__(players, guests=callers, **settings)
        self.desk = GuestDesk(self.manager, LEAGUE_URL)
        self.callers = [caller(self.net, f"Claude {n}") for n in range(1, callers + 1)]

    async def begin(self) -> "asyncio.Future[None]":
        """Open the league, let everybody in, and have it run beside the test."""
        await self.open()
        await self.fill()
        for one in self.callers:
            await one.join()
        return asyncio.ensure_future(self.manager.run())

    @property
    def results(self) -> list[Any]:
        return list(self.season.results.values())
