"""`league simulate`: what a league of any size needs, without playing it."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from agent_league.cli import league_options as flags
from agent_league.cli.console import make_table, print_document, show
from agent_league.game import GAMES
from agent_league.running.errors import UsageError
from agent_league.season.settings import LeagueSettings
from agent_league.simulation.costs import load_costs
from agent_league.simulation.estimate import Estimate, estimate
from agent_league.simulation.scenario import Machines, Scenario, Standings

Share = Annotated[float, Parameter(validator=Number(gte=0, lte=1))]
MOST_PLAYERS = 1_000_000
DAY, HOUR, MINUTE = 86_400, 3_600, 60


def simulate(
    players: Annotated[str, Parameter(help="How many players, several with commas.")] = "1000",
    *,
    format: flags.Format = None,  # noqa: A002 - the flag's name
    rounds: flags.Rounds = None,
    legs: flags.Legs = None,
    game: str = "even_odd",
    think: Annotated[float, Parameter(validator=Number(gte=0))] = 0.0,
    spread: Share = 0.0,
    failures: Share = 0.0,
    referees: Annotated[int, flags.between(1, 10_000)] = 2,
    capacity: Annotated[int, flags.between(1, 100_000)] = 100,
    assign: Literal["round_robin", "least_busy", "weighted"] = "least_busy",
    hosts: Annotated[int, flags.between(1, 10_000)] = 1,
    cores: Annotated[int, flags.between(1, 1_024)] = 2,
    mbit: Annotated[float, Parameter(validator=Number(gt=0))] = 1000.0,
    standings: Standings = "all",
    costs: Path | None = None,
    json: flags.Json = False,
) -> None:
    """Say what a league of that size needs, and what breaks first, without playing it.

    The schedule, the assignment of referees and the retries are those of a real league, in virtual
    time; what a message costs was measured. A very long season is simulated in part.

    Parameters
    ----------
    game
        What is played: its turns count.
    think
        How long players think about a move, in seconds.
    spread
        By which share of it that varies, evenly in both directions.
    failures
        The share of the calls to players that nobody answers.
    referees
        How many referee processes there are, dealt out over the hosts.
    capacity
        How many matches each runs at once.
    assign
        Which referee gets the next match.
    hosts
        How many machines there are; the manager and the store are on the first.
    cores
        The cores of each machine.
    mbit
        What the network of each machine carries, in megabits per second.
    standings
        Which updates of the table the players get (as league player --standings).
    costs
        A file with other costs than those that were measured here.
    """
    if game not in GAMES:
        raise UsageError(f"there is no game {game!r}", f"there are: {', '.join(sorted(GAMES))}")
    course = {"legs": legs, "format": format, "rounds": rounds}
    given: dict[str, Any] = {name: one for name, one in course.items() if one is not None}
    settings = LeagueSettings(seed="simulation", game_type=game, assignment=assign, **given)
    scenario = Scenario(
        2,
        settings,
        Machines(hosts, cores, mbit, referees, capacity),
        think,
        spread,
        failures,
        standings,
    )
    prices = load_costs(costs)
    estimates = [estimate(replace(scenario, players=n), prices) for n in _read_counts(players)]
    if json:
        rows = [_describe(one) for one in estimates]
        return print_document(costs=prices.measured, estimates=rows)
    return _show(estimates, prices.measured)


def _read_counts(text: str) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        counts = [0]
    if any(not 2 <= count <= MOST_PLAYERS for count in counts):  # noqa: PLR2004 - a match takes two
        hint = f"numbers from 2 to {MOST_PLAYERS:,}, as in: league simulate 100,1000,10000"
        raise UsageError(f"{text!r:.60} is no number of players", hint)
    return counts


def _describe(one: Estimate) -> dict[str, Any]:
    limits = [limit._asdict() for limit in one.limits]
    scarce = one.scarce.name if one.scarce else None
    found = {"players": one.scenario.players, "simulated_matches": one.simulated_matches}
    return {**found, **one.use._asdict(), "limits": limits, "breaks_first": scarce}


def _show(estimates: Sequence[Estimate], measured: str) -> None:
    columns = [_list_quantities(one) for one in estimates]
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    show(make_table(("Players", *(f"{one.scenario.players:,}" for one in estimates)), rows))
    for one in estimates:
        print(f"{one.scenario.players:,} players: {_describe_scarcest(one)}.")
        if one.simulated_matches < one.use.matches:
            part = f"{one.simulated_matches:,} of {one.use.matches:,} matches"
            print(f"{one.scenario.players:,} players: {part} were simulated.", file=sys.stderr)
    print(f"Costs: {measured}", file=sys.stderr)


def _describe_scarcest(one: Estimate) -> str:
    first = one.limits[0]
    used = f"{first.name} ({first.used:.0%})"
    return (
        f"{used} {first.effect}; {first.advice}" if one.scarce else f"enough of all; first {used}"
    )


def _list_quantities(one: Estimate) -> dict[str, str]:
    use = one.use
    return {
        "Matches": f"{use.matches:,}",
        "Time": _format_time(use.hours * HOUR),
        "Messages": f"{use.messages:,}",
        "Messages/s": f"{use.messages_per_s:,.0f}",
        "Forfeits": f"{use.forfeits:,}",
        "At once": f"{use.most_at_once:,}",
        "Rows": f"{use.rows:,}",
        "Store": _format_size(use.stored_mb),
        "Manager CPU": _format_time(use.manager_cpu_h * HOUR),
        "Referee CPU": _format_time(use.referee_cpu_h * HOUR),
        "Manager memory": _format_size(use.manager_mb),
        "Referee memory": _format_size(use.referee_mb),
        "Network Mbit/s": f"{use.network_mbit:,.1f}",
    }


def _format_time(seconds: float) -> str:
    for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.1f} s"


def _format_size(megabytes: float) -> str:
    for size, unit in ((1e6, "TB"), (1e3, "GB")):
        if megabytes >= size:
            return f"{megabytes / size:,.1f} {unit}"
    return f"{megabytes:.1f} MB"
