"""One league as its pages see it: the season, its latest events, and what can be read about it."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec

from agent_league.protocol import Role
from agent_league.season.endings import VOIDED
from agent_league.season.season import Season, Stage
from agent_league.store import events
from agent_league.store.events import Event, ScheduledMatch
from agent_league.tournament.pairing import Played
from agent_league.tournament.standings import Table
from agent_league.vocabulary import PlayerId
from agent_league.web.aliases import make_aliases
from agent_league.web.followers import Followers
from agent_league.web.rating_book import RatingBook
from agent_league.web.records import Records

Data: TypeAlias = dict[str, Any]
"""What a page shows: plain values, which its template and its JSON twin both have."""

LATEST = 60
"""How many of the latest events a view remembers."""
FORM_LENGTH = 5
_SECRETS = frozenset({"token_hash", "ticket_hash", "seed", "expires", "proven", "nonce"})
_WHO = frozenset({"display_name", "endpoint", "model", "version"})
"""What could tell who wrote an agent."""


class MatchLine(NamedTuple):
    """A match of the schedule, and how it ended if it has."""

    match: ScheduledMatch
    status: str
    winner: str | None

    def mark_for(self, player: str) -> str:
        """Return what it is to *player*: W, D, L, T (a technical loss), V (void) or nothing yet."""
        if self.status == VOIDED:
            return "V"
        if self.status == "SCHEDULED":
            return ""
        if self.winner is not None:
            lost = "T" if self.status == "TECHNICAL_LOSS" else "L"
            return "W" if self.winner == player else lost
        return "D" if self.status == "DRAW" else "T"

    def rival_of(self, player: str) -> str:
        return self.match.second if player == self.match.first else self.match.first

    def has(self, player: str) -> bool:
        return player in (self.match.first, self.match.second)


class LeagueView:
    """What the pages of one league show. It changes nothing."""

    def __init__(self, season: Season, records: Records, *, aliases: bool = False) -> None:
        self.season, self.records = season, records
        self.hides_names = aliases
        self.latest: deque[tuple[int, Event]] = deque(maxlen=LATEST)
        """The latest events with their numbers, the oldest first."""
        self.seq = 0
        self.find_gauges: Callable[[], Data] | None = None
        """Returns what only a running manager knows of its agents and of itself."""
        self.follows_store = False
        """Whether another process may be running the league, and adds to its store."""
        self._ranks = RankBook(season)
        self.ratings = RatingBook(season, lambda: list_played(season))
        self.followers = Followers()
        self._waiting: asyncio.Event | None = None
        """Set at the next event, if anybody waits for one."""

    @property
    def is_followed(self) -> bool:
        """Whether the league goes on, so that its pages are worth following."""
        return self.is_live or self.follows_store

    @property
    def is_live(self) -> bool:
        return self.find_gauges is not None

    def note(self, seq: int, event: Event) -> None:
        """Remember *event*, which the season has been told."""
        self.seq = seq
        self.latest.append((seq, event))
        if self._waiting is not None:
            self._waiting.set()
            self._waiting = None

    async def wait_for_event(self) -> None:
        """Return when the next event has happened."""
        self._waiting = self._waiting or asyncio.Event()
        await self._waiting.wait()

    def name(self, agent_id: str) -> str:
        """Return what people call an agent here."""
        entry = self.season.roster.get(agent_id)
        if entry is None:
            return agent_id
        if self.hides_names:
            ids = (one.agent_id for one in self.season.roster.of(entry.role))
            names = make_aliases(ids)
            return names[agent_id] if entry.role is Role.PLAYER else f"Referee {agent_id}"
        return entry.display_name

    def names(self) -> Mapping[str, str]:
        """Return the names of all agents: for pages that need many of them."""
        entries = self.season.roster.entries()
        if not self.hides_names:
            return {entry.agent_id: entry.display_name for entry in entries}
        return {entry.agent_id: self.name(entry.agent_id) for entry in entries}

    def ranks_before_round(self) -> Mapping[str, int]:
        """Return the rank of everybody when the current round began; nothing in the first round."""
        return self._ranks.before(self.season.round_id)

    def _is_over(self, match_id: str | None) -> bool:
        return match_id is None or self.season.find_result(match_id) is not None

    def publish(self, event: Event) -> Data:
        """Return what everybody may know of *event*."""
        fields: Data = msgspec.to_builtins(event)
        hidden = _SECRETS | _WHO if self.hides_names else _SECRETS
        if isinstance(event, events.ViolationNoted) and not self._is_over(event.match_id):
            hidden = hidden | {"got"}  # it may be a move
        shown = {key: value for key, value in fields.items() if key not in hidden}
        if self.hides_names and isinstance(event, events.AgentRegistered):
            shown["display_name"] = self.name(event.agent_id)
        return shown


def list_round(season: Season, round_id: int) -> list[MatchLine]:
    """Return the matches of a round, and how they ended."""
    matches = season.pairings(round_id)
    endings = season.endings_of(matches)
    return [MatchLine(one, *ending) for one, ending in zip(matches, endings, strict=True)]


def list_matches(season: Season, rounds: Iterable[int] | None = None) -> Iterator[MatchLine]:
    """Yield the matches of *rounds*, by default of all rounds that have begun."""
    for round_id in range(1, season.round_id + 1) if rounds is None else rounds:
        yield from list_round(season, round_id)


def find_match(season: Season, match_id: str) -> MatchLine | None:
    """Return a match of the schedule, or None if there is none of that id."""
    head, _, number = match_id.partition("M")
    if not (head[:1] == "R" and head[1:].isdecimal() and number.isdecimal() and len(match_id) < 20):  # noqa: PLR2004 - no id is longer
        return None
    round_id = int(head[1:])
    if not 1 <= round_id <= season.total_rounds:
        return None
    lines = list_round(season, round_id)
    return next((line for line in lines if line.match.match_id == match_id), None)


def list_forms(season: Season) -> Mapping[str, str]:
    """Return the marks of the last matches of every player, the latest last."""
    first = max(1, season.round_id - FORM_LENGTH - 1)  # one round more: a player may have had none
    forms: dict[str, str] = dict.fromkeys(season.players, "")
    for line in list_matches(season, range(first, season.round_id + 1)):
        for player in (line.match.first, line.match.second):
            forms[player] += line.mark_for(player).replace("V", "")
    return {player: marks[-FORM_LENGTH:] for player, marks in forms.items()}


def list_played(season: Season) -> list[Played]:
    """Return the matches that count: who forfeits loses, and where both do nothing was played."""
    counted = (
        line
        for line in list_matches(season)
        if line.status == "DRAW" or (line.status != VOIDED and line.winner is not None)
    )
    return [
        Played(
            PlayerId(line.match.first),
            PlayerId(line.match.second),
            PlayerId(line.winner) if line.winner else None,
        )
        for line in counted
    ]


def count_all_matches(season: Season) -> int:
    """Return how many matches the season has, with those that are played again."""
    return season.total_matches + len(season.added)


class RankBook:
    """Knows the ranks at the beginning of a round; each closed round is added up once."""

    def __init__(self, season: Season) -> None:
        self._season = season
        self._table: Table | None = None
        self._rounds = self._voided = 0
        self._ranks: dict[str, int] = {}

    def before(self, round_id: int) -> Mapping[str, int]:
        """Return the rank of every player before *round_id*, a later round than the last time."""
        season, wanted = self._season, round_id - 1
        if season.stage is Stage.REGISTRATION or wanted < 1:
            return {}
        if self._table is None or self._voided != len(season.voided) or self._rounds > wanted:
            self._table = Table(season.players, season.settings.scoring)
            self._rounds, self._voided = 0, len(season.voided)
        if self._rounds < wanted:
            self._add_rounds(self._table, range(self._rounds + 1, wanted + 1))
            self._rounds = wanted
            levels = season.rank(self._table, wanted)
            ranking = enumerate((row for level in levels for row in level), 1)
            self._ranks = {row.player: rank for rank, row in ranking}
        return self._ranks

    def _add_rounds(self, table: Table, rounds: Sequence[int]) -> None:
        for player in (
            one for n in rounds for one in self._season.list_byes(self._season.pairings(n))
        ):
            table.add_bye(player)
        for line in list_matches(self._season, rounds):
            result = self._season.find_result(line.match.match_id)
            if result is not None and line.status not in {VOIDED, "SCHEDULED"}:
                table.add(result)
