"""One result value, and what is derived from it."""

import pytest

from agent_league.protocol.results import (
    MatchResult,
    Termination,
    make_game_result,
    make_reported_result,
    read_result,
)
from agent_league.store.events import MatchEnded, ScheduledMatch
from agent_league.tournament.standings import Scoring
from agent_league.vocabulary import PlayerId

A, B = PlayerId("P01"), PlayerId("P02")
MATCH = ScheduledMatch(match_id="R1M1", round_id=1, first=A, second=B)
RESULTS = [
    MatchResult(players=(A, B), winner=B, details={"drawn_number": 3}),
    MatchResult(players=(A, B), winner=None),
    MatchResult(
        players=(A, B), winner=A, forfeits={B: Termination.DECLINED}, termination="declined"
    ),
    MatchResult(
        players=(A, B),
        winner=None,
        forfeits={A: Termination.INVALID_MOVE, B: Termination.TIMEOUT},
        termination="both_forfeit",
    ),
]


@pytest.mark.parametrize("result", RESULTS)
def test_a_result_survives_the_report_and_the_event(result: MatchResult) -> None:
    notices = make_reported_result(result, Scoring().score(result))
    parts = (notices.technical_losses, notices.termination, notices.forfeits, notices.details)
    assert read_result((A, B), notices.winner, *parts) == result
    assert MatchEnded.make(MATCH, result, "REF01", "").result == result


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("timeout", Termination.TIMEOUT),
        ("disqualified", Termination.DISQUALIFIED),
        ("both_forfeit", Termination.FORFEIT),
        ("completed", Termination.FORFEIT),
        ("fell asleep", Termination.FORFEIT),
        ("", Termination.FORFEIT),
        (None, Termination.FORFEIT),
    ],
)
def test_without_a_reason_of_its_own_a_loser_has_that_of_the_match(
    word: str | None, reason: Termination
) -> None:
    result = read_result((A, B), None, [A, B], word)
    assert result.forfeits == {A: reason, B: reason}
    assert result.termination == (word or "forfeit")


def test_a_reason_that_we_do_not_know_is_a_forfeit() -> None:
    result = read_result((A, B), None, [A, B], "timeout", {A: "fell asleep", B: "declined"})
    assert result.forfeits == {A: Termination.FORFEIT, B: Termination.DECLINED}


def test_the_report_gives_two_reasons_only_where_one_is_not_enough() -> None:
    notices = [make_reported_result(result, {}).forfeits for result in RESULTS]
    assert notices == [{}, {}, {}, {A: "invalid_move", B: "timeout"}]


def test_players_are_told_only_details_that_can_be_read() -> None:
    details = {"drawn_number": "8", "choices": [], "reason": None, "board": [1]}
    result = make_game_result(MatchResult(players=(A, B), winner=A, details=details))
    assert (result.drawn_number, result.number_parity, result.choices) == (None, None, {})
    assert (result.reason, result.details) == ("completed", {"board": [1]})


def test_only_who_was_likely_not_there_is_absent() -> None:
    absent = {word for word in Termination if word.is_absence}
    assert absent == {Termination.TIMEOUT, Termination.UNREACHABLE, Termination.SUSPENDED}
