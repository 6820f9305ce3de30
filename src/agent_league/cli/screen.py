"""What a person sees while a league is played: a live view, plain lines, or nothing."""

import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from agent_league.cli.report import table
from agent_league.league.season import Season, Stage
from agent_league.store.events import (
    AgentRecovered,
    AgentRegistered,
    AgentSuspended,
    Event,
    MatchEnded,
    RoundClosed,
    RoundOpened,
)
from agent_league.tournament import total_matches

SHOWN_MATCHES = 6
SMALL_LEAGUE = 30
"""A league of up to so many matches is told match by match in plain lines."""


class Screen(Protocol):
    """Shows events as they happen."""

    def showing(self, season: Season) -> AbstractContextManager[object]:
        """Return a context in which events are shown."""
        ...

    def heard(self, event: Event) -> None: ...


class NoScreen:
    """Shows nothing."""

    def showing(self, season: Season) -> AbstractContextManager[object]:
        return nullcontext()

    def heard(self, event: Event) -> None:
        """Keep quiet."""


class PlainScreen:
    """A line for everything worth one, on stderr."""

    def __init__(self) -> None:
        self._season: Season | None = None

    def showing(self, season: Season) -> AbstractContextManager[object]:
        self._season = season
        return nullcontext()

    def heard(self, event: Event) -> None:
        line = self._line(event) if self._season else None
        if line:
            print(line, file=sys.stderr, flush=True)

    def _line(self, event: Event) -> str | None:
        season = self._season
        if season is None:
            return None
        if isinstance(event, MatchEnded):
            small = total_matches(len(season.players), season.settings.legs) <= SMALL_LEAGUE
            return f"  {match_line(event, season)}" if small else None
        if isinstance(event, RoundClosed):
            played = f"{season.played} matches played"
            return f"Round {event.round_id}/{season.total_rounds} over, {played}"
        return member_line(event)


class LiveScreen:
    """The round, the last matches and the table, always current, on stderr."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("  {task.description}"),
            BarColumn(bar_width=40),
            TextColumn("{task.completed}/{task.total} matches"),
            console=console,
        )
        self._task = self._bar.add_task("Registration", total=None)
        self._last: deque[str] = deque(maxlen=SHOWN_MATCHES)
        self._season: Season | None = None
        self._rows = console.height - SHOWN_MATCHES - 6
        self._live = Live(console=console, get_renderable=self._view, refresh_per_second=8)

    def showing(self, season: Season) -> AbstractContextManager[object]:
        self._season = season
        return self._live

    def heard(self, event: Event) -> None:
        season = self._season
        if season is None:
            return
        if isinstance(event, RoundOpened):
            total = total_matches(len(season.players), season.settings.legs)
            said = f"Round {event.round_id}/{season.total_rounds}"
            self._bar.update(self._task, description=said, total=total)
        elif isinstance(event, MatchEnded):
            self._bar.update(self._task, completed=season.played)
            self._last.append(match_line(event, season))
        elif line := member_line(event):
            self._last.append(line)

    def _view(self) -> Group:
        lines = [Text(f"  {line}") for line in self._last]
        # The final table is data and goes to stdout; here it would be the same once more.
        playing = self._season is not None and self._season.stage is Stage.PLAYING
        rows = self._season.standings() if self._season and playing else []
        shown = rows[: max(4, self._rows)]
        return Group(self._bar, *lines, Text(), table(shown))


def match_line(ended: MatchEnded, season: Season) -> str:
    """Return a match in one line: who, what they chose, what was drawn, who won."""
    choices = ended.details.get("choices") or {}
    names = {player: season.roster[player].display_name for player in ended.players}
    sides = [f"{names[player]} [{choices.get(player) or '-'}]" for player in ended.players]
    drawn = ended.details.get("drawn_number")
    drew = f"drew {drawn}, " if drawn is not None else ""
    winner = f"{names[ended.winner]} wins" if ended.winner else "draw"
    if ended.technical_losses:
        winner = f"{winner if ended.winner else 'nobody wins'} ({ended.termination})"
    return f"{ended.match_id:<6} {sides[0]} v {sides[1]}  {drew}{winner}"


def member_line(event: Event) -> str | None:
    """Return what happened to an agent, if that is what the event tells."""
    if isinstance(event, AgentRegistered):
        return f"{event.agent_id} {event.display_name} joined from {event.endpoint}"
    if isinstance(event, AgentSuspended):
        return f"{event.agent_id} suspended: {event.why}"
    if isinstance(event, AgentRecovered):
        return f"{event.agent_id} is back"
    return None


DISPLAYS: Mapping[str, Callable[[], Screen]] = MappingProxyType(
    {"rich": LiveScreen, "plain": PlainScreen, "none": NoScreen}
)


def screen_for(display: str | None) -> Screen:
    """Return the screen that was asked for, or the one that fits where we are."""
    fitting = "rich" if Console(stderr=True).is_terminal else "plain"
    return DISPLAYS[display or fitting]()
