"""Our manager uses third-party referees, however they are started and report."""

from contextlib import AsyncExitStack

import pytest

from agent_league.protocol import Role
from agent_league.store.events import AgentSuspended
from end_to_end.http_league import HttpLeague, played_with_programs
from strangers.third_party import UNHURRIED, broken, registered, running

STARTS = ["START_MATCH", "MATCH_ASSIGNMENT", "run_match", "assign_match", "ROUND_ANNOUNCEMENT"]
COMMON = {"null-field", "report-ticket"}
FORMS = {"flat": {"report-form"}, "score": {"report-score"}, "players": {"report-form"}}


def refereed(
    *agents: tuple[str, ...], players: int = 3, strictness: str = "tolerant"
) -> HttpLeague:
    """Play a league of our players with foreign referees only."""

    async def script(league: HttpLeague) -> None:
        async with AsyncExitStack() as stack:
            for number, (name, *arguments) in enumerate(agents, 1):
                process = running(name, "--manager", league.url, *arguments)
                await stack.enter_async_context(process)
                await registered(league, Role.REFEREE, number)
            for strategy in ("always_even", "always_odd", "alternating")[:players]:
                await league.add_player(strategy)
            await league.play()

    changes = {"awaited_players": players, "awaited_referees": len(agents)}
    return played_with_programs(
        script, patience=UNHURRIED, strictness=strictness, heartbeat=5.0, **changes
    )


@pytest.mark.parametrize("start", STARTS)
def test_a_referee_is_started_in_the_way_that_it_understands(start: str) -> None:
    report = {"run_match": "score", "assign_match": "players"}.get(start, "flat")
    league = refereed(("assigned", "--start", start, "--report", report))
    season = league.manager.season
    assert {ended.termination for ended in season.results.values()} == {"completed"}
    assert season.played == 3
    own_way = set() if start == "START_MATCH" else {"order-form"}
    assert broken(league) == {"started": {*own_way, *COMMON, *FORMS[report]}}
    assert not any(isinstance(event, AgentSuspended) for event in league.events)


def test_a_referee_that_asks_for_its_matches_is_given_them() -> None:
    league = refereed(("poller",))
    season = league.manager.season
    assert {ended.termination for ended in season.results.values()} == {"completed"}
    expected = {"order-form", "query-form", "report-form", "report-ticket"}
    assert broken(league) == {"poller": expected}


def test_points_follow_from_the_winner_whatever_score_comes_with_the_report() -> None:
    league = refereed(("assigned", "--start", "run_match", "--report", "score"), players=2)
    (ended,) = league.manager.season.results.values()
    points = {row.player_id: row.points for row in league.manager.season.standings()}
    assert ended.winner is not None  # one says even and the other odd
    assert points[ended.winner] == 3
    assert sum(points.values()) == 3
