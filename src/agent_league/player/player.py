"""The player: sensors, a decision model and actuators behind one endpoint."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from agent_league.agent import Member, Wire, host_of, taken
from agent_league.mcp.offer import Offer, Resource
from agent_league.mcp.rules import rules_resources
from agent_league.player.actuators import make_move, take_seat
from agent_league.player.brain import Brain
from agent_league.player.decision import DecisionModel
from agent_league.player.sensors import Played, Turn, perceive_result, perceive_turn
from agent_league.protocol import Acknowledgement, Message, Role
from agent_league.protocol.complaints import GameComplaint, LeagueComplaint
from agent_league.protocol.play import (
    GameMoveCall,
    GameMoveReply,
    GameOver,
    Invitation,
    JoinAck,
    ParityCall,
    ParityReply,
)
from agent_league.protocol.queries import Query, QueryAnswer, QueryType
from agent_league.protocol.registration import PlayerMeta, RegisterPlayer
from agent_league.protocol.rounds import (
    LeagueCompleted,
    RoundAnnouncement,
    RoundCompleted,
    StandingRow,
    StandingsUpdate,
)
from agent_league.transport.endpoint import Handler
from agent_league.vocabulary import Json

THINKING_SHARE = 0.8
"""How much of the time until the deadline is for thinking; the rest is for the way back."""


def _unnoted(played: Played) -> None:
    """Keep no note of a match."""


class Player(Member):
    """Plays any number of matches at once."""

    role = Role.PLAYER

    def __init__(
        self,
        name: str,
        wire: Wire,
        league_url: str,
        *,
        meta: PlayerMeta,
        brain: Brain,
        seed: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(name, wire, league_url, **options)
        self.decision = DecisionModel(
            brain, None if seed is None else f"{seed}|{name}", warn=self._fell_back
        )
        self.history: dict[str, Played] = {}
        self.noted: Callable[[Played], None] = _unnoted
        """Told of each match that this player learns the end of, so that it can be kept."""
        self.standings: list[StandingRow] = []
        self._meta = meta
        self._moves: dict[str, dict[bytes, Json]] = {}
        """Moves already made, so that a call that comes twice is answered the same."""

    def handlers(self) -> Mapping[type[Message], Handler]:
        return {
            Invitation: self.invited,
            ParityCall: self.choose,
            GameMoveCall: self.choose,
            GameOver: self.match_over,
            GameComplaint: self.complained,
            LeagueComplaint: self.complained,
            RoundAnnouncement: taken,
            RoundCompleted: taken,
            StandingsUpdate: self.table_changed,
            LeagueCompleted: self.league_over,
        }

    def about(self) -> dict[str, Json]:
        record = {"played": len(self.history), "fallback_moves": self.decision.fallbacks}
        return {**super().about(), "display_name": self._meta.display_name, **record}

    def offer(self) -> Offer:
        record = Resource(
            uri="player://record",
            name="record",
            description="The matches that this player has learned the end of.",
            read=lambda: msgspec.to_builtins(list(self.history.values())),
        )
        return replace(
            super().offer(),
            instructions="This is a player of a league. Referees call it: "
            "handle_game_invitation, then choose_parity or choose_move, then notify_match_result.",
            resources=(record, *rules_resources(self._meta.game_types)),
        )

    def host_names(self) -> frozenset[str]:
        return host_of(self._meta.contact_endpoint)

    def application(self) -> RegisterPlayer:
        stamp = self.stamp(f"conv-{self.name.lower()}-reg")
        return RegisterPlayer(
            **stamp,
            auth_token=self.token,
            league_id=self.league_id,
            player_meta=self._meta,
        )

    async def query(self, query_type: QueryType, **params: Json) -> QueryAnswer:
        """Ask the league one of its four questions."""
        question = Query(
            **self.stamp(f"conv-{self.name.lower()}-query"),
            auth_token=self.token,
            league_id=self.league_id or "",
            query_type=query_type,
            query_params=params,
        )
        return await self.line(self.league_url).ask(question)

    def invited(self, invitation: Invitation) -> JoinAck:
        plays = invitation.game_type in self._meta.game_types
        return take_seat(self, invitation, accept=plays)

    def choose(
        self, call: ParityCall | GameMoveCall
    ) -> ParityReply | GameMoveReply | Awaitable[ParityReply | GameMoveReply]:
        turn = perceive_turn(call)
        made = self._moves.setdefault(turn.match_id, {})
        key = msgspec.json.encode(turn.view)
        if key in made:
            return make_move(self, call, made[key])
        move = self.decide(call, turn)
        if inspect.isawaitable(move):
            return self._choose_later(call, move, key)
        made[key] = move
        return make_move(self, call, move)

    def decide(self, call: ParityCall | GameMoveCall, turn: Turn) -> Json | Awaitable[Json]:
        """Return the move to make, or what will come to one."""
        left = (turn.deadline - self.clock()).total_seconds()
        budget = THINKING_SHARE * (left if left > 0 else self.patience.move)
        return self.decision.decide(turn, budget)

    async def _choose_later(
        self, call: ParityCall | GameMoveCall, thinking: Awaitable[Json], key: bytes
    ) -> ParityReply | GameMoveReply:
        move = await thinking
        self._moves.setdefault(call.match_id, {})[key] = move
        return make_move(self, call, move)

    def match_over(self, over: GameOver) -> Acknowledgement:
        self._moves.pop(over.match_id, None)
        if over.match_id not in self.history:
            played = perceive_result(over, self.name)
            self.recall([played])
            self.noted(played)
            self.journal.note("MATCH_OVER", league_id=self.league_id, **played._asdict())
        return Acknowledgement(match_id=over.match_id)

    def _fell_back(self, why: str) -> None:
        self.journal.warn("STRATEGY_FAILED", why)

    def recall(self, matches: Iterable[Played]) -> None:
        """Take *matches* into the history and the opponent model."""
        for played in matches:
            self.history[played.match_id] = played
            self.decision.opponents.learn(played)

    def table_changed(self, update: StandingsUpdate) -> Acknowledgement:
        self.standings = update.standings
        return Acknowledgement()
