"""The check's client: sends a request to the agent, and keeps what came back."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import NamedTuple, TypeAlias

from agent_league.check.exchange import Exchange
from agent_league.check.observations import Trial
from agent_league.check.sessions.forms import (
    BY_TOOL,
    FRAMES,
    WRITINGS,
    Form,
    ToolNames,
    encode_call,
    get_message_type,
)
from agent_league.http.exchange import Answer, Post
from agent_league.protocol import MESSAGES, ErrorCode, Patience, RpcCode
from agent_league.protocol.failures import NoAnswerError
from agent_league.vocabulary import Json

HUGE_SIZE = 1 << 20
SLOW_REFUSAL = 1.0
"""Seconds after which a refusal is not answered with another form: that would take too long."""
_BUSY_STATUS = 429
_RETRY_DELAY = 0.25
"""Seconds to wait before an agent with too many requests is asked again."""
_FRAME_CODES = frozenset({RpcCode.INVALID_REQUEST, RpcCode.PARSE_ERROR})
_FORM_CODES = frozenset(
    {
        ErrorCode.MISSING_REQUIRED_FIELD,
        ErrorCode.INVALID_TIMESTAMP,
        ErrorCode.INVALID_FIELD_VALUE,
        ErrorCode.UNKNOWN_MESSAGE_TYPE,
    }
)
"""What an agent of the protocol says about a form that it does not understand."""
IsGood: TypeAlias = Callable[[Exchange], bool]


def is_taken(exchange: Exchange) -> bool:
    """Whether a notice was taken: any answer will do, unless it says no."""
    return exchange.answer is not None and not exchange.is_refusal


class Detour(NamedTuple):
    """A right message that the agent did not take, and the form of it that it took."""

    refused: Exchange
    taken: Exchange


class ProbeClient:
    """Calls the agent under check, in the form that it understands."""

    def __init__(self, url: str, post: Post, patience: Patience) -> None:
        self.url = url
        self.patience = patience
        self.tool_calls: list[Exchange] = []
        """One call of each kind by the name of its tool that the agent understood."""
        self.misnamed: list[Detour] = []
        """The calls by the name of a tool that it did not know."""
        self.reworded: list[Detour] = []
        """The right messages that it takes only in other words."""
        self._post = post
        self._request_ids = count(1)
        self._default = Form()
        self._forms: dict[str, Form] = {}
        self._hopeless: set[str] = set()
        self._tools: ToolNames | None = None

    async def ask(self, message: Json, is_good: IsGood = is_taken) -> Exchange:
        """Send *message*; if the answer is not good, in other forms, and stay with the good one.

        Return the good answer; if there is none, the first that is no refusal, else the first.
        """
        kind = get_message_type(message)
        form = self._forms.get(kind, self._default)
        first = await self._send_form(form, message)
        attempts = {form: first}
        is_settled = kind in self._forms or kind in self._hopeless
        while not is_settled and not is_good(last := [*attempts.values()][-1]):
            if last.answer is None or last.seconds > SLOW_REFUSAL or _is_final(last):
                break
            next_form = self._choose_next(attempts, message)
            if next_form is None:
                break
            attempts[next_form] = await self._send_form(next_form, message)
        return self._learn(kind, attempts, is_good)

    def _choose_next(self, attempts: dict[Form, Exchange], message: Json) -> Form | None:
        """Return the form to try after those in *attempts*: other words, then another frame."""
        form, last = [*attempts.items()][-1]
        is_rewording = form.write is not self._default.write
        was_reworded = any(each.write is not self._default.write for each in attempts)
        if is_rewording or (_is_about_content(last) and not was_reworded):
            for write in WRITINGS[WRITINGS.index(form.write) + 1 :]:
                if write(message) != form.write(message):
                    return Form(form.frame, write)
        others = (Form(frame, self._default.write) for frame in FRAMES)
        return next((other for other in others if other not in attempts), None)

    def _learn(self, kind: str, attempts: dict[Form, Exchange], is_good: IsGood) -> Exchange:
        first_form, first = next(iter(attempts.items()))
        good = next(((form, each) for form, each in attempts.items() if is_good(each)), None)
        if good is None:
            if first.answer is not None:
                self._hopeless.add(kind)
            reworded = [each for form, each in attempts.items() if form.write is not Form().write]
            # What is left when the wording is no problem says more than the first refusal.
            unknown = [each for each in reworded if each.is_unknown_call]
            return next(filter(is_taken, attempts.values()), next(iter(unknown), first))
        form, exchange = good
        if form.frame is BY_TOOL and kind not in self._forms:
            self.tool_calls.append(exchange)
        self._forms[kind] = form
        if form.frame is not first_form.frame and first_form.frame is BY_TOOL:
            self.misnamed.append(Detour(first, exchange))
            self._default = form._replace(write=self._default.write)
        if form.write is not first_form.write:
            refused = attempts.get(form._replace(write=first_form.write), first)
            self.reworded.append(Detour(refused, exchange))
        return exchange

    async def send_message(self, message: Json, request_id: Json = None) -> Exchange:
        """Send *message* in the form that the agent understands."""
        kind = get_message_type(message)
        return await self._send_form(self._forms.get(kind, self._default), message, request_id)

    def give_another_chance(self) -> None:
        """Try other forms again for what was not understood: something has changed."""
        self._hopeless.clear()

    async def _send_form(self, form: Form, message: Json, request_id: Json = None) -> Exchange:
        kind = MESSAGES.get(get_message_type(message))
        limit = getattr(self.patience, kind.route.wait) if kind else None
        if self._tools is None and form.frame not in FRAMES[:2]:
            self._tools = await self.fetch_tools()
        body = form.encode(message, self._tools or (), request_id or next(self._request_ids))
        right = Form().encode(message, (), next(self._request_ids)) or b""
        return await self.send(right if body is None else body, limit)

    async def fetch_tools(self) -> ToolNames:
        """Return the names of the tools that the agent lists; none if it lists none."""
        call = encode_call("tools/list", {}, next(self._request_ids))
        exchange = await self.send(call)
        tools = exchange.get("tools") if not exchange.is_refusal else None
        listed = tools if isinstance(tools, list) else []
        return [str(tool["name"]) for tool in listed if isinstance(tool, dict) and "name" in tool]

    async def run_trials(
        self, message: Json, required: str, valid: Json
    ) -> AsyncIterator[tuple[str, Trial]]:
        """Send several broken copies of *message*, each followed by a *valid* one.

        *required* is the field that is left out in one of them.
        """
        right = await self.send_message(message)
        for name, body in self._make_bad_bodies(message, required).items():
            bad = await self.send(body)
            yield name, Trial(right, bad, await self.send_message(valid))

    def _make_bad_bodies(self, message: Json, required: str) -> dict[str, bytes]:
        kind = get_message_type(message)
        form = self._forms.get(kind, self._default)
        bad_messages: dict[str, Json] = {
            "missing field": {key: value for key, value in message.items() if key != required},
            "wrong case": {**message, "message_type": kind.lower()},
            "non-utc time": {**message, "timestamp": "2025-01-15T10:30:00+02:00"},
            "huge body": {**message, "padding": "x" * HUGE_SIZE},
        }
        bodies = {
            name: form.encode(bad, self._tools or (), number) or b"{}"
            for number, (name, bad) in enumerate(bad_messages.items(), 4712)
        }
        return {
            "broken json": b'{"jsonrpc": "2.0", "method": "league_query", "params": {',
            "unknown method": encode_call("fly_to_the_moon", {"height": 384400}, 4711),
            **bodies,
        }

    async def send(
        self, body: bytes, time_limit: float | None = None, url: str | None = None
    ) -> Exchange:
        """Send *body* as it is, to the agent or another *url* of it.

        If the agent is busy, try again as long as there is time.
        """
        within = self.patience.generic if time_limit is None else time_limit
        now = asyncio.get_running_loop().time
        started_at = now()
        while True:
            exchange = await self._send_once(url or self.url, body, within, started_at)
            busy = exchange.answer is not None and exchange.answer.status == _BUSY_STATUS
            if not busy or now() + _RETRY_DELAY > started_at + within:
                return exchange
            await asyncio.sleep(_RETRY_DELAY)

    async def _send_once(self, url: str, body: bytes, within: float, started_at: float) -> Exchange:
        now = asyncio.get_running_loop().time
        answer: Answer | None = None
        failure: NoAnswerError | None = None
        try:
            answer = await self._post(url, body, max(0.0, started_at + within - now()))
        except NoAnswerError as error:
            failure = error
        return Exchange(url, body, answer, failure, now() - started_at, within)


def _is_final(exchange: Exchange) -> bool:
    """Whether the agent refuses with an error message of the protocol, but not for its form."""
    kind = str(exchange.reply_or_error.get("message_type"))
    is_error = exchange.is_refusal and kind in {"LEAGUE_ERROR", "GAME_ERROR"}
    return is_error and exchange.error_code() not in {None, *_FORM_CODES}


def _is_about_content(exchange: Exchange) -> bool:
    """Whether the agent knows the call, and refuses what is in it."""
    code = exchange.error.get("code") if isinstance(exchange.error, dict) else None
    is_refused = exchange.is_refusal and not exchange.is_unknown_call
    return is_refused and code not in _FRAME_CODES
