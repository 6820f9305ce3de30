"""What the league tells everybody: rounds, standings, the end."""

from typing import ClassVar

from msgspec import Struct

from agent_league.protocol.fields import Count, Ordinal, Text
from agent_league.protocol.message import EVERYBODY, LEAGUE, PLAYER, Notice, Route


class AnnouncedMatch(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One match of a round."""

    match_id: Text
    game_type: Text
    player_A_id: Text  # noqa: N815 - the protocol's spelling
    player_B_id: Text  # noqa: N815 - the protocol's spelling
    referee_endpoint: Text
    player_A_endpoint: Text | None = None  # noqa: N815 - the protocol's spelling
    """Where a player listens; only in an announcement that is also the order to play."""
    player_B_endpoint: Text | None = None  # noqa: N815 - the protocol's spelling


class RoundAnnouncement(Notice, frozen=True, kw_only=True, tag="ROUND_ANNOUNCEMENT"):
    """The matches of the round that begins."""

    route: ClassVar[Route] = Route((LEAGUE,), (PLAYER,), "notify_round")

    league_id: Text
    round_id: Ordinal
    matches: list[AnnouncedMatch]


class RoundSummary(Struct, frozen=True, kw_only=True):
    """How the matches of a round ended; the three counts add up to *total_matches*."""

    total_matches: Count
    wins: Count
    draws: Count
    technical_losses: Count


class RoundCompleted(Notice, frozen=True, kw_only=True, tag="ROUND_COMPLETED"):
    """Every match of the round has ended."""

    route: ClassVar[Route] = Route((LEAGUE,), EVERYBODY, "notify_round_completed")

    league_id: Text
    round_id: Ordinal
    matches_completed: Count
    next_round_id: Ordinal | None
    """None after the last round."""
    summary: RoundSummary


class StandingRow(Struct, frozen=True, kw_only=True):
    """One player's line of the table."""

    rank: Ordinal
    player_id: Text
    display_name: str
    played: Count
    wins: Count
    draws: Count
    losses: Count
    points: Count


class StandingsUpdate(Notice, frozen=True, kw_only=True, tag="LEAGUE_STANDINGS_UPDATE"):
    """The whole table, best first."""

    route: ClassVar[Route] = Route((LEAGUE,), (PLAYER,), "update_standings")

    league_id: Text
    round_id: Ordinal
    standings: list[StandingRow]


class Champion(Struct, frozen=True, kw_only=True):
    """Who won the league."""

    player_id: Text
    display_name: str
    points: Count


class FinalStanding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One player's final place."""

    rank: Ordinal
    player_id: Text
    points: Count
    display_name: str | None = None


class LeagueCompleted(Notice, frozen=True, kw_only=True, tag="LEAGUE_COMPLETED"):
    """The league is over."""

    route: ClassVar[Route] = Route((LEAGUE,), EVERYBODY, "notify_league_completed")

    league_id: Text
    total_rounds: Count
    total_matches: Count
    champion: Champion
    final_standings: list[FinalStanding]
    record_link: str | None = None
    """A link of the league's record: who notes it sees with `league verify --head` if it changes."""
