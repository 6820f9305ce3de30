"""The small judgements that rules are made of. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from agent_league.check.exchange import Exchange, Problem
from agent_league.check.observations import (
    GAMES_IN_A_ROW,
    Bout,
    Game,
    PlayerObservations,
    RefereeObservations,
)
from agent_league.check.rule import Case, NotJudgedError, Select
from agent_league.protocol.fields import UTC_PATTERN
from agent_league.vocabulary import Json

_UTC = re.compile(UTC_PATTERN)


def list_replies(found: Iterable[Exchange]) -> list[Case[Json]]:
    return [Case(exchange.message, exchange) for exchange in found]


def list_requests(found: Iterable[Exchange]) -> list[Case[Json]]:
    return [Case(exchange.request_message, exchange) for exchange in found]


def select_series(noun: str) -> Select[Any]:
    """Return the selection of the games, or matches, that were played in a row."""

    def select(observations: PlayerObservations | RefereeObservations) -> Iterator[Case[Any]]:
        played: Sequence[Game | Bout] = observations.series
        count = observations.game_count
        if len(played) < count and all(each.has_ended for each in played):
            raise NotJudgedError(
                f"{len(played)} of {count} were played: {observations.stop_reason}"
            )
        for number, each in enumerate(played, 1):
            yield Case(each, each.find_proof(), f"{noun} {number} of {count}: ")
        if count < GAMES_IN_A_ROW:
            were = "was" if count == 1 else "were"
            raise NotJudgedError(f"no fault, but only {count} {were} asked for: --games")

    return select


def field(key: str, is_valid: Callable[[Json], bool], expected: str) -> Callable[[Json], Problem]:
    """Return the judgement that the field *key* of a message is valid."""

    def find_problem(message: Json) -> Problem:
        if message.get(key) is None:
            return f"{key} is missing; expected {expected}"
        if is_valid(message[key]):
            return None
        return f"{key}: expected {expected}, got {message[key]!r:.80}"

    return find_problem


def equals(key: str, expected: Json) -> Callable[[Json], Problem]:
    """Return the judgement that the field *key* of a message is *expected*, and of its type."""
    return field(key, lambda v: type(v) is type(expected) and v == expected, repr(expected))


def find_first_problem(problems: Iterable[Problem]) -> Problem:
    return next(filter(None, problems), None)


def check_echo(exchange: Exchange, key: str) -> Problem:
    """Say if the reply does not repeat the field *key* of the request."""
    return equals(key, exchange.request_message.get(key))(exchange.message)


def check_in_time(exchange: Exchange) -> Problem:
    return f"nothing came within {exchange.time_limit:g} s" if exchange.is_late else None


def is_utc(value: Json) -> bool:
    return isinstance(value, str) and bool(_UTC.match(value))


def is_text(value: Json) -> bool:
    return isinstance(value, str) and bool(value)


def matches(pattern: str) -> Callable[[Json], bool]:
    """Return the test whether a value is text of the form *pattern*."""
    return lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value))


def check_answered(exchange: Exchange) -> Problem:
    """Accept any answer that can be read, an error as much as a reply."""
    return None if exchange.is_refusal else exchange.problem()


def check_refused(exchange: Exchange) -> Problem:
    """Accept only an error."""
    if exchange.is_refusal or exchange.is_late:
        return None
    return exchange.problem() or "it answered as if nothing were wrong; an error was expected"


def check_accepted(exchange: Exchange) -> Problem:
    """Accept anything but an error, in time; the answer to a notice needs no body."""
    error, answer = exchange.error, exchange.answer
    if exchange.is_refusal and answer:
        text = f"HTTP {answer.status}"
        if isinstance(error, dict):
            text = f"{error.get('code')} {str(error.get('message'))[:120]}"
        return f"it answered with an error: {text}"
    return exchange.problem() if answer is None or answer.body.strip() else None


def is_join_reply(exchange: Exchange) -> bool:
    """Whether the answer is a reply to an invitation, however it is written."""
    return exchange.get("message_type") == "GAME_JOIN_ACK" or "accept" in (exchange.message or {})


def find_refusal(order: Exchange) -> Problem:
    """Say why the referee does not take a match, if it does not."""
    if order.problem() or order.is_refusal:
        return order.problem() or "it answered with an error"
    if order.get("status") == "REJECTED" or order.get("accept") is False:
        return f"it rejected the match: {order.get('reason')}"
    return None
