"""An agent that joins a league: how it registers, and how it learns that the league is over."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from agent_league.agent import Agent, log
from agent_league.dialects.dialect import Peer
from agent_league.http.exchange import Wire
from agent_league.http.routing import strip_port
from agent_league.peers.retry import call_with_retry
from agent_league.printable import make_printable
from agent_league.protocol import (
    Acknowledgement,
    ErrorCode,
    LeagueError,
    Message,
    Notice,
    ProtocolError,
    Request,
    jsonrpc,
    name,
    registration,
    tokens,
)
from agent_league.protocol.deviations import Ledger
from agent_league.protocol.error_messages import GameErrorMessage, LeagueErrorMessage
from agent_league.protocol.failures import NoAnswerError, RefusedError, says_registered
from agent_league.protocol.fields import UNSTATED, VERSION, is_sender
from agent_league.protocol.play import Retry
from agent_league.protocol.queries import Query, QueryAnswer, QueryType, RefereeClaim
from agent_league.protocol.rounds import LeagueCompleted
from agent_league.store.agent_files import Identity
from agent_league.vocabulary import Json

T = TypeVar("T")
STAGES_BEFORE_END = {"REGISTRATION", "PLAYING"}
REMEMBERED_TOKENS = 8
"""How many tokens an agent keeps: what is on its way was signed with an earlier one."""


MOST_SHOWN_ERRORS = 5
"""How many errors that came from the league are shown on the screen; the log has all."""


class NotAdmittedError(LeagueError):
    """The league refused the registration; the text gives its reason."""


class Member(Agent):
    """A referee or a player; *meta* is what it tells the league about itself."""

    body_limit = 4 * 1024 * 1024  # the notices of a large league are longer than 10 KB
    takes_batches = True

    def __init__(
        self,
        name: str,
        wire: Wire,
        league_url: str,
        *,
        meta: registration.PlayerMeta | registration.RefereeMeta,
        league_id: str | None = None,
        dialect: str = VERSION,
        **options: Any,
    ) -> None:
        super().__init__(name, wire, **options)
        self.meta = meta
        self.join_code: str | None = None
        """What the league asks for, if not everybody may join."""
        self.dialect = dialect
        """The dialect of its messages to the league; it understands every dialect of the league's."""
        self.league_url = league_url
        self.other_urls: list[str] = []
        """Further addresses of the league, which are tried in turn."""
        self.league_id = league_id
        """The only league to join, or None for any; later the league that was joined."""
        self._kept_league_id: str | None = None
        """The league of an earlier run."""
        self.league_signs = False
        self._tokens: list[str] = []
        self._keys: list[str] = []
        """The secrets that this agent shares with its league, the latest first."""
        self._disbelieved: set[str] = set()
        self._renewal = asyncio.Lock()
        self.on_registered: Callable[[], None] = lambda: None
        """Called with each new token, so that it can be kept."""
        self.over: asyncio.Event = asyncio.Event()
        """Set when the league says that it is completed."""
        self.final: LeagueCompleted | None = None
        self._shown_errors = 0

    @property
    def endpoint(self) -> str:
        return self.meta.contact_endpoint

    @property
    def token(self) -> str | None:
        """The latest token that the league gave this agent."""
        return self._tokens[0] if self._tokens else None

    @token.setter
    def token(self, token: str) -> None:
        self._take_token(token)

    @property
    def signing_key(self) -> str | None:
        """The key with which the league signs for this agent."""
        return self._keys[0] if self._keys else None

    @property
    def identity(self) -> Identity:
        """Who this agent is, for a later run."""
        return Identity(self.name, self.token or "", self.league_id, self.signing_key)

    def resume(self, identity: Identity) -> None:
        """Be the agent of an earlier run; until it has registered, nobody is believed without proof."""
        self.rename(identity.agent_id)
        self._kept_league_id = identity.league_id
        self._take_token(identity.token, identity.signing_key)
        self.league_signs = bool(identity.token)

    def _take_token(self, token: str, signing_key: str | None = None) -> None:
        """Use *token* from now on; what was signed with an earlier key is still believed.

        Older leagues tell no key: they sign with the hash of the token.
        """
        key = signing_key or tokens.hash_token(token)
        self._tokens = [token, *(old for old in self._tokens if old != token)][:REMEMBERED_TOKENS]
        self._keys = [key, *(old for old in self._keys if old != key)][:REMEMBERED_TOKENS]

    def owns(self, token: Json) -> bool:
        """Whether *token* is one that the league gave this agent."""
        given = token if isinstance(token, str) else ""
        return bool(given) and any(tokens.is_same_secret(given, own) for own in self._tokens)

    def is_signed(self, signature: str | None, *parts: str) -> bool:
        """Whether the league has signed *parts* for this agent."""
        return tokens.is_signed(signature, self._keys, *parts)

    def is_ready(self) -> bool:
        return self.token is not None

    def host_names(self) -> frozenset[str]:
        with suppress(ValueError):
            return frozenset({strip_port(urlsplit(self.endpoint).netloc)})
        return frozenset()

    def application(self) -> registration.RegisterPlayer | registration.RegisterReferee:
        """Return the request to be admitted to the league."""
        fields: dict[str, Any] = {
            **self.envelope(f"conv-{self.name.lower()}-reg"),
            "auth_token": self.token,
            "league_id": self.league_id,
            "join_code": self.join_code,
        }
        if isinstance(self.meta, registration.RefereeMeta):
            return registration.RegisterReferee(**fields, referee_meta=self.meta)
        return registration.RegisterPlayer(**fields, player_meta=self.meta)

    async def register(self, retry: Retry | None = None, *, is_quiet: bool = False) -> None:
        """Join the league, or raise `NotAdmittedError` or a `NoAnswerError`.

        If *is_quiet*, what is tried again is noted in the log, and not shown.
        """
        ledger, on_failure = Ledger(), self._note_retry if is_quiet else self._warn_retry
        try:
            reply = await call_with_retry(lambda: self._apply(ledger), retry or Retry(), on_failure)
        except RefusedError as error:
            if not says_registered(error.detail):
                raise
            self._go_on_registered(error.detail)
        else:
            self._take_reply(reply)
        for deviation in ledger.deviations.values():
            self.agent_log.note("DEVIATION", rule=deviation.rule.id, got=deviation.got)

    def _take_reply(
        self, reply: registration.PlayerRegistered | registration.RefereeRegistered
    ) -> None:
        """Be the agent that the league has admitted, or raise `NotAdmittedError`."""
        if reply.status != "ACCEPTED" and says_registered(reply.reason or ""):
            self._go_on_registered(reply.reason or "")
            return
        if reply.status != "ACCEPTED":
            self.agent_log.note("NOT_ADMITTED", "ERROR", reason=reply.reason)
            raise NotAdmittedError(reply.reason or "the league gave no reason")
        given_id = reply.agent_id or self.name
        if not is_sender(f"{self.role}:{given_id}"):
            raise NotAdmittedError(f"the league gave an id that cannot be used: {given_id!r:.60}")
        self.rename(given_id)
        self._take_token(reply.auth_token or "", reply.signing_key)  # some leagues give no tokens
        self.league_signs = reply.signed
        self.league_id = reply.league_id or self.league_id
        self.agent_log.set_owner(self.name)
        self.agent_log.note("REGISTERED", league_id=self.league_id, league=self.league_url)
        self.on_registered()

    async def _apply(self, ledger: Ledger) -> Any:
        """Ask for admission, and remember the dialect that the league understands."""
        application: Request[Any] = self.application()

        async def ask() -> tuple[Any, str]:
            peer = Peer(self.league_url, self.name, self.dialect)
            return await self.peers.ask_in_any_dialect(peer, application, ledger)

        reply, self.dialect = await self._try_addresses(ask)
        return reply

    async def _try_addresses(self, call: Callable[[], Awaitable[T]]) -> T:
        """Return what *call* returns, at the first address at which the league can be reached."""
        for _ in range(len(self.other_urls)):
            try:
                return await call()
            except NoAnswerError as error:
                if not error.retryable:
                    raise
                self.turn_to_next_address()
        return await call()

    def turn_to_next_address(self) -> None:
        """Call the league at its next address from now on: it does not answer at this one."""
        if self.other_urls:
            self.other_urls.append(self.league_url)
            self.league_url = self.other_urls.pop(0)
            self.agent_log.note("NEXT_ADDRESS", league=self.league_url)

    def _go_on_registered(self, reason: str) -> None:
        """Be the agent that a league without renewals has registered before, if that is known."""
        if self.token is None:
            detail = f"the league has registered {self.name} before ({reason[:200]}), and nothing"
            raise NotAdmittedError(
                f"{detail} is kept from then; start it with the --shared folder and the port of"
                " that time, or ask for another id"
            )
        self.league_signs = False
        self.league_id = self.league_id or self._kept_league_id
        self.agent_log.note("REGISTERED_BEFORE", league=self.league_url, message=reason)

    async def query(self, query_type: QueryType, **params: Json) -> QueryAnswer:
        """Ask the league a question; if it takes the token no more, with a new one."""
        refused = self.token
        try:
            return await self._ask_league(query_type, params)
        except RefusedError as error:
            if error.code is not ErrorCode.AUTH_TOKEN_INVALID:
                raise
        await self.renew_token(refused)
        return await self._ask_league(query_type, params)

    async def renew_token(self, refused: str | None) -> None:
        """Get a token from the league in place of the one that it *refused*, once for all tasks.

        Raise `NotAdmittedError` or a `NoAnswerError` if there is none.
        """
        async with self._renewal:
            if self.token == refused:
                self.agent_log.note("TOKEN_REFUSED", "WARNING", league=self.league_url)
                await self.register(is_quiet=True)

    async def _ask_league(self, query_type: QueryType, params: dict[str, Json]) -> QueryAnswer:
        question = Query(
            **self.envelope(f"conv-{self.name.lower()}-query"),
            auth_token=self.token,
            league_id=self.league_id or "",
            query_type=query_type,
            query_params=params,
        )
        return await self._try_addresses(lambda: self.peers.line(self.league_url).ask(question))

    async def confirm_referee(self, claim: RefereeClaim) -> bool:
        """Return whether the league knows who makes *claim* as the referee of that match."""
        answer = await self.query("CHECK_REFEREE", **msgspec.to_builtins(claim))
        return answer.data is not None and answer.data.get("is_referee") is True

    def _note_retry(self, attempt: int, error: NoAnswerError, wait: float) -> None:
        self.agent_log.note("NO_ANSWER", message=str(error), attempt=attempt, wait=wait)

    def _warn_retry(self, attempt: int, error: NoAnswerError, wait: float) -> None:
        self.agent_log.warn("NO_ANSWER", f"{error}; trying again in {wait:g} s", attempt=attempt)

    def on_error_message(self, notice: LeagueErrorMessage | GameErrorMessage) -> Acknowledgement:
        """Log an error that another agent found in a message of this one."""
        body = msgspec.to_builtins(notice)
        self.agent_log.note(body["message_type"], "WARNING", message=body)
        if isinstance(notice, LeagueErrorMessage) and self._shown_errors < MOST_SHOWN_ERRORS:
            self._shown_errors += 1  # anybody can send them: they must not flood the screen
            detail = make_printable((notice.detail or notice.error_code)[:300])
            log.warning("%s says: %s", self.league_id, detail)
        return acknowledge(notice)

    def disbelieve(self, message: Message, detail: str) -> ProtocolError:
        """Return the refusal of what a stranger may have sent; the operator is warned once."""
        kind = name(type(message))
        if kind not in self._disbelieved:
            self._disbelieved.add(kind)
            text = f"refused {kind} from {message.sender!r:.60}: {detail}; further ones go unsaid"
            self.agent_log.warn("NOT_BELIEVED", text)
        code = ErrorCode.AUTH_TOKEN_INVALID if message.auth_token else ErrorCode.AUTH_TOKEN_MISSING
        return ProtocolError(code, detail, about=kind)

    def on_league_over(self, notice: LeagueCompleted) -> Acknowledgement:
        """Leave, unless another league is over, or somebody else than the league says so."""
        is_other = self.league_id not in (None, notice.league_id) and notice.league_id != UNSTATED
        if self.token is None or is_other:
            return acknowledge(notice)
        kind, proof = name(LeagueCompleted), notice.auth_token
        if self.league_signs and not self.is_signed(proof, kind, notice.league_id):
            raise self.disbelieve(notice, "auth_token: this notice was not signed by the league")
        if self.league_signs:
            self._end_league(notice)
        else:  # answered first: a league may wait for that before it answers anything itself
            self.spawn(self._leave_if_over(notice))
        return Acknowledgement()

    async def _leave_if_over(self, notice: LeagueCompleted) -> None:
        """Leave a league that signs nothing, unless it says itself that it goes on."""
        if await self._find_stage() in STAGES_BEFORE_END:
            self.disbelieve(notice, "the league says that it goes on")
        else:
            self.final = notice
            await self.wait_until_quiet()
            self._end_league(notice)

    async def wait_until_quiet(self) -> None:
        """Wait until nothing is left to do in a league that may end too early, or not end at all."""

    async def _find_stage(self) -> Json:
        """Return the stage of the league; None if it is gone, or does not say."""
        body = jsonrpc.encode_call("get_standings", b"{}", 1)
        try:
            answer = await self.peers.wire.post(self.league_url, body, self.patience.generic)
            return msgspec.json.decode(answer.body)["result"]["stage"]
        except (NoAnswerError, msgspec.DecodeError, LookupError, TypeError):
            return None

    def _end_league(self, notice: LeagueCompleted) -> None:
        self.final = notice
        self.over.set()
        link = {"record_link": notice.record_link} if notice.record_link else {}
        self.agent_log.note(name(LeagueCompleted), league_id=notice.league_id, **link)


def acknowledge(notice: Notice) -> Acknowledgement:
    """Answer a notice that needs no action."""
    return Acknowledgement()
