"""A whole league, event by event: the chain, the schedule, the results, the table, the secrets."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agent_league.chance import commit_to
from agent_league.protocol import Role
from agent_league.season.answers import find_champion
from agent_league.season.season import Season, Stage
from agent_league.season.secrets import make_match_secret
from agent_league.season.settings import LeagueSettings
from agent_league.store import events
from agent_league.store.chain import Line, make_first_link, make_link
from agent_league.store.codec import KINDS, decode_row
from agent_league.store.errors import StoreError
from agent_league.store.events import Event, MatchEnded
from agent_league.store.record import Opening
from agent_league.verification import matches
from agent_league.verification.problems import NotHeldError, require

_PRIVATE: Mapping[str, Any] = {"token_hash": "", "endpoint": "", "seed": ""}
"""What a record leaves out, and a season does not need."""


@dataclass
class Counts:
    """What was checked."""

    events: int = 0
    matches: int = 0
    draws: int = 0
    """How many matches were played again, with draws that were promised."""
    unproven: dict[str, int] = field(default_factory=dict[str, int])
    """How many draws of each referee were believed."""
    unchained: int = 0
    """How many events are from a version that made no chain."""


class Audit:
    """Takes the events of a record in order; raises `NotHeldError` for the first that is wrong.

    The draws of *trusted* referees are believed: some know nothing of secrets.
    """

    def __init__(self, opening: Opening, trusted: Collection[str] = ()) -> None:
        self.counts = Counts()
        self.season = Season(_read_settings(opening))
        self.link = make_first_link(*opening)
        self._trusted = trusted
        self._commitment: str | None = None
        self.links: set[str] = {self.link}
        """Every link so far; one that somebody noted earlier must be among them."""
        self._checks: Mapping[type[Event], Callable[[Any], None]] = {
            events.SeasonOpened: self._check_opening,
            events.SeasonStarted: self._check_start,
            events.RoundOpened: self._check_round,
            events.RoundClosed: self._check_round_end,
            events.MatchAssigned: self._check_assignment,
            events.MatchEnded: self._check_match,
            events.MatchVoided: self._check_void,
            events.MatchAdded: self._check_replay,
            events.SeasonEnded: self._check_end,
        }

    def take(self, line: Line, messages: str | None = None, body: str | None = None) -> Event:
        """Check one event, with the *messages* of the match that it ends, and apply it.

        A store also has its whole *body*, with what is private.
        """
        place = f"event {line.seq}"
        require(line.seq == self.counts.events + 1, place, "the events before it are missing")
        self._check_link(line)
        event = _read_event(line, body or line.body)
        if check := self._checks.get(type(event)):
            check(event)
        if messages is not None and isinstance(event, MatchEnded):
            self._check_messages(event, messages)
        try:
            self.season.apply(event)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise NotHeldError(place, f"it does not fit those before it: {error!r}") from error
        self.counts.events = line.seq
        return event

    def _check_link(self, line: Line) -> None:
        place = f"event {line.seq}"
        if line.link is None:
            older = self.counts.unchained == self.counts.events and self._commitment is None
            require(older, place, "it has no link of the hash chain")
            self.counts.unchained += 1
            return
        self.link = make_link(self.link, line)
        changed = "it was changed, or one before it: the hash chain does not hold"
        require(line.link == self.link, place, changed)
        self.links.add(self.link)

    def _check_opening(self, event: events.SeasonOpened) -> None:
        self._commitment = event.commitment
        chained = event.commitment is None or self.counts.unchained == 0
        require(chained, "event 1", "it has no link of the hash chain")
        settings = self.season.settings
        told, known = (event.game_type, event.legs), (settings.game_type, settings.legs)
        require(told == known, "event 1", "the league was opened with other settings")

    def _check_start(self, event: events.SeasonStarted) -> None:
        known = {entry.agent_id for entry in self.season.roster.of(Role.PLAYER)}
        strangers = [player for player in event.players if player not in known]
        require(not strangers, "start", f"{strangers[:1]} plays without having registered")
        require(len(set(event.players)) == len(event.players), "start", "a player plays twice")

    def _check_round(self, event: events.RoundOpened) -> None:
        place = f"round {event.round_id}"
        planned = self.season.pairings(event.round_id)
        right = [(m.match_id, m.first, m.second) for m in planned]
        told = [(m.match_id, m.first, m.second) for m in event.matches]
        require(told == right, place, "its pairings are not those of the schedule")
        missing = [m.match_id for m in event.matches if self._commitment and not m.commitment]
        require(not missing, place, f"nothing was promised about the draws of {missing[:1]}")

    def _check_round_end(self, event: events.RoundClosed) -> None:
        known = self.season.results
        drawn = [m for m in self.season.matches.values() if m.round_id == event.round_id]
        open_ones = [m.match_id for m in drawn if m.match_id not in known and not self._is_added(m)]
        require(not open_ones, f"round {event.round_id}", f"{open_ones[:1]} has no result")

    def _is_added(self, match: events.ScheduledMatch) -> bool:
        return any(one.match_id == match.match_id for one in self.season.added)

    def _check_assignment(self, event: events.MatchAssigned) -> None:
        entry = self.season.roster.get(event.referee_id)
        is_referee = entry is not None and entry.role is Role.REFEREE
        require(is_referee, event.match_id, f"{event.referee_id} is no referee of this league")

    def _check_match(self, ended: MatchEnded) -> None:
        match = matches.check_result(self.season, ended)
        self.counts.matches += 1
        if not matches.is_played(ended):
            return
        if match.commitment is None or ended.referee_id in self._trusted:
            matches.check_rules(self.season, ended)
            unproven = self.counts.unproven
            unproven[ended.referee_id] = unproven.get(ended.referee_id, 0) + 1
        else:
            matches.check_draws(self.season, match, ended)
            self.counts.draws += 1

    def _check_messages(self, ended: MatchEnded, messages: str) -> None:
        try:
            entries = msgspec.json.decode(messages, type=list[Any])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise NotHeldError(ended.match_id, f"its messages cannot be read: {error}") from error
        if ended.referee_id not in self._trusted:
            matches.check_transcript(self.season.matches[ended.match_id], ended, entries)

    def _check_void(self, event: events.MatchVoided) -> None:
        ended = self.season.results.get(event.match_id)
        told = (event.winner, event.players, event.technical_losses)
        right = ended and (ended.winner, ended.players, ended.technical_losses)
        require(told == right, event.match_id, "another result was voided than it had")

    def _check_replay(self, event: events.MatchAdded) -> None:
        replaced = self.season.matches.get(event.replaces)
        right = replaced and (replaced.first, replaced.second)
        is_right = (event.first, event.second) == right and event.replaces in self.season.voided
        require(is_right, event.match_id, f"it replaces {event.replaces}, which is not void")

    def _check_end(self, event: events.SeasonEnded) -> None:
        season, secret = self.season, event.secret
        left = season.total_rounds - season.closed_rounds
        is_whole = left == 0 or season.ended_early is not None
        require(is_whole, "end", f"the league ended {left} rounds too early")
        champion = find_champion(season)
        what = f"the champion should be {champion}, not {event.champion}"
        require(event.champion == champion, "end", what)
        if self._commitment is None:
            return
        promised = commit_to(secret or "") == self._commitment
        require(promised, "end", "the league's secret is not the one that was promised")
        for match in season.matches.values():
            is_own = match.commitment == commit_to(make_match_secret(secret or "", match))
            require(is_own, match.match_id, "its secret does not come from the league's secret")

    @property
    def is_over(self) -> bool:
        return self.season.stage is Stage.COMPLETED


def _read_settings(opening: Opening) -> LeagueSettings:
    try:
        settings = {**msgspec.json.decode(opening.settings), "seed": ""}
        read = msgspec.convert(settings, LeagueSettings)
    except (msgspec.DecodeError, TypeError) as error:
        raise NotHeldError("settings", f"they cannot be read: {error}") from error
    require(read.league_id == opening.league_id, "settings", "they are those of another league")
    return read


def _read_event(line: Line, body: str) -> Event:
    place = f"event {line.seq}"
    try:
        fields = {**_PRIVATE, **msgspec.json.decode(body, type=dict[str, Any])}
        whole = msgspec.json.encode(fields).decode()
        event = decode_row(line.seq, line.kind, line.version, whole).event
    except (StoreError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotHeldError(place, str(error)) from error
    require(type(event) is KINDS[line.kind], place, f"it is not a {line.kind}")
    return event
