"""What the check does with a player, as its referee and its league. It judges nothing."""

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace

from agent_league.check.exchange import Exchange
from agent_league.check.messages import CheckMessages, make_match_id
from agent_league.check.observations import Game, PlayerObservations, Progress
from agent_league.check.reading import ACK, MOVE
from agent_league.check.sessions.client import ProbeClient
from agent_league.check.sessions.fake_peers import FakePeer
from agent_league.running.serve import LOOPBACK, AddressError
from agent_league.vocabulary import Json

REFEREE_PORT = 8001
"""Where the documents put the referee REF01."""

CONCURRENT_GAMES = 10
PROGRESS_EVERY = 10
REPEATS = 16
"""A player that chooses anew each time escapes only one check in 65,536."""
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
    """The id that the player gives itself; until it does, the one that it was given, or any."""
    host: str = LOOPBACK
    """Where the check listens for replies that a player sends elsewhere."""
    _inbox: FakePeer | None = None

    async def run(self) -> None:
        self.player_id = self.observations.assigned_id or self.player_id
        async with AsyncExitStack() as stack:
            await self._run_all(stack)

    async def _run_all(self, stack: AsyncExitStack) -> None:
        self.progress("one game")
        game = await self._play_first_game(stack)
        if any(exchange.problem() for exchange in game.exchanges[:2]) or game.is_cut_short:
            self.observations.stop_reason = "it did not answer in the first game"
            return
        steps = {
            "the notices of a league": self._send_notices,
            "bad input": self._send_bad_input,
            "messages that come twice": self._repeat_messages,
            f"{CONCURRENT_GAMES} games at once": self._play_concurrently,
        }
        for title, step in steps.items():
            if not game.has_ended and step not in (self._send_notices, self._send_bad_input):
                continue
            self.progress(title)
            if not await step():
                self.observations.stop_reason = f"it did not answer any more: {title}"
                return
        await self._end(game)

    async def _end(self, game: Game) -> None:
        """Play many games, if the player has played one, and say goodbye."""
        self.observations.stop_reason = "it made no choice in the first game"
        if game.has_ended:
            await self._play_series()
            self.observations.stop_reason = "the check did not ask for it"
        if self.farewell:
            message = self.messages.farewell(self.player_id)
            notices = self.observations.notices
            notices[message["message_type"]] = await self.client.ask(message)

    async def _play_first_game(self, stack: AsyncExitStack) -> Game:
        observations = self.observations
        ack = await self._invite(make_match_id(0))
        if not ack.is_reply_of(ACK) and ack.answer and not ack.is_unknown_call:
            # Some players send their reply to the referee at the address of the documents.
            with suppress(AddressError):
                inbox = FakePeer(self.messages)
                await inbox.open(stack, self.host, REFEREE_PORT)
                self._inbox = inbox
                self.client.give_another_chance()
                ack = await self._invite(make_match_id(0))
        game = Game(make_match_id(0), ack)
        observations.first, observations.calls = game, game.exchanges
        self.player_id = str(game.ack.get("player_id") or self.player_id)
        await self._finish_game(game)
        observations.calls = game.exchanges
        return game

    async def _invite(self, match_id: str) -> Exchange:
        return await self._ask(self.messages.invitation(match_id, self.player_id), ACK)

    async def _call(self, match_id: str) -> Exchange:
        return await self._ask(self.messages.move_call(match_id, self.player_id), MOVE)

    async def _ask(self, message: Json, kind: str) -> Exchange:
        """Return the answer to *message*, with the reply that was sent elsewhere instead."""
        exchange = await self.client.ask(message, lambda answer: self._is_reply(answer, kind))
        return self._add_posted(exchange, kind)

    def _is_reply(self, exchange: Exchange, kind: str) -> bool:
        return self._add_posted(exchange, kind).is_reply_of(kind)

    def _add_posted(self, exchange: Exchange, kind: str) -> Exchange:
        if self._inbox is None or exchange.is_refusal or exchange.is_reply_of(kind):
            return exchange
        match_id = str(exchange.request_message.get("match_id"))
        posted = [got for got in self._inbox.find_about(match_id) if got.kind == kind]
        return replace(exchange, posted=posted[-1].message) if posted else exchange

    async def _play_game(self, match_id: str) -> Game:
        game = Game(match_id, await self._invite(match_id))
        await self._finish_game(game)
        return game

    async def _finish_game(self, game: Game) -> None:
        """Ask for the move and send the result, as long as the player answers."""
        if game.ack.problem():
            return
        game.move = await self._call(game.match_id)
        if game.move.problem():
            return
        over = self.messages.game_over(game.match_id, self.player_id, game.choice)
        game.over = await self.client.ask(over)

    async def _send_notices(self) -> bool:
        """Send one notice of each kind; False, as in the steps below, if an answer is late."""
        for kind, message in self.messages.notices(self.player_id).items():
            exchange = self.observations.notices[kind] = await self.client.ask(message)
            if exchange.is_late:
                return False
        return True

    async def _send_bad_input(self) -> bool:
        observations, send = self.observations, self.client.send_message
        match_id = make_match_id(TRIALS_FROM)
        invitation = self.messages.invitation(match_id, self.player_id)
        await send(invitation)
        call = self.messages.move_call(match_id, self.player_id)
        async for name, trial in self.client.run_trials(call, "match_id", invitation):
            right = self._add_posted(trial.right, MOVE)
            observations.trials[name] = replace(trial, right=right)
            if trial.after.problem():
                return False
        opponent, conversation = "Ünï-\u73a9\u5bb6-\U0001f3b2", "conv-\U0001f3b2"
        unicode = {**invitation, "opponent_id": opponent, "conversation_id": conversation}
        observations.unicode = self._add_posted(await send(unicode), ACK)
        unknown_game = self.messages.invitation(make_match_id(TRIALS_FROM + 1), self.player_id)
        answer = await send({**unknown_game, "game_type": "quidditch"})
        observations.unknown_game = self._add_posted(answer, ACK)
        return not observations.unknown_game.is_late

    async def _repeat_messages(self) -> bool:
        for number in range(REPEATS_FROM, REPEATS_FROM + REPEATS):
            match_id = make_match_id(number)
            await self._invite(match_id)
            once = await self._call(match_id)
            again = await self.client.send(once.sent, once.time_limit)
            self.observations.repeated_moves.append((once, self._add_posted(again, MOVE)))
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
