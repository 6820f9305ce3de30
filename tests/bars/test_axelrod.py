"""The tit-for-tat family in Axelrod's own library and in our lab: same field, same scores, and how fast."""

import sys
from time import process_time

import axelrod
import pytest

from agent_league.lab.crosstable import make_rows
from agent_league.lab.tournament import LabPlan, run_lab
from agent_league.player import load_brain

FIELD = {
    "tit_for_tat": axelrod.TitForTat,
    "tit_for_two_tats": axelrod.TitFor2Tats,
    "suspicious_tit_for_tat": axelrod.SuspiciousTitForTat,
    "grim_trigger": axelrod.Grudger,
    "pavlov": axelrod.WinStayLoseShift,
    "always_cooperate": axelrod.Cooperator,
    "always_defect": axelrod.Defector,
}
CHANCE = {"generous_tit_for_tat": axelrod.GTFT, "random": axelrod.Random}
TURNS, TIMES, ROUNDS = 200, 20, 2


def play_theirs(
    field: dict[str, type[axelrod.Player]], times: int
) -> tuple[dict[str, float], float]:
    """Return the score a turn of each, and how long it took."""
    started = process_time()
    players = [kind() for kind in field.values()]
    tournament = axelrod.Tournament(players, turns=TURNS, repetitions=times, seed=1)
    found = tournament.play(progress_bar=False, processes=None)
    took = process_time() - started
    means = [sum(scores) / times for scores in found.normalised_scores]
    return dict(zip(field, means, strict=True)), took


def play_ours(field: dict[str, type[axelrod.Player]], times: int) -> tuple[dict[str, float], float]:
    for name in field:
        load_brain(name)
    started = process_time()
    plan = LabPlan("prisoners_dilemma", list(field), times, "1", {"rounds": TURNS})
    rows = make_rows(plan.strategies, run_lab(plan, cores=1))
    return {row.strategy: row.score for row in rows}, process_time() - started


def rank(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda name: (-round(scores[name], 6), name))


def test_the_family_has_the_scores_and_the_order_of_the_library() -> None:
    theirs, _ = play_theirs(FIELD, 1)
    ours, _ = play_ours(FIELD, 2)
    assert ours == pytest.approx(theirs)
    assert rank(ours) == rank(theirs)


def test_with_chance_the_order_is_the_same_where_it_is_clear() -> None:
    field = {**FIELD, **CHANCE}
    theirs, _ = play_theirs(field, 50)
    ours, _ = play_ours(field, 50)
    assert ours == pytest.approx(theirs, abs=0.03)
    clear = [(a, b) for a in field for b in field if theirs[a] - theirs[b] > 0.06]
    assert clear
    assert all(ours[one] > ours[other] for one, other in clear)


@pytest.mark.parametrize("chance", [{}, CHANCE], ids=["without chance", "with chance"])
def test_the_lab_plays_five_times_as_many_turns_a_second(
    chance: dict[str, type[axelrod.Player]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Turns a second of CPU time on one core, in turn with the library; we play no self-play."""
    field = {**FIELD, **chance}
    size, theirs, ours = len(field), 0.0, 0.0
    for _ in range(ROUNDS):
        theirs += play_theirs(field, TIMES)[1] / (size * (size + 1) / 2)
        ours += play_ours(field, TIMES)[1] / (size * (size - 1) / 2)
    turns = TURNS * TIMES * ROUNDS
    with capsys.disabled():
        both = f"axelrod {turns / theirs:,.0f}, lab {turns / ours:,.0f} turns a second"
        sys.stdout.write(f"\n{both}: {theirs / ours:.1f} times\n")
    assert theirs >= 5 * ours
