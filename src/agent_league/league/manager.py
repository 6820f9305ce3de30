"""The league manager: the actor that admits agents, takes results and answers queries."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from agent_league.agent import Agent
from agent_league.chance import commit_to
from agent_league.http.exchange import PageAnswer, PageRequest, Wire
from agent_league.http.site import Place
from agent_league.league import views
from agent_league.league.admission import Admission, Refusal, judge
from agent_league.league.context import Context
from agent_league.league.endpoint_gate import EndpointError, EndpointGate
from agent_league.league.organiser import Organiser
from agent_league.league.pool import QueuedPool
from agent_league.league.referee_claims import RefereeClaims
from agent_league.league.refusals import RefusedApplications
from agent_league.league.reports import UNPROVEN, ReportReceiver
from agent_league.league.season_runner import SeasonRunner
from agent_league.league.stored_season import StoredSeason
from agent_league.offer import (
    ALL_AGENTS,
    NOBODY,
    ORGANISER,
    Audience,
    ChangeListeners,
    Gate,
    Offer,
    ToolCard,
)
from agent_league.peers.endpoint import Handler
from agent_league.peers.quota import Quota
from agent_league.protocol import ErrorCode, Message, ProtocolError, Role, name, registration
from agent_league.protocol.deviations import Deviation, make_refusal
from agent_league.protocol.error_messages import LeagueErrorMessage
from agent_league.protocol.fields import UNSTATED, find_endpoint_problem, normalise_endpoint
from agent_league.protocol.play import ResultReport, TranscriptPart
from agent_league.protocol.queries import Query, QueryAnswer, QueryProblem, RefereeClaim
from agent_league.protocol.reading import read_as
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.season import answers
from agent_league.season.roster import Entry
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store import EventLog
from agent_league.store.events import SeasonOpened
from agent_league.store.queue import MatchQueue
from agent_league.store.store import Store
from agent_league.vocabulary import Json


class GuestHost(Protocol):
    """Hosts the players that have no server of their own: a `guests.GuestDesk`."""

    def tools(self) -> Sequence[ToolCard]: ...

    def find_site(self, path: str) -> Place | None: ...

    async def resume(self) -> None: ...

    async def wait_for_guests(self) -> None: ...


class Spectators(Protocol):
    """Shows the league to people: a `web.LiveSite`."""

    def show(self, request: PageRequest) -> PageAnswer | None: ...


class LeagueManager(Agent):
    """Runs one season of one league."""

    role = Role.LEAGUE
    bearer_gate: Gate | None = None  # set before it is served, if not everybody may use its tools

    def __init__(
        self,
        settings: LeagueSettings,
        wire: Wire,
        events: EventLog,
        count_audience: Callable[[], int] | None = None,
        **options: Any,
    ) -> None:
        """*count_audience* counts the players of all leagues of this process, if it has several."""
        super().__init__("LM", wire, patience=settings.patience, **options)
        self.settings, self.events, self.season = settings, events, Season(settings)
        self.endpoint_gate = EndpointGate()
        """Set before the manager is served, if it may not call every address."""
        self.guests: GuestHost | None = None
        """Set before the manager is served, if guests may take part."""
        self.spectators: Spectators | None = None
        """Set before the manager is served, if people may look at the league."""
        self._refused = RefusedApplications(self)
        self._queries = Quota("queries", rate=50, burst=200)
        self._registrations = Quota("registrations", rate=1, burst=60)
        self._change_listeners: ChangeListeners = []
        events.listen(self.season.apply, needs_all_events=False)
        views.pass_on_changes(events, self._change_listeners)
        self._context = context = Context(
            *(self.season, events, self.clock, self.envelope, self.peers, self.spawn),
            count_audience=count_audience or (lambda: len(self.season.players)),
        )
        self._stored_season = stored = StoredSeason(context)
        self.season_runner = runner = SeasonRunner(context)
        self.organiser = Organiser(context, runner)
        self._referee_claims = RefereeClaims(context, runner.dispatcher)
        self.report_receiver = ReportReceiver(context, runner, stored.read_match)

    def make_sender(self) -> str:
        return Role.LEAGUE

    @property
    def strict(self) -> bool:
        return self.settings.strict

    @property
    def game(self) -> str:
        return self.settings.game_type

    def handlers(self) -> Mapping[type[Message], Handler]:
        return {
            RegisterPlayer: self.register_player,
            RegisterReferee: self.register_referee,
            TranscriptPart: self.report_receiver.take_transcript,
            ResultReport: self.report_receiver.take_result,
            Query: self.query,
        }

    def offer(self) -> Offer:
        tools = [
            views.get_standings(self.season),
            *self.organiser.cards(),
            *(self.guests.tools() if self.guests else ()),
        ]
        return Offer(
            pages={**views.pages(self.season), "/record": self._stored_season.find_record},
            tools=tools,
            instructions=views.instructions(self.settings, {card.name for card in tools}),
            resources=views.resources(self.season, self._stored_season),
            prompts=views.prompts(self.season, self._stored_season, {card.name for card in tools}),
            change_listeners=self._change_listeners,
            supply=self._supply,
            identify=self._identify,
            show=lambda request: self.spectators.show(request) if self.spectators else None,
            gate=self.bearer_gate,
            find_site=lambda path: self.guests.find_site(path) if self.guests else None,
        )

    def _supply(self, token: str | None) -> dict[str, Json]:
        """Return the league, and the sender that *token* belongs to."""
        fields: dict[str, Json] = {"league_id": self.settings.league_id}
        holder = self.season.roster.holder(token, self.clock()) if token else None
        if holder is not None:
            fields["sender"] = f"{holder[0].role}:{holder[0].agent_id}"
        return fields

    def _identify(self, token: str | None) -> Audience:
        """Return the roles of whoever sends *token*; the organiser has every one."""
        if token is None:
            return NOBODY
        if self.organiser.holds(token) or self.organiser.is_staff(token):
            return ALL_AGENTS | {ORGANISER}
        holder = self.season.roster.holder(token, self.clock())
        if holder is None or holder[0].guest:  # what a guest needs is listed to everybody
            return NOBODY
        return frozenset({holder[0].role})

    def knows(self, token: str) -> bool:
        """Whether *token* is the organiser's, or that of an agent of this league."""
        return self.organiser.holds(token) or bool(self.season.roster.holder(token, self.clock()))

    def measure(self) -> dict[str, Json]:
        """Return what only a running manager knows of itself and of its agents."""
        return self.season_runner.measure()

    def about(self) -> dict[str, Json]:
        return {**super().about(), **answers.status(self.season)}

    async def open(self, store: Store | None = None) -> None:
        """Open registration, or resume the league where it stopped, if *store* has it."""
        if store is not None:
            await self._stored_season.open(store)
        event = SeasonOpened(
            at=self._context.now(),
            league_id=self.settings.league_id,
            game_type=self.settings.game_type,
            seed=self.settings.seed,
            legs=self.settings.legs,
            commitment=commit_to(self.season.secret),
        )
        await self.events.append(event)
        self.report_receiver.resume()
        if self.guests is not None:
            await self.guests.resume()

    def use_pool(self, queue: MatchQueue, endpoint: str) -> None:
        """Let workers behind *queue* referee, once there are some; others see *endpoint*."""
        runner = self.season_runner
        runner.dispatcher.pool = pool = QueuedPool(self._context, runner.liveness, queue, endpoint)
        self.spawn(pool.run())

    async def run(self) -> None:
        """Run the season to its end.

        Raise `StoreError` if the log fails: a league that may lose what it acknowledged must stop.
        """
        season = asyncio.ensure_future(self.season_runner.run())
        failure = asyncio.ensure_future(self.events.wait_for_failure())
        try:
            await asyncio.wait({season, failure}, return_when=asyncio.FIRST_COMPLETED)
            if failure.done():
                raise failure.result()
            await season
        finally:
            season.cancel()
            failure.cancel()
        if self.guests is not None:
            await self.guests.wait_for_guests()
        await self._stored_season.save_snapshot()

    async def close(self) -> None:
        self.season_runner.close()
        await super().close()

    async def register_player(
        self, request: RegisterPlayer, *, guest: bool = False, model: str | None = None
    ) -> registration.PlayerRegistered:
        fields = await self._register(request, Role.PLAYER, guest=guest, model=model)
        return registration.PlayerRegistered(**fields)

    async def register_referee(self, request: RegisterReferee) -> registration.RefereeRegistered:
        return registration.RefereeRegistered(**await self._register(request, Role.REFEREE))

    async def _register(
        self, request: RegisterPlayer | RegisterReferee, role: Role, **options: Any
    ) -> dict[str, Any]:
        """Admit the agent that sent *request*, or refuse it; return the fields of the reply."""
        decision = await self._decide(request, **options)
        outcome: dict[str, Any] = {"status": "REJECTED", f"{role}_id": None, "reason": None}
        if isinstance(decision, Refusal):
            self._refused.note(request.meta.display_name.strip(), decision.reason)
            outcome |= {"reason": decision.reason, "error_code": decision.code}
        else:
            await self.events.append(decision.event)
            outcome |= {"status": "ACCEPTED", f"{role}_id": decision.agent_id}
            outcome |= {"auth_token": decision.token, "league_id": self.settings.league_id}
            key = self._context.keyring.make_key(decision.event.token_hash)
            outcome |= {
                "signed": True,
                "signing_key": key,
                "commitment": commit_to(self.season.secret),
            }
        return {**self.envelope(request.conversation_id), **outcome}

    async def _decide(
        self, request: RegisterPlayer | RegisterReferee, **options: Any
    ) -> Admission | Refusal:
        """Judge *request*, with the address that its host has now; we host guests ourselves."""
        if options.get("guest") or find_endpoint_problem(request.meta.contact_endpoint):
            return judge(request, self.season, self.clock(), **options)
        try:
            self._registrations.check(normalise_endpoint(request.meta.contact_endpoint))
            endpoint = await self.endpoint_gate.pin(request.meta.contact_endpoint)
        except EndpointError as error:
            reason = f"Contact endpoint not allowed: {error}"
            return Refusal(reason, ErrorCode.INVALID_FIELD_VALUE)
        except ProtocolError as error:
            return Refusal(error.detail, error.code)
        meta = replace(request.meta, contact_endpoint=endpoint)
        changes = {f"{request.route.sender[0]}_meta": meta}
        return judge(replace(request, **changes), self.season, self.clock(), **options)

    def admit(self, message: Message, deviations: Sequence[Deviation]) -> Message:
        """Accept a message that deviates; in a strict league, tell its sender what to fix."""
        if deviations and self.strict:
            if not isinstance(message, (RegisterPlayer, RegisterReferee)):
                self.note_deviations(message, deviations)
            rule_ids = [deviation.rule.id for deviation in deviations]
            self.agent_log.note("REFUSED", "WARNING", sender=message.sender, rules=rule_ids)
            raise make_refusal(deviations, name(type(message)))
        return message

    def make_error(self, error: ProtocolError) -> LeagueErrorMessage:
        self._refused.note_error(error)
        return super().make_error(error)

    def note_deviations(self, message: Message, deviations: Sequence[Deviation]) -> None:
        """Record the deviations of a sender that is known for sure.

        Anybody can register an endpoint again, so that does not prove who listens there.
        """
        holder = self.season.roster.holder(message.auth_token, self.clock())
        sender = holder[0] if holder else None
        if sender is None and isinstance(message, (RegisterPlayer, RegisterReferee)):
            registered = self.season.roster.at(message.meta.contact_endpoint)
            sender = registered if registered and len(registered.tokens) == 1 else None
        if sender is not None:
            self.season_runner.discipline.note(sender.agent_id, deviations, message.match_id)

    def suspect(self, agent_id: str, deviation: Deviation) -> None:
        self.season_runner.discipline.record(agent_id, deviation)

    def keys_of(self, player_id: str) -> Sequence[str]:
        """Return the secrets that the league shares with a player; none if it is not admitted."""
        entry = self.season.roster.get(player_id)
        return self._context.keyring.keys_of(entry) if entry else ()

    def extend_token(self, token: str) -> None:
        self._context.extend_token(token)

    def greet(self, player_id: str) -> None:
        self.season_runner.greet(player_id)

    async def confirm_referee(self, player_id: str, claim: RefereeClaim) -> bool:
        return await self._referee_claims.is_true(player_id, claim)

    async def query(self, query: Query) -> QueryAnswer:
        sender, kind = self._context.authenticate(query), query.query_type
        self._queries.check(sender.agent_id)
        fields: dict[str, Any]
        try:
            self._check_league(query.league_id)
            fields = {"success": True, "data": await self._find_answer(query, sender)}
        except ProtocolError as error:
            problem = QueryProblem(
                error_code=error.code, error_name=error.code.name, error_description=error.detail
            )
            fields = {"success": False, "error": problem}
        return QueryAnswer(**self.envelope(query.conversation_id), query_type=kind, **fields)

    def _check_league(self, league_id: str) -> None:
        if league_id not in {*self.settings.names, UNSTATED}:
            detail = f"league_id: this is {self.settings.league_id}, not {league_id!r:.60}"
            raise ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail, field="league_id")

    async def _find_answer(self, query: Query, sender: Entry) -> dict[str, Json]:
        kind, params = query.query_type, query.query_params
        if kind == "CHECK_REFEREE":
            claim = read_as(RefereeClaim, params)
            return {"is_referee": await self.confirm_referee(sender.agent_id, claim)}
        asks = kind == "GET_NEXT_MATCH" and "player_id" not in params and not self.strict
        if not asks or sender.role is not Role.REFEREE:
            return answers.ANSWERS[kind](self.season, params)
        if not self._context.has_proof(query):  # some referees ask for their own next match with it
            raise ProtocolError(ErrorCode.NOT_ALLOWED, UNPROVEN, about=name(Query))
        return {"next_match": self.season_runner.dispatcher.answer_poll(sender)}
