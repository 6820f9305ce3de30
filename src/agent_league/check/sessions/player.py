"""What the check does with a player, as its referee and its league. It judges nothing."""

import asyncio
from dataclasses import dataclass, field

from agent_league.check.judging import is_join_reply
from agent_league.check.messages import CheckMessages, make_match_id
from agent_league.check.observations import Game, PlayerObservations, Progress
from agent_league.check.sessions.client import ProbeClient

CONCURRENT_GAMES = 10
PROGRESS_EVERY = 10
REPEATS = 8
"""A player that chooses anew each time escapes only one check in 256."""
SERIES_FROM, CONCURRENT_FROM, REPEATS_FROM, TRIALS_FROM = 100, 20, 40, 60


@dataclass
class PlayerSession:
    """A conversation with one player, kept in *observations*."""

    client: ProbeClient
    messages: CheckMessages
    progress: Progress
    farewell: bool
    observations: PlayerObservations = field(default_factory=PlayerObservations)
    player_id: str = "P01"
    """The id that the player gives itself; until it does, any."""

    async def run(self) -> None:
        self.progress("one game")
        if not (await self._play_first_game()).has_ended:
            self.observations.stop_reason = "the first game did not end"
            return
        steps = {
            "the notices of a league": self._send_notices,
            "bad input": self._send_bad_input,
            "messages that come twice": self._repeat_messages,
            f"{CONCURRENT_GAMES} games at once": self._play_concurrently,
        }
        for title, step in steps.items():
            self.progress(title)
            if not await step():
                self.observations.stop_reason = f"it did not answer any more: {title}"
                return
        await self._play_series()
        self.observations.stop_reason = "the check did not ask for it"
        if self.farewell:
            message = self.messages.farewell(self.player_id)
            notices = self.observations.notices
            notices[message["message_type"]] = await self.client.send_message(message)

    async def _play_first_game(self) -> Game:
        observations = self.observations
        invitation = self.messages.invitation(make_match_id(0))
        game = Game(make_match_id(0), await self.client.send_first(invitation, is_join_reply))
        observations.first, observations.calls = game, game.exchanges
        self.player_id = str(game.ack.get("player_id") or self.player_id)
        await self._finish_game(game)
        observations.calls = game.exchanges
        return game

    async def _play_game(self, match_id: str) -> Game:
        game = Game(match_id, await self.client.send_message(self.messages.invitation(match_id)))
        await self._finish_game(game)
        return game

    async def _finish_game(self, game: Game) -> None:
        """Ask for the move and send the result, as long as the player answers."""
        if game.ack.problem():
            return
        call = self.messages.move_call(game.match_id, self.player_id)
        game.move = await self.client.send_message(call)
        if game.move.problem():
            return
        choice = game.move.get("parity_choice")
        over = self.messages.game_over(game.match_id, self.player_id, choice)
        game.over = await self.client.send_message(over)

    async def _send_notices(self) -> bool:
        """Send one notice of each kind; False, as in the steps below, if an answer is late."""
        for kind, message in self.messages.notices(self.player_id).items():
            exchange = self.observations.notices[kind] = await self.client.send_message(message)
            if exchange.is_late:
                return False
        return True

    async def _send_bad_input(self) -> bool:
        observations, send = self.observations, self.client.send_message
        match_id = make_match_id(TRIALS_FROM)
        invitation = self.messages.invitation(match_id)
        observations.string_id = await send(invitation, "check-1")
        call = self.messages.move_call(match_id, self.player_id)
        async for name, trial in self.client.run_trials(call, "match_id", invitation):
            observations.trials[name] = trial
            if trial.after.problem():
                return False
        opponent, conversation = "Ünï-\u73a9\u5bb6-\U0001f3b2", "conv-\U0001f3b2"
        unicode = {**invitation, "opponent_id": opponent, "conversation_id": conversation}
        observations.unicode = await send(unicode)
        unknown_game = self.messages.invitation(make_match_id(TRIALS_FROM + 1))
        observations.unknown_game = await send({**unknown_game, "game_type": "quidditch"})
        return not observations.unknown_game.is_late

    async def _repeat_messages(self) -> bool:
        for number in range(REPEATS_FROM, REPEATS_FROM + REPEATS):
            match_id = make_match_id(number)
            await self.client.send_message(self.messages.invitation(match_id))
            once = await self.client.send_message(self.messages.move_call(match_id, self.player_id))
            again = await self.client.send(once.sent, once.time_limit)
            self.observations.repeated_moves.append((once, again))
            if again.is_late:
                return False
        if self.observations.first and (over := self.observations.first.over):
            self.observations.repeated_over = await self.client.send(over.sent, over.time_limit)
        return True

    async def _play_concurrently(self) -> bool:
        numbers = range(CONCURRENT_FROM, CONCURRENT_FROM + CONCURRENT_GAMES)
        games = [self._play_game(make_match_id(number)) for number in numbers]
        self.observations.concurrent = list(await asyncio.gather(*games))
        return True

    async def _play_series(self) -> None:
        game_count = self.observations.game_count
        for number in range(game_count):
            if number % PROGRESS_EVERY == 0:
                self.progress(f"game {number + 1} of {game_count} in a row")
            game = await self._play_game(make_match_id(SERIES_FROM + number))
            self.observations.series.append(game)
            if not game.has_ended:
                return
