"""The messages in which the league tells everybody how things stand."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate
from typing import Any

from agent_league.agent import Agent
from agent_league.league.season import Season
from agent_league.protocol.rounds import (
    AnnouncedMatch,
    Champion,
    FinalStanding,
    LeagueCompleted,
    RoundAnnouncement,
    RoundCompleted,
    RoundSummary,
    StandingsUpdate,
)
from agent_league.store.events import ScheduledMatch
from agent_league.tournament import Standing


class Notices:
    """Writes the season up, in the manager's name."""

    def __init__(self, manager: Agent, season: Season) -> None:
        self._manager = manager
        self._season = season
        self._league_id = season.settings.league_id

    def round_opened(
        self, round_id: int, matches: Sequence[ScheduledMatch], planned: Mapping[str, str]
    ) -> RoundAnnouncement:
        return RoundAnnouncement(
            **self._manager.stamp(f"conv-round-{round_id}-announce"),
            league_id=self._league_id,
            round_id=round_id,
            matches=[self._announced(match, planned) for match in matches],
        )

    def round_closed(self, round_id: int) -> RoundCompleted:
        results = self._season.results_of(round_id)
        statuses = [ended.status for ended in results]
        last = round_id >= self._season.total_rounds
        return RoundCompleted(
            **self._manager.stamp(f"conv-round-{round_id}-complete"),
            league_id=self._league_id,
            round_id=round_id,
            matches_completed=len(results),
            next_round_id=None if last else round_id + 1,
            summary=RoundSummary(
                total_matches=len(results),
                wins=statuses.count("WIN"),
                draws=statuses.count("DRAW"),
                technical_losses=statuses.count("TECHNICAL_LOSS"),
            ),
        )

    def table(self) -> StandingsUpdate:
        round_id = self._season.round_id
        return StandingsUpdate(
            **self._manager.stamp(f"conv-round-{round_id}-standings"),
            league_id=self._league_id,
            round_id=round_id,
            standings=self._season.standings(),
        )

    def season_ended(self) -> LeagueCompleted:
        rows = self._season.standings()
        places = [
            FinalStanding(
                rank=row.rank,
                player_id=row.player_id,
                display_name=row.display_name,
                points=row.points,
            )
            for row in rows
        ]
        best = rows[0]
        return LeagueCompleted(
            **self._manager.stamp("conv-league-complete"),
            league_id=self._league_id,
            total_rounds=self._season.total_rounds,
            total_matches=self._season.played,
            champion=Champion(
                player_id=best.player_id, display_name=best.display_name, points=best.points
            ),
            final_standings=places,
        )

    def calendar(self) -> Callable[[], Mapping[str, Any]]:
        """Return what tells the whole plan of the season, written out once, if anybody asks."""
        return cache(self._calendar)

    def _calendar(self) -> Mapping[str, Any]:
        season = self._season
        rounds = range(1, season.total_rounds + 1)
        return {
            "total_rounds": season.total_rounds,
            "total_players": len(season.players),
            "game_type": season.settings.game_type,
            "schedule": {
                number: [(m.match_id, m.first, m.second) for m in season.pairings(number)]
                for number in rounds
            },
        }

    def levels(self) -> Callable[[], Mapping[str, Any]]:
        """Return what tells the table as it is now, in which players who are level share a rank."""
        levels = self._season.table.levels()
        return cache(partial(self._ranked, levels))

    def _ranked(self, levels: list[list[Standing]]) -> Mapping[str, Any]:
        firsts = accumulate((len(level) for level in levels), initial=1)
        return {
            "standings": [
                {
                    "rank": rank,
                    "player_id": row.player,
                    "played": row.played,
                    "wins": row.wins,
                    "losses": row.losses,
                }
                for rank, level in zip(firsts, levels, strict=False)
                for row in level
            ]
        }

    def _announced(self, match: ScheduledMatch, planned: Mapping[str, str]) -> AnnouncedMatch:
        referee = self._season.roster.get(planned.get(match.match_id, ""))
        return AnnouncedMatch(
            match_id=match.match_id,
            game_type=self._season.settings.game_type,
            player_A_id=match.first,
            player_B_id=match.second,
            referee_endpoint=referee.endpoint if referee else "unassigned",
        )
