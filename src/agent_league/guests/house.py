"""The house in which a league takes in its guests: three tools, and an endpoint for each guest."""

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress

from agent_league.clock import written
from agent_league.guests import answers, person
from agent_league.guests.cards import cards
from agent_league.guests.forms import (
    Accepted,
    Joined,
    JoinLeague,
    LeagueOver,
    MakeMove,
    NoTurnYet,
    PlayInPerson,
    Stopped,
    WaitForTurn,
    YourTurn,
)
from agent_league.guests.guest import Guest
from agent_league.guests.wire import HouseWire
from agent_league.league import LeagueManager
from agent_league.league.roster import Entry, Lifecycle
from agent_league.league.season import Stage
from agent_league.mcp.tools import Caller, ToolCard
from agent_league.protocol import ErrorCode, ProtocolError, Role, read_as
from agent_league.protocol.registration import PlayerMeta
from agent_league.store.events import (
    AgentRegistered,
    Event,
    MatchEnded,
    SeasonEnded,
)
from agent_league.transport.site import MCP, Site
from agent_league.vocabulary import Json

PROGRESS_EVERY = 10.0
WAITING = "no turn yet"
VERSION = "1.0.0"
ROOMS = "/guests/"
AFTERMATH = 60.0
"""Seconds after an interruption in which a referee may still not know that guests are back."""
UNREACHED = {"unreachable", "suspended", "both_forfeit"}
"""How a match ends for a referee that does not reach a player, or does not even try any more."""


class GuestHouse:
    """The guests of a league that is reached at *url*; made before the manager is served."""

    def __init__(self, manager: LeagueManager, url: str) -> None:
        self._manager = manager
        self._season = manager.season
        self._rules = manager.settings.guests
        self._url = url
        self._by_endpoint: dict[str, Guest] = {}
        self._by_id: dict[str, Guest] = {}
        self._rooms: dict[str, Site] = {}
        """What is at which path."""
        self._excused_until = float("-inf")
        manager.wire = self._wire = HouseWire(manager.wire, self._by_endpoint.get)
        manager.events.listen(self._heard, whole=False)
        manager.extend(self)

    def tools(self) -> Sequence[ToolCard]:
        return cards(
            join_league=self.join_league,
            wait_for_turn=self.wait_for_turn,
            make_move=self.make_move,
            play_in_person=self.play_in_person,
        )

    def site(self, path: str) -> Site | None:
        return self._rooms.get(path)

    async def opened(self) -> None:
        """Take the guests in again that a league had when it was interrupted."""
        for entry in self._season.roster.of(Role.PLAYER):
            if entry.guest:
                await self._take_in_again(entry)
        if self._by_id and self._season.stage is Stage.PLAYING:
            self._excused_until = asyncio.get_running_loop().time() + AFTERMATH

    def voids(self, ended: MatchEnded) -> bool:
        """Whether a guest that is here lost a match because its house was closed for a while."""
        excused = asyncio.get_running_loop().time() < self._excused_until
        unreached = excused and ended.termination in UNREACHED
        return unreached and any(map(self._is_here, ended.technical_losses))

    def _is_here(self, player: str) -> bool:
        guest = self._by_id.get(player)
        known = self._season.roster[player].state is not Lifecycle.SUSPENDED
        return guest is not None and guest.present and known

    async def farewell(self) -> None:
        """Let every guest that is there hear how it ended, but do not wait for long."""
        there = [guest for guest in self._by_id.values() if guest.present]
        with suppress(TimeoutError):
            async with asyncio.timeout(self._rules.farewell):
                for guest in there:
                    await guest.told.wait()

    async def join_league(self, arguments: dict[str, Json], caller: Caller) -> Joined:
        """Admit a guest as any player is admitted, or raise `ProtocolError` with the reason."""
        form = read_as(JoinLeague, arguments)
        token = form.auth_token or caller.token
        if token is not None and (form.auth_token or self._holder(token)):
            guest = self._authenticated(token)
            with guest.calling():
                return self._joined(guest, token)
        meta = PlayerMeta(
            display_name=form.display_name,
            version=VERSION,
            game_types=[self._manager.settings.game_type],
            contact_endpoint=self._endpoint(f"{ROOMS}{secrets.token_hex(6)}{MCP}"),
        )
        return await self._admitted(self._roomed("guest", meta), form.model)

    async def wait_for_turn(
        self, arguments: dict[str, Json], caller: Caller
    ) -> YourTurn | NoTurnYet | LeagueOver:
        """Return the guest's open turn as soon as there is one, or say that there is none."""
        form = read_as(WaitForTurn, arguments)
        guest = self._authenticated(form.auth_token or caller.token)
        wait = self._rules.wait if form.max_wait_sec is None else form.max_wait_sec
        with guest.calling():
            return await self._told(guest, wait, caller)

    async def make_move(self, arguments: dict[str, Json], caller: Caller) -> Accepted:
        """Answer a turn of the guest, and say what comes next."""
        form = read_as(MakeMove, arguments)
        guest = self._authenticated(form.auth_token or caller.token)
        with guest.calling():
            move = guest.mailbox.play(form.turn_id, form.move)
            return Accepted(move=move, next=await self._told(guest, form.max_wait_sec, caller))

    async def play_in_person(
        self, arguments: dict[str, Json], caller: Caller
    ) -> NoTurnYet | LeagueOver | Stopped:
        """Have the person at the client asked for a move, by `InputNeededError`."""
        form = read_as(PlayInPerson, arguments)
        guest = self._authenticated(form.auth_token or caller.token)
        with guest.calling():
            if not person.moved(guest, caller.answers):
                return Stopped()
            said = await self._told(guest, self._rules.wait, caller)
        if isinstance(said, YourTurn):
            raise person.asked(said)
        return said

    async def _told(
        self, guest: Guest, wait: float, caller: Caller
    ) -> YourTurn | NoTurnYet | LeagueOver:
        await self._news_for(guest, min(wait, self._rules.longest_wait), caller)
        if self._over:
            guest.told.set()
            return answers.league_over(guest, self._season)
        turn = guest.mailbox.handed_out()
        if turn is None:
            return answers.no_turn_yet(guest, self._season)
        return answers.your_turn(guest, turn, self._season, self._manager.clock())

    async def _news_for(self, guest: Guest, wait: float, caller: Caller) -> None:
        """Return when there is something to tell, or when it has been waited for long enough."""
        now, news = asyncio.get_running_loop().time, guest.mailbox.news
        begun = now()
        while not (self._over or news.is_set()) and now() < begun + wait:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(min(now() + PROGRESS_EVERY, begun + wait)):
                    await news.wait()
            if not news.is_set() and now() < begun + wait:
                await caller.progress(now() - begun, wait, WAITING)

    @property
    def _over(self) -> bool:
        return self._season.stage is Stage.COMPLETED

    def _heard(self, event: Event) -> None:
        if isinstance(event, SeasonEnded):
            for guest in self._by_id.values():
                guest.mailbox.news.set()

    def _holder(self, token: str) -> Guest | None:
        held = self._season.roster.holder(token, self._manager.clock())
        return self._by_id.get(held[0].agent_id) if held and held[1].proven else None

    def _authenticated(self, token: str | None) -> Guest:
        """Return whose token this is, or raise `ProtocolError`."""
        if token is None:
            detail = "auth_token: required; join_league gives you one"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_MISSING, detail, field="auth_token")
        guest = self._holder(token)
        if guest is None:
            detail = "auth_token: not that of a guest; join_league gives you one"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, field="auth_token")
        return guest

    async def _admitted(self, guest: Guest, model: str | None) -> Joined:
        request = guest.application()
        reply = await self._manager.register_player(request, guest=True, model=model)
        if reply.player_id is None or reply.auth_token is None:
            self._clear_room(guest)
            code = ErrorCode(reply.error_code or ErrorCode.NOT_ALLOWED)
            raise ProtocolError(code, reply.reason or "the league gave no reason")
        self._settle(guest, reply.player_id)
        return self._joined(guest, reply.auth_token)

    def _joined(self, guest: Guest, token: str) -> Joined:
        settings = self._manager.settings
        return Joined(
            player_id=guest.name,
            auth_token=token,
            league_id=settings.league_id,
            game_type=settings.game_type,
        )

    async def _take_in_again(self, entry: Entry) -> None:
        """Give a guest its room back; the house may have moved since."""
        endpoint = self._endpoint(_room(entry.endpoint))
        if endpoint != entry.endpoint:
            await self._manager.events.append(self._moved(entry, endpoint))
        meta = PlayerMeta(
            display_name=entry.display_name,
            version=entry.version,
            game_types=list(entry.game_types),
            contact_endpoint=endpoint,
        )
        self._settle(self._roomed(entry.agent_id, meta), entry.agent_id)

    def _moved(self, entry: Entry, endpoint: str) -> AgentRegistered:
        token = next(token for token in reversed(entry.tokens) if token.proven)
        return AgentRegistered(
            at=written(self._manager.clock()),
            role=entry.role,
            agent_id=entry.agent_id,
            display_name=entry.display_name,
            version=entry.version,
            endpoint=endpoint,
            game_types=list(entry.game_types),
            token_hash=token.hash,
            expires=token.expires,
            guest=True,
            model=entry.model,
        )

    def _endpoint(self, path: str) -> str:
        return self._url.removesuffix(MCP) + path

    def _roomed(self, name: str, meta: PlayerMeta) -> Guest:
        """Return a new guest that can be reached, by the league and by referees."""
        manager = self._manager
        guest = Guest(
            name, manager.wire, self._url, meta=meta, rules=self._rules, clock=manager.clock
        )
        site, endpoint = guest.site(), guest.endpoint
        self._by_endpoint[endpoint] = guest
        self._rooms[_room(endpoint)] = site
        self._wire.inside.host(endpoint, site)
        return guest

    def _clear_room(self, guest: Guest) -> None:
        del self._by_endpoint[guest.endpoint]
        del self._rooms[_room(guest.endpoint)]
        self._wire.inside.unhost(guest.endpoint)

    def _settle(self, guest: Guest, player_id: str) -> None:
        guest.name = player_id
        guest.returned = self._returned
        guest.await_call()
        self._by_id[player_id] = guest

    def _returned(self, guest: Guest) -> None:
        self._manager.conductor.arrived(self._season.roster[guest.name], None)


def _room(endpoint: str) -> str:
    """Return the path of a guest's endpoint, however the league's own address begins."""
    return endpoint[endpoint.rindex(ROOMS) :]
