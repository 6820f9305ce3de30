"""How long the calls of our referee take: one that joins a league from a process of its own."""

import time
from dataclasses import replace
from multiprocessing.connection import Connection

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.protocol import Role
from agent_league.running.event_loop import run
from agent_league.running.league_run import LeagueRun, Observer, run_league
from agent_league.running.serve import LOOPBACK, bind, serve_until, url_of
from agent_league.running.specs import AgentSpec, LeagueLink
from bench.measurement import SPAWN
from bench.ours import CAPACITY, keep_nothing, make_spec


class TimedClient(HttpClient):
    """A client that notes how long each call takes."""

    def __init__(self) -> None:
        super().__init__()
        self.latencies_ms: list[float] = []

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        began = time.perf_counter()
        answer = await super().post(url, body, within)
        self.latencies_ms.append(1000 * (time.perf_counter() - began))
        return answer


def _referee(url: str, pipe: Connection) -> None:
    pipe.send(run(_take_part(url)))


async def _take_part(url: str) -> list[float]:
    """Be a referee until the league is over, and return how long its calls took."""
    client, sock = TimedClient(), bind(LOOPBACK, 0)
    spec = AgentSpec(Role.REFEREE, "REF01", display_name="Timed", capacity=CAPACITY)
    member = replace(spec, endpoint=url_of(sock)).make_member(client, LeagueLink(url))

    async def play() -> None:
        await member.register()
        client.latencies_ms.clear()
        await member.over.wait()

    await serve_until(member, sock, play())
    await client.close()
    return client.latencies_ms


class RefereeStarter(Observer):
    """Starts the referee as soon as it is known where the league listens."""

    def on_start(self, league_run: LeagueRun) -> None:
        self.pipe, theirs = SPAWN.Pipe(duplex=False)
        self.process = SPAWN.Process(target=_referee, args=(league_run.url, theirs))
        self.process.start()
        theirs.close()


def time_referee(players: int) -> list[float]:
    """Play a league, and return how long each call of its referee took, in milliseconds."""
    starter = RefereeStarter()
    with keep_nothing() as folder:
        run_league(replace(make_spec(players), referees=()), folder, starter)
    latencies: list[float] = starter.pipe.recv()
    starter.process.join()
    return latencies
