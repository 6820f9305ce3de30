"""An agent as a site: league protocol and MCP at `/mcp`, pages at other paths."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from agent_league.agent import Agent
from agent_league.dialects import DIALECTS
from agent_league.http.exchange import Answer
from agent_league.http.site import MCP, Headers, Site
from agent_league.offer import Gate, Page, compile_address
from agent_league.peers.endpoint import Endpoint
from agent_league.protocol import TOOLS, RpcCode
from agent_league.protocol.contracts import V1_SCHEMAS_PATH, find_contract
from agent_league.protocol.jsonrpc import encode_error
from agent_league.protocol.strict_json import find_json_fault
from agent_league.protocol.versions import V1
from agent_league.serving.bearer import METADATA_PATH
from agent_league.serving.fast_path import FastPath
from agent_league.serving.header_hints import HeaderHints, read_hints
from agent_league.serving.rest import RestPaths, fill_in
from agent_league.serving.sdk_app import SdkApp
from agent_league.serving.tools import Served
from agent_league.vocabulary import Json

NOT_READY = Answer(503, b'{"status":"not ready"}')


def make_site(agent: Agent) -> Site:
    """Return *agent* as something that a server can serve; a detailed log gets each message."""
    handlers = agent.handlers()
    served = Served(agent, agent.offer(), handlers)
    endpoint = served.endpoint
    answer = Switch(agent, endpoint, FastPath(served), served.offer.gate).answer
    return Site(
        answer=_log_exchanges(answer, agent) if agent.agent_log.detailed else answer,
        find_page=Pages(agent, {**served.offer.pages, **_describe_gate(served.offer.gate)}).find,
        body_limit=agent.body_limit,
        too_large=endpoint.too_large,
        too_many=endpoint.too_many,
        streams=SdkApp(served).streams(),
        names=agent.host_names(),
        answer_elsewhere=RestPaths(served).answer,
        fill_in=fill_in,
        show=served.offer.show,
        find_site=served.offer.find_site,
    )


Respond: TypeAlias = Callable[[bytes, Headers], Answer | Awaitable[Answer] | None]


def _log_exchanges(respond: Respond, agent: Agent) -> Respond:
    """Return *respond*, which also notes every message and its reply."""

    def note(event_type: str, body: bytes) -> None:
        for message in _read_for_log(body):
            agent.agent_log.note(event_type, "DEBUG", message=message)

    async def note_later(answer: Awaitable[Answer]) -> Answer:
        found = await answer
        note("REPLY_SENT", found.body)
        return found

    def respond_and_note(body: bytes, headers: Headers) -> Answer | Awaitable[Answer] | None:
        note("MESSAGE_RECEIVED", body)
        answer = respond(body, headers)
        if isinstance(answer, Answer):
            note("REPLY_SENT", answer.body)
            return answer
        return answer if answer is None else note_later(answer)

    return respond_and_note


def _read_for_log(body: bytes) -> list[Json]:
    """Return the messages, results or errors in *body*: of a batch several, of most bodies one."""
    try:
        content = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return [body[:LONGEST_NONSENSE].decode("utf-8", "replace")]
    return [_unwrap(frame) for frame in (content if isinstance(content, list) else [content])]


def _unwrap(frame: Json) -> Json:
    parts = ("params", "result", "error") if isinstance(frame, dict) else ()
    return next((frame[part] for part in parts if part in frame), frame)


LONGEST_NONSENSE = 500
_METHODS_WITHOUT_SLASH = frozenset({"initialize", "ping"})
"""All other methods of MCP have a slash in their names, and no tool of the league has one."""


class _Peek(Struct):
    method: str | UnsetType = UNSET
    message_type: Raw | UnsetType = UNSET


_peek = msgspec.json.Decoder(_Peek)


_MCP_CALL, _BEGINNING = b'"tools/call"', 100
"""A body that has this near its beginning is hardly ever a league message; one that is takes the longer path."""


class Switch:
    """Answers league messages and plain MCP calls; leaves all other MCP requests to the SDK."""

    def __init__(
        self, agent: Agent, league: Endpoint, fast_path: FastPath, gate: Gate | None = None
    ) -> None:
        self._league, self._fast_path, self._gate = league, fast_path, gate
        self._limit, self._answer_call = agent.body_limit, league.answer_plain
        self._answer_batch = league.answer_batch if agent.takes_batches else _leave_batch

    def answer(self, body: bytes, headers: Headers) -> Answer | Awaitable[Answer] | None:
        """Return the answer to *body*, or None if it is for the SDK."""
        fits = len(body) <= self._limit
        if fits and body.find(_MCP_CALL, 0, _BEGINNING) < 0:
            answer_plain = self._answer_batch if body.startswith(b"[") else self._answer_call
            answer = answer_plain(body)
            if answer is not None:  # as nearly always: no header is looked at
                return answer
        hints = read_hints(headers)
        if fault := find_json_fault(body):
            error = encode_error(None, RpcCode.PARSE_ERROR, f"not JSON: {fault}")
            return Answer(400 if hints.mcp else 200, error, is_refusal=True)
        if self._gate and not self._gate.admits(hints.token) and self._is_for_known(body, hints):
            return self._gate.refuse(hints.token)
        answer = self._fast_path.answer(body, hints) if fits and hints.plain else None
        if answer is not None:
            return answer
        if is_mcp(body, hints, self._league.tools):
            return None
        return self._league.answer(body) if fits else self._league.too_large()

    def _is_for_known(self, body: bytes, hints: HeaderHints) -> bool:
        """Whether *body* needs a bearer: all of MCP, and tools that are called without it."""
        with suppress(msgspec.DecodeError):  # a batch, which is no call of a tool
            return (
                is_mcp(body, hints, frozenset()) or _peek.decode(body).method in self._league.tools
            )
        return hints.mcp


def _leave_batch(body: bytes) -> None:
    """Leave *body* to the longer path, which takes no batches."""


def _describe_gate(gate: Gate | None) -> dict[str, Page]:
    """Return the pages that tell a client where to get a token (RFC 9728)."""
    paths = (METADATA_PATH, METADATA_PATH + MCP)
    return dict.fromkeys(paths, gate.describe) if gate else {}


def is_mcp(body: bytes, hints: HeaderHints, own_tools: frozenset[str]) -> bool:
    """Whether *body* is for the SDK; *own_tools* are the agent's tools that are not messages."""
    try:
        frame = _peek.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return hints.mcp  # each protocol has its own error for a broken body
    method = frame.method
    if isinstance(method, UnsetType):
        return hints.mcp and frame.message_type is UNSET
    if method in TOOLS or method in own_tools:
        return False
    return hints.mcp or "/" in method or method in _METHODS_WITHOUT_SLASH


class Pages:
    """Finds the page for a path: one of the *declared* pages, or one that every agent has."""

    def __init__(self, agent: Agent, declared: Mapping[str, Page]) -> None:
        pages: dict[str, Page] = {
            "/": agent.about,
            "/healthz": lambda: {"status": "ok"},
            "/readyz": lambda: {"status": "ready"} if agent.is_ready() else NOT_READY,
            V1_SCHEMAS_PATH: DIALECTS[V1].schemas,
            **declared,
        }
        self._pages = [(compile_address(path), page) for path, page in pages.items()]

    def find(self, path: str) -> Json | None:
        """Return what the page at *path* shows, or None if there is none."""
        for pattern, page in self._pages:
            found = pattern.fullmatch(path.rstrip("/") or "/")
            content = page(**found.groupdict()) if found else None
            if content is not None:
                return content
        return find_contract(path)
