"""What a report is worth: the league computes the result, and corrects a wrong verdict."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from agent_league.game import Outcome, find_game, find_judge
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.packing import unpack_details
from agent_league.protocol.requirements import rules
from agent_league.protocol.results import MatchResult, ReportedResult, Termination, read_result
from agent_league.tournament.standings import DEFAULT_SCORING
from agent_league.vocabulary import Json, PlayerId


def read_verdict(reported: ReportedResult, players: Sequence[str], game_type: str) -> MatchResult:
    """Return the result that *reported* stands for, or raise `ValueError`.

    Where the winner follows from the choices and the number, it is computed.
    """
    winner = reported.winner
    details = _keep_own_choices(unpack_details(reported.details), players)
    losers = reported.technical_losses
    if not losers and reported.status == "TECHNICAL_LOSS":
        losers = [player for player in players if player != winner]
    outcome = None if losers else _judge(details, players, game_type)
    if outcome is not None:
        computed = None if outcome.winner is None else players[outcome.winner]
        if computed != winner:
            winner, details = computed, details | {"reason": outcome.reason.format(*players)}
    return read_result(players, winner, losers, reported.termination, reported.forfeits, details)


def _judge(details: Mapping[str, Json], players: Sequence[str], game_type: str) -> Outcome | None:
    judge, choices = find_judge(find_game(game_type)), find_choices(details)
    return judge([choices.get(player) for player in players], details) if judge else None


def was_played(reported: ReportedResult, game_type: str) -> bool:
    """Whether a match was played: a draw without any choice, and without a number, was not."""
    if reported.termination == Termination.NOT_PLAYED:
        return False
    if reported.winner or reported.technical_losses or reported.status == "TECHNICAL_LOSS":
        return True
    details = reported.details
    if "choices" not in details or not find_judge(find_game(game_type)):
        return True
    return any(find_choices(details).values()) or bool(details.get("drawn_number"))


def has_ids(reported: ReportedResult, players: Sequence[str]) -> bool:
    """Whether *reported* names nobody but *players*, by their ids."""
    choices = find_choices(reported.details)
    named = {*reported.score, *choices, *reported.technical_losses, reported.winner}
    return named <= {*players, None}


def use_ids(reported: ReportedResult, ids: Mapping[str, str]) -> ReportedResult:
    """Return *reported* with the ids of its players, where it has names that are keys of *ids*."""
    choices = find_choices(reported.details)
    named = {who for who in (reported.winner, *reported.score, *choices) if who in ids}
    if not named:
        return reported
    renamed = {ids.get(who, who): choice for who, choice in choices.items()}
    return replace(
        reported,
        winner=ids.get(reported.winner, reported.winner) if reported.winner else None,
        score={ids.get(who, who): points for who, points in reported.score.items()},
        details=reported.details | ({"choices": renamed} if choices else {}),
        technical_losses=[ids.get(who, who) for who in reported.technical_losses],
    )


def _keep_own_choices(details: dict[str, Json], players: Sequence[str]) -> dict[str, Json]:
    """Return *details* without choices under the id of somebody who does not play this match."""
    choices = find_choices(details)
    own_choices = {who: choices[who] for who in players if who in choices}
    return details | {"choices": own_choices} if choices else details


def find_choices(details: Mapping[str, Json]) -> dict[str, Json]:
    """Return the choices by player; none if the details have none that can be read."""
    choices = details.get("choices")
    return choices if isinstance(choices, dict) else {}


def find_contradiction(reported: ReportedResult, result: MatchResult) -> Iterator[Deviation]:
    """Yield a deviation if the reported winner or points are not those of *result*."""
    points = DEFAULT_SCORING.score(result)
    if reported.winner == result.winner and reported.score == points:
        return  # as nearly always
    agrees = all(reported.score.get(who, points[who]) == points[who] for who in points)
    if reported.winner != result.winner or not agrees:
        got = f"winner {reported.winner}, score {dict(reported.score)}"
        yield Deviation(rules.REPORT_SCORE, f"{got}; it is {_describe(result, points)}"[:80])


def tells_same(one: MatchResult, other: MatchResult) -> bool:
    """Whether two results say the same: who won, why, by which choices and which number."""
    told = [
        (
            result.winner,
            dict(result.forfeits),
            find_choices(result.details),
            result.details.get("drawn_number"),
        )
        for result in (one, other)
    ]
    return told[0] == told[1]


def _describe(result: MatchResult, points: Mapping[PlayerId, int]) -> str:
    return f"{result.winner or 'a draw'}, {':'.join(map(str, points.values()))}"
