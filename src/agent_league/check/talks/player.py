"""What the check does to a player, as its referee and its league. It judges nothing."""

import asyncio
from collections.abc import Awaitable, Callable

from agent_league.check.exchange import Exchange
from agent_league.check.judging import takes_a_seat
from agent_league.check.letters import Letters, match_name
from agent_league.check.seen import Game, PlayerSeen, Progress, Trial
from agent_league.check.talks.caller import Caller

AT_ONCE = 10
TELL_EVERY = 10
REPEATS = 8
"""A player that chooses anew each time is found out but once in 256 checks."""
UNKNOWN_ID = "P01"
SERIES_FROM, TOGETHER_FROM, REPEATS_FROM, TRIALS_FROM = 100, 20, 40, 60


class PlayerTalk:
    """A conversation with one player, written down in *seen*."""

    def __init__(
        self, caller: Caller, letters: Letters, seen: PlayerSeen, progress: Progress
    ) -> None:
        self._caller, self._letters, self._seen = caller, letters, seen
        self._progress = progress
        self._player_id = UNKNOWN_ID

    async def hold(self, games: int, *, farewell: bool = True) -> None:
        """Go through everything; *games* is how many are played in a row."""
        self._seen.wanted = games
        self._progress("one game")
        first = await self._first_game()
        if not first.whole:
            self._seen.stopped = "the first game did not come to its end"
            return
        for part, does in self._parts():
            self._progress(part)
            if not await does():
                self._seen.stopped = f"it did not answer any more: {part}"
                return
        await self._series(games)
        self._seen.stopped = "the check did not ask for it"
        if farewell:
            said = self._letters.farewell(self._player_id)
            self._seen.notices[said["message_type"]] = await self._caller.say(said)

    def _parts(self) -> list[tuple[str, Callable[[], Awaitable[bool]]]]:
        return [
            ("the notices of a league", self._notices),
            ("bad input", self._bad_input),
            ("messages that come twice", self._repeats),
            (f"{AT_ONCE} games at once", self._together),
        ]

    async def _first_game(self) -> Game:
        letters, seen = self._letters, self._seen
        invitation = letters.invitation(match_name(0))
        game = Game(match_name(0), await self._caller.say_first(invitation, takes_a_seat))
        seen.first, seen.shunned = game, self._caller.shunned
        seen.calls = game.exchanges
        self._player_id = _said_id(game.ack) or UNKNOWN_ID
        await self._go_on(game)
        seen.calls = game.exchanges
        return game

    async def _game(self, match_id: str) -> Game:
        game = Game(match_id, await self._caller.say(self._letters.invitation(match_id)))
        await self._go_on(game)
        return game

    async def _go_on(self, game: Game) -> None:
        """Ask for the move and tell the result, as long as the player answers."""
        if game.ack.problem():
            return
        call = self._letters.move_call(game.match_id, self._player_id)
        game.move = await self._caller.say(call)
        if game.move.problem():
            return
        choice = (game.move.message or {}).get("parity_choice")
        over = self._letters.game_over(game.match_id, self._player_id, choice)
        game.over = await self._caller.say(over)

    async def _notices(self) -> bool:
        for kind, said in self._letters.notices(self._player_id).items():
            self._seen.notices[kind] = await self._caller.say(said)
            if self._seen.notices[kind].late:
                return False
        return True

    async def _bad_input(self) -> bool:
        letters, seen = self._letters, self._seen
        match_id = match_name(TRIALS_FROM)
        call = letters.move_call(match_id, self._player_id)
        seen.string_id = await self._caller.say(letters.invitation(match_id), id="check-1")
        for name, body in self._caller.spoiled(call, required="match_id").items():
            bad = await self._caller.send(body)
            after = await self._caller.say(letters.invitation(match_id))
            seen.trials[name] = Trial(bad, after)
            if after.problem():
                return False
        unicode_id = {
            "opponent_id": "Ünï-\u73a9\u5bb6-\U0001f3b2",
            "conversation_id": "conv-\U0001f3b2",
        }
        seen.unicode = await self._caller.say(letters.invitation(match_id, **unicode_id))
        strange = letters.invitation(match_name(TRIALS_FROM + 1), game_type="quidditch")
        seen.strange_game = await self._caller.say(strange)
        return not seen.strange_game.late

    async def _repeats(self) -> bool:
        for number in range(REPEATS_FROM, REPEATS_FROM + REPEATS):
            match_id = match_name(number)
            await self._caller.say(self._letters.invitation(match_id))
            once = await self._caller.say(self._letters.move_call(match_id, self._player_id))
            again = await self._caller.send(once.sent, once.allowed)
            self._seen.repeated_moves.append((once, again))
            if again.late:
                return False
        if self._seen.first and self._seen.first.over:
            told = self._seen.first.over
            self._seen.repeated_over = await self._caller.send(told.sent, told.allowed)
        return True

    async def _together(self) -> bool:
        numbers = range(TOGETHER_FROM, TOGETHER_FROM + AT_ONCE)
        games = [self._game(match_name(number)) for number in numbers]
        self._seen.together = list(await asyncio.gather(*games))
        return True

    async def _series(self, games: int) -> None:
        for number in range(games):
            if number % TELL_EVERY == 0:
                self._progress(f"game {number + 1} of {games} in a row")
            game = await self._game(match_name(SERIES_FROM + number))
            self._seen.series.append(game)
            if not game.whole:
                return


def _said_id(ack: Exchange) -> str | None:
    said = (ack.message or {}).get("player_id")
    return said if isinstance(said, str) and said else None
