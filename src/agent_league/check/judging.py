"""The small judgements that rules are made of: pure, from exchanges to verdicts."""

import re
from collections.abc import Callable, Iterable

from agent_league.check.exchange import Complaint, Exchange, first_wrong
from agent_league.check.rule import KEPT, Verdict, broken, unjudged
from agent_league.check.seen import Seen, Trial
from agent_league.protocol.fields import UTC_PATTERN
from agent_league.vocabulary import Json

_UTC = re.compile(UTC_PATTERN)


def judged(
    seen: Seen, exchanges: Iterable[Exchange], complain: Callable[[Exchange], Complaint]
) -> Verdict:
    """Return whether all of *exchanges* please; without any there is nothing to judge."""
    given = list(exchanges)
    if not given:
        return unjudged(seen.stopped)
    wrong = first_wrong(given, complain)
    return broken(wrong[1], wrong[0]) if wrong else KEPT


def judged_messages(
    seen: Seen,
    exchanges: Iterable[Exchange],
    complain: Callable[[Json], Complaint],
    kinds: tuple[str, ...] = (),
) -> Verdict:
    """Judge the messages in *exchanges*, as far as there are any.

    One that is neither of *kinds* nor about a match is not judged field by field: that it is
    the wrong answer altogether is the matter of another rule.
    """
    return judged(seen, readable(exchanges, kinds), lambda said: complain(said.message))


def readable(exchanges: Iterable[Exchange], kinds: tuple[str, ...]) -> list[Exchange]:
    """Return the exchanges whose answer is a message of *kinds*, or at least about a match."""
    return [said for said in exchanges if said.message is not None and _is_one(said.message, kinds)]


def _is_one(message: Json, kinds: tuple[str, ...]) -> bool:
    return message.get("message_type") in kinds or "match_id" in message


def wants(said: Json, key: str, right: Callable[[Json], bool], expected: str) -> Complaint:
    """Say what is wrong with the field *key*, if anything is."""
    if said.get(key) is None:
        return f"{key} is missing; expected {expected}"
    return None if right(said[key]) else f"{key}: expected {expected}, got {said[key]!r:.80}"


def copied(said: Exchange, key: str) -> Complaint:
    """Say if the reply does not repeat the field *key* of the request."""
    asked = said.asked.get(key)
    return wants(said.message, key, lambda value: value == asked, repr(asked))


def lateness(said: Exchange) -> Complaint:
    return f"nothing came within {said.allowed:g} s" if said.late else None


def is_utc(value: Json) -> bool:
    return isinstance(value, str) and bool(_UTC.match(value))


def is_text(value: Json) -> bool:
    return isinstance(value, str) and bool(value)


def survived(seen: Seen, name: str, complain: Callable[[Exchange], Complaint]) -> Verdict:
    """Judge the answer to a trial, and that the agent went on after it."""
    trial = seen.trials.get(name)
    if trial is None:
        return unjudged(seen.stopped)
    wrong = complain(trial.bad) or _harmed(trial)
    return broken(wrong, trial.bad) if wrong else KEPT


def _harmed(trial: Trial) -> Complaint:
    if trial.bad.late:
        return f"it did not answer within {trial.bad.allowed:g} s"
    after = trial.after.problem()
    return f"after that it no longer answered a right request: {after}" if after else None


def answered(exchange: Exchange) -> Complaint:
    """Any answer that can be read is good enough, a refusal as much as a reply."""
    if exchange.refused:
        return None
    return exchange.problem()


def refused(exchange: Exchange) -> Complaint:
    """Only an error will do."""
    if exchange.refused or exchange.late:
        return None
    return exchange.problem() or "it answered as if nothing were wrong; an error was due"


def taken(exchange: Exchange) -> Complaint:
    """Anything but an error will do, in time; a notice needs no body in answer."""
    if exchange.refused:
        return f"it answered with an error: {_said(exchange)}"
    if exchange.answer is not None and not exchange.answer.body.strip():
        return None
    return exchange.problem()


def takes_a_seat(said: Exchange) -> bool:
    """Whether the answer is a reply to an invitation, however it is written."""
    message = said.message or {}
    return message.get("message_type") == "GAME_JOIN_ACK" or "accept" in message


def refusal(order: Exchange) -> Complaint:
    """Say why the referee does not take a match, if it does not."""
    message = order.message or {}
    if order.refused:
        return "it answered with an error"
    if message.get("status") == "REJECTED" or message.get("accept") is False:
        return f"it rejected the match: {message.get('reason')}"
    return None


def _said(exchange: Exchange) -> str:
    error = exchange.error
    if isinstance(error, dict):
        return f"{error.get('code')} {str(error.get('message'))[:120]}"
    return f"HTTP {exchange.answer.status if exchange.answer else 0}"
