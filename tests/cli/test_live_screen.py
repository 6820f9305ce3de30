"""The live view, as it looks on terminals of several sizes."""

import logging

import pytest
from rich.console import Console

from agent_league.agent_log import log
from agent_league.cli.screens import LiveScreen, format_match
from agent_league.cli.warning_digest import digest_warnings
from agent_league.protocol import Role
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import (
    AgentRegistered,
    MatchAssigned,
    MatchEnded,
    RoundOpened,
    SeasonStarted,
)

AT, LATER = "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.012Z"


def season_of(players: int, name: str = "Player number {}", **settings: str) -> Season:
    season = registration_of(players, name, **settings)
    season.apply(SeasonStarted(at=AT, players=[e.agent_id for e in season.roster.of(Role.PLAYER)]))
    return season


def registration_of(players: int, name: str = "Player number {}", **settings: str | int) -> Season:
    season = Season(LeagueSettings(seed="7", **settings))  # type: ignore[arg-type]
    ids = [f"P{number:02}" for number in range(1, players + 1)]
    for number, player in enumerate(ids, 1):
        season.apply(
            AgentRegistered(
                at=AT,
                role="player",
                agent_id=player,
                display_name=name.format(number),
                version="1.0.0",
                endpoint=f"http://{player}/mcp",
                game_types=["even_odd"],
                token_hash="",
                expires=AT,
            )
        )
    return season


def ended(winner: str | None = "P02", **changes: object) -> MatchEnded:
    fields: dict[str, object] = {
        "at": LATER,
        "match_id": "R1M1",
        "round_id": 1,
        "referee_id": "REF01",
        "players": ["P01", "P02"],
        "winner": winner,
        "status": "WIN",
        "termination": "completed",
        "details": {"drawn_number": 8, "choices": {"P01": "odd", "P02": "even"}},
    }
    return MatchEnded(**{**fields, **changes})  # type: ignore[arg-type]


def shown(season: Season, *events: MatchEnded, width: int = 80, height: int = 24) -> list[str]:
    """Return the lines of the screen after *events*."""
    console = make_console(width, height)
    screen = LiveScreen(console)
    screen.watch(season)
    for event in (RoundOpened(at=AT, round_id=1, matches=season.pairings(1)), *events):
        if isinstance(event, MatchEnded):
            assigned = {"match_id": event.match_id, "referee_id": "REF01", "ticket_hash": ""}
            season.apply(MatchAssigned(at=AT, **assigned))
        season.apply(event)
        screen.on_event(event)
    return render(screen, console)


def make_console(width: int = 80, height: int = 24) -> Console:
    return Console(width=width, height=height, force_terminal=True, color_system=None)


def render(screen: LiveScreen, console: Console) -> list[str]:
    with console.capture() as captured:
        console.print(screen.render())
    return captured.get().splitlines()


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("height", [16, 24, 50])
def test_thirty_players_fit_and_the_rest_is_counted(width: int, height: int) -> None:
    lines = shown(season_of(30), *[ended()] * 6, width=width, height=height)
    assert len(lines) < height
    assert all(len(line.rstrip()) <= width for line in lines)
    rows = [line for line in lines if "Player number" in line and "0  0" in line]
    hidden = [line for line in lines if line.startswith("…")]
    if height < 50:
        (more,) = hidden
        assert int(more.split()[1]) + len(rows) + 2 >= 30
    else:
        assert hidden == []


@pytest.mark.parametrize("width", [60, 80])
def test_no_line_goes_on_below(width: int) -> None:
    name = "A very long name of an agent number {}"
    lines = shown(season_of(4, name), ended(), width=width)
    (match,) = [line for line in lines if line.strip().startswith("R1M1")]
    assert match.rstrip().endswith("…")
    assert "… won against A very long" in match
    assert len(lines) == 1 + 1 + 1 + 1 + 4


def test_the_first_line_tells_the_matches_the_timeouts_and_the_times() -> None:
    late = ended(status="TECHNICAL_LOSS", technical_losses=["P01"], forfeits={"P01": "timeout"})
    first = shown(season_of(4), late, width=100)[0]
    assert "Round 1/3" in first
    for fact in ("1/6 matches", "1 timeouts", "p99 12 ms", "0 s"):
        assert fact in first


def test_a_league_that_waits_says_for_whom() -> None:
    waiting = registration_of(2, awaited_players=4, awaited_referees=1)
    assert "  waiting for 2 players and 1 referee" in [line.rstrip() for line in draw(waiting)]
    assert not any("waiting" in line for line in draw(season_of(2)))


def draw(season: Season) -> list[str]:
    """Return the lines of a screen that has just been opened."""
    console = make_console()
    screen = LiveScreen(console)
    screen.watch(season)
    return render(screen, console)


def test_who_moves_up_or_down_in_a_round_is_marked() -> None:
    lines = shown(season_of(4), ended("P02"))
    (up,) = [line for line in lines if "P02" in line and "v" not in line]
    (down,) = [line for line in lines if "P01" in line and "v" not in line]
    assert "▲1" in up
    assert "▼1" in down


def test_players_of_one_name_are_told_apart() -> None:
    assert "Ada (P01) [odd] v Ada (P02) [even]" in format_match(ended(), season_of(3, "Ada"))
    assert "Ada 1 [odd] v Ada 2 [even]" in format_match(ended(), season_of(3, "Ada {}"))


def test_a_game_of_several_moves_shows_no_last_move() -> None:
    details = {"choices": {"P01": 3, "P02": 5}, "board": []}
    season = season_of(2, game_type="tic_tac_toe")
    line = format_match(ended(details=details), season)
    assert line == "R1M1   Player number 1 v Player number 2  Player number 2 wins"


def test_a_warning_is_printed_once_for_each_peer_and_cause(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "agent_league"), digest_warnings():
        for number in range(5):
            log.warning("%s did not take a notice: nothing came within %d s", "P01", number)
            log.warning("%s refuses %s: full", "REF01", f"R{number}M1")
        log.warning("%s did not take a notice: nothing came within 5 s", "P02")
    assert len(caplog.messages) == 3
    printed = capsys.readouterr().err.splitlines()
    assert printed == [
        "5 times: P01 did not take a notice: nothing came within … s",
        "5 times: REF01 refuses …: full",
    ]
