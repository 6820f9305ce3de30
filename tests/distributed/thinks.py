"""A strategy that thinks for a second, as a model does."""

import asyncio

from agent_league.strategy import Situation
from agent_league.vocabulary import Json


async def strategy(situation: Situation) -> Json:
    await asyncio.sleep(1.0)
    return situation.rng.choice(situation.legal)
