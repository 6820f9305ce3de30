"""What a player is told whose answer was wrong, late or missing, and how long it is waited for."""

from typing import Any

from agent_league.protocol import Request, name
from agent_league.protocol.error_messages import GameErrorMessage, RetryInfo
from agent_league.protocol.failures import NoAnswerError
from agent_league.referee.judging import BAD_MOVES

CORRECTION_PATIENCE = 1.0
"""Seconds of a player's time window, at most, that go into telling it what was wrong."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0
"""Seconds between a correction and the next question, from the second correction on."""


def make_correction(
    envelope: dict[str, Any],
    player_id: str,
    request: Request[Any],
    error: NoAnswerError,
    retry_info: RetryInfo,
) -> GameErrorMessage:
    """Return the message to *player_id* about the *error* in its answer to *request*."""
    return GameErrorMessage(
        **envelope,
        error_code=error.code,
        error_name=error.code.name,
        error_description=error.code.name,
        affected_player=player_id,
        action_required=name(request.reply),
        retry_info=retry_info,
        detail=str(error)[:500],
        context=getattr(error, "context", None) or None,
        retryable=True,
        consequence="Technical loss if max retries exceeded"
        if error.code not in BAD_MOVES
        else "Technical loss if valid choice not received before timeout",
    )


def compute_pause(number: int, left: float) -> float:
    """Return how long to wait before a player is asked again, after pause *number* (from 1).

    It bounds how often a player that answers wrongly at once is asked while its time lasts.
    """
    growing = FIRST_PAUSE * float(2 ** min(number - 1, 10))
    return max(0.0, min(growing, LONGEST_PAUSE, left))
