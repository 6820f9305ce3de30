"""The referee: takes matches from the league, runs them, and reports their results."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from agent_league.dialects import DIALECTS
from agent_league.game import GAMES, OptionsError
from agent_league.http.exchange import Wire
from agent_league.member import Member, acknowledge
from agent_league.offer import Caller, Offer, Resource
from agent_league.peers.endpoint import Handler
from agent_league.printable import format_count
from agent_league.protocol import (
    Acknowledgement,
    ErrorCode,
    Message,
    ProtocolError,
    Role,
    name,
    tokens,
)
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.error_messages import LeagueErrorMessage
from agent_league.protocol.fields import VERSION
from agent_league.protocol.play import (
    GameMoveReply,
    JoinAck,
    MatchAccepted,
    ParityReply,
    StartMatch,
)
from agent_league.protocol.registration import RefereeMeta
from agent_league.protocol.requirements.rules import ORDER_FORM, RESULT_IN_ANSWER
from agent_league.protocol.results import make_game_result
from agent_league.protocol.rounds import LeagueCompleted, RoundAnnouncement, RoundCompleted
from agent_league.referee import steps
from agent_league.referee.abroad import MatchesAbroad
from agent_league.referee.match import Match, Phase
from agent_league.referee.reporting import announce_result, report_result
from agent_league.serving.game_rules import rules_resources
from agent_league.vocabulary import Json


class Referee(Member):
    """Runs several matches at once, up to the number that it registered with."""

    role = Role.REFEREE

    def __init__(
        self,
        name: str,
        wire: Wire,
        league_url: str,
        *,
        meta: RefereeMeta,
        addresses: Mapping[str, str] = MappingProxyType({}),
        **options: Any,
    ) -> None:
        """*addresses* are the endpoints of players, for a league whose orders do not have them."""
        super().__init__(name, wire, league_url, meta=meta, **options)
        self._capacity = meta.max_concurrent_matches
        self._abroad = MatchesAbroad(
            self,
            self._capacity,
            self._find_objection,
            self._play,
            lambda match, is_reported: self._officiate(match, is_reported=is_reported),
            addresses,
        )
        self._third_party_orders: dict[str, bool] = {}
        """The orders, by ticket, of a league that does not sign; whether it wants the result back."""
        self._matches: dict[str, Match] = {}
        """The matches that are being played or reported."""
        self._in_play: set[str] = set()
        """Those that are not judged yet."""

    def handlers(self) -> Mapping[type[Message], Handler]:
        return {
            StartMatch: self.start,
            JoinAck: self.take_posted_reply,
            ParityReply: self.take_posted_reply,
            GameMoveReply: self.take_posted_reply,
            RoundAnnouncement: self.on_announcement,
            RoundCompleted: acknowledge,
            LeagueCompleted: self.on_league_over,
            LeagueErrorMessage: self.on_error_message,
        }

    def about(self) -> dict[str, Json]:
        return {**super().about(), "league": self.league_url, "matches": self._count_running()}

    def offer(self) -> Offer:
        running = Resource(
            uri="referee://matches",
            name="matches",
            description="The matches that this referee has now, and the state of each.",
            read=lambda: {key: match.phase for key, match in self._matches.items()},
        )
        return Offer(
            tools=steps.make_cards(
                register=self._register_by_hand,
                collect=self._collect_by_hand,
                draw=self._draw_by_hand,
                finalize=self._finalize_by_hand,
            ),
            instructions="This is a referee of a league. The league gives it matches with "
            "start_match; a match that was started with auto: false is then played step by step: "
            "collect_choices, draw_number, finalize_match.",
            resources=(running, *rules_resources(self.meta.game_types)),
        )

    def start(self, order: StartMatch) -> MatchAccepted | Awaitable[MatchAccepted]:
        """Begin to play the match, or return the reason why not."""
        wants_result = self._third_party_orders.pop(order.ticket, None)
        self._authenticate(order)
        if wants_result is not None:
            has_no_token = not self.token  # so there is nothing to report with
            return self._abroad.start(order, answers_with_result=wants_result and has_no_token)
        match = self._matches.get(order.match_id)
        if match is not None and not match.is_ordered_by(order):
            self._abandon(match)
            match = None
        if match is not None:
            match.order = order  # the league lost track of the match, and made a new ticket
            match.reordered.set()
        reason = None if match else self._begin(order)
        return MatchAccepted(
            protocol=VERSION,
            sender=self.sender,
            timestamp=self.now(),
            conversation_id=order.conversation_id,
            match_id=order.match_id,
            status="REJECTED" if reason else "ACCEPTED",
            reason=reason,
        )

    def admit(self, message: Message, deviations: Sequence[Deviation]) -> Message:
        """Sign an order in the form of a third-party league, unless the league signs its orders."""
        if not isinstance(message, StartMatch) or all(d.rule is not ORDER_FORM for d in deviations):
            return message
        if self.league_signs:
            detail = "auth_token: the league of this referee signs its orders, and not this one"
            raise self.disbelieve(message, detail)
        wants_result = any(deviation.rule is RESULT_IN_ANSWER for deviation in deviations)
        self._third_party_orders[message.ticket] = wants_result
        key = self.signing_key or ""  # without a key nobody is believed
        signature = tokens.sign_ticket(key, message.match_id, message.ticket)
        return replace(message, auth_token=signature)

    def take_posted_reply(self, reply: JoinAck | ParityReply | GameMoveReply) -> Acknowledgement:
        """Take an answer that a player posts later, instead of replying to the call."""
        match = self._matches.get(reply.match_id)
        seats = match.seated_players if match else ()
        taken = [seat.take_posted_reply(reply) for seat in seats]  # one may be held for both
        if not any(taken):  # some keep an id of their own, which may be that of the opponent here
            taken = [seat.take_posted_reply(reply, any_sender=True) for seat in seats]
        if not any(taken):
            detail = "no player that may answer this way was asked this in that match"
            raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, about=name(type(reply)))
        return Acknowledgement(match_id=reply.match_id)

    def _authenticate(self, order: StartMatch) -> None:
        """Raise `ProtocolError` unless the league signed *order* for this referee."""
        if self.token is None:
            raise ProtocolError(ErrorCode.REFEREE_NOT_REGISTERED, "not registered in any league")
        if not self.is_signed(order.auth_token, order.match_id, order.ticket):
            raise self.disbelieve(order, "auth_token: this order was not signed by the league")

    def _begin(self, order: StartMatch) -> str | None:
        """Begin the match, or return the reason why that cannot be done."""
        if self._count_running() >= self._capacity:
            return f"Already {format_count(self._count_running(), 'match')} at once"
        if reason := self._find_objection(order):
            return reason
        try:
            match = self._seat(order)
        except OptionsError as error:
            return f"Unplayable options: {error}"
        match.task = self.spawn(self._officiate(match) if order.auto else match.invite())
        return None

    def _seat(self, order: StartMatch) -> Match:
        match = self._matches[order.match_id] = Match(order, GAMES[order.game_type], self)
        self._in_play.add(order.match_id)
        return match

    def _find_objection(self, order: StartMatch) -> str | None:
        """Return why a match cannot be played at all; None if it can."""
        if order.game_type not in self.meta.game_types or order.game_type not in GAMES:
            return "Unsupported game type"
        game = GAMES[order.game_type]
        if len(order.players) != game.seats:
            return f"{order.game_type} needs {game.seats} players"
        if any(player.dialect not in DIALECTS for player in order.players):
            return "Unsupported dialect"
        return None

    async def _play(self, order: StartMatch) -> Match:
        match = self._seat(order)
        await match.play()
        return match

    def on_announcement(self, notice: RoundAnnouncement) -> Acknowledgement:
        """Note who plays where, for a league whose orders do not say it."""
        if not self.league_signs:
            self._abroad.address_book.note_announcement(notice)
        return acknowledge(notice)

    def _abandon(self, match: Match) -> None:
        """Stop a match that is ordered anew with other players, or at other endpoints."""
        self.agent_log.note("MATCH_ABANDONED", "WARNING", match_id=match.order.match_id)
        if match.task is not None:
            match.task.cancel()
        self._forget(match)

    def _forget(self, match: Match) -> None:
        if self._matches.get(match.order.match_id) is match:
            self._in_play.discard(match.order.match_id)
            del self._matches[match.order.match_id]

    def _end_play(self, match: Match) -> None:
        """Note that the result of a match is certain: there is room for another one."""
        match.is_judged = True
        self._in_play.discard(match.order.match_id)

    def _count_running(self) -> int:
        return len(self._in_play)

    async def referee_match(self, order: StartMatch) -> bool:
        """Play a match that came from a queue; return whether the league has its result.

        Raise `ProtocolError` or `OptionsError` if this referee cannot play it.
        """
        if reason := self._find_objection(order):
            raise ProtocolError(ErrorCode.NOT_ALLOWED, f"{order.match_id}: {reason}")
        return await self._officiate(self._seat(order))

    async def _officiate(self, match: Match, *, is_reported: bool = True) -> bool:
        """Play the match, unless that was done by hand; tell both players, then the league.

        Return whether the league has acknowledged the result.
        """
        try:
            if match.phase is not Phase.FINISHED:
                await match.play()
            self._end_play(match)
            result = match.result()
            self.agent_log.note(
                "MATCH_ENDED",
                league_id=match.order.league_id,
                match_id=match.order.match_id,
                status=result.status,
                winner=result.winner,
                termination=result.termination,
            )
            await announce_result(self, match, result)
            return is_reported and await report_result(self, match, result)
        finally:
            self._forget(match)

    async def _register_by_hand(
        self, arguments: dict[str, Json], caller: Caller
    ) -> Acknowledgement:
        """Register, if the referee is not registered, or if its own token comes with the call."""
        token = arguments.get("auth_token") or caller.token
        if self.token is not None and not self.owns(token):
            detail = (
                "auth_token: this referee is registered; only its own token makes it do so again"
            )
            code = ErrorCode.AUTH_TOKEN_INVALID if token else ErrorCode.AUTH_TOKEN_MISSING
            raise ProtocolError(code, detail, about="register_to_league", field="auth_token")
        await self.register()
        return Acknowledgement(note=f"registered as {self.name}")

    async def _collect_by_hand(self, arguments: dict[str, Json], caller: Caller) -> dict[str, Json]:
        match = self._find_match_by_hand(arguments)
        if match.phase is Phase.WAITING_FOR_PLAYERS and match.task is not None:
            await asyncio.shield(match.task)
        _require_phase(match, Phase.COLLECTING_CHOICES)
        match.stepping = True
        try:
            await match.collect()
        finally:
            match.stepping = False
        return {"status": "ok", "match_id": match.order.match_id, "state": match.phase}

    def _draw_by_hand(self, arguments: dict[str, Json], caller: Caller) -> dict[str, Json]:
        match = self._find_match_by_hand(arguments)
        _require_phase(match, Phase.DRAWING_NUMBER)
        match.draw()
        return {"status": "ok", "match_id": match.order.match_id, "state": match.phase}

    def _finalize_by_hand(self, arguments: dict[str, Json], caller: Caller) -> dict[str, Json]:
        match = self._find_match_by_hand(arguments)
        _require_phase(match, Phase.FINISHED)
        self._end_play(match)
        match.task = self.spawn(self._officiate(match))
        result = make_game_result(match.result())
        return {"status": "ok", "match_id": match.order.match_id, "game_result": result}

    def _find_match_by_hand(self, arguments: dict[str, Json]) -> Match:
        """Return the match of a step, if the caller may take it."""
        match = self._matches.get(str(arguments.get("match_id")))
        if match is None or match.order.auto:
            detail = "match_id: no match with this id was started with auto: false"
            raise ProtocolError(ErrorCode.MATCH_ID_MISMATCH, detail, field="match_id")
        if not tokens.is_same_secret(str(arguments.get("ticket")), match.order.ticket):
            detail = "ticket: not the ticket of this match"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, field="ticket")
        return match


def _require_phase(match: Match, phase: Phase) -> None:
    """Raise `ProtocolError` unless *match* is in *phase* and no other step is running."""
    if match.phase is not phase or match.stepping or match.is_judged:
        needs = f"this step needs {phase} and no other step running"
        detail = f"{needs}; the match is in {match.phase}"
        raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, state=match.phase)
