"""The messages about errors."""

from typing import ClassVar

from msgspec import Struct

from agent_league.protocol.fields import Count, Ordinal, Sentence, Text, UtcTime
from agent_league.protocol.message import EVERYBODY, LEAGUE, PLAYER, REFEREE, Notice, Route
from agent_league.vocabulary import Json


class LeagueErrorMessage(Notice, frozen=True, kw_only=True, tag="LEAGUE_ERROR"):
    """A message was refused; the sentence for people is in *detail*."""

    route: ClassVar[Route] = Route((LEAGUE,), EVERYBODY, "notify_league_error")

    error_code: Text
    error_description: Text
    """The same symbol as *error_name*: four of the five documents use it like this."""
    original_message_type: Text
    error_name: Text | None = None
    detail: Sentence | None = None
    context: dict[str, Json] | None = None
    retryable: bool | None = None


class RetryInfo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How often the referee has tried, and how often it will."""

    retry_count: Count
    max_retries: Ordinal
    next_retry_at: UtcTime | None = None
    time_remaining: float | None = None


class GameErrorMessage(Notice, frozen=True, kw_only=True, tag="GAME_ERROR"):
    """A player did not answer, or answered wrongly; *consequence* is what follows."""

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
