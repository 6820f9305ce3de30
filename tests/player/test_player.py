import asyncio
import json
import logging
import threading
from collections.abc import Generator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_league.clock import format_time
from agent_league.http.memory import Network
from agent_league.player import Brain, NoSuchStrategyError, Player, load_brain
from agent_league.protocol import Message
from agent_league.protocol.play import (
    GameMoveCall,
    GameOver,
    Invitation,
    MoveContext,
    ParityCall,
)
from agent_league.protocol.results import GameResult
from agent_league.protocol.rounds import (
    AnnouncedMatch,
    LeagueCompleted,
    RoundAnnouncement,
    StandingsUpdate,
)
from agent_league.serving.site import make_site
from agent_league.strategies import always_even, always_odd
from agent_league.strategy import STRATEGIES, Situation, Strategy
from agent_league.vocabulary import Json
from league_box import LEAGUE_URL, player_meta, player_url
from protocol.samples import BY_LEAGUE, BY_REFEREE, SAMPLES
from scripted import STAMP, Scripted, hosted, settled
from timewarp import clock, now, run

TICKET, TOKEN = "tkt_for_this_match", "tok_P01_for-the-league-alone"
EVEN, ODD = Brain(always_even.strategy, "even", True), Brain(always_odd.strategy, "odd", True)
GRACE = 300.0
"""Real seconds that a strategy in a thread gets; one that answers uses next to none of them."""


def made(brain: Brain, seed: str | None = "seed", **meta: Any) -> Player:
    return Player(
        "P01",
        Network(),
        LEAGUE_URL,
        meta=player_meta(player_url(1), **meta),
        brain=brain,
        seed=seed,
        clock=clock,
    )


def careful(strategy: Strategy) -> Player:
    """Return a player with a stranger's strategy."""
    return made(Brain(strategy, "stranger"))


async def tell(player: Player, message: Message) -> Json:
    """Send *message* to the player; return its result, or its error.

    The league of these tests gives no tickets: a match counts because it was announced.
    """
    if isinstance(message, (ParityCall, GameMoveCall, GameOver)):
        player.on_announcement(announcement(message.match_id))
    body = msgspec.json.encode(
        {"jsonrpc": "2.0", "method": "any", "params": message, "id": "a"},
    )
    given = make_site(player).answer(body, ())
    assert given is not None
    answer = await settled(given)
    reply = json.loads(answer.body)
    return reply.get("result", reply.get("error"))


def announcement(match_id: str) -> RoundAnnouncement:
    match = AnnouncedMatch(
        match_id=match_id,
        game_type="even_odd",
        player_A_id="P01",
        player_B_id="P02",
        referee_endpoint="http://ref01/mcp",
    )
    return RoundAnnouncement(**BY_LEAGUE, league_id="league", round_id=1, matches=[match])


def invitation(game: str = "even_odd") -> Invitation:
    return Invitation(
        **BY_REFEREE,
        auth_token=TICKET,
        league_id="league",
        round_id=1,
        match_id="R1M1",
        game_type=game,
        role_in_match="PLAYER_A",
        opponent_id="P02",
    )


def parity_call(match_id: str = "R1M1", opponent: str = "P02", seconds: float = 30.0) -> ParityCall:
    return ParityCall(
        **BY_REFEREE,
        auth_token=TICKET,
        match_id=match_id,
        player_id="P01",
        game_type="even_odd",
        deadline=format_time(clock() + timedelta(seconds=seconds)),
        context=MoveContext(opponent_id=opponent, round_id=1),
    )


def move_call(board: list[Json], match_id: str = "R1M1") -> GameMoveCall:
    return GameMoveCall(
        **BY_REFEREE,
        auth_token=TICKET,
        match_id=match_id,
        player_id="P01",
        game_type="tic_tac_toe",
        deadline=format_time(clock() + timedelta(seconds=30)),
        view={"board": board, "you": 0},
        legal_moves=[cell for cell in range(9) if board[cell] is None],
    )


def over(
    mine: Json, theirs: Json, *, match_id: str = "R1M1", opponent: str = "P02", winner: str = ""
) -> GameOver:
    return GameOver(
        **BY_REFEREE,
        match_id=match_id,
        game_type="even_odd",
        game_result=GameResult(
            status="WIN" if winner else "DRAW",
            winner_player_id=winner or None,
            drawn_number=4,
            number_parity="even",
            choices={"P01": mine, opponent: theirs},
            reason="because",
        ),
    )


async def choice(player: Player, call: ParityCall | None = None) -> str:
    reply = await tell(player, call or parity_call())
    assert reply["message_type"] == "CHOOSE_PARITY_RESPONSE"
    return str(reply["parity_choice"])


def chosen(player: Player) -> str:
    return run(choice(player), grace=GRACE)


# Sensors and actuators


@pytest.mark.parametrize(
    ("game", "accept"), [("even_odd", True), ("tic_tac_toe", True), ("chess", False)]
)
def test_an_invitation_is_accepted_if_the_player_plays_that_game(
    game: str,
    accept: bool,
) -> None:
    reply = run(tell(made(EVEN), invitation(game)))
    assert reply["message_type"] == "GAME_JOIN_ACK"
    assert reply["accept"] is accept
    assert (reply["match_id"], reply["player_id"]) == ("R1M1", "P01")
    assert reply["arrival_timestamp"] == "2025-01-15T10:00:00Z"
    assert reply["conversation_id"] == BY_REFEREE["conversation_id"]


def test_a_player_answers_with_the_ticket_that_it_was_shown_and_never_with_its_token() -> None:
    async def main() -> list[Json]:
        player = made(EVEN)
        player.token = TOKEN
        calls: list[Message] = [invitation(), parity_call(), move_call([None] * 9)]
        return [await tell(player, call) for call in [*calls, over("even", "odd")]]

    replies = run(main())
    assert [reply.get("auth_token") for reply in replies[:3]] == [TICKET] * 3
    assert TOKEN not in json.dumps(replies)


def test_a_choice_names_the_match_and_the_player() -> None:
    async def main() -> Json:
        return await tell(made(ODD), parity_call("R3M7"))

    reply = run(main())
    assert reply["parity_choice"] == "odd"
    assert (reply["match_id"], reply["player_id"]) == ("R3M7", "P01")
    assert reply["sender"] == "player:P01"


def test_a_call_that_comes_again_is_answered_the_same() -> None:
    async def main() -> None:
        player = made(Brain(iter_moves(), "counting", trusted=True))
        first = [await choice(player) for _ in range(5)]
        assert set(first) == {"even"}
        assert await choice(player, parity_call("R2M1")) == "odd"
        assert await choice(player) == "even"

    run(main())


def test_a_call_that_comes_again_is_answered_the_same_by_a_strangers_strategy_too() -> None:
    async def main() -> None:
        player = careful(iter_moves())
        assert [await choice(player) for _ in range(3)] == ["even"] * 3
        assert await choice(player, parity_call("R2M1")) == "odd"

    run(main(), grace=GRACE)


def test_each_position_of_a_game_of_turns_is_its_own_call() -> None:
    async def main() -> None:
        player = made(Brain(lambda situation: situation.legal[-1], "last", trusted=True))
        empty: list[Json] = [None] * 9
        later = [0, 1, *empty[2:8], 0]
        moves = [await tell(player, move_call(board)) for board in (empty, later, empty)]
        assert [reply["move"] for reply in moves] == [8, 7, 8]
        assert {reply["message_type"] for reply in moves} == {"GAME_MOVE_RESPONSE"}

    run(main())


def iter_moves() -> Strategy:
    """Return a strategy that plays even, odd, even, odd… with every call."""
    moves = iter(["even", "odd"] * 50)
    return lambda situation: next(moves)


def test_several_matches_at_once_do_not_get_in_each_others_way() -> None:
    async def slowly(situation: Situation) -> Json:
        await asyncio.sleep(situation.rng.random())
        return "odd"

    async def main() -> list[Json]:
        player = careful(slowly)
        calls = [parity_call(f"R1M{number}") for number in range(1, 21)]
        return await asyncio.gather(*(tell(player, call) for call in calls))

    replies = run(main())
    assert [reply["match_id"] for reply in replies] == [f"R1M{n}" for n in range(1, 21)]


# Memory


def test_a_player_remembers_its_matches_and_what_its_opponents_did() -> None:
    async def main() -> Player:
        player = made(EVEN)
        await tell(player, over("even", "odd", match_id="R1M1", winner="P01"))
        await tell(player, over("odd", "even", match_id="R2M1", opponent="P03", winner="P03"))
        await tell(player, over("even", "even", match_id="R3M1"))
        return player

    player = run(main())
    assert [played.won for played in player.history.values()] == [True, False, None]
    assert [played.opponent for played in player.history.values()] == ["P02", "P03", "P02"]
    opponents = player.decision.opponents
    assert opponents.mine == ["even", "odd", "even"]
    assert opponents.everyone == ["odd", "even", "even"]
    assert opponents.by_opponent == {"P02": ["odd", "even"], "P03": ["even"]}


def test_the_end_of_a_match_is_counted_once_however_often_it_comes() -> None:
    async def main() -> Player:
        player = made(EVEN)
        for _ in range(3):
            reply = await tell(player, over("even", "odd"))
            assert reply["match_id"] == "R1M1"
        return player

    player = run(main())
    assert len(player.history) == 1
    assert player.decision.opponents.everyone == ["odd"]


def test_a_forfeited_match_teaches_nothing_about_moves() -> None:
    async def main() -> Player:
        player = made(EVEN)
        await tell(player, over("even", None, winner="P01"))
        return player

    opponents = run(main()).decision.opponents
    assert (opponents.mine, opponents.everyone) == (["even"], [])


def test_a_strategy_sees_what_the_player_remembers() -> None:
    seen: list[Situation] = []

    def watch(situation: Situation) -> Json:
        seen.append(situation)
        return "even"

    async def main() -> None:
        player = made(Brain(watch, "watching", trusted=True))
        await tell(player, over("even", "odd", match_id="R1M1"))
        await tell(player, over("odd", "odd", match_id="R2M1", opponent="P03"))
        await choice(player, parity_call("R3M1", opponent="P03"))

    run(main())
    (situation,) = seen
    assert list(situation.legal) == ["even", "odd"]
    assert situation.mine == ["even", "odd"]
    assert situation.theirs == ["odd"]
    assert situation.everyone == ["odd", "odd"]


def test_a_player_knows_the_table_and_the_end() -> None:
    async def main() -> None:
        player = made(EVEN)
        player.token = ""  # as in a league that gives none
        table, final = SAMPLES["LEAGUE_STANDINGS_UPDATE"], SAMPLES["LEAGUE_COMPLETED"]
        assert isinstance(table, StandingsUpdate)
        assert isinstance(final, LeagueCompleted)
        await tell(player, table)
        assert player.standings == table.standings
        assert not player.over.is_set()
        await tell(player, final)
        await player.over.wait()
        assert player.final == final

    run(main())


@pytest.mark.parametrize(
    "reply", ["ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", "GAME_ERROR", "LEAGUE_ERROR"]
)
def test_a_player_takes_every_notice(reply: str) -> None:
    assert "code" not in run(tell(made(EVEN), SAMPLES[reply]))


@pytest.mark.parametrize("reply", ["MATCH_RESULT_REPORT", "START_MATCH", "GAME_JOIN_ACK"])
def test_a_player_refuses_what_is_not_for_it(reply: str) -> None:
    assert run(tell(made(EVEN), SAMPLES[reply]))["code"] == -32601


def test_a_round_of_a_large_league_is_not_too_long_for_a_player() -> None:
    assert make_site(made(EVEN)).body_limit >= 1024 * 1024


# Decisions


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_the_same_seed_makes_the_same_moves(name: str) -> None:
    async def main(seed: str) -> list[str]:
        player = made(load_brain(name), seed)
        moves = []
        for number in range(1, 30):
            match_id = f"R{number}M1"
            moves.append(await choice(player, parity_call(match_id)))
            await tell(player, over(moves[-1], "even", match_id=match_id))
        return moves

    one, again = run(main("one"), grace=GRACE), run(main("one"), grace=GRACE)
    assert one == again
    if name == "random":
        assert run(main("another")) != one


def fails(error: BaseException) -> Strategy:
    def strategy(situation: Situation) -> Json:
        raise error

    return strategy


def fails_later(error: BaseException) -> Strategy:
    async def strategy(situation: Situation) -> Json:
        await asyncio.sleep(0)
        raise error

    return strategy


@pytest.mark.parametrize(
    "error",
    [ValueError("bug"), KeyError(), RecursionError(), StopIteration(), SystemExit(1)],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("kind", [fails, fails_later])
def test_a_strategy_that_raises_costs_a_random_legal_move(
    kind: Any, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    # SystemExit would leave the event loop through asyncio's task and end the whole player.
    player = careful(kind(error))
    try:
        with caplog.at_level(logging.WARNING, "agent_league"):
            found = run(choice(player), grace=GRACE)
    except SystemExit:
        pytest.fail("a strategy ended its player")
    assert found in {"even", "odd"}
    assert player.decision.fallbacks == 1
    assert "strategy stranger" in caplog.text


@pytest.mark.parametrize("kind", [fails, fails_later])
def test_a_strategy_that_raises_a_cancellation_costs_a_random_legal_move(kind: Any) -> None:
    # CancelledError must not pass for the cancelling of the answer itself.
    async def main() -> str:
        player = careful(kind(asyncio.CancelledError()))
        return await asyncio.ensure_future(choice(player))

    try:
        assert run(main(), grace=GRACE) in {"even", "odd"}
    except asyncio.CancelledError:
        pytest.fail("a strategy cancelled its player's answer")


@pytest.mark.parametrize("nonsense", ["EVEN", "", None, 0, 2.5, ["even"], {"even": "odd"}, object])
def test_a_strategy_that_talks_nonsense_costs_a_random_legal_move(
    nonsense: Json, caplog: pytest.LogCaptureFixture
) -> None:
    player = careful(lambda situation: nonsense)
    with caplog.at_level(logging.WARNING, "agent_league"):
        assert chosen(player) in {"even", "odd"}
    assert player.decision.fallbacks == 1
    assert "is not legal" in caplog.text


@pytest.mark.parametrize("nearly", [True, 1.0])
def test_a_move_that_only_equals_a_legal_one_is_not_sent(nearly: Json) -> None:
    # True == 1 and 1.0 == 1, but on the wire neither is a cell, and the referee refuses both.
    async def main() -> Json:
        player = careful(lambda situation: nearly)
        return (await tell(player, move_call([None] * 9)))["move"]

    assert type(run(main(), grace=GRACE)) is int


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """Hold back threads until the test is over."""
    event = threading.Event()
    yield event
    event.set()


def test_a_strategy_that_thinks_too_long_costs_a_random_legal_move_in_time(
    released: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    def ponder(situation: Situation) -> Json:
        released.wait(30)
        return "odd"

    async def main() -> float:
        player = careful(ponder)
        assert await choice(player) in {"even", "odd"}
        assert player.decision.fallbacks == 1
        return now()

    with caplog.at_level(logging.WARNING, "agent_league"):
        took = run(main(), grace=0.02)
    assert 20 <= took < 30
    assert "thought for more than" in caplog.text


def test_a_strategy_that_thinks_too_long_holds_nobody_else_up(released: threading.Event) -> None:
    def ponder(situation: Situation) -> Json:
        released.wait(30)
        return "odd"

    async def main() -> None:
        player = careful(ponder)
        thinking = asyncio.ensure_future(choice(player))
        assert (await tell(player, invitation()))["accept"] is True
        assert now() == 0
        await thinking

    run(main(), grace=0.02)


@pytest.mark.parametrize(
    ("seconds", "least", "most"), [(10.0, 7, 10), (1.0, 0.4, 0.5), (-60, 20, 30)]
)
def test_the_time_to_think_follows_the_deadline(seconds: float, least: float, most: float) -> None:
    async def for_ever(situation: Situation) -> Json:
        await asyncio.Event().wait()
        return "odd"

    async def main() -> float:
        await choice(careful(for_ever), parity_call(seconds=seconds))
        return now()

    assert least <= run(main()) < most


def test_each_turn_of_a_match_has_random_numbers_of_its_own_and_always_the_same() -> None:
    numbers: list[float] = []

    async def note(situation: Situation) -> Json:
        numbers.append(situation.rng.random())
        return situation.legal[0]

    async def play() -> None:
        player = careful(note)
        await tell(player, move_call([None] * 9))
        await tell(player, move_call([0, 1, *[None] * 7]))

    run(play())
    run(play())
    assert numbers[:2] == numbers[2:]
    assert numbers[0] != numbers[1]


def test_a_strategy_may_be_a_coroutine() -> None:
    async def strategy(situation: Situation) -> Json:
        await asyncio.sleep(3)
        return "odd"

    player = careful(strategy)
    assert run(choice(player)) == "odd"
    assert player.decision.fallbacks == 0


class Later:
    """A move that has to be awaited."""

    def __await__(self) -> Generator[Any, None, Json]:
        yield from asyncio.sleep(0).__await__()
        return "odd"


def test_a_strategy_may_return_something_to_be_awaited() -> None:
    # As a lambda, a partial or an object with an async call does, without being an `async def`.
    player = careful(lambda situation: Later())
    assert chosen(player) == "odd"
    assert player.decision.fallbacks == 0


def test_a_player_says_how_often_its_strategy_failed() -> None:
    player = careful(fails(ValueError()))
    chosen(player)
    about = player.about()
    assert about["fallback_moves"] == 1
    assert about["agent"] == "player"


# Asking the league


def test_a_query_shows_the_league_the_players_token() -> None:
    async def main() -> Json:
        league = Scripted("LM", {"LEAGUE_QUERY": answered})
        player = made(EVEN)
        player.token, player.league_id = TOKEN, "league"
        assert isinstance(player.peers.wire, Network)
        player.peers.wire.host(LEAGUE_URL, hosted(league))
        answer = await player.query("GET_NEXT_MATCH", player_id="P01")
        assert answer.success
        return league.messages("LEAGUE_QUERY")[0]

    def answered(call: Any) -> Any:
        kind = {"message_type": "LEAGUE_QUERY_RESPONSE", "query_type": "GET_NEXT_MATCH"}
        return call.returns({**STAMP, "sender": BY_LEAGUE["sender"], **kind, "success": True})

    query = run(main())
    assert query["auth_token"] == TOKEN
    assert query["query_params"] == {"player_id": "P01"}


# Brains


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_our_strategies_go_by_their_names_and_are_trusted(name: str) -> None:
    brain = load_brain(name)
    assert brain.name == name
    assert brain.trusted
    assert STRATEGIES[name] in (brain.strategy, type(brain.strategy))


def test_a_strategy_may_come_from_a_file_and_is_then_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def strategy(situation):\n    return 'odd'\n", encoding="utf-8")
    brain = load_brain(str(path))
    assert (brain.name, brain.trusted) == ("mine", False)
    assert chosen(made(brain)) == "odd"


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (None, "there is no file"),
        ("", "has no function called 'strategy'"),
        ("strategy = 'odd'", "has no function called 'strategy'"),
        ("raise ValueError('oops')", "oops"),
        ("import no_such_module_at_all", "no_such_module_at_all"),
        ("def strategy(:", "SyntaxError"),
        ("import sys; sys.exit(3)", "SystemExit"),
    ],
)
def test_a_file_that_holds_no_strategy_is_named_with_the_reason(
    tmp_path: Path, source: str | None, complaint: str
) -> None:
    path = tmp_path / "mine.py"
    if source is not None:
        path.write_text(source, encoding="utf-8")
    with pytest.raises(NoSuchStrategyError, match=complaint) as caught:
        load_brain(str(path))
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["", "no_such", "../random", "_prediction", "Random"])
def test_an_unknown_name_is_answered_with_those_that_are_known(name: str) -> None:
    with pytest.raises(NoSuchStrategyError, match=r"known: .*random"):
        load_brain(name)
