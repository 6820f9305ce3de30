"""The orders of the organiser, which nobody else may give."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import TypeAlias

import msgspec

from agent_league.clock import format_exact_time
from agent_league.league.context import Context
from agent_league.league.organiser_tools import CARDS, MAX_TEXT
from agent_league.league.season_runner import SeasonRunner, sort_for_draw
from agent_league.league.stepping import Stepping
from agent_league.offer import Caller, ToolCard, ToolHandler
from agent_league.protocol import Acknowledgement, ErrorCode, ProtocolError, Role, tokens
from agent_league.protocol.message import Result
from agent_league.season import answers
from agent_league.season.endings import parse_match_id
from agent_league.season.roster import Entry, Lifecycle
from agent_league.season.season import Stage
from agent_league.store import events
from agent_league.vocabulary import Json

Arguments: TypeAlias = dict[str, Json]
Command: TypeAlias = Callable[[Arguments], Result | Awaitable[Result]]

GROUND = "organiser"
"""The ground of a disqualification that no rule demands."""


class Organiser:
    """Carries out the commands of whoever holds the organiser's token."""

    def __init__(self, context: Context, season_runner: SeasonRunner) -> None:
        self._now, self._clock, self._events = context.now, context.clock, context.events
        self._season = context.season
        self._season_runner = season_runner
        self._stepping = Stepping(context, season_runner.dispatcher)
        self.is_staff: Callable[[str], bool] = lambda token: False
        """Whether a token is that of the staff of a server, who may do what each organiser may."""

    def cards(self) -> Sequence[ToolCard]:
        commands: Mapping[str, Command] = {
            "create_schedule": self._create_schedule,
            "start_league": self._start,
            "close_registration": self._close_registration,
            "open_registration": lambda arguments: self._set_registration(closed=False),
            "pause_league": self._pause,
            "resume_league": lambda arguments: self._set_paused(paused=False),
            "end_league": self._end,
            "void_match": self._void,
            "replay_match": self._replay,
            "disqualify_agent": self._disqualify,
            "reinstate_agent": self._reinstate,
            "announce": self._announce,
            "rotate_token": self._rotate_token,
            "play_by_hand": lambda asked: self._stepping.choose(_read_text(asked, "match_id")),
            "get_order": lambda asked: self._stepping.show_order(_read_text(asked, "match_id")),
            "step_match": lambda asked: self._stepping.step(_read_text(asked, "match_id")),
        }
        return [
            card(name=name, call=self._require_organiser(name, commands[name]))
            for name, card in CARDS.items()
        ]

    def _require_organiser(self, name: str, command: Command) -> ToolHandler:
        async def call(arguments: Arguments, caller: Caller) -> Result:
            token = caller.choose_token(arguments)
            if not isinstance(token, str):
                detail = "auth_token: only the organiser may do this, with the organiser's token"
                raise ProtocolError(ErrorCode.AUTH_TOKEN_MISSING, detail, about=name)
            if not (self.holds(token) or self.is_staff(token)):
                detail = "auth_token: this is not the organiser's token"
                raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, about=name)
            try:
                result = command(arguments)
                return await result if isinstance(result, Awaitable) else result
            except ProtocolError as error:
                raise ProtocolError(error.code, error.detail, about=name) from None

        return call

    def holds(self, token: str) -> bool:
        """Whether *token* is the organiser's."""
        return tokens.is_same_secret(tokens.hash_token(token), self._season.organiser or "")

    async def appoint(self) -> str:
        """Return a new token for the organiser; earlier tokens become invalid. Only its hash is kept."""
        token = tokens.new_token("organiser")
        digest = tokens.hash_token(token)
        await self._events.append(events.OrganiserAppointed(at=self._now(), token_hash=digest))
        return token

    def _create_schedule(self, arguments: Arguments) -> Result:
        season = self._season
        if season.players:
            return {"final": True, **answers.schedule(season)}
        players = sort_for_draw(entry.agent_id for entry in season.roster.of(Role.PLAYER))
        plan, pace = season.format, season.settings.pace
        known = plan.count_rounds(len(players), pace) if plan.foreseeable else 1
        rounds: list[Json] = [
            {
                "round_id": number + 1,
                "matches": [
                    {"player_A_id": first, "player_B_id": second}
                    for first, second in plan.pair(players, [()] * number, pace)
                ],
            }
            for number in range(known)
        ]
        return {"final": False, "rounds": rounds}

    def _start(self, arguments: Arguments) -> Result:
        if self._season.stage is not Stage.REGISTRATION:
            return Acknowledgement(note="the league has begun")
        if not self._season_runner.start_now():
            needed = self._season.settings.min_players
            here = len(self._season.roster.present(Role.PLAYER))
            raise _refuse(f"a league takes at least {needed} players, and {here} take part")
        return Acknowledgement()

    def _close_registration(self, arguments: Arguments) -> Awaitable[Result]:
        return self._set_registration(closed=_read_switch(arguments, "closed"))

    async def _set_registration(self, *, closed: bool) -> Result:
        if self._season.stage is not Stage.REGISTRATION:
            raise _refuse("the league has begun, so nobody can register any more")
        if self._season.registration_closed != closed:
            await self._events.append(events.RegistrationSet(at=self._now(), closed=closed))
        return Acknowledgement()

    def _pause(self, arguments: Arguments) -> Awaitable[Result]:
        return self._set_paused(paused=_read_switch(arguments, "paused"))

    async def _set_paused(self, *, paused: bool) -> Result:
        if self._season.paused != paused:
            kind = events.LeaguePaused if paused else events.LeagueContinued
            await self._events.append(kind(at=self._now()))
        return Acknowledgement()

    async def _end(self, arguments: Arguments) -> Result:
        why = _read_text(arguments, "reason")
        if self._season.stage is Stage.COMPLETED:
            return Acknowledgement(note="the league is over")
        await self._events.append(events.EndOrdered(at=self._now(), why=why))
        return Acknowledgement()

    async def _void(self, arguments: Arguments) -> Result:
        match_id, why = _read_text(arguments, "match_id"), _read_text(arguments, "reason")
        if match_id in self._season.voided:
            return Acknowledgement(match_id=match_id, note="already void")
        await self._void_result(match_id, why)
        return Acknowledgement(match_id=match_id)

    async def _void_result(self, match_id: str, why: str) -> None:
        self._require_running()
        result = self._season.find_result(match_id)
        place = parse_match_id(match_id)
        if result is None or place is None:
            detail = f"match_id: there is no result of {match_id[:40]!r}"
            raise ProtocolError(ErrorCode.MATCH_ID_MISMATCH, detail)
        event = events.MatchVoided(
            at=self._now(),
            match_id=match_id,
            round_id=place[0],
            players=list(result.players),
            winner=result.winner,
            technical_losses=list(result.forfeits),
            why=why,
        )
        await self._events.append(event)

    async def _replay(self, arguments: Arguments) -> Result:
        match_id, why = _read_text(arguments, "match_id"), _read_text(arguments, "reason")
        season = self._season
        if replay := season.find_replay(match_id):
            return Acknowledgement(match_id=replay, note=f"already played again as {replay}")
        if match_id not in season.voided:
            await self._void_result(match_id, why)
        self._require_running()
        round_id, number = parse_match_id(match_id) or (0, 0)
        matches = season.pairings(round_id)
        replay = f"R{round_id}M{len(matches) + 1}"
        again = msgspec.structs.replace(matches[number - 1], match_id=replay)
        again = season.commit(again)
        added = events.MatchAdded(
            at=self._now(), replaces=match_id, **msgspec.structs.asdict(again)
        )
        await self._events.append(added)
        return Acknowledgement(match_id=replay, note=f"{match_id} is played again as {replay}")

    def _require_running(self) -> None:
        if self._season.stage is Stage.COMPLETED:
            raise _refuse("the league is over, and its result has been sent to everybody")

    async def _disqualify(self, arguments: Arguments) -> Result:
        entry, why = self._find_agent(arguments), _read_text(arguments, "reason")
        if entry.state is Lifecycle.DISQUALIFIED:
            return Acknowledgement(note=f"{entry.agent_id} is disqualified already")
        self._require_running()
        referees = self._season.roster.present(Role.REFEREE)
        if [one.agent_id for one in referees] == [entry.agent_id]:
            raise _refuse(f"{entry.agent_id} is the only referee: nobody could lead a match")
        event = events.AgentDisqualified(
            at=self._now(), agent_id=entry.agent_id, ground=GROUND, why=why
        )
        await self._events.append(event)
        return Acknowledgement()

    async def _reinstate(self, arguments: Arguments) -> Result:
        entry = self._find_agent(arguments)
        if entry.state is not Lifecycle.DISQUALIFIED:
            return Acknowledgement(note=f"{entry.agent_id} is not disqualified")
        self._require_running()
        event = events.AgentReinstated(at=self._now(), agent_id=entry.agent_id)
        await self._events.append(event)
        return Acknowledgement()

    async def _announce(self, arguments: Arguments) -> Result:
        text = "".join(
            char if char.isprintable() else " " for char in _read_text(arguments, "text")
        )
        await self._events.append(events.AnnouncementMade(at=self._now(), text=text))
        return Acknowledgement()

    async def _rotate_token(self, arguments: Arguments) -> Result:
        agent_id = self._find_agent(arguments).agent_id
        token = tokens.new_token(agent_id)
        lifetime = timedelta(hours=self._season.settings.token_hours)
        event = events.TokenReplaced(
            at=self._now(),
            agent_id=agent_id,
            token_hash=tokens.hash_token(token),
            expires=format_exact_time(self._clock() + lifetime),
        )
        await self._events.append(event)
        return {"agent_id": agent_id, "auth_token": token, "expires": event.expires}

    def _find_agent(self, arguments: Arguments) -> Entry:
        agent_id = _read_text(arguments, "agent_id")
        entry = self._season.roster.get(agent_id)
        if entry is None:
            detail = f"agent_id: nobody is registered as {agent_id[:40]!r}"
            raise ProtocolError(ErrorCode.PLAYER_NOT_REGISTERED, detail)
        return entry


def _read_text(arguments: Arguments, name: str) -> str:
    """Return an argument that must be there, shortened, or raise `ProtocolError`."""
    value = arguments.get(name)
    if value is None or value == "":
        detail = f"{name}: a required field is missing"
        raise ProtocolError(ErrorCode.MISSING_REQUIRED_FIELD, detail)
    if not isinstance(value, str):
        detail = f"{name}: expected a text"
        raise ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail)
    return value[:MAX_TEXT]


def _read_switch(arguments: Arguments, name: str) -> bool:
    """Return an argument that is true unless it says otherwise, or raise `ProtocolError`."""
    value = arguments.get(name, True)
    if not isinstance(value, bool):
        raise ProtocolError(ErrorCode.INVALID_FIELD_VALUE, f"{name}: expected true or false")
    return value


def _refuse(detail: str) -> ProtocolError:
    return ProtocolError(ErrorCode.NOT_ALLOWED, detail)
