"""The rules of a match that does not go well, and of many of them."""

from agent_league.check.exchange import Complaint, Exchange
from agent_league.check.judging import judged, refusal
from agent_league.check.letters import PLAYERS
from agent_league.check.rule import KEPT, Gravity, Verdict, broken, rule, unjudged
from agent_league.check.rules.referee import CALLED, INVITED, OVER, of_bouts
from agent_league.check.seen import Bout, RefereeSeen
from agent_league.protocol import Role

REFEREE = Role.REFEREE
ERROR = "GAME_ERROR"


def _named(seen: RefereeSeen, name: str) -> list[Bout]:
    found = seen.bouts.get(name)
    return [found] if found and found.said(INVITED, 1) else []


def _codes(bout: Bout) -> list[object]:
    return [heard.message.get("error_code") for heard in bout.said(ERROR, 1)]


@rule(
    "referee.invalid-choice.error",
    REFEREE,
    title='answers an invalid choice ("Odd") with GAME_ERROR E004',
    section="003 6.2.4",
    fix="Send GAME_ERROR with error_code E004 to the player whose choice is not even or odd.",
)
def tells_what_was_wrong(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        codes = _codes(bout)
        return None if "E004" in codes else f"the player got the errors {codes}, not E004"

    return of_bouts(seen, _named(seen, "wrong case"), problem, CALLED, ERROR)


@rule(
    "referee.invalid-choice.second-chance",
    REFEREE,
    title="lets an invalid choice be corrected in the same window",
    section="003 6.2.4",
    fix="Ask again, inside the 30 seconds, and play on with the corrected choice.",
)
def gives_a_second_chance(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        if bout.result().get("status") in {"WIN", "DRAW"}:
            return None
        asked = len(bout.said(CALLED, 1))
        return f"asked {asked} times, the match ended {bout.result().get('status')}"

    return of_bouts(seen, _named(seen, "wrong case"), problem, CALLED, ERROR)


@rule(
    "referee.declined",
    REFEREE,
    title="gives the match to the other when a player declines",
    section="003 5.2.3",
    fix='"accept": false is a TECHNICAL_LOSS: the other player wins.',
)
def honours_a_refusal(seen: RefereeSeen) -> Verdict:
    return of_bouts(seen, _named(seen, "declined"), _lost_by_second, OVER)


def _lost_by_second(bout: Bout) -> Complaint:
    result = bout.result()
    said = (result.get("status"), result.get("winner_player_id"))
    expected = ("TECHNICAL_LOSS", PLAYERS[0])
    return None if said == expected else f"expected {expected}, got {said}"


@rule(
    "referee.silent.technical-loss",
    REFEREE,
    title="gives the match to the other when a player stays silent",
    section="003 5.2.3",
    fix="Stop waiting after the timeout; the silent player has a TECHNICAL_LOSS.",
    gravity=Gravity.CRITICAL,
)
def ends_a_silent_match(seen: RefereeSeen) -> Verdict:
    return of_bouts(seen, _named(seen, "silent"), _lost_by_second, OVER)


@rule(
    "referee.silent.three-attempts",
    REFEREE,
    title="tries three times before it gives a silent player up",
    section="003 9.2.4",
    fix="Send GAME_INVITATION (and CHOOSE_PARITY_CALL) up to three times before a technical loss.",
)
def tries_three_times(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        tried = len(bout.said(INVITED, 1))
        return None if tried == ATTEMPTS else f"it was invited {tried} times, not {ATTEMPTS}"

    return of_bouts(seen, _named(seen, "silent"), problem, INVITED, ERROR)


ATTEMPTS = 3


@rule(
    "referee.silent.warning",
    REFEREE,
    title="warns a silent player with GAME_ERROR E001 and retry_info",
    section="003 9.2.4",
    fix="After each failed attempt send GAME_ERROR, error_code E001, with retry_info.",
)
def warns_the_silent(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        warned = [heard for heard in bout.said(ERROR, 1) if heard.message.get("retry_info")]
        codes = [heard.message.get("error_code") for heard in warned]
        return None if "E001" in codes else f"the player got the errors {_codes(bout)}, not E001"

    return of_bouts(seen, _named(seen, "silent"), problem, INVITED, ERROR)


@rule(
    "referee.repeat.start-match",
    REFEREE,
    title="plays a match once that it is given twice",
    section="000 Required Capabilities",
    fix="Remember the match_id of a match that is running, and only acknowledge it again.",
)
def plays_once(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        told = len(bout.said(OVER, 0))
        return None if told <= 1 else f"the players were told {told} results"

    return of_bouts(seen, _named(seen, "twice"), problem, OVER)


@rule(
    "referee.unknown-game",
    REFEREE,
    title="refuses a game that it does not know",
    section="000 Critical Requirements",
    fix='Look at `game_type`: answer "status": "REJECTED", or an error, if it is none of yours.',
)
def refuses_what_it_cannot_run(seen: RefereeSeen) -> Verdict:
    def problem(said: Exchange) -> Complaint:
        return said.problem() or (None if refusal(said) else "it took a match of quidditch")

    return judged(seen, [seen.strange_game] if seen.strange_game else [], problem)


@rule(
    "referee.concurrent-matches",
    REFEREE,
    title="runs as many matches at once as it says it can",
    section="003 3.1.2",
    fix="Keep the state of each match by its match_id, or say a smaller max_concurrent_matches.",
)
def runs_several(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        refused = bout.order.problem() or refusal(bout.order)
        return refused or (None if bout.ended else "it did not come to its end")

    if not seen.together and seen.series:
        return unjudged("it does not say that it runs more than one")
    return of_bouts(seen, seen.together, problem)


@rule(
    "referee.consecutive-games",
    REFEREE,
    title="runs 50 matches in a row to their end",
    section="000 Phase 1",
    fix="Find what grows or breaks over many matches; a match must always end.",
    gravity=Gravity.CRITICAL,
)
def endures(seen: RefereeSeen) -> Verdict:
    failed = next((bout for bout in seen.series if not bout.ended), None)
    if failed is not None:
        why = failed.order.problem() or refusal(failed.order) or "it did not come to its end"
        number = seen.series.index(failed) + 1
        return broken(f"match {number} of {seen.wanted}: {why}", failed.order)
    if len(seen.series) < seen.wanted or not seen.series:
        return unjudged(f"{len(seen.series)} of {seen.wanted} matches were run: {seen.stopped}")
    return KEPT
