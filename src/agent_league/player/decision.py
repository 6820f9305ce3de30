"""How a player decides: its strategy, fed by what it remembers of its opponents."""

import asyncio
import inspect
import logging
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable
from random import Random
from typing import cast

from agent_league.player.brain import Brain
from agent_league.player.sensors import Played, Turn
from agent_league.protocol import LeagueError
from agent_league.strategy import Situation, Strategy
from agent_league.vocabulary import Json

log = logging.getLogger("agent_league")


class OpponentModel:
    """What opponents did against this player, oldest first."""

    def __init__(self) -> None:
        self.mine: list[Json] = []
        self.everyone: list[Json] = []
        self._of: dict[str | None, list[Json]] = defaultdict(list)

    def learn(self, played: Played) -> None:
        if played.mine is not None:
            self.mine.append(played.mine)
        if played.theirs is not None:
            self.everyone.append(played.theirs)
            self._of[played.opponent].append(played.theirs)

    def moves_of(self, opponent: str | None) -> list[Json]:
        return self._of.get(opponent, [])


class DecisionModel:
    """Turns a turn into a legal move, whatever the strategy does."""

    def __init__(
        self, brain: Brain, seed: str | None = None, warn: Callable[[str], None] = log.warning
    ) -> None:
        self.opponents = OpponentModel()
        self.fallbacks = 0
        """How often the strategy did not come up with a legal move."""
        self._brain = brain
        self._seed = seed
        self._warn = warn

    def decide(self, turn: Turn, budget: float) -> Json | Awaitable[Json]:
        """Return a move within *budget* seconds; at once if the strategy is one of ours."""
        situation = self._situation(turn)
        if self._brain.trusted:
            return self._brain.strategy(situation)
        return self._decide_carefully(situation, budget)

    def _situation(self, turn: Turn) -> Situation:
        rng = Random(f"{self._seed}|{turn.match_id}") if self._seed is not None else Random()
        return Situation(
            view=turn.view,
            legal=turn.legal,
            rng=rng,
            mine=self.opponents.mine,
            theirs=self.opponents.moves_of(turn.opponent),
            everyone=self.opponents.everyone,
        )

    async def _decide_carefully(self, situation: Situation, budget: float) -> Json:
        thinking = asyncio.ensure_future(_thought(self._brain.strategy, situation))
        await asyncio.wait({thinking}, timeout=budget)
        if not thinking.done():
            thinking.add_done_callback(_forgotten)
            thinking.cancel()
            return self._fall_back(situation, f"thought for more than {budget:.1f} s")
        if error := thinking.exception():
            return self._fall_back(situation, f"raised {error}")
        legal = list(situation.legal)
        if thinking.result() not in legal:
            return self._fall_back(situation, f"chose {thinking.result()!r}, which is not legal")
        return legal[legal.index(thinking.result())]  # True equals 1, but is not the same move

    def _fall_back(self, situation: Situation, why: str) -> Json:
        self.fallbacks += 1
        self._warn(f"strategy {self._brain.name} {why}; playing a random legal move")
        return situation.rng.choice(situation.legal)


class StrategyError(LeagueError):
    """What a strategy raised, in words; whatever it was, it is the strategy's failure."""


def _forgotten(thinking: "asyncio.Future[Json]") -> None:
    """Take no further interest in what *thinking* comes to."""
    if not thinking.cancelled():
        thinking.exception()


async def _thought(strategy: Strategy, situation: Situation) -> Json:
    """Return what *strategy* chooses, without ever holding up the event loop."""
    called = getattr(strategy, "__call__", strategy)  # noqa: B004 - an object may be a strategy too
    if inspect.iscoroutinefunction(strategy) or inspect.iscoroutinefunction(called):
        return await _guarded(cast("Awaitable[Json]", strategy(situation)))
    result = await _in_thread(lambda: strategy(situation))
    return await _guarded(result) if inspect.isawaitable(result) else result


async def _guarded(thinking: Awaitable[Json]) -> Json:
    try:
        return await thinking
    except BaseException as error:  # noqa: BLE001 - even SystemExit must not end the player
        raise StrategyError(repr(error)) from None


def _in_thread(work: Callable[[], Json]) -> Awaitable[Json]:
    """Run *work* in a thread of its own: one that never ends keeps nobody from leaving."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Json] = loop.create_future()

    def settle(result: Json, error: StrategyError | None) -> None:
        if not done.done():
            done.set_exception(error) if error else done.set_result(result)

    def run() -> None:
        outcome: tuple[Json, StrategyError | None]
        try:
            outcome = (work(), None)
        except BaseException as error:  # noqa: BLE001 - even SystemExit must not end the player
            outcome = (None, StrategyError(repr(error)))
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=run, daemon=True, name="strategy").start()
    return done
