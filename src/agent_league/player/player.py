"""The player: sensors, a decision model and actuators behind one endpoint."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from agent_league.chance import commit_to
from agent_league.http.exchange import Wire
from agent_league.member import Member, acknowledge
from agent_league.offer import Offer, Resource
from agent_league.peers.endpoint import Handler
from agent_league.player.actuators import make_move, take_seat
from agent_league.player.brain import Brain
from agent_league.player.decision import DecisionModel
from agent_league.player.memory import remember
from agent_league.player.open_matches import OpenMatches
from agent_league.player.postings import ReplyPoster
from agent_league.player.sensors import MoveCall, Turn, perceive_result, perceive_turn
from agent_league.player.trust import RefereeCheck
from agent_league.protocol import Acknowledgement, Message, Role, play, rounds
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.error_messages import GameErrorMessage, LeagueErrorMessage
from agent_league.protocol.fields import parse_time
from agent_league.protocol.message import Reply
from agent_league.protocol.registration import PlayerMeta
from agent_league.serving.game_rules import rules_resources
from agent_league.strategy import FinishedMatch
from agent_league.vocabulary import Json

THINKING_SHARE = 0.8
"""The part of the time until the deadline that the strategy may use; the rest is for the reply."""


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
        super().__init__(name, wire, league_url, meta=meta, **options)
        self.decision = DecisionModel(
            brain,
            None if seed is None else f"{seed}|{name}",
            warn=lambda why: self.agent_log.warn("STRATEGY_FAILED", f"{self.name}: {why}"),
        )
        if hasattr(brain.strategy, "note"):  # it records what each move took
            brain.strategy.note = self._note_thought
        self.history: dict[str, FinishedMatch] = {}
        self.save_match: Callable[[FinishedMatch], None] = lambda played: None
        """Called with each finished match, so that it can be kept."""
        self.standings: list[rounds.StandingRow] = []
        self._referee_check = RefereeCheck(self)
        self._poster = ReplyPoster(self)
        self._open_matches = OpenMatches()
        self._moves: dict[str, dict[bytes, Json]] = {}
        """Moves already made, so that a repeated call gets the same answer."""
        self._commitments: dict[str, str] = {}
        """The hash of the secret of each match, as its invitation told it."""

    def _note_thought(self, **record: Json) -> None:
        self.agent_log.note("MODEL_ANSWERED", league_id=self.league_id, **record)

    @property
    def game(self) -> str:
        return self.meta.game_types[0]

    def handlers(self) -> Mapping[type[Message], Handler]:
        guard = self._referee_check.guard
        return {
            play.Invitation: guard(self.answer_invitation),
            play.ParityCall: guard(self.choose),
            play.GameMoveCall: guard(self.choose),
            play.GameOver: guard(self.on_match_over),
            GameErrorMessage: self.on_error_message,
            LeagueErrorMessage: self.on_error_message,
            rounds.RoundAnnouncement: self.on_announcement,
            rounds.RoundCompleted: acknowledge,
            rounds.StandingsUpdate: self.on_standings_update,
            rounds.LeagueCompleted: self.on_league_over,
        }

    def about(self) -> dict[str, Json]:
        record = {"played": len(self.history), "fallback_moves": self.decision.fallbacks}
        return {**super().about(), "display_name": self.meta.display_name, **record}

    def offer(self) -> Offer:
        record = Resource(
            uri="player://record",
            name="record",
            description="The finished matches of this player.",
            read=lambda: msgspec.to_builtins(list(self.history.values())),
        )
        return Offer(
            instructions="This is a player of a league. Referees call it: "
            "handle_game_invitation, then choose_parity or choose_move, then notify_match_result.",
            resources=(record, *rules_resources(self.meta.game_types)),
        )

    def answer_invitation(self, invitation: play.Invitation) -> play.JoinAck:
        self._note_open(invitation.match_id)
        if invitation.commitment:
            remember(self._commitments, invitation.match_id, invitation.commitment)
        plays = invitation.game_type in self.meta.game_types
        return self._give(take_seat(self, invitation, accept=plays))

    def choose(self, call: MoveCall) -> play.MoveReply | Awaitable[play.MoveReply]:
        turn = perceive_turn(call)
        self._note_open(turn.match_id)
        moves = self._moves.setdefault(turn.match_id, {})
        key = msgspec.json.encode(turn.view)
        if key in moves:
            return self._give(make_move(self, call, moves[key]))
        move = self.decide(call, turn)
        if isinstance(move, str) or not inspect.isawaitable(move):
            moves[key] = move
            return self._give(make_move(self, call, move))

        async def choose_later() -> play.MoveReply:
            moves[key] = await move
            return self._give(make_move(self, call, moves[key]))

        return choose_later()

    def _note_open(self, match_id: str) -> None:
        """Remember a match; a league that signs cannot be said to be over before its time."""
        if not self.league_signs:
            self._open_matches.add(match_id)

    def _give(self, reply: Reply) -> Reply:
        """Return *reply*, which is also posted if its referee may not read the answer to its call."""
        self._poster.post(reply)
        return reply

    def admit(self, message: Message, deviations: Sequence[Deviation]) -> Message:
        self._poster.note_deviation(message)
        return message

    def decide(self, call: MoveCall, turn: Turn) -> Json | Awaitable[Json]:
        """Return the move to make, or an awaitable of it."""
        if self.decision.is_immediate:
            return self.decision.decide_at_once(turn)
        left = (parse_time(call.deadline) - self.clock()).total_seconds()
        budget = THINKING_SHARE * estimate_time_left(left, self.patience.move)
        return self.decision.decide(turn, budget)

    def on_announcement(self, notice: rounds.RoundAnnouncement) -> Acknowledgement:
        me = self.name
        own = [match for match in notice.matches if me in (match.player_A_id, match.player_B_id)]
        self._poster.note_announcement(notice, own)
        if not self.league_signs:
            self._referee_check.note_announced(own)
            for match in own:
                self._open_matches.add(match.match_id)
        return acknowledge(notice)

    def on_match_over(self, notice: play.GameOver) -> Acknowledgement:
        self._moves.pop(notice.match_id, None)
        if not self.league_signs:
            self._open_matches.end(notice.match_id)
        if notice.match_id not in self.history:
            played = perceive_result(notice, self.name)
            self.recall([played])
            self.decision.learn(played)
            self.save_match(played)
            self._note_over(played)
            self._check_commitment(notice)
        return Acknowledgement(match_id=notice.match_id)

    def _note_over(self, played: FinishedMatch) -> None:
        self.agent_log.note(
            "MATCH_OVER",
            league_id=self.league_id,
            match_id=played.match_id,
            opponent=played.opponent,
            mine=played.mine,
            theirs=played.theirs,
            won=played.won,
        )

    def _check_commitment(self, notice: play.GameOver) -> None:
        """Warn if the secret of a match is not the one that was promised before anybody moved."""
        promised = self._commitments.pop(notice.match_id, None)
        secret = notice.game_result.details.get("draw_secret")
        if promised and (not isinstance(secret, str) or commit_to(secret) != promised):
            text = f"{notice.sender} did not draw {notice.match_id} as it promised"
            self.agent_log.warn("COMMITMENT_BROKEN", text)

    async def wait_until_quiet(self) -> None:
        await self._open_matches.wait_until_quiet()

    def recall(self, matches: Iterable[FinishedMatch]) -> None:
        """Add *matches* to the history and the opponent model."""
        for played in matches:
            self.history[played.match_id] = played
            self.decision.opponents.learn(played)

    def on_standings_update(self, update: rounds.StandingsUpdate) -> Acknowledgement:
        self.standings = update.standings
        return Acknowledgement()


def estimate_time_left(left: float, window: float) -> float:
    """Return how many of the seconds *left* until a deadline there are for sure.

    Deadlines are rounded up to a whole second. A player whose clock is wrong, or that is asked
    right at the beginning, has the whole *window* that its league gives.
    """
    if left <= 0 or window <= left < window + 1:
        return window
    return max(left - 1, left / 2)
