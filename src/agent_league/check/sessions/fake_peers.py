"""The peers of the agent under check: a league, players and a referee, each a server of its own.

They answer as the protocol demands, unless a trial wants something else, and keep all they receive.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace

import msgspec

from agent_league.check.exchange import TOOLS_CALL, Exchange, Received
from agent_league.check.messages import GAME, LEAGUE_ID, PLAYERS, TICKET, CheckMessages
from agent_league.check.sessions.forms import encode_call
from agent_league.http.exchange import Answer
from agent_league.http.server import HttpServer
from agent_league.http.site import MCP, Site
from agent_league.protocol import Message, Role, RpcCode, tokens
from agent_league.protocol.jsonrpc import encode_error
from agent_league.protocol.play import Contestant, JoinAck, MatchAccepted, ParityReply
from agent_league.protocol.queries import QueryAnswer
from agent_league.protocol.registration import PlayerRegistered, RefereeRegistered
from agent_league.running.serve import AddressError, bind, url_of
from agent_league.vocabulary import Json

BODY_LIMIT = 1 << 22
ASSIGNED_IDS = {Role.PLAYER: "P77", Role.REFEREE: "REF77"}
_REGISTRATIONS = {"LEAGUE_REGISTER_REQUEST": Role.PLAYER, "REFEREE_REGISTER_REQUEST": Role.REFEREE}


class FakePeer:
    """A server that acknowledges every message; its kinds below answer some of them."""

    def __init__(self, messages: CheckMessages) -> None:
        self.url, self.sender = "", str(Role.LEAGUE)
        self.running = ""
        """The only match that is running now, if there is only one."""
        self.send_to_caller: Callable[[bytes], Awaitable[object]] | None = None
        """If given, each reply goes to the caller in a request, too, and beside the result."""
        self.says_more = True
        """Whether callers with messages of their own find more words in a reply."""
        self.received: list[Received] = []
        self._messages = messages
        self._changed = asyncio.Condition()

    async def open(self, stack: AsyncExitStack, host: str, port: int = 0) -> None:
        """Listen until *stack* ends; raise `AddressError` if that is not possible."""
        sock = bind(host, port)
        self.url = url_of(sock)
        server = await HttpServer.start(self._make_site(self.url), sock)
        stack.push_async_callback(server.close, 0.1)

    async def open_at(self, stack: AsyncExitStack, host: str, port: int) -> None:
        """Listen at *port* if it is free, else at any."""
        try:
            await self.open(stack, host, port)
        except AddressError:
            await self.open(stack, host)

    def _make_site(self, url: str) -> Site:
        """Return a site that answers at /mcp, and at a path of REST in the same way."""
        root = url.removesuffix("/mcp")
        return Site(
            answer=lambda body, headers: self._answer(body, url),
            find_page=lambda path: None,
            find_site=lambda path: (
                (self._make_site(root + path), MCP) if "regist" in path else None
            ),
            too_large=lambda: Answer(413, b"{}"),
            body_limit=BODY_LIMIT,
        )

    def find_about(self, match_id: str) -> list[Received]:
        """Return what was received about one match."""
        return [got for got in self.received if got.match_id == match_id]

    async def wait_for(self, match_id: str | None, within: float, *kinds: str) -> Received | None:
        """Return the first message of *kinds*, about one match or any, within so many seconds."""

        def find() -> list[Received]:
            found = self.received if match_id is None else self.find_about(match_id)
            return [received for received in found if received.kind in kinds]

        with suppress(TimeoutError):
            async with asyncio.timeout(within), self._changed:
                await self._changed.wait_for(find)
        return next(iter(find()), None)

    async def reply(self, message: Json, received: Received) -> Json:
        """Return the result for *message*, which was *received* in some form."""
        return {"status": "ok"}

    def _write(self, kind: Callable[..., Message], message: Json, /, **fields: Json) -> Json:
        """Return a message of *kind* as the reply to *message*."""
        conversation_id = str(message.get("conversation_id") or "conv-check")
        return self._messages.write(kind, self.sender, conversation_id, **fields)

    async def _answer(self, body: bytes, url: str) -> Answer:
        now = asyncio.get_running_loop().time()
        exchange = Exchange(url, body, None, None, 0.0, 0.0, from_agent=True)
        inbox = Received(now, exchange, self.running)
        self.received.append(inbox)
        async with self._changed:
            self._changed.notify_all()
        answer = Answer(200, await self._make_answer(inbox))
        complete = inbox._replace(exchange=replace(inbox.exchange, answer=answer))
        self.received[self.received.index(inbox)] = complete
        return answer

    async def _make_answer(self, received: Received) -> bytes:
        """Answer in the form of the call: a frame, the content of a tool, or the bare message."""
        frame = received.exchange.request
        if not received.kind:  # a probe for something that we do not speak
            return encode_error(frame.get("id"), RpcCode.METHOD_NOT_FOUND, "unknown")
        message = {**received.message, "message_type": received.kind}
        result = await self.reply({**message, "match_id": received.match_id}, received)
        if self.says_more and "message_type" not in received.message:
            result = {**result, **_find_synonyms(result)}
        if frame.get("method") == TOOLS_CALL:
            text = msgspec.json.encode(result).decode()
            result = {**result, "content": [{"type": "text", "text": text}], "isError": False}
        response = {"jsonrpc": "2.0", "result": result, "id": frame.get("id")}
        if self.send_to_caller is not None:
            kind = str(result.get("message_type"))
            await self.send_to_caller(encode_call(kind, result, 1))
            response = {**result, **response}
        return msgspec.json.encode(response if "method" in frame else result)


_SYNONYMS = {"message_type": "type", "accept": "accepted", "parity_choice": "choice"}


def _find_synonyms(reply: Json) -> Json:
    """Return the fields of *reply* under the names that agents with messages of their own read."""
    known = {other: reply[key] for key, other in _SYNONYMS.items() if key in reply}
    return {**known, "ok": True}


class CheckLeague(FakePeer):
    """The check's own league: accepts everybody, and has one id for each role."""

    def __init__(self, messages: CheckMessages) -> None:
        super().__init__(messages)
        self.tokens = {role: tokens.new_token(agent_id) for role, agent_id in ASSIGNED_IDS.items()}

    async def reply(self, message: Json, received: Received) -> Json:
        kind = str(message.get("message_type")).upper()
        if kind in _REGISTRATIONS:
            return self._accept(_REGISTRATIONS[kind], message, received.exchange)
        if kind == "LEAGUE_QUERY":
            return self._write(
                QueryAnswer,
                message,
                query_type=message.get("query_type"),
                success=True,
                data={"standings": []},
            )
        return {"status": "ok", "match_id": message.get("match_id")}

    def _accept(self, role: Role, message: Json, exchange: Exchange) -> Json:
        kind = PlayerRegistered if role is Role.PLAYER else RefereeRegistered
        is_ours = exchange.called == get_registration_tool(role)
        # Who calls otherwise than by the name of the tool expects the sender of the examples.
        self.sender = str(Role.LEAGUE) if is_ours else f"{Role.LEAGUE}:LM01"
        return self._write(
            kind,
            message,
            status="ACCEPTED",
            reason=None,
            auth_token=self.tokens[role],
            league_id=LEAGUE_ID,
            **{f"{role}_id": ASSIGNED_IDS[role]},
        )

    async def wait_for_registration(self, within: float) -> tuple[Role, Exchange] | None:
        """Return the role of the first agent that registers and its request, if one does."""
        received = await self.wait_for(None, within, *_REGISTRATIONS)
        return (_REGISTRATIONS[received.kind], received.exchange) if received else None


def get_registration_tool(role: Role) -> str:
    """Return the name of the tool by which an agent of *role* registers."""
    return "register_player" if role is Role.PLAYER else "register_referee"


@dataclass(frozen=True)
class Behaviour:
    """How a seat behaves in one match."""

    choices: tuple[str, ...] = ("odd",)
    """Its answer to the first call, the second call, ..."""
    accept: bool = True
    silent: bool = False
    """Whether it leaves invitations unanswered."""


class Seat(FakePeer):
    """One of the two players in a referee's matches; it behaves as each match demands."""

    def __init__(self, number: int, messages: CheckMessages, hold: float) -> None:
        super().__init__(messages)
        self.player_id = PLAYERS[number]
        self.says_more = False
        self.sender = f"{Role.PLAYER}:{self.player_id}"
        self.behaviours: dict[str, Behaviour] = {}
        self.join_times: dict[str, float] = {}
        """When it joined, by match."""
        self.call_events: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        """Set when it is asked to choose, by match."""
        self.opponent: Seat | None = None
        self.saw_opponent_asked: dict[str, bool] = {}
        self.gates: dict[str, asyncio.Event] = {}
        """An invitation to one of these matches is answered only when the event is set."""
        self._calls: Counter[str] = Counter()
        self.hold = hold

    def contestant(self) -> Contestant:
        return Contestant(player_id=self.player_id, endpoint=self.url, ticket=TICKET)

    async def reply(self, message: Json, received: Received) -> Json:
        handlers = {"GAME_INVITATION": self._join, "CHOOSE_PARITY_CALL": self._choose}
        handler = handlers.get(str(message.get("message_type")))
        if handler is None:
            return await super().reply(message, received)
        match_id = str(message.get("match_id"))
        kind, own_fields = await handler(match_id, self.behaviours.get(match_id, Behaviour()))
        return self._write(
            kind,
            message,
            auth_token=message.get("auth_token"),
            match_id=match_id,
            player_id=self.player_id,
            **own_fields,
        )

    async def _join(self, match_id: str, behaviour: Behaviour) -> tuple[type[JoinAck], Json]:
        if behaviour.silent:
            await asyncio.Event().wait()
        if match_id in self.gates:
            await self._wait_for_event(self.gates[match_id])
        self.join_times.setdefault(match_id, asyncio.get_running_loop().time())
        return JoinAck, {"arrival_timestamp": self._messages.now(), "accept": behaviour.accept}

    async def _choose(self, match_id: str, behaviour: Behaviour) -> tuple[type[ParityReply], Json]:
        self.call_events[match_id].set()
        if self.opponent is not None and match_id not in self.saw_opponent_asked:
            together = await self._wait_for_event(self.opponent.call_events[match_id])
            self.saw_opponent_asked[match_id] = together
        number = min(self._calls[match_id], len(behaviour.choices) - 1)
        self._calls[match_id] += 1
        return ParityReply, {"move": behaviour.choices[number]}

    async def _wait_for_event(self, event: asyncio.Event) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.hold):
                await event.wait()
        return event.is_set()


def make_seats(messages: CheckMessages, hold: float) -> tuple[Seat, Seat]:
    """Return two seats that know each other; *hold* is how long each waits for the other."""
    first, second = Seat(0, messages, hold), Seat(1, messages, hold)
    first.opponent, second.opponent = second, first
    return first, second


class Entrant(FakePeer):
    """A referee or a player that the check sends into a league, under *own_id* at first."""

    def __init__(self, role: Role, own_id: str, messages: CheckMessages) -> None:
        super().__init__(messages)
        self.role, self.own_id = role, own_id
        self.name = f"Check {role} {own_id}"
        self.agent_id = ""
        self.token = ""
        self.orders: asyncio.Queue[Json] = asyncio.Queue()
        """The matches that a referee was given."""

    async def reply(self, message: Json, received: Received) -> Json:
        if message.get("message_type") != "START_MATCH":
            return await super().reply(message, received)
        self.orders.put_nowait(message)
        self.sender, match_id = f"{self.role}:{self.agent_id}", message.get("match_id")
        return self._write(
            MatchAccepted, message, match_id=match_id, status="ACCEPTED", reason=None
        )

    def make_registration(self, **changes: Json) -> Json:
        """Return the registration; a field that is changed to None is left out."""
        kinds = {role: kind for kind, role in _REGISTRATIONS.items()}
        capacity = {"max_concurrent_matches": 10} if self.role is Role.REFEREE else {}
        meta = {
            "display_name": self.name,
            "version": "1.0.0",
            "protocol_version": "2.1.0",
            "game_types": [GAME],
            "contact_endpoint": self.url,
            **capacity,
            **changes,
        }
        return {
            **self._messages.envelope(f"{self.role}:{self.own_id}", f"conv-check-{self.own_id}"),
            "message_type": kinds[self.role],
            f"{self.role}_meta": {key: value for key, value in meta.items() if value is not None},
        }
