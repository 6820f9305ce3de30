"""The tools by which guests play, and an endpoint for each guest, where referees reach it."""

import asyncio
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TypeAlias, cast

import msgspec

from agent_league.agent import log
from agent_league.clock import format_exact_time
from agent_league.guests import answers, forms
from agent_league.guests.guest import Guest, GuestWire
from agent_league.http.site import MCP, Place
from agent_league.league import LeagueManager
from agent_league.league.views import league_rules
from agent_league.offer import Caller, ToolCard, ToolHandler
from agent_league.protocol import ErrorCode, ProtocolError, Role, read_as
from agent_league.protocol.registration import PlayerMeta, RegisterPlayer
from agent_league.season.roster import Entry
from agent_league.season.season import Stage
from agent_league.store.events import AgentRegistered, SeasonEnded
from agent_league.vocabulary import Json

PROGRESS_INTERVAL = 10.0
PROGRESS_TEXT = "no turn yet"
VERSION = "1.0.0"
GUEST_PATH = "/guests/"

News: TypeAlias = forms.YourTurn | forms.NoTurnYet | forms.LeagueOver


class GuestDesk:
    """Hosts the guests of a league that is reached at *url*; made before the manager is served."""

    def __init__(self, manager: LeagueManager, url: str) -> None:
        self._manager = manager
        self._season = manager.season
        self._rules = manager.settings.guests
        self._url = url
        self._guests: dict[str, Guest] = {}
        """The guests that are admitted, by player id."""
        manager.peers.wire = self._wire = GuestWire(manager.peers.wire)
        manager.events.listen(self._on_season_ended, SeasonEnded, needs_all_events=False)
        manager.guests = self

    def tools(self) -> Sequence[ToolCard]:
        handlers: Mapping[str, ToolHandler] = {
            "join_league": self.join_league,
            "wait_for_turn": self.wait_for_turn,
            "make_move": self.make_move,
            "play_in_person": self.play_in_person,
        }
        return [card(name=name, call=handlers[name]) for name, card in forms.CARDS.items()]

    def find_site(self, path: str) -> Place | None:
        guest = self._wire.guests.get(self._make_endpoint(path))
        return (guest.site, MCP) if guest else None

    async def resume(self) -> None:
        """Host the guests again that the league had when it was interrupted."""
        for entry in self._season.roster.of(Role.PLAYER):
            if entry.guest:
                await self._restore_guest(entry)

    async def wait_for_guests(self) -> None:
        """Wait until every guest that is present could read how the season ended, but not for long."""
        present = [guest for guest in self._guests.values() if guest.present]
        with suppress(TimeoutError):
            async with asyncio.timeout(self._rules.farewell):
                for guest in present:
                    await guest.end_delivered.wait()
        linger = self._rules.linger
        if linger and any(guest.end_delivered.is_set() for guest in present):
            log.warning("the league is over; its guests can read the table for %g s more", linger)
            await asyncio.sleep(linger)

    async def join_league(self, arguments: dict[str, Json], caller: Caller) -> forms.Joined:
        """Admit a guest as any player is admitted, or raise `ProtocolError` with the reason."""
        form = read_as(forms.JoinLeague, arguments)
        token = form.auth_token or caller.token
        if token is not None and (form.auth_token or self._find_guest(token)):
            with self._active_guest(token) as guest:
                return self._make_joined(guest, token)
        meta = PlayerMeta(
            display_name=form.display_name,
            version=VERSION,
            game_types=[*self._manager.settings.games],
            contact_endpoint=self._make_endpoint(f"{GUEST_PATH}{secrets.token_hex(16)}{MCP}"),
        )
        return await self._admit(self._create_guest("guest", meta), form.model, form.join_code)

    async def wait_for_turn(self, arguments: dict[str, Json], caller: Caller) -> News:
        """Return the guest's open turn as soon as there is one, or say that there is none."""
        form = read_as(forms.WaitForTurn, arguments)
        with self._active_guest(form.auth_token or caller.token) as guest:
            return await self._next_answer(guest, self._read_wait(form.max_wait_sec), caller)

    async def make_move(self, arguments: dict[str, Json], caller: Caller) -> forms.Accepted:
        """Answer a turn of the guest, and say what comes next."""
        form = read_as(forms.MakeMove, arguments)
        with self._active_guest(form.auth_token or caller.token) as guest:
            move = guest.mailbox.play(form.turn_id, form.move)
            news = await self._next_answer(guest, self._read_wait(form.max_wait_sec), caller)
            return forms.Accepted(move=move, next=news)

    async def play_in_person(
        self, arguments: dict[str, Json], caller: Caller
    ) -> forms.NoTurnYet | forms.LeagueOver | forms.Stopped:
        """Have the person at the client asked for a move, by `InputNeededError`."""
        form = read_as(forms.PlayInPerson, arguments)
        with self._active_guest(form.auth_token or caller.token) as guest:
            if not answers.play_answers(guest, caller.answers):
                return forms.Stopped()
            news = await self._next_answer(guest, self._rules.wait, caller)
        if isinstance(news, forms.YourTurn):
            raise answers.make_form(news)
        return news

    def _read_wait(self, asked: float | None) -> float:
        return self._rules.wait if asked is None else min(asked, self._rules.longest_wait)

    async def _next_answer(self, guest: Guest, wait: float, caller: Caller) -> News:
        await self._wait_for_news(guest, wait, caller)
        if self._season.stage is Stage.COMPLETED:
            guest.end_delivered.set()
            return answers.league_over(guest, self._season)
        turn = guest.mailbox.hand_out()
        if turn is None:
            return answers.no_turn_yet(guest, self._season)
        return answers.your_turn(guest, turn, self._season, self._manager.clock())

    async def _wait_for_news(self, guest: Guest, wait: float, caller: Caller) -> None:
        """Return when there is news, or when *wait* seconds have passed; report progress."""
        now, news = asyncio.get_running_loop().time, guest.mailbox.news
        start = now()
        season = self._season
        while not (season.stage is Stage.COMPLETED or news.is_set()) and now() < start + wait:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(min(now() + PROGRESS_INTERVAL, start + wait)):
                    await news.wait()
            if not news.is_set() and now() < start + wait:
                await caller.progress(now() - start, wait, PROGRESS_TEXT)

    def _on_season_ended(self, event: SeasonEnded) -> None:
        for guest in self._guests.values():
            guest.mailbox.news.set()

    def _find_guest(self, token: str) -> Guest | None:
        holder = self._season.roster.holder(token, self._manager.clock())
        return self._guests.get(holder[0].agent_id) if holder and holder[1].proven else None

    @contextmanager
    def _active_guest(self, token: str | None) -> Iterator[Guest]:
        """Give the guest whose *token* came with a call, or raise `ProtocolError`.

        The guest counts as present during the call, and for a while after it.
        """
        if token is None:
            detail = "auth_token: required; join_league gives you one"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_MISSING, detail, field="auth_token")
        guest = self._find_guest(token)
        if guest is None:
            detail = "auth_token: not that of a guest; join_league gives you one"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, field="auth_token")
        self._manager.extend_token(token)
        with guest.active_call():
            yield guest

    async def _admit(self, guest: Guest, model: str | None, code: str | None) -> forms.Joined:
        request = msgspec.structs.replace(
            cast("RegisterPlayer", guest.application()), join_code=code
        )
        reply = await self._manager.register_player(request, guest=True, model=model)
        if reply.player_id is None or reply.auth_token is None:
            self._wire.remove(guest)
            code = ErrorCode(reply.error_code or ErrorCode.NOT_ALLOWED)
            raise ProtocolError(code, reply.reason or "the league gave no reason")
        self._activate(guest, reply.player_id)
        return self._make_joined(guest, reply.auth_token)

    def _make_joined(self, guest: Guest, token: str) -> forms.Joined:
        settings = self._manager.settings
        return forms.Joined(
            player_id=guest.name,
            auth_token=token,
            league_id=settings.league_id,
            game_type=settings.game_type,
            rules=league_rules(settings),
        )

    async def _restore_guest(self, entry: Entry) -> None:
        """Host a guest again; the address of the league may have changed since."""
        endpoint = self._make_endpoint(entry.endpoint[entry.endpoint.rindex(GUEST_PATH) :])
        if endpoint != entry.endpoint:
            token = next(token for token in reversed(entry.tokens) if token.proven)
            changes = {"at": format_exact_time(self._manager.clock()), "endpoint": endpoint}
            secret = {"token_hash": token.hash, "expires": token.expires}
            event = msgspec.convert({**vars(entry), **changes, **secret}, AgentRegistered)
            await self._manager.events.append(event)
        meta = PlayerMeta(
            display_name=entry.display_name,
            version=entry.version,
            game_types=list(entry.game_types),
            contact_endpoint=endpoint,
        )
        self._activate(self._create_guest(entry.agent_id, meta), entry.agent_id)

    def _make_endpoint(self, path: str) -> str:
        return self._url.removesuffix(MCP) + path

    def _create_guest(self, name: str, meta: PlayerMeta) -> Guest:
        """Return a new guest that the league and referees can reach."""
        guest = Guest(
            name,
            self._wire,
            self._url,
            meta=meta,
            rules=self._rules,
            host=self._manager,
            clock=self._manager.clock,
        )
        self._wire.add(guest)
        return guest

    def _activate(self, guest: Guest, player_id: str) -> None:
        guest.rename(player_id)
        guest.start_absence_timer()
        self._guests[player_id] = guest
