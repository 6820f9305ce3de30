"""From what a simulated league has used to what the whole league needs, and what breaks first."""

from dataclasses import dataclass
from typing import NamedTuple

from agent_league.simulation.costs import Costs
from agent_league.simulation.scenario import Scenario
from agent_league.simulation.season import BITS, SimulatedSeason
from agent_league.simulation.tally import FULL, LONGEST_TABLE_AGE, Limit, Tally

MB, KB = 1e6, 1e3
HOUR = 3600.0
LESS = "let players get less of the table (league player --standings none)"
SPLIT = "split the league into divisions"


class Use(NamedTuple):
    """What the league uses of everything, all of it together."""

    matches: int
    rounds: int
    hours: float
    messages: int
    messages_per_s: float
    rows: int
    stored_mb: float
    network_mbit: float
    """Per second, at the manager's host."""
    manager_cpu_h: float
    referee_cpu_h: float
    player_cpu_h: float
    """Of the agents, which run elsewhere."""
    manager_mb: float
    referee_mb: float
    """All referees together."""
    most_at_once: int
    forfeits: int


@dataclass(frozen=True)
class Estimate:
    """The need of a scenario."""

    scenario: Scenario
    use: Use
    limits: list[Limit]
    """The scarcest first."""
    simulated_matches: int

    @property
    def scarce(self) -> Limit | None:
        """What is used up first; None if everything suffices."""
        first = self.limits[0]
        return first if first.used > FULL else None


def estimate(scenario: Scenario, costs: Costs) -> Estimate:
    """Simulate a league, or so much of it as is enough to know the rest."""
    tally = SimulatedSeason(scenario, costs).run()
    limits = sorted(_list_limits(scenario, tally), key=lambda limit: -limit.used)
    return Estimate(scenario, _sum_up(scenario, costs, tally), limits, tally.matches)


def _sum_up(scenario: Scenario, costs: Costs, tally: Tally) -> Use:
    times = max(1.0, scenario.total_matches / max(1, tally.matches))
    referees = scenario.machines.referees
    memory_kb = scenario.players * (costs.manager_player_kb + costs.manager_match_kb / 2)
    return Use(
        matches=round(times * tally.matches),
        rounds=round(times * tally.rounds),
        hours=times * tally.ended_at / HOUR,
        messages=round(times * tally.messages),
        messages_per_s=tally.messages / tally.ended_at,
        rows=round(times * tally.rows),
        stored_mb=times * tally.matches * costs.stored_bytes / MB,
        network_mbit=tally.manager_bytes * BITS / tally.ended_at / MB,
        manager_cpu_h=times * tally.manager_s / HOUR,
        referee_cpu_h=times * tally.referee_s / HOUR,
        player_cpu_h=times * tally.matches * costs.player_match_s / HOUR,
        manager_mb=costs.manager_mb + memory_kb / KB,
        referee_mb=referees * costs.referee_mb + tally.most_at_once * costs.referee_match_kb / KB,
        most_at_once=tally.most_at_once,
        forfeits=round(times * tally.forfeits),
    )


def _list_limits(scenario: Scenario, tally: Tally) -> list[Limit]:
    machines, seconds = scenario.machines, tally.ended_at
    slots = machines.referees * machines.capacity
    line = tally.manager_bytes * BITS / (machines.megabits * MB)
    parts = [
        Limit(
            "the manager's processor",
            (tally.manager_s - tally.pairing_s) / seconds,
            SPLIT if scenario.standings == "none" else f"{LESS}, or {SPLIT}",
        ),
        Limit(
            "the drawing of rounds",
            tally.pairing_s / seconds,
            "a format that is drawn sooner: a ladder, or divisions",
        ),
        Limit(
            "the referees' processors",
            tally.referee_s / seconds / min(machines.referees, _count_cores(scenario)),
            "more referees on more hosts",
        ),
        Limit("the store", tally.store_s / seconds, "a faster disk, or divisions in other stores"),
        Limit(
            "the network",
            line / seconds,
            LESS,
        ),
        Limit("room at the referees", tally.slot_s / seconds / slots, "more referees, or capacity"),
    ]
    if scenario.standings in ("all", "neighbours"):
        age = tally.table_age_s / LONGEST_TABLE_AGE
        # An age is no share: at its limit it is still right.
        parts.append(Limit("the age of the table", FULL * age, LESS, "breaks the protocol"))
    return parts


def _count_cores(scenario: Scenario) -> int:
    machines = scenario.machines
    return max(1, machines.hosts * machines.cores - 2)
