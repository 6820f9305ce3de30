"""The simulation of a small league sends what the real league sends, and takes as long.

The real one is played here in virtual time: its code costs nothing, so both are compared in what
they wait for. Counts must be equal where nothing fails, and times within 2 %.
"""

import asyncio
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from agent_league.http.exchange import Answer
from agent_league.protocol.failures import LateError
from agent_league.season.settings import LeagueSettings
from agent_league.simulation.costs import Costs, load_costs
from agent_league.simulation.scenario import Machines, Scenario
from agent_league.simulation.season import SimulatedSeason
from agent_league.simulation.tally import Tally
from agent_league.store.events import MatchAssigned, MatchEnded, RoundClosed, RoundOpened
from league_box import Box, Exchange, Recorder, played
from timewarp import now

MOVES = ("CHOOSE_PARITY_CALL", "GAME_MOVE_CALL")
ASKED = (*MOVES, "GAME_INVITATION")
FREE: Costs = msgspec.convert(
    {name: "nobody pays" if name == "measured" else 0 for name in Costs.__struct_fields__},
    Costs,
    strict=False,
)
"""A wire without any delay, and code that costs nothing."""


class SlowNetwork(Recorder):
    """Players that think, and some that do not answer."""

    think_s = 0.0
    failures = 0.0
    rng = random.Random(1)

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        kind = Exchange(now(), url, body, None).kind
        if kind in ASKED and self.rng.random() < self.failures:
            self.exchanges.append(Exchange(now(), url, body, None))
            await asyncio.sleep(within)
            raise LateError(f"{url} gave no answer within {within:g} s")
        if kind in MOVES:
            await asyncio.sleep(self.think_s)
        return await super().post(url, body, within)


class RealLeague:
    """A league of our agents, and what it sent from its first round on."""

    def __init__(self, scenario: Scenario) -> None:
        machines, settings = scenario.machines, scenario.settings
        chosen: dict[str, Any] = {"format": settings.format, "rounds": settings.rounds}
        chosen |= {"legs": settings.legs, "retry": settings.retry}
        chosen["awaited_referees"] = machines.referees
        box = Box(
            ["random"] * scenario.players, machines.referees, capacity=machines.capacity, **chosen
        )
        self.box = played(box)
        calls = Counter(exchange.kind for exchange in self.box.exchanges)
        self.calls = Counter(calls)
        self.calls["MOVE_CALL"] = sum(calls[kind] for kind in MOVES)

    @property
    def seconds(self) -> float:
        """From the first order to the last report."""
        times = [one.at for one in self.box.exchanges if one.kind == "START_MATCH"]
        ends = [one.at for one in self.box.exchanges if one.kind == "MATCH_RESULT_REPORT"]
        return max(ends) - min(times)


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> type[SlowNetwork]:
    class Wire(SlowNetwork):
        rng = random.Random(1)

    monkeypatch.setattr("league_box.Recorder", Wire)
    return Wire


def play_both(scenario: Scenario, wire: type[SlowNetwork]) -> tuple[RealLeague, Tally]:
    wire.think_s, wire.failures = scenario.think_s, scenario.failures
    return RealLeague(scenario), SimulatedSeason(scenario, FREE).run()


def make_scenario(
    players: int, *, referees: int = 1, capacity: int = 10, **chosen: Any
) -> Scenario:
    behaviour = {key: chosen.pop(key) for key in ("think_s", "failures") if key in chosen}
    settings = LeagueSettings(seed="box", **chosen)
    return Scenario(players, settings, Machines(referees=referees, capacity=capacity), **behaviour)


SMALL = [
    make_scenario(4),
    make_scenario(5, legs=2),
    make_scenario(12, think_s=1.0),
    make_scenario(12, think_s=3.0, capacity=2),
    make_scenario(12, think_s=1.0, referees=3, capacity=1),
    make_scenario(11, think_s=0.5, format="double_round_robin"),
    make_scenario(10, think_s=1.0, format="ladder", rounds=6),
    make_scenario(8, think_s=1.0, format="knockout"),
    make_scenario(10, think_s=1.0, format="swiss", rounds=4),
]


def name_scenario(one: Scenario) -> str:
    machines = one.machines
    room = f"{machines.referees}x{machines.capacity}"
    return f"{one.players}-{one.settings.format}-{one.think_s:g}s-{room}"


@pytest.mark.parametrize("scenario", SMALL, ids=name_scenario)
def test_a_simulated_league_sends_exactly_what_a_real_one_sends(
    scenario: Scenario, wire: type[SlowNetwork]
) -> None:
    real, simulated = play_both(scenario, wire)
    tables = "LEAGUE_STANDINGS_UPDATE"
    kinds = [kind for kind in simulated.calls if kind != tables]
    assert {kind: real.calls[kind] for kind in kinds} == {
        kind: simulated.calls[kind] for kind in kinds
    }
    # How often the table goes out depends on single milliseconds.
    assert simulated.calls[tables] == pytest.approx(real.calls[tables], abs=2 * scenario.players)
    assert simulated.matches == len(real.box.happened(MatchEnded)) == scenario.total_matches


@pytest.mark.parametrize("scenario", SMALL[2:], ids=name_scenario)
def test_a_simulated_league_takes_as_long_as_a_real_one(
    scenario: Scenario, wire: type[SlowNetwork]
) -> None:
    real, simulated = play_both(scenario, wire)
    assert simulated.ended_at == pytest.approx(real.seconds, rel=0.02)


def test_rows_are_counted_as_the_store_has_them(wire: type[SlowNetwork]) -> None:
    real, simulated = play_both(make_scenario(6), wire)
    rows = real.box.happened(MatchAssigned, MatchEnded, RoundOpened, RoundClosed)
    transcripts = len(real.box.happened(MatchEnded))
    assert simulated.rows == len(rows) + transcripts


def test_players_that_fail_are_asked_again_as_in_a_real_league(wire: type[SlowNetwork]) -> None:
    scenario = make_scenario(24, think_s=1.0, failures=0.1, capacity=6)
    real, simulated = play_both(scenario, wire)
    for kind in ("GAME_INVITATION", "MOVE_CALL"):
        assert simulated.calls[kind] == pytest.approx(real.calls[kind], rel=0.1), kind
    # Both are counts of rare things, each with its own chance: four standard deviations.
    failed = real.calls["GAME_ERROR"]
    assert simulated.calls["GAME_ERROR"] == pytest.approx(failed, abs=4 * (2 * failed) ** 0.5)
    assert simulated.ended_at == pytest.approx(real.seconds, rel=0.1)


def test_a_player_that_never_answers_loses_after_three_attempts() -> None:
    scenario = make_scenario(2, failures=1.0)
    SimulatedSeason(scenario, FREE).run()  # the first draw of a process imports what it needs
    silent = SimulatedSeason(scenario, FREE).run()
    assert silent.calls["GAME_INVITATION"] == 6
    assert silent.calls["GAME_ERROR"] == 4
    assert silent.forfeits == 1
    # Three times 5 s, and pauses of 2 and 4 s in between.
    assert silent.ended_at == pytest.approx(21.0, rel=0.01)


def test_more_referees_are_faster_until_they_have_room_for_a_whole_round() -> None:
    def measure(referees: int) -> float:
        scenario = make_scenario(64, think_s=1.0, referees=referees, capacity=8, format="ladder")
        return SimulatedSeason(scenario, FREE).run().ended_at

    assert measure(1) == pytest.approx(2 * measure(2), rel=0.05)
    assert measure(4) == pytest.approx(measure(8), rel=0.01)


def test_the_costs_of_the_package_are_measured_ones() -> None:
    costs = load_costs()
    assert "measured" not in costs.measured.split()[:2]
    numbers = [getattr(costs, name) for name in Costs.__struct_fields__ if name != "measured"]
    assert min(numbers) > 0


def test_costs_make_a_league_slower() -> None:
    scenario = make_scenario(20)
    free = SimulatedSeason(scenario, FREE).run()
    dear = SimulatedSeason(scenario, replace_cost(manager_match_s=1.0)).run()
    assert dear.calls["START_MATCH"] == free.calls["START_MATCH"]
    assert dear.ended_at >= scenario.total_matches


def replace_cost(**changes: float) -> Costs:
    return msgspec.structs.replace(FREE, **changes)


def test_half_a_season_is_enough_to_know_the_other_half() -> None:
    scenario = make_scenario(40, think_s=1.0)
    whole = SimulatedSeason(scenario, FREE).run()
    half = SimulatedSeason(replace(scenario, max_matches=390), FREE).run()
    assert half.matches == pytest.approx(whole.matches / 2, abs=20)
    assert 2 * half.ended_at == pytest.approx(whole.ended_at, rel=0.05)
