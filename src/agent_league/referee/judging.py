"""Judgement of a match: pure functions from what the players did to a result."""

from collections.abc import Mapping, Sequence
from typing import Any

from agent_league.game import AnyGame, IllegalMoveError, Outcome
from agent_league.protocol import ErrorCode, failures
from agent_league.protocol.explain import abridge
from agent_league.protocol.results import MatchResult, Termination
from agent_league.vocabulary import Json, PlayerId

BAD_MOVES = {ErrorCode.INVALID_PARITY_CHOICE, ErrorCode.ILLEGAL_MOVE}
"""The errors of a player that answered as it should, but chose what it may not choose."""

_SENTENCES: Mapping[Termination, str] = {
    Termination.DECLINED: "declined the invitation",
    Termination.TIMEOUT: "failed to respond within timeout",
    Termination.UNREACHABLE: "could not be reached",
    Termination.INVALID_REPLY: "gave no valid answer",
    Termination.INVALID_MOVE: "made no valid move",
    Termination.ERROR_REPLY: "answered only with errors",
    Termination.TOOLS_CHANGED: "changed its tools during the league",
    Termination.SUSPENDED: "is suspended",
}


def find_termination(error: failures.NoAnswerError) -> Termination:
    """Return why a player whose last attempt failed with *error* forfeits."""
    if isinstance(error, failures.NonsenseError):
        bad_move = error.code in BAD_MOVES
        return Termination.INVALID_MOVE if bad_move else Termination.INVALID_REPLY
    if isinstance(error, failures.RefusedError) and error.code is ErrorCode.TIMEOUT_ERROR:
        return Termination.TIMEOUT  # a relay answered, because its player was too late
    by_kind = {
        failures.LateError: Termination.TIMEOUT,
        failures.RefusedError: Termination.ERROR_REPLY,
        failures.FailedError: Termination.ERROR_REPLY,
        failures.NoPathError: Termination.ERROR_REPLY,
        failures.ToolsChangedError: Termination.TOOLS_CHANGED,
    }
    return by_kind.get(type(error), Termination.UNREACHABLE)


def check_move(game: AnyGame, legal: Sequence[Any], raw: Json) -> Any:
    """Return the move that *raw* means, or raise `NonsenseError` if it is not one of the *legal*."""
    try:
        move = game.read_move(raw)
        if move in legal:
            return move
    except IllegalMoveError:
        pass
    detail = f"{raw!r:.60} is not a legal move"
    context: dict[str, Json] = {"invalid_choice": abridge(raw), "valid_choices": list(legal)}
    raise failures.NonsenseError(detail, ErrorCode.ILLEGAL_MOVE, **context)


def judge_game(
    players: tuple[PlayerId, PlayerId],
    outcome: Outcome,
    choices: Mapping[str, Json],
    record: Mapping[str, Json],
) -> MatchResult:
    """Return the result of a game that was played to its end."""
    reason = outcome.reason.format(*players)
    return MatchResult(
        players=players,
        winner=None if outcome.winner is None else players[outcome.winner],
        details={"drawn_number": None, **record, "choices": choices, "reason": reason},
    )


def judge_forfeits(
    players: tuple[PlayerId, PlayerId],
    forfeits: Mapping[PlayerId, Termination],
    choices: Mapping[str, Json],
) -> MatchResult:
    """Return the result of a game that one player, or both, did not play to its end."""
    winner = next((player for player in players if player not in forfeits), None)
    sentences = [f"{player} {_SENTENCES[why]}" for player, why in forfeits.items()]
    ending = f"{winner} wins by default" if winner else "no points for either"
    reason = f"{', '.join(sentences)} - {ending}"
    return MatchResult(
        players=players,
        winner=winner,
        forfeits=forfeits,
        termination=next(iter(forfeits.values())) if winner else Termination.BOTH_FORFEIT,
        details={"drawn_number": None, "choices": choices, "reason": reason},
    )
