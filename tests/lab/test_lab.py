"""Strategies measured: the table, the ceiling, the plot, and the test that stops early."""

import asyncio
from pathlib import Path
from random import Random
from xml.etree import ElementTree as ET

import pytest

from agent_league.cli.lab_report import count_fallbacks, draw_crosstable
from agent_league.extras import MissingExtraError, import_extra
from agent_league.game import GAMES
from agent_league.lab.comparison import ComparisonPlan, compare
from agent_league.lab.crosstable import Duel, Row, estimate_points, find_uncertain, make_rows
from agent_league.lab.endpoints import play_anywhere
from agent_league.lab.matches import Contestant, LabMatch, Table
from agent_league.lab.plot import draw_convergence
from agent_league.lab.series import DRAW, LOSS, WIN, Meeting, Met, play_meeting
from agent_league.lab.sprt import Answer, SequentialTest
from agent_league.lab.tournament import LabPlan, run_lab
from agent_league.llm import EndpointError
from agent_league.player import Brain, load_brain
from agent_league.practice.course import AgentAbsentError
from agent_league.protocol.failures import NonsenseError
from agent_league.strategy import STRATEGIES, Situation, suits
from chance import margin
from cli.league_command import document, league

EVEN_ODD = [name for name in STRATEGIES if suits(STRATEGIES[name], "even_odd")]


@pytest.fixture(scope="module")
def even_odd() -> list[Met]:
    return run_lab(LabPlan("even_odd", EVEN_ODD, 200, "seed"), cores=1)


def test_every_rate_in_even_odd_lies_within_the_bounds_of_theory(even_odd: list[Met]) -> None:
    for row in make_rows(EVEN_ODD, even_odd):
        for duel in row.duels:
            assert duel.best is not None
            allowed, measured = margin(len(duel.endings), span=3), duel.points.value
            assert 1.0 - allowed <= measured <= duel.best.points + allowed, row.strategy
        assert row.ceiling is not None
        assert row.points.value <= row.ceiling.points + margin(row.played, span=3)


def test_the_table_counts_each_match_once_for_each_side(even_odd: list[Met]) -> None:
    rows = make_rows(EVEN_ODD, even_odd)
    assert {row.played for row in rows} == {200 * (len(EVEN_ODD) - 1)}
    wins = sum(row.endings.count(WIN) for row in rows)
    assert wins == sum(row.endings.count(LOSS) for row in rows)
    assert [row.points.value for row in rows] == sorted(
        (row.points.value for row in rows), reverse=True
    )


def test_a_seed_repeats_a_lab_on_any_number_of_cores() -> None:
    plan = LabPlan("even_odd", ["markov", "random", "mirror"], 1200, "seed")
    assert run_lab(plan, cores=1) == run_lab(plan, cores=2)


def test_the_seats_change_after_each_match() -> None:
    met = play_meeting(Meeting("matching_pennies", "random", "random", 2, "seed", {"rounds": 1}))
    assert len(met.endings) == 2
    first = Brain(lambda situation: ["heads", "tails"][situation.view["you"]], "one")
    table = Table("matching_pennies", GAMES["matching_pennies"], {"rounds": 1})
    players = [Contestant(first, Random(0)), Contestant(first, Random(1))]
    match, is_certain = table.play_watched(players, Random(2))
    assert match.outcome.winner == 1
    assert is_certain


def test_what_nobody_leaves_to_chance_is_played_once_and_counted_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played, play = [], Table.play

    def play_and_count(table: Table, players: list[Contestant], rng: Random) -> LabMatch:
        played.append(rng)
        return play(table, players, rng)

    monkeypatch.setattr(Table, "play", play_and_count)
    meeting = Meeting("prisoners_dilemma", "tit_for_tat", "grim_trigger", 50, "s", {"rounds": 5})
    met = play_meeting(meeting)
    assert (len(played), len(met.endings), met.turns) == (2, 50, 250)
    assert met.scores == (750, 750)


def test_an_illegal_move_is_an_error_and_not_a_loss() -> None:
    wrong = Brain(lambda situation: "maybe", "wrong")
    table = Table("even_odd", GAMES["even_odd"], {})
    with pytest.raises(NonsenseError, match="'maybe' is not a legal move"):
        table.play([Contestant(wrong, Random(0)), Contestant(wrong, Random(1))], Random(2))


def test_a_strategy_that_changes_what_it_sees_changes_nothing_else() -> None:
    def spoil(situation: Situation) -> str:
        situation.view["mine"].append("C")
        situation.view["theirs"].clear()
        return "D"

    table = Table("prisoners_dilemma", GAMES["prisoners_dilemma"], {"rounds": 3})
    players = [
        Contestant(Brain(spoil, "spoil"), Random(0)),
        Contestant(load_brain("tit_for_tat"), Random(1)),
    ]
    assert table.play(players, Random(2)).outcome.scores == (7, 2)


def test_a_strategy_that_has_to_be_waited_for_plays_too() -> None:
    async def think(situation: Situation) -> object:
        await asyncio.sleep(0)
        return situation.legal[0]

    players = [
        Contestant(Brain(think, "slow"), Random(0)),
        Contestant(load_brain("random"), Random(1)),
    ]
    assert Table("even_odd", GAMES["even_odd"], {}).play(players, Random(2)).moves[0] == "even"


def test_points_have_an_interval() -> None:
    assert estimate_points(bytes([DRAW] * 10)) == (1.0, 1.0, 1.0)
    mean, low, high = estimate_points(bytes([WIN, LOSS] * 50))
    assert (mean, round(low, 3), round(high, 3)) == (1.5, 1.206, 1.794)


def test_the_plot_is_a_drawing_with_a_line_for_each() -> None:
    svg = draw_convergence("a < b", {"one": [1.0, 1.5, 1.2], "other": [0.5, 0.9, 1.0]})
    root = ET.fromstring(svg)  # noqa: S314 - our own text
    assert len([one for one in root.iter() if one.tag.endswith("polyline")]) == 2


# The sequential test


@pytest.mark.parametrize(
    ("mean", "answer"),
    [(0.3, Answer.FIRST), (-0.3, Answer.SECOND), (0.0, Answer.NEITHER)],
)
def test_the_test_is_right_nineteen_times_in_twenty(mean: float, answer: Answer) -> None:
    wrong = 0
    for seed in range(200):
        rng, test = Random(seed), SequentialTest(margin=0.3)
        while test.answer is Answer.UNDECIDED:
            test.add(rng.gauss(mean, 1.0) for _ in range(10))
        wrong += test.answer is not answer
    assert wrong <= 0.1 * 200


def test_a_comparison_ends_when_it_is_certain() -> None:
    better = compare(ComparisonPlan("tic_tac_toe", "minimax", "random", "seed"))
    assert (better.answer, better.count) == (Answer.FIRST, 100)
    equal = compare(ComparisonPlan("even_odd", "always_even", "always_odd", "seed", margin=0.5))
    assert equal.answer is Answer.NEITHER
    short = compare(ComparisonPlan("even_odd", "markov", "random", "seed", margin=0.01, most=100))
    assert short.answer is Answer.UNDECIDED


def test_both_may_be_compared_by_how_they_do_against_others() -> None:
    plan = ComparisonPlan("even_odd", "markov", "mirror", "seed", ["always_even", "alternating"])
    found = compare(plan)
    assert found.answer is Answer.FIRST
    assert 0.1 < found.mean < 0.5


def test_a_model_without_an_answer_plays_at_random_as_in_a_league() -> None:
    async def fail(situation: Situation) -> object:
        raise EndpointError("no answer")

    silent = Contestant(Brain(fail, "llm:silent"), Random(0))
    players = [silent, Contestant(load_brain("random"), Random(1))]
    assert Table("even_odd", GAMES["even_odd"], {}).play(players, Random(2)).moves[0] in (
        "even",
        "odd",
    )
    assert silent.fallbacks == 1


# The commands


@pytest.mark.parametrize("first", ["http://127.0.0.1:2/mcp", "random"])
def test_somebody_must_be_at_an_address(first: str) -> None:
    with pytest.raises(AgentAbsentError, match="nobody answers at http"):
        play_anywhere(Meeting("even_odd", first, "http://127.0.0.1:1/mcp", 1, "seed"))


def test_the_lab_prints_a_table_and_writes_a_plot(tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    flags = ("--strategies", "markov,random", "-n", "40", "--seed", "1", "--plot", str(plot))
    done = league("lab", "even_odd", *flags)
    assert done.returncode == 0, done.stderr
    assert "points a match, 95 %" in done.stdout
    assert "ceiling" in done.stdout
    assert plot.read_text(encoding="utf-8").startswith("<svg")


def test_the_lab_writes_every_match_for_data_frames(tmp_path: Path) -> None:
    file = tmp_path / "matches.parquet"
    flags = ("--strategies", "markov,random", "-n", "40", "--seed", "1", "--parquet", str(file))
    assert league("lab", "even_odd", *flags).returncode == 0
    rows = import_extra("pyarrow.parquet", "parquet").read_table(file).to_pylist()
    assert len(rows) == 40
    assert rows[0].keys() == {"game", "first", "second", "match", "ending"}
    assert {row["ending"] for row in rows} == {"win", "draw", "loss"}


def test_a_library_that_is_not_installed_is_named_with_the_extra_that_brings_it() -> None:
    with pytest.raises(MissingExtraError, match="the library nobody_has_it") as caught:
        import_extra("nobody_has_it.at_all", "parquet")
    assert caught.value.hint == "pip install 'agent-league[parquet]'"


def test_the_lab_prints_one_document() -> None:
    flags = ("--strategies", "tit_for_tat,always_defect", "-n", "4", "--option", "rounds=10")
    found = document("lab", "prisoners_dilemma", *flags, "--json")
    scores = {row["strategy"]: row["score_per_turn"] for row in found["strategies"]}
    assert scores == {"always_defect": 1.4, "tit_for_tat": 0.9}


@pytest.mark.parametrize(
    ("words", "reply"),
    [
        (("lab", "chess"), "there is no game 'chess'"),
        (("lab", "even_odd", "--strategies", "random"), "two strategies or more"),
        (("lab", "even_odd", "--strategies", "random,nobody"), "there is no strategy 'nobody'"),
        (("lab", "even_odd", "--option", "rounds=3"), "unknown option 'rounds'"),
        (("compare", "random", "nobody"), "there is no strategy 'nobody'"),
    ],
)
def test_what_cannot_be_played_is_said(words: tuple[str, ...], reply: str) -> None:
    done = league(*words)
    assert done.returncode == 2
    assert reply in done.stderr


def test_the_answer_is_also_the_exit_code() -> None:
    assert league("compare", "minimax", "random", "--game", "tic_tac_toe").returncode == 0
    no = league("compare", "random", "minimax", "--game", "tic_tac_toe")
    assert no.returncode == 1
    assert "No: minimax is better than random." in no.stdout


def make_row(name: str, *endings: int) -> Row:
    return Row(name, [Duel("other", bytes(endings), 0.0, 1, None)])


def test_a_lead_that_may_be_chance_is_told() -> None:
    rows = [
        make_row("one", *[WIN] * 90, *[LOSS] * 10),
        make_row("two", *[WIN] * 88, *[LOSS] * 12),
        make_row("three", *[WIN] * 20, *[LOSS] * 80),
    ]
    assert find_uncertain(rows) == [0]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_crosstable_of_twelve_fits_the_screen(width: int) -> None:
    names = [name for name in STRATEGIES if suits(STRATEGIES[name], "prisoners_dilemma")][:12]
    rows = make_rows(names, run_lab(LabPlan("prisoners_dilemma", names, 2, "1"), cores=1))
    lines = [str(line) for line in draw_crosstable(rows, width)]
    assert max(map(len, lines)) <= width
    assert sum(line.count("-") for line in lines) == len(names)  # nobody meets itself


def test_moves_that_were_replaced_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def say_nothing(situation: Situation) -> object:
        raise EndpointError("it says nothing")

    brains = {"silent": Brain(say_nothing, "silent"), "random": load_brain("random")}
    monkeypatch.setattr("agent_league.lab.series.load_brain", brains.__getitem__)
    met = play_meeting(Meeting("even_odd", "silent", "random", 7, "seed"))
    assert met.fallbacks == (7, 0)
    assert count_fallbacks([met, met]) == {"silent": 14}
