"""The stream: made once for all, the latest for the slow, whole for the new."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Sequence

import msgspec
import pytest

from agent_league.http.exchange import PageRequest
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import AnnouncementMade
from agent_league.vocabulary import Json
from agent_league.web import broadcast as module
from agent_league.web.broadcast import Broadcast
from agent_league.web.league_view import LeagueView
from agent_league.web.packing import takes_gzip
from agent_league.web.records import RememberedRecords
from timewarp import run


class Wall:
    """A league that changes on demand, and its broadcast."""

    def __init__(self) -> None:
        season = Season(LeagueSettings(seed="7"))
        self.view = LeagueView(season, RememberedRecords(season))
        self.renders = 0
        self.broadcast = Broadcast(self.view, self.render)

    def render(self) -> dict[str, str]:
        self.renders += 1
        return {"news": f"after {self.view.seq}", "same": "unchanged"}

    def happen(self) -> None:
        event = AnnouncementMade(at="2025-01-15T10:30:00.000Z", text="lunch")
        self.view.note(self.view.seq + 1, event)


async def read(stream: AsyncIterator[bytes]) -> Json:
    """Return the data of the next update."""
    while True:
        chunk = await anext(stream)
        if b"data: " in chunk:
            return msgspec.json.decode(chunk.split(b"data: ")[1])


def test_an_update_is_rendered_once_for_all_spectators() -> None:
    async def main() -> tuple[int, Sequence[Json]]:
        wall = Wall()
        streams = [wall.broadcast.follow("regions") for _ in range(50)]
        firsts = await asyncio.gather(*(read(stream) for stream in streams))
        wall.happen()
        await asyncio.gather(*(read(stream) for stream in streams))
        return wall.renders, firsts

    renders, firsts = run(main())
    assert renders == 2
    assert {one["regions"]["news"] for one in firsts} == {"after 0"}


def test_only_what_changed_is_sent_to_those_who_have_the_rest() -> None:
    async def main() -> Json:
        wall = Wall()
        stream = wall.broadcast.follow("regions")
        await read(stream)
        wall.happen()
        return await read(stream)

    assert run(main()) == {"seq": 1, "over": False, "regions": {"news": "after 1"}}


def test_a_slow_spectator_gets_the_latest_state_and_all_of_it() -> None:
    async def main() -> Json:
        wall = Wall()
        slow, quick = wall.broadcast.follow("regions"), wall.broadcast.follow("regions")
        await read(slow)
        for _ in range(5):
            wall.happen()
            await read(quick)
        return await read(slow)

    assert run(main()) == {
        "seq": 5,
        "over": False,
        "regions": {"news": "after 5", "same": "unchanged"},
    }


def test_many_events_make_few_updates() -> None:
    async def main() -> int:
        wall = Wall()
        stream = wall.broadcast.follow("regions")
        await read(stream)
        for _ in range(1000):
            wall.happen()
            await asyncio.sleep(0.001)
        return wall.renders

    assert run(main()) <= 2 + 1 / module.INTERVAL


def test_nothing_is_rendered_for_those_who_only_want_to_hear_of_changes() -> None:
    async def main() -> tuple[int, Json]:
        wall = Wall()
        stream = wall.broadcast.follow("tick")
        return wall.renders, await read(stream)

    assert run(main()) == (0, {"seq": 0, "over": False})


def test_everybody_gets_the_last_update_and_then_the_end() -> None:
    async def main() -> tuple[list[Json], int]:
        wall = Wall()
        stream = wall.broadcast.follow("regions")
        await read(stream)
        wall.happen()
        finishing = asyncio.ensure_future(wall.broadcast.finish())
        rest = [chunk async for chunk in stream]
        await finishing
        found = [msgspec.json.decode(chunk.split(b"data: ")[1]) for chunk in rest]
        return found, wall.broadcast.spectators.total()

    assert run(main()) == ([{"seq": 1, "over": False, "regions": {"news": "after 1"}}], 0)


def test_a_stream_without_news_says_that_it_is_still_there() -> None:
    async def main() -> bytes:
        wall = Wall()
        stream = wall.broadcast.follow("regions")
        await read(stream)
        return await anext(stream)

    assert run(main()) == b": still here\n\n"


def test_nobody_is_served_when_everybody_has_left() -> None:
    async def main() -> int:
        wall = Wall()
        stream = wall.broadcast.follow("regions")
        await read(stream)
        await stream.aclose()
        wall.happen()
        await asyncio.sleep(10)
        return wall.renders

    assert run(main()) == 1


def test_a_packed_stream_says_the_same_wherever_a_spectator_begins() -> None:
    async def main() -> tuple[list[str], list[str]]:
        wall = Wall()
        early, late = wall.broadcast.follow_packed("regions"), None
        unpackers = [zlib.decompressobj(31), zlib.decompressobj(31)]
        told: list[list[str]] = [[], []]
        for turn in range(4):
            if turn == 2:
                late = wall.broadcast.follow_packed("regions")
            for place, stream in enumerate(filter(None, (early, late))):
                text = b""
                while b"data: " not in text:
                    text += unpackers[place].decompress(await anext(stream))
                told[place].append(msgspec.json.decode(text.split(b"data: ")[1])["regions"]["news"])
            wall.happen()
        return told[0], told[1]

    early, late = run(main())
    assert early == ["after 0", "after 1", "after 2", "after 3"]
    assert late == early[2:]


@pytest.mark.parametrize(
    ("header", "packed"), [(b"gzip, deflate, br", True), (b"br", False), (b"gzip;q=0", False)]
)
def test_only_who_can_unpack_a_stream_gets_it_packed(header: bytes, packed: bool) -> None:
    assert takes_gzip(PageRequest("/stream", b"", ((b"accept-encoding", header),))) is packed
