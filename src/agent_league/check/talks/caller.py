"""The check's own hand on the wire: sends a body, and writes down what came back."""

import asyncio
from collections.abc import Callable
from itertools import count

import msgspec

from agent_league.check.exchange import Exchange
from agent_league.check.talks.bad_input import framed, method_of, spoiled
from agent_league.protocol import TOOLS, Patience, name
from agent_league.transport import NoAnswerError
from agent_league.transport.exchange import Answer, Post
from agent_league.vocabulary import Json

_WAITS = {name(kind): kind.route.wait for kind in TOOLS.values()}
_BUSY = "HTTP 429"
_BREATH = 0.25
"""How long to wait before an agent is asked again that has had too many questions."""


def _by_tool(message: Json, id: Json) -> bytes:  # noqa: A002 - as in the frame
    return framed(method_of(message.get("message_type")), message, id)


def _by_message_type(message: Json, id: Json) -> bytes:  # noqa: A002 - as in the frame
    return framed(str(message.get("message_type")), message, id)


def _bare(message: Json, id: Json) -> bytes:  # noqa: A002 - as in the frame
    return msgspec.json.encode(message)


_SPELLINGS = (_by_tool, _by_message_type, _bare)


class Caller:
    """Calls the agent that is checked, in the way that it was found to understand."""

    def __init__(self, url: str, post: Post, patience: Patience) -> None:
        self.url = url
        self.patience = patience
        self.shunned: Exchange | None = None
        """The call by the name of its tool that the agent did not know."""
        self._post = post
        self._numbers = count(1)
        self._spelling = _by_tool
        self._learned = False

    async def say_first(self, message: Json, good: Callable[[Exchange], bool]) -> Exchange:
        """Send *message* in one way after the other until the answer is *good*, and keep to it."""
        tried = [await self.say(message)]
        for spelling in () if self._learned or good(tried[0]) else _SPELLINGS[1:]:
            tried.append(await self._spelled(spelling, message))
            if good(tried[-1]):
                self._spelling, self._learned, self.shunned = spelling, True, tried[0]
                return tried[-1]
        return tried[0]

    async def say(self, message: Json, id: Json = None) -> Exchange:  # noqa: A002 - as in the frame
        """Send *message* by the name of its tool, or as the agent understands it."""
        return await self._spelled(self._spelling, message, id)

    async def _spelled(
        self,
        spelling: Callable[[Json, Json], bytes],
        message: Json,
        id: Json = None,  # noqa: A002 - as in the frame
    ) -> Exchange:
        number = next(self._numbers) if id is None else id
        return await self.send(spelling(message, number), self.allowed(message.get("message_type")))

    def spoiled(self, message: Json, required: str) -> dict[str, bytes]:
        """Return *message* made bad in several ways, each in a frame."""
        kind = message["message_type"]
        by_type = self._spelling is _by_message_type
        return spoiled(message, required, kind if by_type else method_of(kind))

    def allowed(self, kind: Json) -> float:
        wait = _WAITS.get(str(kind).upper(), "generic")
        return float(getattr(self.patience, wait))

    async def send(self, body: bytes, allowed: float | None = None) -> Exchange:
        """Send *body* as it is; one that is told to wait does, as long as there is time."""
        within = self.patience.generic if allowed is None else allowed
        now = asyncio.get_running_loop().time
        began = now()
        while True:
            said = await self._once(body, within, began)
            busy = said.failure is not None and str(said.failure).endswith(_BUSY)
            if not busy or now() + _BREATH > began + within:
                return said
            await asyncio.sleep(_BREATH)

    async def _once(self, body: bytes, within: float, began: float) -> Exchange:
        now = asyncio.get_running_loop().time
        answer: Answer | None = None
        failure: NoAnswerError | None = None
        try:
            answer = await self._post(self.url, body, max(0.0, began + within - now()))
        except NoAnswerError as error:
            failure = error
        return Exchange(self.url, body, answer, failure, now() - began, within)
