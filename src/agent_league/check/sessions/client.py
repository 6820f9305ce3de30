"""The check's client: sends a request to the agent, and keeps what came back."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import TypeAlias

import msgspec

from agent_league.check.exchange import Exchange
from agent_league.check.observations import Trial
from agent_league.http.exchange import Answer, Post
from agent_league.protocol import MESSAGES, Patience
from agent_league.protocol.failures import NoAnswerError
from agent_league.vocabulary import Json

HUGE_SIZE = 1 << 20
_BUSY = "HTTP 429"
_RETRY_DELAY = 0.25
"""Seconds to wait before an agent with too many requests is asked again."""


def _encode_call(method: str, params: Json, request_id: Json) -> bytes:
    return msgspec.json.encode(
        {"jsonrpc": "2.0", "method": method, "params": params, "id": request_id}
    )


def _get_message_type(message: Json) -> str:
    return str(message.get("message_type"))


def _get_tool(message: Json) -> str:
    kind = MESSAGES.get(_get_message_type(message).upper())
    return kind.route.tool if kind else _get_message_type(message)


Framing: TypeAlias = Callable[[Json], str] | None
"""How a call names its method; None sends the message without a frame."""
_FRAMINGS: tuple[Framing, ...] = (_get_tool, _get_message_type, None)


class ProbeClient:
    """Calls the agent under check, in the framing that it understands."""

    def __init__(self, url: str, post: Post, patience: Patience) -> None:
        self.url = url
        self.patience = patience
        self.rejected_tool_call: Exchange | None = None
        """The call by the name of its tool that the agent did not understand."""
        self._post = post
        self._request_ids = count(1)
        self._framing: Framing = _get_tool

    async def send_first(self, message: Json, is_good: Callable[[Exchange], bool]) -> Exchange:
        """Send *message* in each framing until the answer *is_good*, and stay with that one.

        Return the good answer, or the first one if none is good.
        """
        first = await self.send_message(message)
        if is_good(first) or self.rejected_tool_call is not None:
            return first
        for framing in _FRAMINGS[1:]:
            exchange = await self._send_framed(framing, message)
            if is_good(exchange):
                self._framing, self.rejected_tool_call = framing, first
                return exchange
        return first

    async def send_message(self, message: Json, request_id: Json = None) -> Exchange:
        """Send *message* in the framing that the agent understands."""
        return await self._send_framed(self._framing, message, request_id)

    async def _send_framed(
        self, get_method: Framing, message: Json, request_id: Json = None
    ) -> Exchange:
        request_id = request_id or next(self._request_ids)
        kind = MESSAGES.get(_get_message_type(message))
        limit = getattr(self.patience, kind.route.wait) if kind else None
        if get_method is None:
            return await self.send(msgspec.json.encode(message), limit)
        return await self.send(_encode_call(get_method(message), message, request_id), limit)

    async def run_trials(
        self, message: Json, required: str, valid: Json
    ) -> AsyncIterator[tuple[str, Trial]]:
        """Send several broken copies of *message*, each followed by a *valid* one.

        *required* is the field that is left out in one of them.
        """
        for name, body in self._make_bad_bodies(message, required).items():
            bad = await self.send(body)
            yield name, Trial(bad, await self.send_message(valid))

    def _make_bad_bodies(self, message: Json, required: str) -> dict[str, bytes]:
        kind, method = message["message_type"], (self._framing or _get_tool)(message)
        incomplete = {key: value for key, value in message.items() if key != required}
        other_time = {**message, "timestamp": "2025-01-15T10:30:00+02:00"}
        return {
            "broken json": b'{"jsonrpc": "2.0", "method": "%b", "params": {' % method.encode(),
            "unknown method": _encode_call("fly_to_the_moon", {"height": 384400}, 4711),
            "missing field": _encode_call(method, incomplete, 4712),
            "wrong case": _encode_call(method, {**message, "message_type": kind.lower()}, 4713),
            "non-utc time": _encode_call(method, other_time, 4714),
            "huge body": _encode_call(method, {**message, "padding": "x" * HUGE_SIZE}, 4715),
        }

    async def send(self, body: bytes, time_limit: float | None = None) -> Exchange:
        """Send *body* as it is; if the agent is busy, try again as long as there is time."""
        within = self.patience.generic if time_limit is None else time_limit
        now = asyncio.get_running_loop().time
        started_at = now()
        while True:
            exchange = await self._send_once(body, within, started_at)
            busy = exchange.failure is not None and str(exchange.failure).endswith(_BUSY)
            if not busy or now() + _RETRY_DELAY > started_at + within:
                return exchange
            await asyncio.sleep(_RETRY_DELAY)

    async def _send_once(self, body: bytes, within: float, started_at: float) -> Exchange:
        now = asyncio.get_running_loop().time
        answer: Answer | None = None
        failure: NoAnswerError | None = None
        try:
            answer = await self._post(self.url, body, max(0.0, started_at + within - now()))
        except NoAnswerError as error:
            failure = error
        return Exchange(self.url, body, answer, failure, now() - started_at, within)
