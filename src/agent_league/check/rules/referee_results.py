"""The rules of how a match ends: what the players are told, and what the league."""

from agent_league.check.exchange import Complaint
from agent_league.check.letters import PLAYERS
from agent_league.check.rule import Gravity, Verdict, rule, unjudged
from agent_league.check.rules.referee import OVER, REFEREE, REPORT, equal, of_bouts, well
from agent_league.check.seen import Bout, RefereeSeen
from agent_league.vocabulary import Json


@rule(
    "referee.game-over.both",
    REFEREE,
    title="tells both players the same result",
    section="003 5.3.4",
    fix="Send GAME_OVER to both players, with the same game_result.",
)
def tells_both(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        told = [bout.said(OVER, seat) for seat in (0, 1)]
        if not all(told):
            missed = PLAYERS[0] if not told[0] else PLAYERS[1]
            return f"{missed} was not told how it ended"
        results = [heard[0].message.get("game_result") for heard in told]
        return None if results[0] == results[1] else "the two were told different results"

    return of_bouts(seen, [bout for bout in seen.matches if bout.said(OVER)], problem, OVER)


@rule(
    "referee.game-over.choices",
    REFEREE,
    title="tells what both chose",
    section="003 5.3.2",
    fix='Set "choices" to {player_id: choice} of both players.',
)
def tells_the_choices(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        chosen = dict(zip(PLAYERS, bout.choices, strict=True))
        return equal(bout.result(), "choices", chosen)

    return of_bouts(seen, well(seen), problem, OVER)


@rule(
    "referee.game-over.number",
    REFEREE,
    title="draws a number from 1 to 10 and names its parity",
    section="003 5.3.2",
    fix='Set "drawn_number" to an integer from 1 to 10 and "number_parity" to its parity.',
)
def draws_a_number(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        drawn = bout.result().get("drawn_number")
        if type(drawn) is not int or drawn not in range(1, 11):
            return f"drawn_number: expected an integer from 1 to 10, got {drawn!r}"
        return equal(bout.result(), "number_parity", _parity(drawn))

    return of_bouts(seen, well(seen), problem, OVER)


def _parity(number: int) -> str:
    return "odd" if number % 2 else "even"


@rule(
    "referee.game-over.winner",
    REFEREE,
    title="names the winner that the rules name",
    section="001 Game Rules",
    fix="Equal choices are a DRAW (winner_player_id null); else whoever chose the number's parity "
    "has the WIN.",
    gravity=Gravity.CRITICAL,
)
def names_the_winner(seen: RefereeSeen) -> Verdict:
    def problem(bout: Bout) -> Complaint:
        result, (status, winner) = bout.result(), _by_the_rules(bout)
        said = (result.get("status"), result.get("winner_player_id"))
        return None if said == (status, winner) else f"expected {(status, winner)}, got {said}"

    drawn = [bout for bout in well(seen) if type(bout.result().get("drawn_number")) is int]
    return of_bouts(seen, drawn, problem, OVER)


def _by_the_rules(bout: Bout) -> tuple[str, str | None]:
    first, second = bout.choices
    if first == second:
        return "DRAW", None
    right = _parity(bout.result()["drawn_number"])
    return "WIN", PLAYERS[0] if first == right else PLAYERS[1]


@rule(
    "referee.report.sent",
    REFEREE,
    title="reports every result to the league",
    section="003 7.1.3",
    fix="Send MATCH_RESULT_REPORT to the league as soon as the match is over.",
    gravity=Gravity.CRITICAL,
)
def reports(seen: RefereeSeen) -> Verdict:
    if seen.registration is None:
        return unjudged(seen.unregistered)

    def problem(bout: Bout) -> Complaint:
        return None if _reported(bout) else "the league got no MATCH_RESULT_REPORT"

    return of_bouts(seen, [bout for bout in seen.matches if bout.ended], problem, OVER)


def _reported(bout: Bout) -> Json:
    told = [heard.message.get("result") for heard in bout.reports if heard.kind == REPORT]
    return next((result for result in told if isinstance(result, dict)), None)


@rule(
    "referee.report.score",
    REFEREE,
    title="reports the winner and the points that follow: 3 and 0, or 1 and 1",
    section="003 7.1.2",
    fix='Set "winner" (null for a draw) and "score" {player_id: points} as the result was told.',
    recorded=("report-form", "report-score"),
)
def reports_the_score(seen: RefereeSeen) -> Verdict:
    if seen.registration is None:
        return unjudged(seen.unregistered)

    def problem(bout: Bout) -> Complaint:
        winner = bout.result().get("winner_player_id")
        points = [1 if winner is None else 3 * (winner == player) for player in PLAYERS]
        expected = (winner, dict(zip(PLAYERS, points, strict=True)))
        said = (_reported(bout).get("winner"), _reported(bout).get("score"))
        return None if said == expected else f"expected {expected}, got {said}"

    return of_bouts(seen, [bout for bout in well(seen) if _reported(bout)], problem, REPORT)
