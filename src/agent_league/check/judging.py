"""The small judgements that rules are made of. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from agent_league.check.exchange import FIRST_SERVER_ERROR, Exchange, Problem
from agent_league.check.observations import (
    GAMES_IN_A_ROW,
    Bout,
    Game,
    PlayerObservations,
    RefereeObservations,
)
from agent_league.check.reading import ACCEPT_FIELDS
from agent_league.check.rule import Case, NotJudgedError, Select
from agent_league.dialects.v2.repairs import CHOICE_FIELDS
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
            return f"{key} is missing; expected {expected}{_find_synonym(key, message)}"
        if is_valid(message[key]):
            return None
        return f"{key}: expected {expected}, got {message[key]!r:.80}"

    return find_problem


_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "message_type": ("type",),
    "accept": ACCEPT_FIELDS,
    "parity_choice": CHOICE_FIELDS,
    "match_id": ("game_id",),
    "choices": ("player_choices",),
    "played": ("matches_played", "games_played"),
}


def _find_synonym(key: str, message: Json) -> str:
    """Say which other field the agent has probably sent instead of *key*."""
    found = next((other for other in _SYNONYMS.get(key, ()) if other in message), None)
    return f" (it has {found!r} instead: {message[found]!r:.40})" if found else ""


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
    return check_crash(exchange) or (None if exchange.is_refusal else exchange.problem())


def check_refused(exchange: Exchange) -> Problem:
    """Accept only an error, or the answer to a query that says that it failed."""
    if exchange.is_refusal or exchange.is_late or exchange.get("success") is False:
        return check_crash(exchange)
    return exchange.problem() or "it answered as if nothing were wrong; an error was expected"


def check_crash(exchange: Exchange) -> Problem:
    """Say if the agent failed over the request, instead of answering with an error of its own."""
    has_failed = exchange.answer is not None and exchange.answer.status >= FIRST_SERVER_ERROR
    return exchange.problem() if has_failed else None


def check_accepted(exchange: Exchange) -> Problem:
    """Accept anything but an error, in time; the answer to a notice needs no body."""
    if exchange.is_refusal:
        return f"it answered with an error: {exchange.refusal_text()[:200]}"
    has_body = exchange.answer is None or bool(exchange.answer.body.strip())
    return exchange.problem() if has_body else None


def find_refusal(order: Exchange) -> Problem:
    """Say why the referee does not take a match, if it does not."""
    if order.is_refusal:
        return f"it answered with an error: {order.refusal_text()[:200]}"
    if order.problem():
        return order.problem()
    if order.get("status") == "REJECTED" or order.get("accept") is False:
        return f"it rejected the match: {order.get('reason')}"
    return "it started no match" if order.get("matches_started") == 0 else None


def is_order_taken(order: Exchange) -> bool:
    return find_refusal(order) is None
