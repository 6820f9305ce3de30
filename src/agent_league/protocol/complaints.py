"""How an agent is told that something went wrong."""

from typing import ClassVar

from msgspec import Struct

from agent_league.protocol.fields import Count, Ordinal, Sentence, Text, UtcTime
from agent_league.protocol.message import EVERYBODY, LEAGUE, PLAYER, REFEREE, Notice, Route
from agent_league.vocabulary import Json


class LeagueComplaint(Notice, frozen=True, kw_only=True, tag="LEAGUE_ERROR"):
    """A message was refused; the sentence for people is in *detail*."""

    route: ClassVar[Route] = Route((LEAGUE,), EVERYBODY, "notify_league_error")

    error_code: Text
    error_description: Text
    """The same symbol as *error_name*: four of five documents read it so."""
    original_message_type: Text
    error_name: Text | None = None
    detail: Sentence | None = None
    context: dict[str, Json] | None = None
    retryable: bool | None = None


class RetryInfo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is left of a player's chances."""

    retry_count: Count
    max_retries: Ordinal
    next_retry_at: UtcTime | None = None
    time_remaining: float | None = None


class GameComplaint(Notice, frozen=True, kw_only=True, tag="GAME_ERROR"):
    """A player did not answer, or not as it must; what happens if it goes on so."""

    route: ClassVar[Route] = Route((REFEREE,), (PLAYER,), "notify_game_error")

    match_id: Text
    error_code: Text
    error_description: Text
    affected_player: Text
    action_required: Text
    consequence: Sentence
    error_name: Text | None = None
    retry_info: RetryInfo | None = None
    detail: Sentence | None = None
    context: dict[str, Json] | None = None
    retryable: bool | None = None
