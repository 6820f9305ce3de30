"""What is shown on stderr while a league is played: lines, or a screen that is always up to date."""

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from math import ceil

from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from agent_league.cli.report import make_standings_table
from agent_league.game import GAMES
from agent_league.printable import format_count, make_printable
from agent_league.protocol import Role
from agent_league.protocol.fields import parse_time
from agent_league.protocol.results import Termination
from agent_league.protocol.rounds import StandingRow
from agent_league.running.league_run import LeagueRun, Observer
from agent_league.season.season import Season, Stage
from agent_league.store import Event
from agent_league.store.events import (
    AgentDisqualified,
    AgentRecovered,
    AgentRegistered,
    AgentReinstated,
    AgentSuspended,
    AnnouncementMade,
    EndOrdered,
    LeagueContinued,
    LeaguePaused,
    MatchAdded,
    MatchEnded,
    MatchVoided,
    RegistrationSet,
    RoundClosed,
    RoundOpened,
)

SHOWN_MATCHES = 6
SMALL_LEAGUE = 30
"""The most matches of a league whose matches are all shown in plain lines."""
REMEMBERED_TIMES = 1000
FEWEST_ROWS = 4
NARROWEST_BAR = 8
BRIEF_LINE = 23
"""How many characters a match takes on its line in brief, besides two names."""


class Screen(Observer):
    """Shows a season; what a subclass does not override shows nothing."""

    def on_open(self, league_run: LeagueRun, organiser_token: str | None) -> None:
        self.open(league_run.season)

    def open(self, season: Season) -> None:
        """Show *season* from now on."""


class PlainScreen(Screen):
    """Prints a line for each important event on stderr."""

    def open(self, season: Season) -> None:
        """Show *season* from now on."""
        self._season = season

    def on_event(self, event: Event) -> None:
        season, line = self._season, format_agent_event(event)
        if isinstance(event, MatchEnded) and season.total_matches <= SMALL_LEAGUE:
            line = f"  {format_match(event, season)}"
        if isinstance(event, RoundClosed):
            rounds = f"Round {event.round_id}/{season.total_rounds}"
            line = f"{rounds} over, {format_count(season.played, 'match')} played"
        if isinstance(event, AgentRegistered) and (awaited := describe_awaited(season)):
            line = f"{line} (waiting for {awaited})"
        if line:
            print(make_printable(line), file=sys.stderr, flush=True)


class LiveScreen(Screen):
    """Shows the round, the last matches and the table on stderr, always up to date."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._last_lines: deque[str] = deque(maxlen=SHOWN_MATCHES)
        self._milliseconds: deque[float] = deque(maxlen=REMEMBERED_TIMES)
        self._timeouts = 0
        self._ranks: dict[str, int] = {}
        """The rank of every player when the round began."""
        self._started_at = time.monotonic()
        self._live: Live | None = None

    def open(self, season: Season) -> None:
        """Show *season* from now on, on the terminal."""
        self.watch(season)
        console = self._console
        self._live = Live(console=console, get_renderable=self.render, refresh_per_second=8)
        self._live.start(refresh=True)

    def watch(self, season: Season) -> None:
        """Show *season* from now on."""
        self._season = season
        self._note_ranks()

    def on_close(self) -> None:
        if self._live is not None:
            self._live.stop()

    def on_event(self, event: Event) -> None:
        if isinstance(event, RoundOpened):
            self._note_ranks()
        if isinstance(event, MatchEnded):
            self._note_match(event)
        elif line := format_agent_event(event):
            self._last_lines.append(line)

    def _note_ranks(self) -> None:
        if self._season.stage is Stage.PLAYING:
            self._ranks = {row.player_id: row.rank for row in self._season.standings()}

    def _note_match(self, ended: MatchEnded) -> None:
        self._last_lines.append(self._format_match(ended))
        self._timeouts += list(ended.forfeits.values()).count(Termination.TIMEOUT)
        assigned = self._season.assignments.get(ended.match_id)
        if assigned is not None:
            took = parse_time(ended.at) - parse_time(assigned.at)
            self._milliseconds.append(took.total_seconds() * 1000)

    def _format_match(self, ended: MatchEnded) -> str:
        """Return a match in a line that fits: with all of it, or only who won against whom."""
        width, line = self._console.width, format_match(ended, self._season)
        if cell_len(line) + 2 <= width:
            return line
        return format_match_briefly(ended, self._season, (width - BRIEF_LINE) // 2)

    def render(self) -> Group:
        """Return what fits on the screen now."""
        width, height = self._console.size
        lines = [_fit(f"  {make_printable(line)}") for line in self._last_lines]
        # The final table goes to stdout; here it would be shown twice.
        rows = self._season.standings() if self._season.stage is Stage.PLAYING else []
        room = max(FEWEST_ROWS, height - len(lines) - 5)  # bar, gap, heading, rest, cursor
        shown = rows if len(rows) <= room + 1 else rows[:room]
        more = [_fit(f"… {len(rows) - len(shown)} more")] if len(shown) < len(rows) else []
        table = make_live_table(shown, self._ranks)
        return Group(self._make_bar(width), *self._list_awaited(), *lines, Text(), table, *more)

    def _list_awaited(self) -> list[Text]:
        """Return the line that says whom the league waits for, if it waits for somebody."""
        awaited = describe_awaited(self._season)
        return [_fit(f"  waiting for {awaited}")] if awaited else []

    def _make_bar(self, width: int) -> Table:
        """Return the progress in one line; what does not fit is left out, the least useful first."""
        label, done, total, what = measure_progress(self._season)
        count = f"{done}/{total} {what}" if total else f"{done} {what}"
        facts = [count, f"{self._timeouts} timeouts", *self._format_p99()]
        facts.append(f"{time.monotonic() - self._started_at:.0f} s")
        used = len(label) + 4
        while len(facts) > 1 and used + len("   ".join(facts)) + NARROWEST_BAR > width:
            facts.pop()
        text = "   ".join(facts)
        bar_width = max(1, min(40, width - used - len(text)))
        grid = Table.grid(padding=(0, 1))
        bar = ProgressBar(total=total, completed=done, width=bar_width, pulse=False)
        grid.add_row(_fit(f"  {label}"), bar, _fit(text))
        return grid

    def _format_p99(self) -> list[str]:
        """Return the time that all but one in a hundred of the last matches took at most."""
        times = sorted(self._milliseconds)
        return [f"p99 {times[ceil(0.99 * len(times)) - 1]:.0f} ms"] if times else []


def _fit(line: str) -> Text:
    """Return *line*, which is cut at the edge of the screen instead of going on below."""
    return Text(line, no_wrap=True, overflow="ellipsis")


def make_live_table(rows: Sequence[StandingRow], ranks_before: Mapping[str, int]) -> Table:
    """Return the table with who has moved up or down since *ranks_before*."""
    moved = [ranks_before.get(row.player_id, row.rank) - row.rank for row in rows]
    table = make_standings_table(rows, [_format_move(steps) for steps in moved])
    for column in table.columns:
        column.no_wrap, column.overflow = True, "ellipsis"
    return table


def _format_move(steps: int) -> str:
    if not steps:
        return ""
    return f"▲{steps}" if steps > 0 else f"▼{-steps}"


def measure_progress(season: Season) -> tuple[str, int, int | None, str]:
    """Return what goes on, how much of it is done, of how much if that is known, and of what."""
    if season.stage is Stage.REGISTRATION:
        here = len(season.roster.of(Role.PLAYER))
        return "Registration", here, season.settings.awaited_players, "players"
    label = f"Round {season.round_id}/{season.total_rounds}"
    return label, season.played, season.total_matches, "matches"


def describe_awaited(season: Season) -> str:
    """Return who has to come before the season begins: `2 players and 1 referee`, or nothing."""
    settings = season.settings
    awaited = {Role.PLAYER: settings.awaited_players or 0, Role.REFEREE: settings.awaited_referees}
    if season.stage is not Stage.REGISTRATION:
        return ""
    missing = {role: count - len(season.roster.of(role)) for role, count in awaited.items()}
    counts = [format_count(n, role) for role, n in missing.items() if n > 0]
    return " and ".join(counts)


def name_player(player: str, season: Season) -> str:
    """Return the name of a player, with its id if another player has the same name."""
    own = season.roster[player].display_name
    alike = [e for e in season.roster.of(Role.PLAYER) if e.display_name == own]
    return own if len(alike) == 1 else f"{own} ({player})"


def format_match(ended: MatchEnded, season: Season) -> str:
    """Return a match in one line: who, what they chose, what was drawn, who won.

    In a game of several moves the last ones say nothing.
    """
    choices, names = ended.details.get("choices") or {}, _name_players(ended, season)
    sides = [names[player] for player in ended.players]
    if GAMES[season.settings.game_type].turns == 1:
        sides = [f"{names[player]} [{choices.get(player) or '-'}]" for player in ended.players]
    drawn = ended.details.get("drawn_number")
    draw_text = f"drew {drawn}, " if drawn is not None else ""
    winner = f"{names[ended.winner]} wins" if ended.winner else "draw"
    if ended.technical_losses:
        winner = f"{winner if ended.winner else 'nobody wins'} ({ended.termination})"
    return f"{ended.match_id:<6} {sides[0]} v {sides[1]}  {draw_text}{winner}"


def format_match_briefly(ended: MatchEnded, season: Season, longest: int) -> str:
    """Return a match in one short line: who won against whom, or that nobody did."""
    names = _name_players(ended, season, longest)
    first, second = ended.players
    if ended.winner is None:
        verb = "both failed:" if ended.technical_losses else "drew with"
        return f"{ended.match_id:<6} {names[first]} {verb} {names[second]}"
    loser = second if ended.winner == first else first
    return f"{ended.match_id:<6} {names[ended.winner]} won against {names[loser]}"


def _name_players(ended: MatchEnded, season: Season, longest: int = 80) -> dict[str, str]:
    """Return the names of both players, each cut if it is longer than *longest*."""
    names = {player: name_player(player, season) for player in ended.players}
    return {
        player: name if len(name) <= longest else f"{name[: longest - 1]}…"
        for player, name in names.items()
    }


def format_agent_event(event: Event) -> str | None:
    """Return what happened to an agent, or what the organiser decided, if the event is that."""
    if isinstance(event, AgentRegistered):
        return f"{event.agent_id} {event.display_name} joined from {event.endpoint}"
    if isinstance(event, AgentSuspended):
        return f"{event.agent_id} suspended: {event.why}"
    if isinstance(event, AgentRecovered):
        return f"{event.agent_id} is back"
    return _ORDERS[type(event)].format(event) if type(event) in _ORDERS else None


_ORDERS: Mapping[type[Event], str] = {
    RegistrationSet: "registration is {0.word}",
    LeaguePaused: "paused: no further match begins",
    LeagueContinued: "matches begin again",
    MatchVoided: "{0.match_id} is void: {0.why}",
    MatchAdded: "{0.replaces} is played again as {0.match_id}",
    AgentDisqualified: "{0.agent_id} is disqualified ({0.ground}): {0.why}",
    AgentReinstated: "{0.agent_id} takes part again",
    EndOrdered: "ended early: {0.why}",
    AnnouncementMade: "announced: {0.text}",
}
"""What the organiser decided, as templates over the event."""


DISPLAYS: Mapping[str, Callable[[], Screen]] = {
    "rich": LiveScreen,
    "plain": PlainScreen,
    "none": Screen,
}


def choose_screen(display: str | None) -> Screen:
    """Return the screen that was asked for, or the one that fits this stderr."""
    default = "rich" if Console(stderr=True).is_terminal else "plain"
    return DISPLAYS[display or default]()
