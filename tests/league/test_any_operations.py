"""Whatever an organiser, agents and accidents do to a league, in any order, its record holds.

Hypothesis chooses the operations. After each one, the season must be what its stored events say, no
result may count twice, and the table must be the sum of the results that count. At the end
`league verify` must hold.
"""

import asyncio
import json
import os
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agent_league import own_time
from agent_league.http.memory import Network
from agent_league.league import LeagueManager
from agent_league.member import NotAdmittedError
from agent_league.offer import Caller
from agent_league.protocol import ProtocolError
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.play import ResultReport
from agent_league.season.season import Season, Stage
from agent_league.serving.site import make_site
from agent_league.store import Event, EventLog
from agent_league.store.events import MatchEnded, MatchVoided
from agent_league.store.sqlite import SqliteStore
from agent_league.tournament.standings import Scoring, Table
from agent_league.verification.stored import audit_store
from agent_league.vocabulary import PlayerId
from league_box import LEAGUE_URL, Box
from timewarp import TimewarpLoop, clock

PLAYERS, REFEREES = 5, 2
MATCHES = st.builds("R{}M{}".format, st.integers(1, PLAYERS), st.integers(1, 3))
AGENTS = st.sampled_from(
    [*(f"P{n:02}" for n in range(1, PLAYERS + 1)), *(f"REF{n:02}" for n in range(1, REFEREES + 1))]
)
MEMBERS = st.integers(0, PLAYERS + REFEREES - 1)
RUNS = int(os.environ.get("OPERATIONS", "5"))
LONG = 1e7
"""More virtual seconds than any run needs."""


class AnyOperations(RuleBasedStateMachine):
    """A league in virtual time, with a real store, to which anything may happen."""

    @initialize()
    def open(self) -> None:
        self.folder = TemporaryDirectory()
        self.patch = patch.object(own_time, "TICK", LONG)
        self.patch.start()
        self.runner = asyncio.Runner(loop_factory=lambda: TimewarpLoop(LONG))
        self.box = Box(["random"] * PLAYERS, REFEREES, capacity=2)
        self.runner.run(self._open())

    async def _open(self) -> None:
        self.store = SqliteStore(Path(self.folder.name) / "league.db", "process")
        await self._make_manager()
        await self.box.open()
        self.token = await self.box.manager.organiser.appoint()

    async def _make_manager(self) -> None:
        box = self.box
        box.manager = LeagueManager(box.settings, box.net, EventLog(), clock=clock)
        await box.manager.open(self.store)
        box.net.host(LEAGUE_URL, make_site(box.manager))
        self.season_task = asyncio.ensure_future(box.manager.run())

    @property
    def season(self) -> Season:
        return self.box.manager.season

    @rule(member=MEMBERS)
    def register(self, member: int) -> None:
        self.runner.run(self._register(member))

    async def _register(self, member: int) -> None:
        try:
            await self.box.members[member].register()
        except (NotAdmittedError, NoAnswerError, ProtocolError):
            assert self.season.stage is not Stage.REGISTRATION or self.season.roster.entries()

    @rule(seconds=st.sampled_from([0.01, 0.2, 1.0, 5.0, 60.0]))
    def let_time_pass(self, seconds: float) -> None:
        self.runner.run(asyncio.sleep(seconds))

    @rule(name=st.sampled_from(["start_league", "pause_league", "resume_league"]))
    def order(self, name: str) -> None:
        self._order(name)

    @rule(name=st.sampled_from(["void_match", "replay_match"]), match_id=MATCHES)
    def dispute(self, name: str, match_id: str) -> None:
        self._order(name, match_id=match_id, reason="a dispute")

    @rule(name=st.sampled_from(["disqualify_agent", "reinstate_agent"]), agent_id=AGENTS)
    def judge(self, name: str, agent_id: str) -> None:
        self._order(name, agent_id=agent_id, reason="a rule")

    @rule(agent_id=AGENTS)
    def rotate(self, agent_id: str) -> None:
        self._order("rotate_token", agent_id=agent_id)

    def _order(self, name: str, **arguments: str) -> None:
        self.runner.run(self._give_order(name, arguments))

    async def _give_order(self, name: str, arguments: dict[str, str]) -> None:
        card = next(one for one in self.box.manager.organiser.cards() if one.name == name)
        result: Any = card.call({**arguments, "auth_token": self.token}, Caller())
        with suppress(ProtocolError):  # it is not always possible, and then it is refused
            await result

    @precondition(lambda self: self.box.sent(ResultReport))
    @rule(which=st.integers(0, 100), forge=st.booleans())
    def report_again(self, which: int, *, forge: bool) -> None:
        reports = self.box.sent(ResultReport)
        body = json.loads(reports[which % len(reports)].sent)
        if forge:
            result = body["params"]["result"]
            result["winner"] = next(iter(result.get("score", {})), None)
        self.runner.run(self._post(json.dumps(body).encode()))

    async def _post(self, body: bytes) -> None:
        answer = await Network.post(self.box.net, LEAGUE_URL, body, 60.0)
        assert answer.status < 500

    @rule()
    def kill_the_manager(self) -> None:
        self.runner.run(self._kill_the_manager())

    async def _kill_the_manager(self) -> None:
        self.season_task.cancel()
        await asyncio.wait([self.season_task])
        self.box.net.unhost(LEAGUE_URL)
        await self.box.manager.close()
        await self.store.close()
        self.store = SqliteStore(Path(self.folder.name) / "league.db", "process")
        await self._make_manager()

    @invariant()
    def the_record_holds(self) -> None:
        if hasattr(self, "runner"):
            self.runner.run(self._check_record())

    async def _check_record(self) -> None:
        stored: list[Event] = []
        while len(stored) < len(self.box.manager.events):  # the league goes on while we read
            await self.box.manager.events.flush()
            pages = self.store.events(self.box.settings.league_id)
            stored = [one.event async for page in pages for one in page]
        check_season(self.season, stored)

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            try:
                self.runner.run(self._end())
            finally:
                self.runner.close()
                self.patch.stop()
                self.folder.cleanup()

    async def _end(self) -> None:
        """Let the league end if it has begun, with a referee to lead its matches, and verify it."""
        for number in range(REFEREES):
            await self._register(number)
            await self._give_order("reinstate_agent", {"agent_id": f"REF{number + 1:02}"})
        await self._give_order("resume_league", {})
        if self.season.stage is Stage.PLAYING:
            await asyncio.wait([self.season_task], timeout=3000.0)
            assert self.season_task.done(), "the league never ends"
        await self.box.manager.events.flush()
        await audit_store(self.store, self.box.settings.league_id)
        self.season_task.cancel()
        await asyncio.wait([self.season_task])
        await self.box.close()
        await self.store.close()


def check_season(season: Season, events: list[Event]) -> None:
    """Fail unless *season* is what its *events* say, and every result counts once."""
    once = [event.once for event in events if event.once]
    assert len(once) == len({*once}), "something happened twice that happens once"
    refolded = Season(season.settings)
    for event in events:
        refolded.apply(event)
    assert refolded.standings() == season.standings()
    assert refolded.stage is season.stage
    voided = {event.match_id for event in events if isinstance(event, MatchVoided)}
    ended = [event for event in events if isinstance(event, MatchEnded)]
    assert len({event.match_id for event in ended}) == len(ended)
    if season.players:
        table = Table([PlayerId(player) for player in season.players], Scoring())
        for event in ended:
            if event.match_id not in voided:
                table.add(event.result)
        found = {row.player: row.points for row in table.ranking()}
        assert {row.player_id: row.points for row in season.standings()} == found


AnyOperations.TestCase.settings = settings(
    max_examples=RUNS,
    stateful_step_count=25,
    deadline=None,
    phases=[Phase.generate],  # to make an example smaller takes minutes here
    suppress_health_check=[*HealthCheck],
)
test_any_operations = AnyOperations.TestCase
