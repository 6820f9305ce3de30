"""Tells how a match ended: GAME_OVER to its players, then MATCH_RESULT_REPORT to the league."""

import asyncio
from contextlib import suppress
from itertools import count

import msgspec

from agent_league.agent import Agent
from agent_league.dialects.dialect import encode_message
from agent_league.futures import wait_for_all
from agent_league.member import Member, NotAdmittedError
from agent_league.peers.retry import compute_delay
from agent_league.protocol import ErrorCode
from agent_league.protocol.deviations import Ledger
from agent_league.protocol.failures import FailedError, NoAnswerError, RefusedError
from agent_league.protocol.fields import VERSION
from agent_league.protocol.packing import PACKED
from agent_league.protocol.play import ResultReport, Retry, TranscriptPart, Violation
from agent_league.protocol.results import MatchResult, make_game_result, make_reported_result
from agent_league.referee.match import Match
from agent_league.tournament.standings import DEFAULT_SCORING

LONGEST_REPORT_DELAY = 30.0
THIRD_PARTY_PATIENCE = 60.0
"""Seconds in which a league that does not sign may acknowledge a report."""
GAME_OVER_HEAD_START = 0.25
"""Seconds that players have to take GAME_OVER before the league gets the report."""


async def announce_result(referee: Agent, match: Match, result: MatchResult) -> None:
    """Tell both players at the same time; do not wait for one that is absent or slow."""
    waiting, game_result = [], make_game_result(result)
    for number, seat in enumerate(match.seated_players):
        notice = seat.make_game_over(game_result)
        told = seat.line.start_telling(notice, match.order.patience.game_over)
        why = match.forfeits.get(number)
        if why is None or not why.is_absence:
            waiting.append(told)
    if waiting:
        await wait_for_all(waiting, GAME_OVER_HEAD_START, referee.waits)


async def report_result(referee: Member, match: Match, result: MatchResult) -> bool:
    """Report the result again and again; True when the league has it, False if it refuses it."""
    for attempt in count(1):
        match.forget_reorder()
        order = match.order
        try:
            await _send_report_with_valid_token(referee, match, result)
        except (NoAnswerError, NotAdmittedError) as error:
            if _is_refusal(error):
                text = f"the league refuses the result of {order.match_id}: {error}"
                referee.agent_log.warn("REPORT_REFUSED", text)
                if match.order.ticket == order.ticket:
                    return False
                continue
            text = f"the league has no result of {order.match_id} yet: {error}"
            referee.agent_log.warn("REPORT_LATE", text)
            addresses = len(referee.other_urls) + 1
            referee.turn_to_next_address()
            if attempt % addresses:
                continue
            delay = min(compute_delay(Retry(), min(attempt // addresses, 5)), LONGEST_REPORT_DELAY)
            with suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await match.reordered.wait()
        else:
            return True
    return False


def _is_refusal(error: NoAnswerError | NotAdmittedError) -> bool:
    """Whether it is no use to report again; a league that failed has refused nothing."""
    is_answer = isinstance(error, (RefusedError, NotAdmittedError))
    return is_answer and not isinstance(error, FailedError)


async def _send_report_with_valid_token(referee: Member, match: Match, result: MatchResult) -> None:
    """Report the result; if the league takes the token no more, get a new one and report again."""
    refused = referee.token
    try:
        return await _send_report(referee, match, result)
    except RefusedError as error:
        if error.code is not ErrorCode.AUTH_TOKEN_INVALID:
            raise
    await referee.renew_token(refused)
    return await _send_report(referee, match, result)


async def _send_report(referee: Member, match: Match, result: MatchResult) -> None:
    line, order = referee.peers.line(referee.league_url), match.order
    conversation_id = f"{order.conversation_id}-report"
    *parts, last = match.transcript.parts(_count_long_details(result))
    report = ResultReport(
        protocol=VERSION,
        sender=referee.sender,
        timestamp=referee.now(),
        conversation_id=conversation_id,
        auth_token=referee.token,
        match_id=order.match_id,
        ticket=order.ticket,
        league_id=order.league_id,
        round_id=order.round_id,
        game_type=order.game_type,
        result=make_reported_result(result, DEFAULT_SCORING.score(result)),
        transcript=last,
        violations=[
            Violation(player_id=seat.player_id, rule=rule, got=deviation.got)
            for seat in match.seated_players
            for rule, deviation in seat.line.ledger.deviations.items()
        ],
    )
    for number, part in enumerate(parts, 1):
        notice = TranscriptPart(
            **referee.envelope(conversation_id),
            auth_token=referee.token,
            match_id=order.match_id,
            ticket=order.ticket,
            part=number,
            entries=part,
        )
        await line.tell(notice)
    # A third-party league may tell everybody first, and counts a report that is repeated twice.
    within = None if referee.league_signs else THIRD_PARTY_PATIENCE
    await line.send(encode_message(report), within, ledger=Ledger())


def _count_long_details(result: MatchResult) -> int:
    """Return the bytes of details that may be long, which are those of games with several turns."""
    is_short = "moves" not in result.details and PACKED not in result.details
    return 0 if is_short else len(msgspec.json.encode(result.details))
