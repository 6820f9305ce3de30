"""The decision model of a player: its strategy, and its memory of opponents."""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from random import Random

import msgspec

from agent_league.agent_log import log
from agent_league.chance import Draws
from agent_league.player.brain import Brain, describe_failure
from agent_league.player.sensors import Turn
from agent_league.protocol import LeagueError
from agent_league.strategy import FinishedMatch, Learner, Situation, Strategy
from agent_league.vocabulary import Json


class OpponentModel:
    """The moves of earlier matches, oldest first."""

    def __init__(self) -> None:
        self.mine: list[Json] = []
        self.everyone: list[Json] = []
        self.by_opponent: dict[str | None, list[Json]] = {}

    def learn(self, played: FinishedMatch) -> None:
        if played.mine is not None:
            self.mine.append(played.mine)
        if played.theirs is not None:
            self.everyone.append(played.theirs)
            self.by_opponent.setdefault(played.opponent, []).append(played.theirs)


class DecisionModel:
    """Chooses a legal move for a turn, whatever the strategy does."""

    def __init__(
        self, brain: Brain, seed: str | None = None, warn: Callable[[str], None] = log.warning
    ) -> None:
        self.opponents = OpponentModel()
        self.fallbacks = 0
        """How often a random move replaced that of the strategy."""
        self._brain = brain
        self.learner = brain.strategy if isinstance(brain.strategy, Learner) else None
        """The strategy, if it learns from what happens."""
        self._seed = seed
        self._warn = warn

    @property
    def is_immediate(self) -> bool:
        """Whether the strategy is one of ours, which answers at once."""
        return self._brain.trusted

    def decide_at_once(self, turn: Turn) -> Json | Awaitable[Json]:
        """Return the move of a strategy that is one of ours."""
        return self._brain.strategy(self._make_situation(turn))

    def decide(self, turn: Turn, budget: float) -> Awaitable[Json]:
        """Return a move within *budget* seconds, whatever the strategy does."""
        return self._decide_carefully(self._make_situation(turn), budget)

    async def warm_up(self) -> None:
        """Let the strategy prepare itself, if it takes time to."""
        prepare = getattr(self._brain.strategy, "warm_up", None)
        if prepare is not None:
            try:
                await prepare()
            except Exception as error:  # noqa: BLE001 - a strategy of the user may raise anything
                self._warn(f"strategy {self._brain.name} is not ready: {error}")

    def learn(self, played: FinishedMatch) -> None:
        """Let the strategy learn from a match that is over."""
        if self.learner is not None:
            self._try(self.learner.learn, played)

    def load_learned(self, saved: Json) -> None:
        """Let the strategy go on from what it learned in an earlier league."""
        if self.learner is not None and saved is not None:
            self._try(self.learner.load, saved)

    def save_learned(self) -> Json:
        """Return what the strategy has learned, or None if there is nothing to keep."""
        return self._try(self.learner.save) if self.learner is not None else None

    def _try(self, action: Callable[..., Json], *arguments: object) -> Json:
        """Do what a strategy of the user may not be able to."""
        try:
            return action(*arguments)
        except Exception as error:  # noqa: BLE001 - a strategy of the user may raise anything
            self._warn(f"strategy {self._brain.name} cannot learn: {describe_failure(error)}")
            return None

    def _make_situation(self, turn: Turn) -> Situation:
        return Situation(
            view=turn.view,
            legal=turn.legal,
            rng=self._make_rng(turn),
            mine=self.opponents.mine,
            theirs=self.opponents.by_opponent.get(turn.opponent, ()),
            everyone=self.opponents.everyone,
            game=turn.game,
            opponent=turn.opponent,
        )

    def _make_rng(self, turn: Turn) -> Random:
        if self._seed is None:
            return Random()
        # One seed for a whole match would give every turn of it the same first number.
        view = msgspec.json.encode(turn.view).decode()
        return Draws(f"{self._seed}|{turn.match_id}|{view}")  # to seed `Random` takes longer

    async def _decide_carefully(self, situation: Situation, budget: float) -> Json:
        thinking = asyncio.ensure_future(_think(self._brain.strategy, situation))
        await asyncio.wait({thinking}, timeout=budget)
        if not thinking.done():
            thinking.add_done_callback(lambda late: late.cancelled() or late.exception())
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
    """The strategy raised an exception; the text says which, and where."""


async def _think(strategy: Strategy, situation: Situation) -> Json:
    """Return what *strategy* chooses, without blocking the event loop, or raise `StrategyError`."""
    call_method = getattr(strategy, "__call__", strategy)  # noqa: B004 - an object may be a strategy too
    is_async = inspect.iscoroutinefunction(strategy) or inspect.iscoroutinefunction(call_method)
    think = partial(strategy, situation)
    thought = think() if is_async else await _run_in_thread(think)
    try:
        return await thought if inspect.isawaitable(thought) else thought
    except BaseException as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # the player ends, or waits no longer
            raise
        # Not even SystemExit ends the player.
        raise StrategyError(describe_failure(error)) from None


def _run_in_thread(work: Callable[[], Json]) -> Awaitable[Json]:
    """Run *work* in a daemon thread, which cannot keep the process from ending."""
    done: Future[Json] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - even SystemExit must not end the player
            done.set_exception(StrategyError(describe_failure(error)))

    threading.Thread(target=run, daemon=True, name="strategy").start()
    return asyncio.wrap_future(done)
