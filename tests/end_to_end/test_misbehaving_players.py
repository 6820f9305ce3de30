"""With each misbehaving player among six the league completes, and only its own matches suffer."""

import asyncio

import pytest

from end_to_end.http_league import HttpLeague, played
from misbehaving import (
    Act,
    Body,
    Rascal,
    crashing,
    dripping,
    erring,
    garbled,
    html,
    lying,
    refusing,
    send,
    silent,
    slow,
    wrong_case,
    wrong_id,
    wrong_match,
    wrong_types,
)

JOIN, MOVE = "GAME_INVITATION", "CHOOSE_PARITY_CALL"

CASES = [
    (silent, JOIN, "timeout"),
    (silent, MOVE, "timeout"),
    (slow, JOIN, "timeout"),
    (slow, MOVE, "timeout"),
    (dripping, MOVE, "timeout"),
    (garbled, JOIN, "invalid_reply"),
    (garbled, MOVE, "invalid_reply"),
    (html, MOVE, "invalid_reply"),
    (wrong_match, JOIN, "invalid_reply"),
    (wrong_match, MOVE, "invalid_reply"),
    (wrong_case, MOVE, "invalid_move"),
    (wrong_types, JOIN, "invalid_reply"),
    (refusing, JOIN, "declined"),
    (crashing, MOVE, "unreachable"),
    (crashing, JOIN, "unreachable"),
    (erring, MOVE, "error_reply"),
]

STRICTLY = [
    (wrong_id, MOVE, "invalid_reply"),
    (lying, JOIN, "invalid_reply"),
    (lying, MOVE, "invalid_reply"),
]
"""What a tolerant league lets pass, and a strict one does not."""


@pytest.mark.parametrize(
    ("act", "only", "ending", "strictness"),
    [*((*case, "tolerant") for case in CASES), *((*case, "strict") for case in STRICTLY)],
)
def test_only_the_matches_of_a_misbehaving_player_end_badly(
    act: Act, only: str, ending: str, strictness: str
) -> None:
    rascal = Rascal(act, only)

    async def script(league: HttpLeague) -> None:
        for _ in range(2):
            await league.add_referee()
        for _ in range(5):
            await league.add_player()
        await league.add_rascal(rascal)
        await league.play()

    terms = {"awaited_players": 6, "awaited_referees": 2, "strictness": strictness}
    season = played(script, **terms).manager.season
    results = season.results.values()
    assert len({frozenset(ended.players) for ended in results}) == len(results) == 15
    bad = [ended for ended in results if rascal.player_id in ended.players]
    good = [ended for ended in results if rascal.player_id not in ended.players]
    assert {(ended.termination, *ended.technical_losses) for ended in good} == {("completed",)}
    assert {tuple(ended.technical_losses) for ended in bad} == {(rascal.player_id,)}
    assert all(ended.winner not in (None, rascal.player_id) for ended in bad)
    first = min(bad, key=lambda ended: ended.round_id)
    assert first.termination == ending
    assert {ended.termination for ended in bad} <= {
        ending,
        "suspended",
        "unreachable",
        "disqualified",
    }
    assert season.row(rascal.player_id).technical_losses == 5


@pytest.mark.parametrize("only", [JOIN, MOVE])
def test_a_silent_player_is_told_what_it_missed_before_it_is_asked_again(only: str) -> None:
    rascal = Rascal(silent, only)

    async def script(league: HttpLeague) -> None:
        await league.add_referee()
        await league.add_player()
        await league.add_rascal(rascal)
        await league.play()

    played(script, awaited_players=2)
    errors = [reply for reply in rascal.received if reply["message_type"] == "GAME_ERROR"]
    assert [reply["retry_info"]["retry_count"] for reply in errors] == [1, 2]
    assert {reply["error_code"] for reply in errors} == {"E001"}
    assert sum(reply["message_type"] == only for reply in rascal.received) == 3


def test_an_invalid_choice_can_be_corrected_inside_the_window() -> None:
    async def learning(rascal: Rascal, request: Body, writer: asyncio.StreamWriter) -> None:
        if any(reply["message_type"] == "GAME_ERROR" for reply in rascal.received):
            send(writer, rascal.honest(request))
        else:
            await wrong_case(rascal, request, writer)

    rascal = Rascal(learning, MOVE)

    async def script(league: HttpLeague) -> None:
        await league.add_referee()
        await league.add_player()
        await league.add_rascal(rascal)
        await league.play()

    (ended,) = played(script, awaited_players=2).manager.season.results.values()
    assert ended.termination == "completed"
    (error,) = [reply for reply in rascal.received if reply["message_type"] == "GAME_ERROR"]
    assert (error["error_code"], error["error_description"]) == ("E004", "INVALID_PARITY_CHOICE")
    assert error["retry_info"]["time_remaining"] > 0


def test_two_players_that_both_stay_away_both_lose() -> None:
    async def script(league: HttpLeague) -> None:
        await league.add_referee()
        await league.add_rascal(Rascal(refusing, JOIN))
        await league.add_rascal(Rascal(refusing, JOIN))
        await league.play()

    season = played(script, awaited_players=2).manager.season
    (ended,) = season.results.values()
    assert (ended.winner, ended.termination) == (None, "both_forfeit")
    assert [row.points for row in season.standings()] == [0, 0]
