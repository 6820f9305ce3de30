"""A league that closes leaves no notice behind that somebody is blamed for."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from agent_league.dialects.dialect import Outgoing, StartedCall
from agent_league.http.exchange import Answer
from agent_league.league.broadcaster import Broadcaster
from agent_league.protocol.failures import UnreachableError
from agent_league.protocol.rounds import RoundCompleted
from agent_league.season.roster import Lifecycle
from protocol.samples import SAMPLES
from timewarp import run


class SilentLine:
    """A line to an agent that takes messages and does not answer."""

    def __init__(self) -> None:
        self.answers: list[asyncio.Future[Answer]] = []

    def start(self, outgoing: Outgoing) -> StartedCall:
        self.answers.append(asyncio.get_running_loop().create_future())
        return StartedCall(outgoing, 1, self.answers[-1], 5.0)

    def is_taken(self, started: StartedCall) -> bool:
        return started.answer.exception() is None


@pytest.mark.parametrize("closes", [True, False])
def test_a_notice_that_is_on_its_way_is_not_sent_again_after_the_league_has_closed(
    *, closes: bool
) -> None:
    async def main() -> int:
        line, tried_again = SilentLine(), list[Any]()
        entry = SimpleNamespace(agent_id="P01", compact=False, state=Lifecycle.ACTIVE)
        context: Any = SimpleNamespace(
            line=lambda entry: line,
            spawn=tried_again.append,
            keyring=SimpleNamespace(keys_of=lambda entry: ()),
            season=SimpleNamespace(
                roster={"P01": entry}, settings=SimpleNamespace(league_id="league")
            ),
        )
        broadcaster = Broadcaster(context, SimpleNamespace(), SimpleNamespace())  # type: ignore[arg-type]  # not used
        notice = SAMPLES["ROUND_COMPLETED"]
        assert isinstance(notice, RoundCompleted)
        broadcaster.tell_one("P01", notice)
        await asyncio.sleep(0)
        if closes:
            broadcaster.close()
        line.answers[0].set_exception(UnreachableError("the connection was given up"))
        await asyncio.sleep(0)
        for coroutine in tried_again:
            coroutine.close()
        return len(tried_again)

    assert run(main()) == (0 if closes else 1)
