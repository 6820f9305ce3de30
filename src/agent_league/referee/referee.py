"""The referee: takes matches from the league, has them played, and reports how they ended."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

from msgspec import Raw
from msgspec.structs import replace as changed

from agent_league.agent import Member, Wire, host_of, taken, together
from agent_league.dialects import Deviation, Ledger, orders
from agent_league.dialects.rules import ORDER_FORM
from agent_league.game import GAMES, OptionsError
from agent_league.mcp.offer import Offer, Resource
from agent_league.mcp.rules import rules_resources
from agent_league.mcp.tools import Caller, ToolCard
from agent_league.protocol import (
    Acknowledgement,
    ErrorCode,
    Message,
    ProtocolError,
    Role,
    name,
    tokens,
)
from agent_league.protocol.complaints import LeagueComplaint
from agent_league.protocol.play import (
    GameMoveReply,
    GameOver,
    GameResult,
    JoinAck,
    MatchAccepted,
    ParityReply,
    ReportedResult,
    ResultReport,
    Retry,
    StartMatch,
    TranscriptPart,
    Violation,
)
from agent_league.protocol.registration import RefereeMeta, RegisterReferee
from agent_league.protocol.rounds import LeagueCompleted, RoundAnnouncement, RoundCompleted
from agent_league.referee import steps
from agent_league.referee.match import Match, Phase
from agent_league.referee.seated import Seated
from agent_league.referee.verdict import reported, told
from agent_league.speeches import SPEECHES
from agent_league.transport import NoAnswerError, RefusedError
from agent_league.transport.endpoint import Handler
from agent_league.transport.retry import delay
from agent_league.vocabulary import Json

LONGEST_REPORT_DELAY = 30.0


class Referee(Member):
    """Runs up to *capacity* matches at once."""

    role = Role.REFEREE

    def __init__(
        self, name: str, wire: Wire, league_url: str, *, meta: RefereeMeta, **options: Any
    ) -> None:
        super().__init__(name, wire, league_url, **options)
        self._meta = meta
        self._matches: dict[str, Match] = {}
        """The matches that are being played, or reported."""
        self._vouched_for: set[str] = set()
        self._proven = False
        """Whether the league has shown that it signs its orders; then no other is taken."""

    def handlers(self) -> Mapping[type[Message], Handler]:
        return {
            StartMatch: self.start,
            JoinAck: self.posted,
            ParityReply: self.posted,
            GameMoveReply: self.posted,
            RoundAnnouncement: self.round_announced,
            RoundCompleted: taken,
            LeagueCompleted: self.league_over,
            LeagueComplaint: self.complained,
        }

    def tools(self) -> Sequence[ToolCard]:
        return steps.cards(
            register=self._register_by_hand,
            collect=self._collect_by_hand,
            draw=self._draw_by_hand,
            finalize=self._finalize_by_hand,
        )

    def about(self) -> dict[str, Json]:
        return {**super().about(), "league": self.league_url, "matches": self._running()}

    def offer(self) -> Offer:
        running = Resource(
            uri="referee://matches",
            name="matches",
            description="The matches that this referee has now, and where each stands.",
            read=lambda: {key: match.phase for key, match in self._matches.items()},
        )
        return replace(
            super().offer(),
            instructions="This is a referee of a league. The league gives it matches by "
            "start_match; one that was started with auto: false is then played step by step: "
            "collect_choices, draw_number, finalize_match.",
            resources=(running, *rules_resources(self._meta.game_types)),
        )

    def host_names(self) -> frozenset[str]:
        return host_of(self._meta.contact_endpoint)

    def application(self) -> RegisterReferee:
        stamp = self.stamp(f"conv-{self.name.lower()}-reg")
        return RegisterReferee(
            **stamp,
            auth_token=self.token,
            league_id=self.league_id,
            referee_meta=self._meta,
        )

    def start(self, order: StartMatch) -> MatchAccepted:
        """Take the match and begin to play it, or say why not."""
        self._authenticate(order)
        self._proven = self._proven or order.ticket not in self._vouched_for
        self._vouched_for.discard(order.ticket)
        self.line(self.league_url).breaker.succeeded()  # whoever gives orders can take reports
        known = self._matches.get(order.match_id)
        if known is not None:
            known.order = order  # the league lost track of the match, and wrote a new ticket
            known.reordered.set()
        reason = None if known else self._begin(order)
        return MatchAccepted(
            **self.stamp(order.conversation_id),
            match_id=order.match_id,
            status="REJECTED" if reason else "ACCEPTED",
            reason=reason,
        )

    def admit(self, message: Message, deviations: Sequence[Deviation]) -> Message:
        """Take an order in another house's form, unless our own league has given us one."""
        if isinstance(message, StartMatch) and any(d.rule is ORDER_FORM for d in deviations):
            return self._vouched(message)
        return message

    def round_announced(self, notice: RoundAnnouncement) -> Acknowledgement:
        """Play the matches of a round that is announced with the endpoints of the players."""
        for order in orders.announced(notice, self._meta.contact_endpoint):
            self.start(self._vouched(order))
        return taken(notice)

    def posted(self, reply: JoinAck | ParityReply | GameMoveReply) -> Acknowledgement:
        """Take an answer that a player posts, instead of giving it when it was asked."""
        match = self._matches.get(reply.match_id)
        if match is None or not any(seat.posted(reply) for seat in match.seated):
            detail = "nobody who may answer so was asked this in that match"
            raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, about=name(type(reply)))
        return Acknowledgement(match_id=reply.match_id)

    def _vouched(self, order: StartMatch) -> StartMatch:
        """Sign an order that nobody could sign who does not know how our league does that."""
        own = self.token is not None and tokens.same(order.auth_token or "", self.token)
        if self._proven and not own:
            detail = "auth_token: this referee takes its matches from a league that signs them"
            raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, about="START_MATCH")
        self._vouched_for.add(order.ticket)
        key = tokens.token_hash(self.token or "")
        return changed(order, auth_token=tokens.ticket(key, order.match_id, order.ticket))

    def _authenticate(self, order: StartMatch) -> None:
        """Only the league can make the ticket that goes with an order to this referee."""
        if self.token is None:
            raise ProtocolError(ErrorCode.REFEREE_NOT_REGISTERED, "not registered in any league")
        if order.auth_token is None:
            detail = "auth_token: a match is taken only from the league"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_MISSING, detail, about="START_MATCH")
        own = tokens.ticket(tokens.token_hash(self.token), order.match_id, order.ticket)
        if not tokens.same(order.auth_token, own):
            detail = "auth_token: this order was not written by the league"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, about="START_MATCH")

    def _begin(self, order: StartMatch) -> str | None:
        """Begin the match; return the reason if that cannot be done."""
        if self._running() >= self._meta.max_concurrent_matches:
            return f"Already {self._running()} matches at once"
        if order.game_type not in self._meta.game_types or order.game_type not in GAMES:
            return "Unsupported game type"
        game = GAMES[order.game_type]
        if len(order.players) != game.seats:
            return f"{order.game_type} needs {game.seats} players"
        if any(player.dialect not in SPEECHES for player in order.players):
            return "Unsupported dialect"
        try:
            match = Match(order, game, self)
        except OptionsError as error:
            return f"Unplayable options: {error}"
        self._matches[order.match_id] = match
        self.spawn(self._officiate(match) if order.auto else match.invite())
        return None

    def _running(self) -> int:
        return sum(not match.judged for match in self._matches.values())

    async def _officiate(self, match: Match) -> None:
        try:
            await match.play()
            await self._finish(match)
        finally:
            self._matches.pop(match.order.match_id, None)

    async def _finish(self, match: Match) -> None:
        """Tell both players, then the league; there is room for another match from here on."""
        match.judged = True
        verdict = match.verdict()
        result = reported(verdict)
        self._note_result(match, result)
        await self._announce(match, told(verdict))
        await self._report(match, result)
        self._matches.pop(match.order.match_id, None)

    async def _announce(self, match: Match, result: GameResult) -> None:
        """Tell each player once, both at the same time; whoever missed it is told again later."""
        present = [
            self._game_over(match, seat, result)
            for number, seat in enumerate(match.seated)
            if not self._absent(match, number)
        ]
        for number, seat in enumerate(match.seated):
            if self._absent(match, number):
                self.spawn(self._game_over(match, seat, result))
        await together(present)

    def _absent(self, match: Match, seat: int) -> bool:
        return seat in match.forfeits and match.forfeits[seat].absent

    async def _game_over(self, match: Match, seat: Seated, result: GameResult) -> None:
        notice = GameOver(**seat.stamp(), game_type=match.order.game_type, game_result=result)
        if not await seat.tell(notice, match.order.patience.game_over):
            self.spawn(self._game_over_again(match, seat, notice))

    async def _game_over_again(self, match: Match, seat: Seated, notice: GameOver) -> None:
        retry = match.order.retry
        for attempt in range(1, retry.attempts):
            await asyncio.sleep(delay(retry, attempt))
            if await seat.tell(notice, match.order.patience.game_over):
                return

    def _part(self, match: Match, number: int, entries: list[Raw]) -> TranscriptPart:
        order = match.order
        return TranscriptPart(
            **self.stamp(f"{order.conversation_id}-report"),
            auth_token=self.token,
            match_id=order.match_id,
            ticket=order.ticket,
            part=number,
            entries=entries,
        )

    def _result_report(
        self, match: Match, result: ReportedResult, transcript: list[Raw]
    ) -> ResultReport:
        order = match.order
        return ResultReport(
            **self.stamp(f"{order.conversation_id}-report"),
            auth_token=self.token,
            league_id=order.league_id,
            round_id=order.round_id,
            match_id=order.match_id,
            game_type=order.game_type,
            result=result,
            ticket=order.ticket,
            transcript=transcript,
            violations=[violation for seat in match.seated for violation in _violations(seat)],
        )

    async def _report(self, match: Match, result: ReportedResult) -> None:
        """Report again and again until the league acknowledges it, or will not have it."""
        for attempt in count(1):
            match.reordered.clear()
            *parts, last = match.transcript.parts()
            report = self._result_report(match, result, last)
            try:
                for number, part in enumerate(parts, 1):
                    await self.line(self.league_url).tell(self._part(match, number, part))
                return await self.line(self.league_url).tell(report, ledger=Ledger())
            except RefusedError as error:
                self._unreported(
                    "REPORT_REFUSED", f"refuses the result of {report.match_id}", error
                )
                if report.ticket == match.order.ticket:
                    return None
            except NoAnswerError as error:
                self._unreported("REPORT_LATE", f"has no result of {report.match_id} yet", error)
                wait = min(delay(Retry(), min(attempt, 5)), LONGEST_REPORT_DELAY)
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await match.reordered.wait()
        return None

    def _unreported(self, event_type: str, what: str, error: NoAnswerError) -> None:
        self.journal.warn(event_type, f"the league {what}: {error}")

    def _note_result(self, match: Match, result: ReportedResult) -> None:
        self.journal.note(
            "MATCH_ENDED",
            league_id=match.order.league_id,
            match_id=match.order.match_id,
            status=result.status,
            winner=result.winner,
            termination=result.termination,
        )

    async def _register_by_hand(
        self, arguments: dict[str, Json], caller: Caller
    ) -> Acknowledgement:
        await self.register()
        return Acknowledgement(note=f"registered as {self.name}")

    async def _collect_by_hand(self, arguments: dict[str, Json], caller: Caller) -> dict[str, Json]:
        match = self._stepped(arguments, Phase.COLLECTING_CHOICES)
        match.stepping = True
        try:
            await match.collect()
        finally:
            match.stepping = False
        return {"status": "ok", "match_id": match.order.match_id, "state": match.phase}

    def _draw_by_hand(self, arguments: dict[str, Json], caller: Caller) -> dict[str, Json]:
        match = self._stepped(arguments, Phase.DRAWING_NUMBER)
        match.draw()
        return {"status": "ok", "match_id": match.order.match_id, "state": match.phase}

    def _finalize_by_hand(self, arguments: dict[str, Json], caller: Caller) -> dict[str, Json]:
        match = self._stepped(arguments, Phase.FINISHED)
        match.judged = True
        self.spawn(self._finish(match))
        result = told(match.verdict())
        return {"status": "ok", "match_id": match.order.match_id, "game_result": result}

    def _stepped(self, arguments: dict[str, Json], phase: Phase) -> Match:
        """Return the match that the caller may step, if it is in *phase*."""
        match = self._matches.get(str(arguments.get("match_id")))
        if match is None or match.order.auto:
            detail = "match_id: no match of that id was started with auto: false"
            raise ProtocolError(ErrorCode.MATCH_ID_MISMATCH, detail, field="match_id")
        if not tokens.same(str(arguments.get("ticket")), match.order.ticket):
            detail = "ticket: not the ticket of this match"
            raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, field="ticket")
        if match.phase is not phase or match.stepping or match.judged:
            detail = f"the match is in {match.phase}, this step wants {phase}, and one at a time"
            raise ProtocolError(ErrorCode.NOT_ALLOWED, detail)
        return match


def _violations(seat: Seated) -> list[Violation]:
    return [
        Violation(player_id=seat.player_id, rule=rule, got=deviation.got)
        for rule, deviation in seat.ledger.deviations.items()
    ]
