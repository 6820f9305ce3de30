"""The check's own hand on the wire: sends a body, and writes down what came back."""

import asyncio
from itertools import count

from agent_league.check.exchange import Exchange
from agent_league.check.talks.bad_input import framed, method_of
from agent_league.protocol import TOOLS, Patience, name
from agent_league.transport import NoAnswerError
from agent_league.transport.exchange import Answer, Post
from agent_league.vocabulary import Json

_WAITS = {name(kind): kind.route.wait for kind in TOOLS.values()}


class Caller:
    """Calls the agent that is checked."""

    def __init__(self, url: str, post: Post, patience: Patience) -> None:
        self.url = url
        self.patience = patience
        self._post = post
        self._numbers = count(1)

    async def say(self, message: Json, id: Json = None) -> Exchange:  # noqa: A002 - as in the frame
        """Send *message* in its frame, by the name of its tool."""
        kind = message.get("message_type")
        number = next(self._numbers) if id is None else id
        return await self.send(framed(method_of(kind), message, number), self.allowed(kind))

    def allowed(self, kind: Json) -> float:
        wait = _WAITS.get(str(kind).upper(), "generic")
        return float(getattr(self.patience, wait))

    async def send(self, body: bytes, allowed: float | None = None) -> Exchange:
        """Send *body* as it is."""
        within = self.patience.generic if allowed is None else allowed
        now = asyncio.get_running_loop().time
        began = now()
        answer: Answer | None = None
        failure: NoAnswerError | None = None
        try:
            answer = await self._post(self.url, body, within)
        except NoAnswerError as error:
            failure = error
        return Exchange(self.url, body, answer, failure, now() - began, within)
