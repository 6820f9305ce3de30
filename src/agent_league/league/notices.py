"""The notices to all agents: rounds, standings, the end."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from agent_league.dialects.dialect import Outgoing, encode_message
from agent_league.league.context import Context
from agent_league.protocol import Role, rounds, tokens
from agent_league.protocol.play import GameOver
from agent_league.protocol.results import make_game_result
from agent_league.store.events import MatchEnded, ScheduledMatch


class Notices:
    """Makes notices about the season as it is now."""

    def __init__(self, context: Context) -> None:
        self._envelope, self._events = context.envelope, context.events
        self._season = context.season
        self._keys_of = context.keyring.keys_of
        self._league_id = context.season.settings.league_id

    def make_round_announcement(
        self, round_id: int, matches: Sequence[ScheduledMatch], referee_plan: Mapping[str, str]
    ) -> rounds.RoundAnnouncement:
        return rounds.RoundAnnouncement(
            **self._envelope(f"conv-round-{round_id}-announce"),
            league_id=self._league_id,
            round_id=round_id,
            matches=[
                rounds.AnnouncedMatch(
                    match_id=match.match_id,
                    game_type=match.game_type or self._season.settings.game_type,
                    player_A_id=match.first,
                    player_B_id=match.second,
                    referee_endpoint=referee.endpoint if referee else "unassigned",
                )
                for match in matches
                for referee in [self._season.roster.get(referee_plan.get(match.match_id, ""))]
            ],
        )

    def make_own_announcements(self, announcement: rounds.RoundAnnouncement) -> dict[str, Outgoing]:
        """Return what each player gets that asked to hear only of its own matches.

        It is the same for both players of a match, so it is written once for them.
        """
        own: defaultdict[str, list[rounds.AnnouncedMatch]] = defaultdict(list)
        for match in announcement.matches:
            own[match.player_A_id].append(match)
            own[match.player_B_id].append(match)
        write = cache(lambda *matches: encode_message(replace(announcement, matches=[*matches])))
        return {
            entry.agent_id: write(*own[entry.agent_id])
            for entry in self._season.roster.of(Role.PLAYER)
            if entry.compact
        }

    def make_round_completed(self, round_id: int) -> rounds.RoundCompleted:
        statuses = [ended.status for ended in self._season.results_of(round_id)]
        last = round_id >= self._season.total_rounds
        return rounds.RoundCompleted(
            **self._envelope(f"conv-round-{round_id}-complete"),
            league_id=self._league_id,
            round_id=round_id,
            matches_completed=len(statuses),
            next_round_id=None if last else round_id + 1,
            summary=rounds.RoundSummary(
                total_matches=len(statuses),
                wins=statuses.count("WIN"),
                draws=statuses.count("DRAW"),
                technical_losses=statuses.count("TECHNICAL_LOSS"),
            ),
        )

    def make_standings_update(self) -> rounds.StandingsUpdate:
        round_id = self._season.round_id
        return rounds.StandingsUpdate(
            **self._envelope(f"conv-round-{round_id}-standings"),
            league_id=self._league_id,
            round_id=round_id,
            standings=self._season.standings(),
        )

    def make_league_completed(self) -> rounds.LeagueCompleted | None:
        """Return the last notice; None if nobody plays, because it names a champion."""
        rows = self._season.standings()
        if not rows:
            return None
        return rounds.LeagueCompleted(
            **self._envelope("conv-league-complete"),
            league_id=self._league_id,
            total_rounds=self._season.total_rounds,
            total_matches=self._season.played,
            champion=convert(rows[0], rounds.Champion, from_attributes=True),
            final_standings=convert(rows, list[rounds.FinalStanding], from_attributes=True),
            record_link=self._events.link,
        )

    def make_game_over(self, ended: MatchEnded, player_id: str) -> GameOver:
        """Return the notice about a match that had no referee, with the player's ticket."""
        conversation = f"conv-{ended.match_id.lower()}-walkover"
        keys = self._keys_of(self._season.roster[player_id])
        return GameOver(
            **self._envelope(conversation),
            auth_token=tokens.sign_for_any(keys, ended.match_id, conversation, player_id),
            match_id=ended.match_id,
            game_type=self._season.find_game(ended.match_id),
            game_result=make_game_result(ended.result),
        )

    def make_calendar(self) -> Mapping[str, Any]:
        """Return the whole schedule of the season."""
        season = self._season
        return {
            "total_rounds": season.total_rounds,
            "total_players": len(season.players),
            "game_type": season.settings.game_type,
            "schedule": {
                number: [(m.match_id, m.first, m.second) for m in season.pairings(number)]
                for number in range(1, season.total_rounds + 1)
            },
        }

    def freeze_table(self) -> Callable[[], Mapping[str, Any]]:
        """Return a function that writes the table as it is now; equal players share a rank."""
        levels = self._season.levels()
        ended = [one.match_id for one in self._season.results_of(self._season.round_id)]

        def write_table() -> Mapping[str, Any]:
            firsts = accumulate((len(level) for level in levels), initial=1)
            rows = [
                {"rank": rank, "player_id": row.player}
                | {"played": row.played, "wins": row.wins, "losses": row.losses}
                for rank, level in zip(firsts, levels, strict=False)
                for row in level
            ]
            return {"standings": rows, "completed_matches": ended}

        return write_table
