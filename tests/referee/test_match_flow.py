import asyncio
import gc
import weakref
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.protocol import Patience
from agent_league.protocol.play import Retry
from agent_league.protocol.results import Termination
from agent_league.referee.reporting import GAME_OVER_HEAD_START
from agent_league.referee.seated_player import SeatedPlayer
from agent_league.vocabulary import Json
from arena import URLS, Arena, Script, contest
from scripted import (
    Behaviour,
    Call,
    behaves,
    breaks,
    does_not_know,
    garbles,
    in_turn,
    refuses,
    says,
    stays_silent,
    takes,
)
from timewarp import EPOCH, clock, now, run

JOIN, CHOOSE, MOVE = "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_MOVE_CALL"
OVER, ERROR, REPORT = "GAME_OVER", "GAME_ERROR", "MATCH_RESULT_REPORT"

EVEN: Script = {}
ODD: Script = {CHOOSE: says(parity_choice="odd")}


def seconds(written: str) -> float:
    """Return how long after the beginning of the run *written* is."""
    return (datetime.fromisoformat(written) - EPOCH).total_seconds()


def test_a_match_goes_from_invitation_to_report() -> None:
    arena, took = contest(EVEN, ODD)
    assert took == 0
    for player in arena.players:
        assert player.kinds() == [JOIN, CHOOSE, OVER]
    assert arena.league.kinds()[-1] == REPORT
    assert arena.result["termination"] == "completed"


def test_the_invitation_says_all_that_a_player_needs() -> None:
    arena, _ = contest()
    for player, opponent, role in (
        (arena.first, "P02", "PLAYER_A"),
        (arena.second, "P01", "PLAYER_B"),
    ):
        (invitation,) = player.messages(JOIN)
        assert invitation["match_id"] == "R1M1"
        assert invitation["round_id"] == 1
        assert invitation["league_id"] == "league_2025_even_odd"
        assert invitation["game_type"] == "even_odd"
        assert invitation["opponent_id"] == opponent
        assert invitation["role_in_match"] == role
        assert invitation["sender"] == "referee:REF01"


def test_what_a_referee_shows_a_player_is_the_ticket_and_never_its_token() -> None:
    arena, _ = contest({CHOOSE: in_turn(garbles, behaves)}, ODD)
    for player in arena.players:
        assert {call.message["auth_token"] for call in player.received} == {f"tkt_{player.who}"}
        assert str(arena.referee.token) not in str(player.received)
        assert "tkt_R1M1" not in str(player.received)


def test_both_are_invited_and_asked_at_the_same_time() -> None:
    arena, took = contest({JOIN: takes(4), CHOOSE: takes(20)}, {JOIN: takes(1), CHOOSE: takes(29)})
    assert arena.first.times(JOIN) == arena.second.times(JOIN) == [0]
    assert arena.first.times(CHOOSE) == arena.second.times(CHOOSE) == [4]
    assert arena.first.times(OVER) == arena.second.times(OVER) == [33]
    assert took == 33


def test_the_deadline_is_thirty_seconds_after_the_call() -> None:
    arena, _ = contest({JOIN: takes(3)})
    (call,) = arena.first.messages(CHOOSE)
    assert seconds(call["deadline"]) == 33
    assert call["context"] == {
        "opponent_id": "P02",
        "round_id": 1,
        "your_standings": {"wins": 0, "losses": 0, "draws": 0},
    }


@pytest.mark.parametrize("first", ["even", "odd"])
@pytest.mark.parametrize("second", ["even", "odd"])
@pytest.mark.parametrize("seed", ["1", "2", "3", "4"])
def test_who_wins_follows_from_the_number_and_the_choices(
    first: str, second: str, seed: str
) -> None:
    arena, _ = contest(
        {CHOOSE: says(parity_choice=first)}, {CHOOSE: says(parity_choice=second)}, seed=seed
    )
    notices = arena.first.messages(OVER)[0]["game_result"]
    parity = "odd" if notices["drawn_number"] % 2 else "even"
    assert 1 <= notices["drawn_number"] <= 10
    assert notices["number_parity"] == parity
    assert notices["choices"] == {"P01": first, "P02": second}
    winner = None if first == second else "P01" if first == parity else "P02"
    assert notices["winner_player_id"] == winner
    assert notices["status"] == ("WIN" if winner else "DRAW")
    points = {None: (1, 1), "P01": (3, 0), "P02": (0, 3)}[winner]
    assert arena.result["winner"] == winner
    assert arena.result["score"] == dict(zip(("P01", "P02"), points, strict=True))
    assert arena.result["details"]["drawn_number"] == notices["drawn_number"]
    assert arena.result["details"]["choices"] == notices["choices"]
    assert "technical_losses" not in arena.result


def test_the_same_seed_draws_the_same_number() -> None:
    drawn = [
        contest(seed=seed)[0].result["details"]["drawn_number"] for seed in ["a", "a", "b", "c"]
    ]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1


def test_both_players_are_told_the_same() -> None:
    arena, _ = contest(EVEN, ODD)
    notices = [player.messages(OVER)[0] for player in arena.players]
    for over in notices:
        del over["auth_token"]
    assert notices[0] == notices[1]


def test_the_report_is_for_the_league_alone() -> None:
    arena, _ = contest()
    assert arena.report["auth_token"] == arena.referee.token
    assert arena.report["ticket"] == "tkt_R1M1"
    assert arena.report["sender"] == "referee:REF01"
    assert arena.report["match_id"] == "R1M1"
    assert arena.report["round_id"] == 1


# Every way in which a match can end

GONE = "gone"
FORFEITS: list[tuple[str, Script | str, Termination, float]] = [
    ("silent when invited", {JOIN: stays_silent}, Termination.TIMEOUT, 5 + 2 + 5 + 4 + 5),
    ("silent when asked", {CHOOSE: stays_silent}, Termination.TIMEOUT, 30 + 2 + 30 + 4 + 30),
    ("too slow", {CHOOSE: takes(30.5)}, Termination.TIMEOUT, 96),
    ("gone", GONE, Termination.UNREACHABLE, 2 + 4),
    ("down", {JOIN: breaks}, Termination.UNREACHABLE, 6),
    ("down when asked", {CHOOSE: breaks}, Termination.UNREACHABLE, 6),
    ("declines", {JOIN: says(accept=False)}, Termination.DECLINED, 0),
    ("garbled ack", {JOIN: garbles}, Termination.INVALID_REPLY, 0.1),
    ("garbled choice", {CHOOSE: garbles}, Termination.INVALID_REPLY, 0.1),
    ("another match", {CHOOSE: says(match_id="R9M9")}, Termination.INVALID_REPLY, 0.1),
    ("yes as text", {JOIN: says(accept="yes")}, Termination.INVALID_REPLY, 0.1),
    ("no choice", {CHOOSE: says(parity_choice=None)}, Termination.INVALID_MOVE, 30),
    ("wrong case", {CHOOSE: says(parity_choice="EVEN")}, Termination.INVALID_MOVE, 30),
    ("a number", {CHOOSE: says(parity_choice=8)}, Termination.INVALID_MOVE, 30),
    ("errors only", {CHOOSE: refuses(-32000)}, Termination.ERROR_REPLY, 0.1),
    ("knows no tool", {JOIN: does_not_know}, Termination.ERROR_REPLY, 0.1),
    (
        "wrong, then silent",
        {CHOOSE: in_turn(says(parity_choice="Odd"), stays_silent)},
        Termination.INVALID_MOVE,
        30,
    ),
]


STRICTLY: list[tuple[str, Script | str, Termination, float]] = [
    ("another player", {CHOOSE: says(player_id="P99")}, Termination.INVALID_REPLY, 0.1),
    ("another player joins", {JOIN: says(player_id="P99")}, Termination.INVALID_REPLY, 0.1),
]
"""What only a strict league does not let pass."""


def forfeited(
    script: Script | str, other: Script | str = EVEN, **changes: Any
) -> tuple[Arena, float]:
    async def main() -> tuple[Arena, float]:
        scripts = [{} if isinstance(one, str) else one for one in (script, other)]
        arena = Arena(*scripts)
        for player, one in zip(arena.players, (script, other), strict=True):
            if one == GONE:
                arena.net.unhost(URLS[player.who])
        await arena.play(**changes)
        took = now()
        await asyncio.sleep(60)
        await arena.referee.close()
        return arena, took

    return run(main())


CASES = [
    *((*case, "tolerant") for case in FORFEITS),
    *((*case, "strict") for case in (*FORFEITS[:-1], *STRICTLY)),  # the last one acts only once
]


@pytest.mark.parametrize(
    ("script", "termination", "took", "strictness"),
    [case[1:] for case in CASES],
    ids=[f"{case[0]}, {case[-1]}" for case in CASES],
)
def test_a_player_that_fails_loses_and_the_other_is_given_the_match(
    script: Script | str, termination: Termination, took: float, strictness: str
) -> None:
    arena, lasted = forfeited(script, strictness=strictness)
    assert arena.result["termination"] == termination
    assert lasted == took
    assert arena.result["winner"] == "P02"
    assert arena.result["status"] == "TECHNICAL_LOSS"
    assert arena.result["technical_losses"] == ["P01"]
    assert arena.result["score"] == {"P01": 0, "P02": 3}
    (over,) = arena.second.messages(OVER)
    assert over["game_result"]["status"] == "TECHNICAL_LOSS"
    assert over["game_result"]["winner_player_id"] == "P02"
    assert over["game_result"]["drawn_number"] is None
    assert over["game_result"]["number_parity"] is None
    assert over["game_result"]["reason"].startswith("P01 ")


def test_a_suspended_player_is_not_asked_and_loses_at_once() -> None:
    async def main() -> Arena:
        arena = Arena()
        players = [arena.contestant("P01", suspended=True), arena.contestant("P02")]
        await arena.play(players=players)
        assert now() == 0
        return arena

    arena = run(main())
    assert arena.result["termination"] == Termination.SUSPENDED
    assert arena.result["winner"] == "P02"
    assert arena.first.messages(JOIN) == []


def test_a_player_that_failed_in_earlier_matches_is_asked_unless_the_order_calls_it_suspended() -> (
    None
):
    async def main() -> list[str]:
        down = in_turn(breaks, breaks, breaks, breaks, breaks, breaks, behaves)
        arena = Arena({JOIN: down, ERROR: breaks, OVER: breaks})
        for number in (1, 2, 3):
            await arena.start(match_id=f"R{number}M1")
            await arena.league.has_heard(REPORT, number)
        await arena.referee.close()
        return [report["result"]["termination"] for report in arena.league.messages(REPORT)]

    lost = Termination.UNREACHABLE
    assert run(main()) == [lost, lost, Termination.COMPLETED]


@pytest.mark.parametrize("script", [GONE, {JOIN: says(accept=False)}, {CHOOSE: garbles}])
def test_when_both_fail_nobody_wins_and_nobody_gets_points(script: Script | str) -> None:
    arena, _ = forfeited(script, script)
    assert arena.result["termination"] == Termination.BOTH_FORFEIT
    assert arena.result["winner"] is None
    assert arena.result["status"] == "TECHNICAL_LOSS"
    assert arena.result["technical_losses"] == ["P01", "P02"]
    assert arena.result["score"] == {"P01": 0, "P02": 0}


def test_every_termination_is_reached_by_a_test_of_this_file() -> None:
    reached = {case[2] for case in FORFEITS}
    elsewhere = {Termination.COMPLETED, Termination.SUSPENDED, Termination.BOTH_FORFEIT}
    elsewhere |= {Termination.TOOLS_CHANGED}  # tests/dialects: only an MCP server can do that
    elsewhere |= {Termination.NOT_PLAYED}  # tests/league: only a third-party referee says so
    elsewhere |= {Termination.DISQUALIFIED, Termination.FORFEIT}  # tests/league: no referee's words
    assert reached | elsewhere == set(Termination)


# What a failing player is told meanwhile


def test_a_player_that_does_not_answer_is_told_when_it_will_be_asked_again() -> None:
    arena, _ = contest({CHOOSE: stays_silent})
    assert arena.first.times(CHOOSE) == [0, 32, 66]
    assert arena.first.times(ERROR) == [30, 62]
    for number, complaint in enumerate(arena.first.messages(ERROR), 1):
        assert complaint["error_code"] == "E001"
        assert complaint["error_name"] == complaint["error_description"] == "TIMEOUT_ERROR"
        assert complaint["affected_player"] == "P01"
        assert complaint["action_required"] == "CHOOSE_PARITY_RESPONSE"
        assert complaint["match_id"] == "R1M1"
        assert complaint["consequence"]
        assert complaint["retry_info"]["retry_count"] == number
        assert complaint["retry_info"]["max_retries"] == 3
    retries = [m["retry_info"]["next_retry_at"] for m in arena.first.messages(ERROR)]
    assert [seconds(at) for at in retries] == [32, 66]
    assert arena.second.messages(ERROR) == []


def test_each_new_attempt_has_a_new_deadline() -> None:
    arena, _ = contest({CHOOSE: stays_silent})
    deadlines = [seconds(call["deadline"]) for call in arena.first.messages(CHOOSE)]
    assert deadlines == [30, 62, 96]


def test_a_player_that_is_down_is_told_so_in_case_it_hears() -> None:
    arena, _ = contest({CHOOSE: breaks})
    assert arena.first.times(CHOOSE) == [0, 2, 6]
    assert [m["error_code"] for m in arena.first.messages(ERROR)] == ["E009", "E009"]
    assert arena.first.messages(ERROR)[0]["error_name"] == "CONNECTION_ERROR"


WRONG: list[tuple[str, Behaviour, str, str]] = [
    ("wrong case", says(parity_choice="EVEN"), "E004", "INVALID_PARITY_CHOICE"),
    ("nothing", says(parity_choice=None), "E004", "INVALID_PARITY_CHOICE"),
    ("another match", says(match_id="R9M9"), "E015", "MATCH_ID_MISMATCH"),
    ("no player", says(player_id=None), "E003", "MISSING_REQUIRED_FIELD"),
    ("another player", says(player_id="P02"), "E022", "INVALID_FIELD_VALUE"),
    ("bad time", says(timestamp="now"), "E021", "INVALID_TIMESTAMP"),
    ("an error", refuses(-32005, {"error_code": "E005"}), "E005", "PLAYER_NOT_REGISTERED"),
    ("its own code", refuses(-32000, {"error_code": "E005"}), "E025", "NOT_ALLOWED"),
    ("its fault", refuses(-32603, None), "E009", "CONNECTION_ERROR"),
    ("odd error", refuses(-32000, {"error_code": ["E005"]}), "E025", "NOT_ALLOWED"),
]


@pytest.mark.parametrize(
    ("wrong", "code", "name"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG]
)
def test_a_player_that_answers_wrongly_is_told_why_and_may_correct_itself(
    wrong: Behaviour, code: str, name: str
) -> None:
    right = takes(7, says(parity_choice="odd"))
    arena, took = contest({CHOOSE: in_turn(wrong, right)}, strictness="strict")
    assert arena.result["termination"] == "completed"
    assert took == 7
    (complaint,) = arena.first.messages(ERROR)
    assert (complaint["error_code"], complaint["error_name"]) == (code, name)
    assert complaint["error_description"] == name
    assert complaint["retryable"] is True
    assert complaint["retry_info"]["retry_count"] == 1
    assert complaint["retry_info"]["time_remaining"] == 30
    assert arena.first.messages(CHOOSE)[0] == arena.first.messages(CHOOSE)[1]


def test_a_correction_does_not_restart_the_window() -> None:
    arena, took = contest({CHOOSE: takes(12, says(parity_choice="EVEN"))})
    assert arena.first.times(CHOOSE) == [0, 12, 24.1]
    left = [m["retry_info"]["time_remaining"] for m in arena.first.messages(ERROR)]
    assert left == [18, 6]
    assert took == 30
    assert arena.result["termination"] == Termination.INVALID_MOVE


def test_a_choice_may_be_corrected_until_the_window_closes() -> None:
    wrong = [says(parity_choice="EVEN")] * 9
    arena, took = contest({CHOOSE: in_turn(*wrong, says(parity_choice="odd"))})
    assert arena.result["termination"] == "completed"
    assert arena.result["details"]["choices"]["P01"] == "odd"
    assert took < 10
    asked = arena.first.times(CHOOSE)
    assert len(asked) == 10
    assert asked[:2] == [0, 0]
    assert all(later - earlier <= 1.001 for earlier, later in pairwise(asked))


def test_wrong_answers_that_come_at_once_do_not_become_a_flood() -> None:
    arena, took = contest({CHOOSE: says(parity_choice="EVEN")})
    assert took == 30
    assert 10 < len(arena.first.calls(CHOOSE)) < 40
    complaints = arena.first.messages(ERROR)
    counts = [complaint["retry_info"]["retry_count"] for complaint in complaints]
    assert counts == list(range(1, len(counts) + 1))
    assert all(c["retry_info"]["max_retries"] >= c["retry_info"]["retry_count"] for c in complaints)
    assert {complaint["consequence"] for complaint in complaints} == {
        "Technical loss if valid choice not received before timeout"
    }


@pytest.mark.parametrize("script", [refuses(-32003), garbles, says(match_id="R9M9")])
def test_a_player_that_answers_without_a_choice_is_asked_three_times_and_told_so(
    script: Behaviour,
) -> None:
    arena, _ = contest({CHOOSE: script})
    assert len(arena.first.calls(CHOOSE)) == 3
    consequences = {complaint["consequence"] for complaint in arena.first.messages(ERROR)}
    assert consequences == {"Technical loss if max retries exceeded"}


@pytest.mark.parametrize(
    ("choice", "shown"),
    [("Even", "Even"), (None, None), (8, 8), ("x" * 500, "x" * 60), ({"a": 1}, "an object")],
)
@pytest.mark.parametrize("strictness", ["tolerant", "strict"])
def test_a_wrong_choice_is_told_with_what_was_chosen_and_what_may_be(
    choice: Json, shown: Json, strictness: str
) -> None:
    script = in_turn(says(parity_choice=choice), behaves)
    arena, _ = contest({CHOOSE: script}, strictness=strictness)
    (complaint,) = arena.first.messages(ERROR)
    assert complaint["error_code"] == "E004"
    assert complaint["context"]["invalid_choice"] == shown
    assert complaint["context"]["valid_choices"] == ["even", "odd"]


def test_a_player_that_will_not_hear_of_its_mistake_still_gets_its_second_try() -> None:
    arena, took = contest({CHOOSE: in_turn(garbles, behaves), ERROR: stays_silent})
    assert arena.result["termination"] == "completed"
    assert took <= 1


def test_a_player_without_a_tool_for_complaints_still_gets_its_second_try() -> None:
    # That it does not know the complaint must not change how it is called (see test_line.py).
    def strict(call: Call) -> Any:
        return behaves(call) if call.method == "choose_parity" else refuses(-32600)(call)

    arena, _ = contest({CHOOSE: in_turn(garbles, strict), ERROR: does_not_know})
    assert arena.result["termination"] == "completed"


def test_a_player_that_wakes_up_in_time_completes_the_match() -> None:
    arena, took = contest({CHOOSE: in_turn(stays_silent, breaks, behaves)})
    assert arena.first.times(CHOOSE) == [0, 32, 36]
    assert took == 36
    assert arena.result["termination"] == "completed"


def test_an_answer_that_comes_after_its_window_does_not_count() -> None:
    arena, took = contest({CHOOSE: in_turn(takes(31, says(parity_choice="odd")), behaves)})
    assert took == 32
    assert arena.result["details"]["choices"]["P01"] == "even"


def test_the_order_says_how_patient_and_how_persistent_to_be() -> None:
    patience, retry = Patience(join=1, move=2), Retry(attempts=2, base_delay=0.5, backoff="fixed")
    arena, took = contest({CHOOSE: stays_silent}, patience=patience, retry=retry)
    assert arena.first.times(CHOOSE) == [0, 2.5]
    assert took == 4.5
    arena, took = contest({JOIN: stays_silent}, patience=patience, retry=retry)
    assert took == 2.5


def test_the_order_says_how_long_to_wait_for_the_last_word_too() -> None:
    patience = Patience(game_over=0.1)
    _, took = contest({OVER: stays_silent}, patience=patience)
    assert took == 0.1


def test_jitter_that_the_order_asks_for_is_used() -> None:
    arena, _ = contest({CHOOSE: breaks}, retry=Retry(jitter=True))
    first, second, third = arena.first.times(CHOOSE)
    assert (second - first, third - second) != (2, 4)


# The last word


def test_a_player_that_misses_the_end_is_told_again() -> None:
    arena, took = contest({OVER: in_turn(breaks, behaves)})
    assert took == 0
    assert arena.first.times(OVER) == [0, 2]
    assert arena.second.times(OVER) == [0]


def test_a_player_that_was_absent_is_told_without_anybody_waiting_for_it() -> None:
    arena, took = contest({JOIN: stays_silent, OVER: stays_silent, ERROR: stays_silent})
    assert took == 21
    assert arena.first.times(OVER)[0] == 21
    assert arena.second.times(OVER) == [21]


def test_a_player_that_is_slow_to_take_its_result_does_not_keep_the_report_back() -> None:
    for slow in (stays_silent, takes(4, behaves)):
        _, took = contest({OVER: slow})
        assert took == GAME_OVER_HEAD_START


def test_a_player_that_takes_its_result_at_once_has_it_before_the_league() -> None:
    arena, took = contest()
    assert took == 0
    assert arena.first.times(OVER) == arena.second.times(OVER) == [0]


# Turn by turn


def test_a_game_of_turns_is_played_to_its_end() -> None:
    arena, _ = contest(game_type="tic_tac_toe")
    assert arena.result["termination"] == "completed"
    board: list[Json] = [None] * 9
    turns = sorted(
        (call for player in arena.players for call in player.calls(MOVE)),
        key=lambda call: sum(cell is not None for cell in call.message["view"]["board"]),
    )
    for number, call in enumerate(turns):
        assert call.method == "choose_move"
        assert call.who == ("P01", "P02")[number % 2]
        free = [cell for cell in range(9) if board[cell] is None]
        view = call.message["view"]
        assert (view["board"], view["you"]) == (board, number % 2)
        assert view["answer_schema"] == {"enum": free}
        assert "three cells in a row" in view["rules"]
        assert view["picture"].endswith(f"you are {'XO'[number % 2]}")
        assert call.message["legal_moves"] == free
        board[free[0]] = number % 2
    assert arena.result["winner"] == "P01"  # 0, 2, 4, 6: a diagonal, by always taking the first
    assert arena.result["details"]["board"] == board
    over = arena.first.messages(OVER)[0]["game_result"]
    assert over["details"].keys() == {"board", "draw_secret", "moves"}
    assert over["details"]["board"] == board
    assert over["drawn_number"] is None
    assert over["reason"] == "P01 has three in a row"


@pytest.mark.parametrize("move", [9, -1, "0", None, True, 0.0, [0]])
def test_a_move_outside_the_rules_is_complained_about_and_then_forfeits(move: Json) -> None:
    arena, _ = contest({MOVE: says(move=move)}, game_type="tic_tac_toe")
    codes = {m["error_code"] for m in arena.first.messages(ERROR)}
    assert codes <= {"E024", "E003"}
    assert codes
    assert arena.result["termination"] in {Termination.INVALID_MOVE, Termination.INVALID_REPLY}
    assert arena.result["winner"] == "P02"


def test_a_taken_cell_is_no_legal_move() -> None:
    arena, _ = contest(EVEN, {MOVE: says(move=0)}, game_type="tic_tac_toe")
    complaint, *_ = arena.second.messages(ERROR)
    assert complaint["error_code"] == "E024"
    free = [1, 2, 3, 4, 5, 6, 7, 8]
    assert complaint["context"] == {"invalid_choice": 0, "valid_choices": free}
    assert arena.result["termination"] == Termination.INVALID_MOVE


BEHAVIOURS: dict[str, Behaviour] = {
    "behaves": behaves,
    "garbles": garbles,
    "breaks": breaks,
    "silent": stays_silent,
    "slow": takes(4),
    "declines": says(accept=False),
    "wrong match": says(match_id="X"),
    "bad choice": says(parity_choice="both"),
    "refuses": refuses(-32000),
}


@given(*(st.lists(st.sampled_from(sorted(BEHAVIOURS)), min_size=6, max_size=6) for _ in range(2)))
def test_whatever_players_do_a_match_ends_once_and_adds_up(a: list[str], b: list[str]) -> None:
    def script(names: list[str]) -> Script:
        made = [BEHAVIOURS[name] for name in names]
        return {JOIN: in_turn(*made[:3]), CHOOSE: in_turn(*made[3:])}

    arena, took = contest(script(a), script(b))
    result = arena.result
    assert took <= 21 + 96 + 10
    losers = result.get("technical_losses", [])
    assert (result["termination"] == "completed") == (not losers)
    assert (result["termination"] == "both_forfeit") == (len(losers) == 2)
    assert result["winner"] not in losers
    assert (
        sum(result["score"].values()) == {0: 3 if result["winner"] else 2, 1: 3, 2: 0}[len(losers)]
    )


def test_the_clock_of_the_arena_is_the_loops() -> None:
    async def main() -> float:
        await asyncio.sleep(5)
        return (clock() - EPOCH).total_seconds()

    assert run(main()) == 5


def test_a_match_that_is_over_leaves_nothing_to_the_garbage_collector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[weakref.ref[SeatedPlayer]] = []
    sit_down = SeatedPlayer.__init__

    def note(player: SeatedPlayer, *arguments: Any) -> None:
        sit_down(player, *arguments)
        seen.append(weakref.ref(player))

    monkeypatch.setattr(SeatedPlayer, "__init__", note)
    gc.disable()
    try:
        contest(EVEN, ODD)
        assert [player() for player in seen] == [None, None]
    finally:
        gc.enable()
