"""What the organiser of a league may do, and nobody else."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeAlias

from agent_league.agent import Agent
from agent_league.clock import written
from agent_league.league import answers
from agent_league.league.conductor import Conductor, seeded
from agent_league.league.season import Season, Stage
from agent_league.mcp.tools import Called, Caller, Schema, ToolCard
from agent_league.protocol import Acknowledgement, ErrorCode, ProtocolError, Role, tokens
from agent_league.store import EventLog
from agent_league.store.events import (
    LeagueContinued,
    LeaguePaused,
    MatchVoided,
    OrganiserAppointed,
)
from agent_league.tournament import Pairing, round_robin, total_rounds
from agent_league.transport.endpoint import Result
from agent_league.vocabulary import Json

Ordered: TypeAlias = Callable[[dict[str, Json]], Result | Awaitable[Result]]

_TOKEN = {
    "type": "string",
    "description": "The organiser's token, unless it comes as Authorization: Bearer.",
}
_ALONE: Schema = {"type": "object", "properties": {"auth_token": _TOKEN}}
_DONE: Schema = {
    "type": "object",
    "properties": {"status": {"const": "ok"}, "note": {"type": "string"}},
    "required": ["status"],
}
_SCHEDULE: Schema = {
    "type": "object",
    "properties": {"final": {"type": "boolean"}, "rounds": {"type": "array"}},
    "required": ["final", "rounds"],
}
_VOIDING: Schema = {
    "type": "object",
    "properties": {
        "match_id": {"type": "string", "description": "As R1M1."},
        "reason": {"type": "string", "minLength": 1, "maxLength": 500},
        "auth_token": _TOKEN,
    },
    "required": ["match_id", "reason"],
}
_ONLY = " Only for the organiser, with the organiser's token."


class Organiser:
    """Carries out what the holder of the organiser's token orders."""

    def __init__(
        self, manager: Agent, season: Season, events: EventLog, conductor: Conductor
    ) -> None:
        self._manager, self._season = manager, season
        self._events, self._conductor = events, conductor

    def cards(self) -> Sequence[ToolCard]:
        course = {
            "start_league": (
                self._start,
                (
                    "Close registration and begin with the players that are there. Fails if they "
                    "are too few; does nothing if the league has begun."
                ),
            ),
            "pause_league": (
                self._pause,
                "Let no further match begin; those that are being played are played to the end.",
            ),
            "resume_league": (self._continue, "Let matches begin again after a pause."),
        }
        return (
            self._schedule_card(),
            *(self._course_card(name, *order) for name, order in course.items()),
            self._void_card(),
        )

    def _course_card(self, name: str, order: Ordered, description: str) -> ToolCard:
        return ToolCard(
            name=name,
            title=name.replace("_", " ").capitalize(),
            description=description + _ONLY,
            call=self._only(name, order),
            input_schema=_ALONE,
            output_schema=_DONE,
            idempotent=True,
        )

    def _schedule_card(self) -> ToolCard:
        return ToolCard(
            name="create_schedule",
            title="Draw up the schedule",
            description="Who meets whom, round by round. Before the league has started it is "
            "drawn for the players that are registered now, and changes with each that joins; "
            "start_league makes it final. Changes nothing by itself." + _ONLY,
            call=self._only("create_schedule", self._create_schedule),
            input_schema=_ALONE,
            output_schema=_SCHEDULE,
            read_only=True,
        )

    def _void_card(self) -> ToolCard:
        return ToolCard(
            name="void_match",
            title="Void a match",
            description="Take the result of a match out of the standings, for good. The match "
            "is not played again, and stays in the record with the reason." + _ONLY,
            call=self._only("void_match", self._void),
            input_schema=_VOIDING,
            output_schema=_DONE,
            destructive=True,
            idempotent=True,
        )

    def _only(self, name: str, order: Ordered) -> Called:
        def call(arguments: dict[str, Json], caller: Caller) -> Result | Awaitable[Result]:
            token = arguments.get("auth_token", caller.token)
            self._check(token if isinstance(token, str) else None, name)
            return order(arguments)

        return call

    def _check(self, token: str | None, about: str) -> None:
        if token is None:
            detail = "auth_token: only the organiser may do this, with the organiser's token"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_MISSING, detail, about=about)
        if not tokens.same(tokens.token_hash(token), self._season.organiser or ""):
            detail = "auth_token: this is not the organiser's token"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, about=about)

    async def appoint(self) -> str:
        """Return a new token for the organiser; only its hash is kept, and no earlier one counts."""
        token = tokens.new_token("organiser")
        digest = tokens.token_hash(token)
        await self._events.append(OrganiserAppointed(at=self._now(), token_hash=digest))
        return token

    def _create_schedule(self, arguments: dict[str, Json]) -> Result:
        season = self._season
        if season.players:
            return {"final": True, **answers.schedule(season, {})}
        drawn = seeded(entry.agent_id for entry in season.roster.of(Role.PLAYER))
        legs = season.settings.legs
        rounds: list[Json] = [
            {"round_id": number + 1, "matches": _pairs(round_robin(drawn, number, legs))}
            for number in range(total_rounds(len(drawn), legs))
        ]
        return {"final": False, "rounds": rounds}

    def _start(self, arguments: dict[str, Json]) -> Result:
        if self._season.stage is not Stage.REGISTRATION:
            return Acknowledgement(note="the league has begun")
        if not self._conductor.start_now():
            needed = self._season.settings.min_players
            detail = f"a league takes at least {needed} players"
            raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, about="start_league")
        return Acknowledgement()

    async def _pause(self, arguments: dict[str, Json]) -> Result:
        if not self._season.paused:
            await self._events.append(LeaguePaused(at=self._now()))
            self._conductor.pause_changed()
        return Acknowledgement()

    async def _continue(self, arguments: dict[str, Json]) -> Result:
        if self._season.paused:
            await self._events.append(LeagueContinued(at=self._now()))
            self._conductor.pause_changed()
        return Acknowledgement()

    async def _void(self, arguments: dict[str, Json]) -> Result:
        match_id, why = str(arguments.get("match_id")), str(arguments.get("reason") or "")[:500]
        if match_id in self._season.voided:
            return Acknowledgement(match_id=match_id, note="already void")
        ended = self._season.results.get(match_id)
        if ended is None or not why or self._season.stage is Stage.COMPLETED:
            raise self._not_voidable(match_id, why)
        event = MatchVoided(
            at=self._now(),
            match_id=match_id,
            round_id=ended.round_id,
            players=ended.players,
            winner=ended.winner,
            technical_losses=ended.technical_losses,
            why=why,
        )
        await self._events.append(event)
        self._conductor.standings_changed()
        return Acknowledgement(match_id=match_id)

    def _not_voidable(self, match_id: str, why: str) -> ProtocolError:
        if self._season.stage is Stage.COMPLETED:
            detail = "the league is over, and everybody was told how it ended"
            return ProtocolError(ErrorCode.NOT_ALLOWED, detail, about="void_match")
        if not why:
            detail = "reason: a required field is missing"
            return ProtocolError(ErrorCode.MISSING_REQUIRED_FIELD, detail, about="void_match")
        detail = f"match_id: there is no result of {match_id[:40]!r} at hand"
        return ProtocolError(ErrorCode.MATCH_ID_MISMATCH, detail, about="void_match")

    def _now(self) -> str:
        return written(self._manager.clock())


def _pairs(pairings: Iterable[Pairing]) -> list[Json]:
    return [{"player_A_id": first, "player_B_id": second} for first, second in pairings]
