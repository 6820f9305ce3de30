"""Matches that a third-party league orders: in any form, without signatures, as many as it likes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from types import MappingProxyType

from msgspec.structs import replace

from agent_league.dialects.dialect import Peer
from agent_league.member import Member
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.fields import UNSTATED
from agent_league.protocol.play import Contestant, MatchAccepted, StartMatch
from agent_league.protocol.results import MatchResult, make_reported_result
from agent_league.referee.address_book import AddressBook
from agent_league.referee.match import Match
from agent_league.tournament.standings import DEFAULT_SCORING

MAX_OPEN = 1000
"""How many matches may wait or be played: nothing proves who orders them."""
REPEAT_WINDOW = 30.0
"""Seconds in which another order of a match that was reported is taken as the same one."""
FindObjection = Callable[[StartMatch], str | None]
"""Returns why a match cannot be played; None if it can."""
Play = Callable[[StartMatch], Awaitable[Match]]
"""Plays a match to its end."""
Conclude = Callable[[Match, bool], Awaitable[object]]
"""Tells the players of a match how it ended and, if that is wanted, the league."""


class MatchesAbroad:
    """Completes orders, and plays their matches as soon as there is a place for them."""

    def __init__(
        self,
        member: Member,
        capacity: int,
        find_objection: FindObjection,
        play: Play,
        conclude: Conclude,
        addresses: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._member = member
        self._find_objection = find_objection
        self._play, self._conclude = play, conclude
        self.address_book = AddressBook(member, addresses)
        self._places = asyncio.Semaphore(capacity)
        self._tasks: dict[str, asyncio.Task[MatchResult]] = {}
        """The matches that wait, are played or are reported."""
        self._reported_at: dict[str, float] = {}
        """When a match was reported: a league may announce a match, and order it as well."""
        self._dialects: dict[str, str] = {}
        """How players are reached, by endpoint."""

    async def start(self, order: StartMatch, *, answers_with_result: bool) -> MatchAccepted:
        """Begin a match, or have it wait for a place; return the answer to its order.

        If *answers_with_result*, the league wants the result in the answer, and no report.
        """
        order = await self.address_book.complete(self._name_league(order))
        is_full = len(self._tasks) >= MAX_OPEN and order.match_id not in self._tasks
        reason = "Too many matches" if is_full else self._find_objection(order)
        result: MatchResult | None = None
        if reason is None and not self._was_just_played(order.match_id):
            task = self._tasks.get(order.match_id)
            task = task or self._begin(order, is_reported=not answers_with_result)
            result = await asyncio.shield(task) if answers_with_result else None
        return MatchAccepted(
            **self._member.envelope(order.conversation_id),
            match_id=order.match_id,
            status="REJECTED" if reason else "ACCEPTED",
            reason=reason,
            result=make_reported_result(result, DEFAULT_SCORING.score(result)) if result else None,
        )

    def _begin(self, order: StartMatch, *, is_reported: bool) -> "asyncio.Task[MatchResult]":
        task = self._member.spawn(self._officiate(order, is_reported=is_reported))
        self._tasks[order.match_id] = task
        return task

    async def _officiate(self, order: StartMatch, *, is_reported: bool) -> MatchResult:
        try:
            async with self._places:
                match = await self._play(await self._find_dialects(order))
            await self._conclude(match, is_reported)
            if is_reported:
                self._reported_at[order.match_id] = asyncio.get_running_loop().time()
            return match.result()
        finally:
            del self._tasks[order.match_id]

    def _was_just_played(self, match_id: str) -> bool:
        reported_at = self._reported_at.get(match_id, -REPEAT_WINDOW)
        return asyncio.get_running_loop().time() - reported_at < REPEAT_WINDOW

    def _name_league(self, order: StartMatch) -> StartMatch:
        league_id = self._member.league_id
        is_named = order.league_id != UNSTATED or not league_id
        return order if is_named else replace(order, league_id=league_id or UNSTATED)

    async def _find_dialects(self, order: StartMatch) -> StartMatch:
        """Return *order* with the dialects of its players: its league does not know any."""
        return replace(order, players=[await self._find_dialect(one) for one in order.players])

    async def _find_dialect(self, player: Contestant) -> Contestant:
        endpoint, peers = player.endpoint, self._member.peers
        if endpoint not in self._dialects:
            with suppress(NoAnswerError):  # it may answer when it is invited
                within = self._member.patience.generic
                await peers.detect_dialect(Peer(endpoint, player.player_id), within)
                self._dialects[endpoint] = peers.line(endpoint).session.dialect
        return replace(player, dialect=self._dialects.get(endpoint, player.dialect))
