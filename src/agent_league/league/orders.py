"""The orders to referees: what a match is, who plays it, and the proofs that the league sent it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from agent_league.league.context import Context
from agent_league.protocol import tokens
from agent_league.protocol.play import Contestant, StartMatch
from agent_league.protocol.results import ReportedResult
from agent_league.protocol.versions import DEFAULT_OPTIONS
from agent_league.season.roster import SUSPENDED
from agent_league.store.events import MatchEnded, ScheduledMatch
from agent_league.vocabulary import Json

TakeResult: TypeAlias = Callable[["Assignment", ReportedResult], Awaitable[object]]
"""Takes the result of a match that came with the answer to its order."""


class Assignment(Struct, frozen=True):
    """A match that a referee has."""

    match: ScheduledMatch
    referee_id: str
    ticket: str
    outcome: "asyncio.Future[bool]"
    """True when the match has ended, False when it is lost."""
    answered: "asyncio.Future[None]"
    """Done when the referee has answered the order, or the order has failed."""

    def settle(self, *, ended: bool) -> None:
        if not self.outcome.done():
            self.outcome.set_result(ended)

    def note_answer(self) -> None:
        if not self.answered.done():
            self.answered.set_result(None)


class OrderWriter:
    """Writes each order anew, because tokens, endpoints and results may have changed."""

    def __init__(self, context: Context) -> None:
        self._context, self._season = context, context.season
        self._attempts: dict[str, int] = {}
        self._options: dict[str, Mapping[str, Json]] = {}
        context.events.when_kept(MatchEnded, self._on_match_ended)

    def write(self, match: ScheduledMatch, ticket: str, *keys: str) -> StartMatch:
        """Return the order to play *match*, signed with the *keys* of its referee."""
        settings = self._season.settings
        game = match.game_type or settings.game_type
        attempt = self._attempts[match.match_id] = self._attempts.get(match.match_id, 0) + 1
        conversation = f"conv-{match.match_id.lower()}-{attempt:03}"
        players = (match.first, match.second)
        contestants = [self._make_contestant(one, match, conversation) for one in players]
        return StartMatch(
            **self._context.envelope(conversation),
            auth_token=tokens.sign_for_any(keys, match.match_id, ticket),
            league_id=settings.league_id,
            round_id=match.round_id,
            match_id=match.match_id,
            game_type=game,
            players=contestants,
            ticket=ticket,
            seed=self._season.find_secret(match),
            options=self._note_options(match, contestants),
            patience=settings.patience_in(guests=self.has_guests(match)),
            retry=settings.retry,
            transcript=self._context.events.is_durable,
            strictness=settings.strictness,
            auto=match.match_id not in self._season.by_hand,
        )

    def _note_options(
        self, match: ScheduledMatch, contestants: Sequence[Contestant]
    ) -> dict[str, Json]:
        settings = self._season.settings
        game = match.game_type or settings.game_type
        options = {**_default_options(contestants, game), **settings.options_of(game)}
        self._options[match.match_id] = options
        return options

    def find_options(self, match_id: str) -> Mapping[str, Json]:
        """Return the options that the latest order of a match had."""
        return self._options.get(match_id, self._season.options_of(match_id))

    def _on_match_ended(self, ended: MatchEnded) -> None:
        self._attempts.pop(ended.match_id, None)
        self._options.pop(ended.match_id, None)

    def has_guests(self, match: ScheduledMatch) -> bool:
        roster = self._season.roster
        return roster[match.first].guest or roster[match.second].guest

    def _make_contestant(
        self, player_id: str, match: ScheduledMatch, conversation: str
    ) -> Contestant:
        entry = self._season.roster[player_id]
        row = self._season.row(player_id)
        session = self._context.line(entry).session
        keys = self._context.keyring.keys_of(entry)
        return Contestant(
            player_id=player_id,
            endpoint=entry.endpoint,
            dialect=session.dialect,
            tools=session.fingerprint,
            ticket=tokens.sign_for_any(keys, match.match_id, conversation, player_id),
            suspended=entry.state is SUSPENDED,
            batched=entry.batched,
            wins=row.wins,
            draws=row.draws,
            losses=row.losses,
        )


def _default_options(contestants: Sequence[Contestant], game_type: str) -> Mapping[str, Json]:
    """Return the options of a match whose players both speak one version of the protocol."""
    first, second = contestants
    is_shared = first.dialect == second.dialect
    return DEFAULT_OPTIONS.get((first.dialect, game_type), {}) if is_shared else {}
