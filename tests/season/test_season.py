from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.protocol import Role
from agent_league.season.roster import Lifecycle
from agent_league.season.season import Season, Stage
from agent_league.season.settings import LeagueSettings
from agent_league.store import Event
from agent_league.store.events import (
    AgentRecovered,
    AgentRegistered,
    AgentSuspended,
    MatchAssigned,
    MatchEnded,
    RoundClosed,
    RoundOpened,
    ScheduledMatch,
    SeasonEnded,
    SeasonOpened,
    SeasonStarted,
    TokenIssued,
)
from league_box import Box, played
from memory_log import MemoryLog
from timewarp import run

AT, EXPIRES = "2025-01-15T10:00:00.000Z", "2025-01-16T10:00:00.000Z"
KINDS = (
    SeasonOpened
    | AgentRegistered
    | TokenIssued
    | AgentSuspended
    | AgentRecovered
    | SeasonStarted
    | RoundOpened
    | MatchAssigned
    | MatchEnded
    | RoundClosed
    | SeasonEnded
)


def registered(number: int, role: Role = Role.PLAYER) -> AgentRegistered:
    agent_id = f"P{number:02}" if role is Role.PLAYER else f"REF{number:02}"
    return AgentRegistered(
        at=AT,
        role=role,
        agent_id=agent_id,
        display_name=f"Agent {number}",
        version="1.0.0",
        endpoint=f"http://{agent_id.lower()}/mcp",
        game_types=["even_odd"],
        token_hash=f"hash of {agent_id}",
        expires=EXPIRES,
    )


def issued(number: int) -> TokenIssued:
    agent_id, token_hash = f"P{number:02}", f"second {number}"
    return TokenIssued(
        at=AT, agent_id=agent_id, token_hash=token_hash, expires=EXPIRES, proven=True
    )


def ended(match: ScheduledMatch, round_id: int, outcome: str) -> MatchEnded:
    winner = {"first": match.first, "second": match.second}.get(outcome)
    losers = {
        "forfeit": [match.first],
        "both": [match.first, match.second],
    }.get(outcome, [])
    if outcome == "forfeit":
        winner = match.second
    return MatchEnded(
        at=AT,
        match_id=match.match_id,
        round_id=round_id,
        referee_id="REF01",
        players=[match.first, match.second],
        winner=winner,
        status="TECHNICAL_LOSS" if losers else "WIN" if winner else "DRAW",
        termination="timeout" if losers else "completed",
        technical_losses=losers,
    )


OUTCOMES = ("first", "second", "draw", "forfeit", "both")


@st.composite
def seasons(draw: st.DrawFn) -> tuple[LeagueSettings, list[Event]]:
    """A season as it may happen, up to any moment of it."""
    players, legs = draw(st.integers(2, 6)), draw(st.integers(1, 2))
    settings = LeagueSettings(seed="s", legs=legs)
    season, log = Season(settings), list[Event]()

    def happens(event: Event) -> None:
        season.apply(event)
        log.append(event)

    happens(SeasonOpened(at=AT, league_id="l", game_type="even_odd", seed="s", legs=legs))
    happens(registered(1, Role.REFEREE))
    for number in range(1, players + 1):
        happens(registered(number))
        if draw(st.booleans()):
            happens(issued(number))
    happens(SeasonStarted(at=AT, players=[f"P{n:02}" for n in range(1, players + 1)]))
    for round_id in range(1, season.total_rounds + 1):
        matches = season.pairings(round_id)
        happens(RoundOpened(at=AT, round_id=round_id, matches=matches))
        for match in draw(st.permutations(matches)):
            assigned = {"referee_id": "REF01", "ticket_hash": match.match_id}
            happens(MatchAssigned(at=AT, match_id=match.match_id, **assigned))
            if draw(st.integers(0, 4)) == 0:
                happens(AgentSuspended(at=AT, agent_id=match.first, why="silent"))
            happens(ended(match, round_id, draw(st.sampled_from(OUTCOMES))))
        happens(RoundClosed(at=AT, round_id=round_id))
    happens(SeasonEnded(at=AT, champion=season.standings()[0].player_id))
    return settings, log[: draw(st.integers(0, len(log)))]


def folded(settings: LeagueSettings, events: Iterable[Event]) -> Season:
    season = Season(settings)
    for event in events:
        season.apply(event)
    return season


def all_of(season: Season) -> dict[str, Any]:
    """Return everything that can be asked of a season."""
    return {
        "stage": season.stage,
        "players": season.players,
        "round_id": season.round_id,
        "closed_rounds": season.closed_rounds,
        "matches": season.matches,
        "assignments": season.assignments,
        "results": season.results,
        "total_rounds": season.total_rounds,
        "standings": season.standings(),
        "rows": [season.row(player) for player in season.players],
        "agents": season.roster.of(Role.REFEREE, Role.PLAYER),
        "rounds": [season.pairings(n) for n in range(1, season.total_rounds + 1)],
    }


@given(seasons())
def test_a_season_is_what_its_events_add_up_to(made: tuple[LeagueSettings, list[Event]]) -> None:
    settings, log = made
    season = folded(settings, log)
    assert all_of(folded(settings, log)) == all_of(season)
    rows = season.standings()
    finished = [event for event in log if isinstance(event, MatchEnded)]
    assert sum(row.played for row in rows) == 2 * len(finished)
    assert sum(row.wins for row in rows) == sum(event.winner is not None for event in finished)
    assert [row.rank for row in rows] == list(range(1, len(rows) + 1))
    assert all(row.points == 3 * row.wins + row.draws for row in rows)


@given(seasons(), st.integers(0, 200))
def test_a_season_can_be_taken_up_again_at_any_event(
    made: tuple[LeagueSettings, list[Event]], at: int
) -> None:
    settings, log = made
    season = folded(settings, log[:at])
    for event in log[at:]:
        season.apply(event)
    assert all_of(season) == all_of(folded(settings, log))


@given(seasons())
def test_events_survive_being_written_down(made: tuple[LeagueSettings, list[Event]]) -> None:
    settings, log = made
    decoder: Any = msgspec.json.Decoder(KINDS)
    reread = [decoder.decode(msgspec.json.encode(event)) for event in log]
    assert reread == log
    assert all_of(folded(settings, reread)) == all_of(folded(settings, log))


def test_the_log_of_a_league_that_was_played_gives_the_same_season_again() -> None:
    box = played(Box(["random", "markov", "always_even", "pattern", "mirror"], 2, legs=2))
    again = folded(box.settings, box.events)
    assert all_of(again) == all_of(box.season)
    assert again.stage is Stage.COMPLETED


def test_the_stages_follow_each_other() -> None:
    season = Season(LeagueSettings(seed="s"))
    stages = [season.stage]
    for number in (1, 2):
        season.apply(registered(number))
    assert [(row.player_id, row.points) for row in season.standings()] == [("P01", 0), ("P02", 0)]
    assert season.total_rounds == 0
    season.apply(SeasonStarted(at=AT, players=["P01", "P02"]))
    stages.append(season.stage)
    assert season.roster["P01"].state is Lifecycle.ACTIVE
    assert [row.points for row in season.standings()] == [0, 0]
    season.apply(SeasonEnded(at=AT, champion="P01"))
    assert [*stages, season.stage] == [Stage.REGISTRATION, Stage.PLAYING, Stage.COMPLETED]


@pytest.mark.parametrize(("players", "legs"), [(2, 1), (3, 1), (4, 1), (5, 2), (8, 1)])
def test_match_ids_say_the_round_and_the_match(players: int, legs: int) -> None:
    season = Season(LeagueSettings(seed="s", legs=legs))
    season.apply(SeasonStarted(at=AT, players=[f"P{n:02}" for n in range(1, players + 1)]))
    for round_id in range(1, season.total_rounds + 1):
        ids = [match.match_id for match in season.pairings(round_id)]
        assert ids == [f"R{round_id}M{n}" for n in range(1, players // 2 + 1)]


def test_a_log_keeps_what_can_happen_only_once_once() -> None:
    async def main() -> None:
        log, received = MemoryLog(), list[Event]()
        log.listen(received.append)
        season = Season(LeagueSettings(seed="s"))
        season.apply(SeasonStarted(at=AT, players=["P01", "P02"]))
        (match,) = season.pairings(1)
        first, second = ended(match, 1, "first"), ended(match, 1, "second")
        assert await log.append(first)
        assert not await log.append(second)
        assert await log.append(AgentRecovered(at=AT, agent_id="P01"))
        assert await log.append(AgentRecovered(at=AT, agent_id="P01"))
        assert list(log) == received
        assert len(log) == 3

    run(main())
