"""The season, computed from its events; it is stored nowhere else."""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum

from agent_league.protocol import Role
from agent_league.protocol.results import MatchResult, read_result
from agent_league.protocol.rounds import StandingRow
from agent_league.season.endings import (
    UNPLAYED,
    VOIDED,
    Ending,
    decode_endings,
    encode_endings,
    parse_match_id,
)
from agent_league.season.roster import Roster
from agent_league.season.secrets import commit_to_match, make_league_secret, make_match_secret
from agent_league.season.settings import LeagueSettings
from agent_league.store import events
from agent_league.store.events import Event, MatchEnded, ScheduledMatch
from agent_league.tournament.formats import FORMATS, Format
from agent_league.tournament.pairing import Pairing, Played
from agent_league.tournament.ranking import Levels
from agent_league.tournament.standings import Standing, Table
from agent_league.vocabulary import Json, PlayerId


class Stage(StrEnum):
    """The stage of a season."""

    REGISTRATION = "REGISTRATION"
    PLAYING = "PLAYING"
    COMPLETED = "COMPLETED"


class Season:
    """The state of a season after the events so far."""

    def __init__(self, settings: LeagueSettings) -> None:
        self.settings = settings
        self.secret = make_league_secret(settings.seed)
        """All draws come from it; it is told when the season is over."""
        self.roster = Roster()
        self.stage = Stage.REGISTRATION
        self.players: list[PlayerId] = []
        self.round_id = self.closed_rounds = 0
        self.matches: dict[str, ScheduledMatch] = {}
        """The matches of every open or closed round; after a restart, only the latest ones."""
        self.assignments: dict[str, events.MatchAssigned] = {}
        self.results: dict[str, MatchEnded] = {}
        """The results of `matches`; `tally` counts those of all rounds."""
        self.drawn: dict[int, list[ScheduledMatch]] = {}
        """The matches of every opened round, where they do not follow from the players alone."""
        self._latest: tuple[int, list[ScheduledMatch]] = (0, [])  # of the round asked for last
        self.endings: dict[int, str] = {}
        """How the matches of each closed round ended, one character each."""
        self.tally: Counter[str] = Counter()
        """How many matches ended with each status."""
        self.voided: dict[str, str] = {}
        """The matches whose results do not count, each with the reason."""
        self.added: list[events.MatchAdded] = []
        """The matches that are played instead of voided ones."""
        self.by_hand: set[str] = set()
        """The matches that wait for the steps of the organiser."""
        self.announcement: events.AnnouncementMade | None = None
        """What the organiser told everybody last."""
        self.paused = self.registration_closed = False
        self.ended_early: str | None = None
        """Why the organiser ended the league before all was played, if so."""
        self.organiser: str | None = None
        """The hash of the organiser's token."""
        self.violations: Counter[tuple[str, str]] = Counter()
        """How often each agent broke each rule."""
        self.incidents: dict[str, list[events.ViolationNoted]] = {}
        """The violations in each match of the current round and the one before."""
        self.table = Table([], settings.scoring)

    @property
    def total_rounds(self) -> int:
        return self.format.count_rounds(len(self.players), self.settings.pace)

    @property
    def format(self) -> Format:
        return FORMATS[self.settings.format]

    @property
    def total_matches(self) -> int:
        """How many matches are drawn in all; those that are played again are not counted."""
        return self.format.count_matches(len(self.players), self.settings.pace)

    @property
    def played(self) -> int:
        """How many matches have ended, including those whose results are no longer in memory."""
        return self.tally.total()

    def is_past(self, match_id: str) -> bool:
        """Whether this is a match of a closed round that is no longer in memory."""
        place = None if match_id in self.matches else parse_match_id(match_id)
        if place is None or place[0] > self.closed_rounds:
            return False
        return place[1] <= len(self.pairings(place[0]))

    def find_result(self, match_id: str) -> MatchResult | None:
        """Return how a match ended; its details are missing if they are no longer in memory."""
        if match_id in self.results:
            return self.results[match_id].result
        place = parse_match_id(match_id) if self.is_past(match_id) else None
        if place is None:
            return None
        matches = self.pairings(place[0])
        match, (status, winner) = matches[place[1] - 1], self.endings_of(matches)[place[1] - 1]
        players = (match.first, match.second)
        losers = [one for one in players if one != winner] if status == "TECHNICAL_LOSS" else []
        return read_result(players, winner, losers)

    def pairings(self, round_id: int) -> list[ScheduledMatch]:
        """Return the matches of a round; of one that cannot be drawn yet, none."""
        drawn = self._latest[1] if self._latest[0] == round_id else self.drawn.get(round_id)
        if drawn is None:
            drawn = self._schedule(round_id)
            if self.players and self.format.foreseeable and not self.settings.other_games:
                self._latest = round_id, drawn
        return [*drawn, *(one.match for one in self.added if one.round_id == round_id)]

    def _schedule(self, round_id: int) -> list[ScheduledMatch]:
        pairs = self._draw(round_id)
        games: list[str | None] = [None] * len(pairs)
        if self.settings.other_games:
            games = [self._choose_game(one, other, round_id) for one, other in pairs]
            pairs = [pair for pair, game in zip(pairs, games, strict=True) if game]
            games = [game for game in games if game]
        return [
            ScheduledMatch(
                match_id=f"R{round_id}M{n}",
                round_id=round_id,
                first=one,
                second=other,
                game_type=game,
            )
            for n, ((one, other), game) in enumerate(zip(pairs, games, strict=True), 1)
        ]

    def _choose_game(self, one: PlayerId, other: PlayerId, round_id: int) -> str | None:
        """Return a game that both players have declared, another in each round; None: they have none."""
        declared = [set(self.roster[player].game_types) for player in (one, other)]
        common = [game for game in self.settings.games if all(game in each for each in declared)]
        return common[(round_id - 1) % len(common)] if common else None

    def find_game(self, match_id: str) -> str:
        """Return what is played in a match."""
        match = self.matches.get(match_id)
        return (match.game_type if match else None) or self.settings.game_type

    def options_of(self, match_id: str) -> Mapping[str, Json]:
        """Return the options of the game of a match, as the settings have them."""
        return self.settings.options_of(self.find_game(match_id))

    def _draw(self, round_id: int) -> list[Pairing]:
        pair, pace = self.format.pair, self.settings.pace
        if self.format.foreseeable:
            return pair(self.players, [()] * (round_id - 1), pace)
        if round_id != self.closed_rounds + 1:
            return []
        return pair(self.players, self.list_rounds(self.closed_rounds), pace)

    def list_rounds(self, count: int) -> list[list[Played]]:
        """Return how the matches of the first *count* rounds ended."""
        return [self._list_played(number) for number in range(1, count + 1)]

    def _list_played(self, round_id: int) -> list[Played]:
        matches = self.pairings(round_id)
        pairs = zip(matches, self.endings_of(matches), strict=True)
        return [
            Played(
                PlayerId(match.first),
                PlayerId(match.second),
                PlayerId(winner) if winner else None,
                status != VOIDED and (status != "TECHNICAL_LOSS" or winner is not None),
            )
            for match, (status, winner) in pairs
        ]

    def commit(self, match: ScheduledMatch) -> ScheduledMatch:
        """Return *match* with the hash of its secret, which binds the league before anybody moves."""
        nonces = self.roster[match.first].nonce or "", self.roster[match.second].nonce or ""
        return commit_to_match(self.secret, match, nonces)

    def find_secret(self, match: ScheduledMatch) -> str:
        """Return the secret of a match, from which all its draws come."""
        return make_match_secret(self.secret, match)

    def list_unplayed_replays(self) -> list[ScheduledMatch]:
        """Return the added matches that have no result yet."""
        waiting = (one.match for one in self.added if one.match_id in self.matches)
        return [match for match in waiting if match.match_id not in self.results]

    def find_replay(self, match_id: str) -> str | None:
        """Return the match that is played instead of *match_id*, if there is one."""
        return next((one.match_id for one in self.added if one.replaces == match_id), None)

    def endings_of(self, matches: list[ScheduledMatch]) -> list[Ending]:
        """Return for each of a round's *matches* how it ended, or that it has not."""
        kept = self.endings.get(matches[0].round_id) if matches else None
        codes = kept or encode_endings(matches, self.results)
        pairs = zip(matches, decode_endings(matches, codes), strict=True)
        return [(VOIDED, end[1]) if match.match_id in self.voided else end for match, end in pairs]

    def results_of(self, round_id: int) -> list[MatchEnded]:
        ids = [match.match_id for match in self.pairings(round_id)]
        return [self.results[match_id] for match_id in ids if match_id in self.results]

    def has_violation(self, agent_id: str, rule: str, match_id: str | None) -> bool:
        """Whether it was noted that an agent broke *rule*, in that match or outside of matches."""
        if match_id is None:
            return (agent_id, rule) in self.violations
        return any(
            (one.agent_id, one.rule) == (agent_id, rule) for one in self.incidents.get(match_id, ())
        )

    def violations_of(self, agent_id: str) -> dict[str, int]:
        return {rule: n for (who, rule), n in self.violations.items() if who == agent_id}

    def row(self, player: str) -> Standing:
        return self.table.row(PlayerId(player))

    def levels(self) -> Levels:
        """Return all rows as the format ranks them, in groups that nothing can separate."""
        return self.rank(self.table, self.closed_rounds)

    def rank(self, table: Table, rounds: int) -> Levels:
        """Return the rows of *table* as the format ranks them after the first *rounds*."""
        if self.format.rank is None:
            return table.levels()
        return self.format.rank(self.players, self.list_rounds(rounds), self.settings.pace, table)

    def list_byes(self, matches: Sequence[ScheduledMatch]) -> list[PlayerId]:
        """Return who sits out a round with these matches, and gets the points of a win for it."""
        if not self.format.has_byes or not matches:
            return []
        playing = {player for match in matches for player in (match.first, match.second)}
        return [player for player in self.players if player not in playing]

    def standings(self) -> list[StandingRow]:
        """Return the table as it is published, best first; before the start nobody has points."""
        if not self.players:
            players = [PlayerId(entry.agent_id) for entry in self.roster.present(Role.PLAYER)]
            levels = Table(players, self.settings.scoring).levels()
        else:
            levels = self.levels()
        ranking = [row for level in levels for row in level]
        return [
            StandingRow(
                rank=rank,
                player_id=row.player,
                display_name=self.roster[row.player].display_name,
                played=row.played,
                wins=row.wins,
                draws=row.draws,
                losses=row.losses,
                points=row.points,
            )
            for rank, row in enumerate(ranking, 1)
        ]

    def forget_past(self) -> None:
        """Drop the matches of rounds before the last closed one, as a snapshot does."""
        past = (m.match_id for m in self.matches.values() if m.round_id < self.closed_rounds)
        past_ids = [match_id for match_id in past if match_id in self.results]
        for match_id in past_ids:
            del self.matches[match_id]
            self.assignments.pop(match_id, None)
            self.results.pop(match_id, None)

    def apply(self, event: Event) -> None:  # noqa: C901 - one case for each kind
        """Update the season by *event*; the most frequent kinds come first."""
        match event:
            case events.MatchAssigned():
                self.assignments[event.match_id] = event
            case events.MatchEnded():
                self.results[event.match_id] = event
                self.tally[event.status] += 1
                self.table.add(event.result)
                if event.round_id in self.endings:  # a replay, after its round was closed
                    self._update_ending(event)
            case events.ViolationNoted():
                self.violations[event.agent_id, event.rule] += 1
                if event.match_id is not None:
                    self.incidents.setdefault(event.match_id, []).append(event)
            case events.RoundOpened():
                self.round_id = event.round_id
                if not self.format.foreseeable or self.settings.other_games:
                    self.drawn[event.round_id] = event.matches
                self.matches.update({match.match_id: match for match in event.matches})
                for player in self.list_byes(event.matches):
                    self.table.add_bye(player)
            case events.RoundClosed():
                self._close_round(event.round_id)
            case events.SeasonStarted():
                self.roster.apply(event)
                self.stage = Stage.PLAYING
                self.players = [PlayerId(player) for player in event.players]
                self._latest = (0, [])
                self.table = Table(self.players, self.settings.scoring)
            case events.SeasonEnded():
                self.roster.apply(event)
                self.stage = Stage.COMPLETED
            case _:
                self._apply_order(event)

    def _apply_order(self, event: Event) -> None:  # noqa: C901 - one case for each kind
        """Update the season by what the organiser decided, or the roster."""
        match event:
            case events.MatchVoided():
                self.voided[event.match_id] = event.why
                self.table.remove(event.result)
            case events.MatchAdded():
                self.added.append(event)
                self.matches[event.match_id] = event.match
                if event.round_id in self.endings:
                    self.endings[event.round_id] += UNPLAYED
            case events.OrganiserAppointed():
                self.organiser = event.token_hash
            case events.LeaguePaused() | events.LeagueContinued():
                self.paused = isinstance(event, events.LeaguePaused)
            case events.RegistrationSet():
                self.registration_closed = event.closed
            case events.EndOrdered():
                self.ended_early = event.why
            case events.ManualPlayChosen():
                self.by_hand.add(event.match_id)
            case events.AnnouncementMade():
                self.announcement = event
            case _:
                self.roster.apply(event)

    def _close_round(self, round_id: int) -> None:
        self.closed_rounds = round_id
        recent = [one for one in self.incidents if one in self.matches]
        recent = [one for one in recent if self.matches[one].round_id >= round_id]
        self.incidents = {one: self.incidents[one] for one in recent}
        self.endings[round_id] = encode_endings(self.pairings(round_id), self.results)

    def _update_ending(self, ended: MatchEnded) -> None:
        """Note how a match of a closed round ended."""
        codes, place = self.endings[ended.round_id], parse_match_id(ended.match_id)
        if place is not None:
            code = encode_endings([self.matches[ended.match_id]], self.results)
            self.endings[ended.round_id] = codes[: place[1] - 1] + code + codes[place[1] :]
