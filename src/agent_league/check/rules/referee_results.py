"""The rules for how a match ends: the result for the players, and the report to the league."""

from collections.abc import Iterator

from agent_league.check.exchange import Problem
from agent_league.check.judging import equals
from agent_league.check.messages import PLAYERS
from agent_league.check.observations import Bout, RefereeObservations
from agent_league.check.rule import NotJudgedError
from agent_league.check.rules.referee import GAME_OVER, bouts, list_normal, referee_rule
from agent_league.protocol.requirements import referee as required
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

REPORT = "MATCH_RESULT_REPORT"
LARGEST_NUMBER = 10


@referee_rule(
    required.RESULT_FOR_BOTH,
    bouts(lambda o: [bout for bout in o.clear_matches if bout.find_messages(GAME_OVER)], GAME_OVER),
)
def sends_both_the_result(bout: Bout) -> Problem:
    missed = [PLAYERS[seat] for seat in (0, 1) if not bout.find_messages(GAME_OVER, seat)]
    if missed:
        return f"{missed[0]} got no result"
    first, second = (bout.find_messages(GAME_OVER, seat)[0].message for seat in (0, 1))
    own = ("timestamp", "auth_token", "conversation_id", "player_id")
    one, other = ({k: v for k, v in sent.items() if k not in own} for sent in (first, second))
    if "game_result" in first or "game_result" in second:
        one, other = first.get("game_result"), second.get("game_result")
    differences = ", ".join(_list_differences(one, other))
    return f"the two players got different messages: {differences}" if differences else None


def _list_differences(one: Json, other: Json, place: str = "game_result") -> Iterator[str]:
    """Yield each place where two results differ, with what is there."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            yield from _list_differences(one.get(key), other.get(key), key)
    elif one != other:
        yield f"{place} ({one!r:.60} and {other!r:.60})"


@referee_rule(required.RESULT_CHOICES, bouts(list_normal, GAME_OVER))
def shows_the_choices(bout: Bout) -> Problem:
    return equals("choices", dict(zip(PLAYERS, bout.choices, strict=True)))(bout.result())


@referee_rule(required.RESULT_NUMBER, bouts(list_normal, GAME_OVER))
def draws_a_number(bout: Bout) -> Problem:
    drawn = bout.result().get("drawn_number")
    if type(drawn) is not int or drawn not in range(1, LARGEST_NUMBER + 1):
        return f"drawn_number: expected an integer from 1 to {LARGEST_NUMBER}, got {drawn!r}"
    return equals("number_parity", _parity(drawn))(bout.result())


def _parity(number: int) -> str:
    return "odd" if number % 2 else "even"


def _list_drawn(observations: RefereeObservations) -> list[Bout]:
    normal = list_normal(observations)
    drawn = [bout for bout in normal if type(bout.result().get("drawn_number")) is int]
    if normal and not drawn:
        raise NotJudgedError("its GAME_OVER has no drawn_number")
    return drawn


@referee_rule(required.RESULT_WINNER, bouts(_list_drawn, GAME_OVER))
def names_the_winner(bout: Bout) -> Problem:
    result, (first, second) = bout.result(), bout.choices
    winner = PLAYERS[0] if first == _parity(result["drawn_number"]) else PLAYERS[1]
    expected = None if first == second else winner
    actual = result.get("winner_player_id")
    return None if actual == expected else f"winner: expected {expected}, got {actual}"


def _list_reportable(observations: RefereeObservations) -> list[Bout]:
    """Return the matches that ended, if the referee can report to the check's league."""
    observations.get_registration()
    return [bout for bout in observations.matches if bout.has_ended]


@referee_rule(required.REPORT_SENT, bouts(_list_reportable, GAME_OVER))
def reports(bout: Bout) -> Problem:
    return None if _find_report(bout) else "the league got no MATCH_RESULT_REPORT"


def _find_report(bout: Bout) -> Json:
    results = (got.message.get("result") for got in bout.reports if got.kind == REPORT)
    return next((result for result in results if isinstance(result, dict)), None)


def _list_reported(observations: RefereeObservations) -> list[Bout]:
    observations.get_registration()
    normal = list_normal(observations)
    reported = [bout for bout in normal if _find_report(bout)]
    if normal and not reported:
        raise NotJudgedError("it sent no MATCH_RESULT_REPORT with a result")
    return reported


@referee_rule(
    rules.REPORT_SCORE,
    bouts(_list_reported, REPORT),
    id="referee.report.score",
    recorded=(rules.REPORT_FORM, rules.REPORT_SCORE),
)
def reports_the_score(bout: Bout) -> Problem:
    winner, report = bout.result().get("winner_player_id"), _find_report(bout)
    points = [1 if winner is None else 3 * (winner == player) for player in PLAYERS]
    expected = (winner, dict(zip(PLAYERS, points, strict=True)))
    actual = (report.get("winner"), report.get("score"))
    return None if actual == expected else f"expected {expected}, got {actual}"
