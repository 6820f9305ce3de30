from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.season.assignment import (
    POLICIES,
    Load,
    Policy,
    choose,
    least_busy,
    plan,
    round_robin,
    weighted,
)

every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES.keys())


def load(number: int, running: int = 0, capacity: int = 1, given_: int = 0) -> Load:
    return Load(f"REF{number:02}", running, capacity, given_)


loads = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 10), st.integers(0, 30)), max_size=6
).map(lambda rows: [load(n, *row) for n, row in enumerate(rows, 1)])


def test_the_three_policies_of_the_contract_are_there() -> None:
    assert POLICIES.keys() >= {"round_robin", "least_busy", "weighted"}


@pytest.mark.parametrize(
    ("policy", "expected"),
    [(round_robin, "REF01"), (least_busy, "REF02"), (weighted, "REF03")],
)
def test_each_policy_has_its_own_idea_of_who_is_next(policy: Policy, expected: str) -> None:
    referees = [
        load(1, running=3, capacity=4, given_=4),
        load(2, running=1, capacity=5, given_=6),
        load(3, running=2, capacity=10, given_=5),
    ]
    chosen = choose(policy, referees)
    assert chosen is not None
    assert chosen.referee_id == expected


@every_policy
def test_nobody_is_chosen_while_nobody_has_room(policy: Policy) -> None:
    assert choose(policy, []) is None
    assert choose(policy, [load(1, 2, 2), load(2, 3, 2)]) is None


@given(loads, st.sampled_from(sorted(POLICIES)))
def test_only_a_referee_with_room_is_chosen_and_always_one_if_there_is(
    referees: list[Load], name: str
) -> None:
    chosen = choose(POLICIES[name], referees)
    with_room = [one for one in referees if one.free > 0]
    assert (chosen is None) == (not with_room)
    assert chosen is None or chosen in with_room


@given(loads, st.sampled_from(sorted(POLICIES)), st.randoms())
def test_the_choice_does_not_depend_on_the_order_of_the_referees(
    referees: list[Load], name: str, rng: Random
) -> None:
    shuffled = list(referees)
    rng.shuffle(shuffled)
    assert choose(POLICIES[name], shuffled) == choose(POLICIES[name], referees)


@pytest.mark.parametrize("name", ["round_robin", "least_busy"])
@given(st.integers(1, 6), st.integers(0, 40))
def test_a_plan_for_equal_referees_is_fair(name: str, referees: int, matches: int) -> None:
    planned = plan(POLICIES[name], [load(n) for n in range(1, referees + 1)], matches)
    shares = Counter(planned)
    assert len(planned) == matches
    counts = [shares[f"REF{n:02}"] for n in range(1, referees + 1)]
    assert max(counts) - min(counts) <= 1


def test_a_weighted_plan_follows_capacity() -> None:
    planned = plan(weighted, [load(1, capacity=1), load(2, capacity=3)], 8)
    assert Counter(planned) == {"REF01": 2, "REF02": 6}


def test_a_plan_without_referees_is_empty() -> None:
    assert plan(round_robin, [], 3) == []


def test_a_plan_does_not_wait_for_room() -> None:
    assert plan(least_busy, [load(1, running=1, capacity=1)], 3) == ["REF01"] * 3


def test_round_robin_goes_round() -> None:
    assert plan(round_robin, [load(3), load(1), load(2)], 4) == ["REF01", "REF02", "REF03", "REF01"]
