"""What is said of a series of runs."""

from distributed.drill import MATCHES, Outcome, Plan
from distributed.series import Series, find_percentile


def end_run(seed: int, fault: str, takeover_s: float | None = None, lost: int = 0) -> Outcome:
    names = [f"R1M{number}" for number in range(lost)]
    plan = Plan(seed, 1, fault, 10, 5.0)
    return Outcome(plan, MATCHES, MATCHES, names, 0, lost == 0, 2, takeover_s, 20.0)


def test_a_series_says_what_was_lost_and_how_long_nobody_led() -> None:
    outcomes = [end_run(seed, "kill", seed / 10) for seed in range(1, 21)]
    outcomes += [end_run(30, "cut", 3.25), end_run(31, "slow", lost=2)]
    assert [*Series(23, outcomes).describe()] == [
        "complete 22 of 23, verified 21 of 23",
        f"acknowledged {22 * MATCHES}, of these lost 2; doubled 0",
        "standby leads after cut of the leader's host (runs: 1): p95 3.25 s, longest 3.25 s",
        "standby leads after kill of the leader's host (runs: 20): p95 1.90 s, longest 2.00 s",
    ]


def test_a_percentile_of_few_values_is_the_largest() -> None:
    assert find_percentile([0.3, 2.0, 1.0], 95) == 2.0
