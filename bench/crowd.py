"""What a league of very many players costs beside its messages: pairings, results, standings.

python -m bench.crowd [--players 1000 10000] [--rounds 8] [--json]

No agent and no store takes part: the events of a season are made and applied.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, TypeVar

import msgspec

from agent_league.clock import format_exact_time, system_clock
from agent_league.protocol import Role
from agent_league.protocol.results import read_result
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.season.snapshots import copy_season, restore_season
from agent_league.store import events
from agent_league.store.events import MatchEnded, ScheduledMatch

FORMATS = ("swiss", "ladder")
T = TypeVar("T")


class Crowd:
    """A season of many players, and the seconds of CPU that each kind of work took."""

    def __init__(self, format_name: str, players: int, rounds: int) -> None:
        self._now, self._rng = format_exact_time(system_clock()), Random(7)
        self._settings = LeagueSettings(
            seed="7", format=format_name, rounds=rounds, max_players=players
        )
        self.season = Season(self._settings)
        self.spent: dict[str, float] = {}
        self.ids = [f"P{number:02}" for number in range(1, players + 1)]

    def play(self) -> None:
        """Play all rounds."""
        self._time("registration", self._register)
        while self.season.closed_rounds < self.season.total_rounds:
            round_id = self.season.closed_rounds + 1
            drawn = self._time("pairings", partial(self.season.pairings, round_id))
            self.season.apply(events.RoundOpened(at=self._now, round_id=round_id, matches=drawn))
            ended = [self._make_end(match) for match in drawn]
            self._time("results", partial(self._apply, ended))
            self._time("standings", self.season.standings)
            self.season.apply(events.RoundClosed(at=self._now, round_id=round_id))
        body = self._time("snapshot", copy_season(self.season).encode)
        self._time("restore", lambda: restore_season(Season(self._settings), body))

    def _apply(self, ended: Sequence[MatchEnded]) -> None:
        for event in ended:
            self.season.apply(event)

    def _register(self) -> None:
        for number, agent_id in enumerate(self.ids):
            self.season.apply(
                events.AgentRegistered(
                    at=self._now,
                    agent_id=agent_id,
                    role=Role.PLAYER,
                    display_name=agent_id,
                    version="1.0.0",
                    endpoint=f"http://10.0.{number // 250}.{number % 250}:8101/mcp",
                    game_types=["even_odd"],
                    token_hash=agent_id,
                    expires=self._now,
                )
            )
        self.season.apply(events.SeasonStarted(at=self._now, players=self.ids))

    def _make_end(self, match: ScheduledMatch) -> MatchEnded:
        players = [match.first, match.second]
        result = read_result(players, self._rng.choice([*players, None]), ())
        return MatchEnded.make(match, result, "REF01", self._now)

    def _time(self, what: str, work: Callable[[], T]) -> T:
        began = time.process_time()
        done = work()
        self.spent[what] = self.spent.get(what, 0.0) + time.process_time() - began
        return done


def measure(players: Sequence[int], rounds: int) -> list[dict[str, Any]]:
    """Return a row for each format and number of players."""
    rows = []
    for name in FORMATS:
        for count in players:
            crowd = Crowd(name, count, rounds)
            crowd.play()
            played, spent = crowd.season.played, crowd.spent
            rows.append(
                {
                    "format": name,
                    "players": count,
                    "matches": played,
                    "pairing_s_per_round": spent["pairings"] / rounds,
                    "standings_s": spent["standings"] / rounds,
                    "result_us": 1e6 * spent["results"] / played,
                    "us_per_match": 1e6 * sum(spent.values()) / played,
                    "snapshot_s": spent["snapshot"],
                    "restore_s": spent["restore"],
                }
            )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.crowd", description=__doc__)
    parser.add_argument("--players", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--json", action="store_true", help="print one document, for a program")
    options = parser.parse_args()
    rows = measure(options.players, options.rounds)
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(rows)).decode())
        return 0
    for row in rows:
        numbers = {key: value for key, value in row.items() if isinstance(value, float)}
        shown = ", ".join(f"{key} {value:,.3g}" for key, value in numbers.items())
        print(
            f"{row['format']:7} {row['players']:7,} players, {row['matches']:7,} matches: {shown}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
