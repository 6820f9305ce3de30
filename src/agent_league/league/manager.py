"""The league manager: admits, answers, takes results, and conducts the season."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import msgspec

from agent_league.agent import Agent, Wire, log
from agent_league.clock import written
from agent_league.dialects import Deviation, rules
from agent_league.dialects.ledger import refusal
from agent_league.dialects.reports import contradiction
from agent_league.dialects.welcome import Welcome
from agent_league.league import answers, exhibits
from agent_league.league.acquaintance import call_by
from agent_league.league.admission import Admission, Applicant, Refusal, judge
from agent_league.league.conductor import Conductor
from agent_league.league.organiser import Organiser
from agent_league.league.prompts import INSTRUCTIONS, prompts
from agent_league.league.reports import check_right, judged
from agent_league.league.roster import Entry
from agent_league.league.season import Season, Stage
from agent_league.league.settings import LeagueSettings
from agent_league.league.snapshots import SnapshotKeeper, take_up_latest, told
from agent_league.mcp.offer import Changes, Offer
from agent_league.mcp.tools import ENVELOPE, ToolCard
from agent_league.protocol import Acknowledgement, ErrorCode, Message, ProtocolError, Role, name
from agent_league.protocol.play import ResultReport, TranscriptPart
from agent_league.protocol.queries import Query, QueryAnswer, QueryProblem
from agent_league.protocol.registration import (
    PlayerMeta,
    PlayerRegistered,
    RefereeMeta,
    RefereeRegistered,
    RegisterPlayer,
    RegisterReferee,
    Verdict,
)
from agent_league.store import EventLog
from agent_league.store.events import MatchEnded, SeasonOpened
from agent_league.store.log import Store
from agent_league.transport.endpoint import Handler, Result
from agent_league.transport.site import Site
from agent_league.vocabulary import Json

MOST_PARTS = 100
"""How many parts of a transcript are kept; a referee cannot fill the memory of the league."""


class Extension(Protocol):
    """What a manager does beside its league, and its league need not know."""

    def tools(self) -> Sequence[ToolCard]:
        """Return the tools that it adds."""
        ...

    def site(self, path: str) -> Site | None:
        """Return the agent that it takes in at *path*."""
        ...

    async def opened(self) -> None:
        """Take up what the league had come to, if it was interrupted."""
        ...

    def voids(self, ended: MatchEnded) -> bool:
        """Whether a match must be played again, because it was we who were not there."""
        ...

    async def farewell(self) -> None:
        """See off whoever is its own guest, now that the season has ended."""
        ...


class LeagueManager(Agent):
    """Runs one season of one league."""

    role = Role.LEAGUE
    supplied = ENVELOPE | {"league_id"}

    def __init__(
        self, settings: LeagueSettings, wire: Wire, events: EventLog, **options: Any
    ) -> None:
        super().__init__("LM", wire, patience=settings.patience, **options)
        self.settings = settings
        self.events = events
        self.season = Season(settings)
        self._transcripts: dict[str, dict[int, list[Json]]] = {}
        self._keeper: SnapshotKeeper | None = None
        self._store: Store | None = None
        self._changes = Changes()
        self._extensions: list[Extension] = []
        self._welcome = Welcome()
        events.listen(self.season.apply, whole=False)
        events.listen(exhibits.telling(self._changes), whole=False)
        self.conductor = Conductor(self, self.season, events)
        self.organiser = Organiser(self, self.season, events, self.conductor)

    @property
    def sender(self) -> str:
        return Role.LEAGUE

    def handlers(self) -> Mapping[type[Message], Handler]:
        return {
            RegisterPlayer: self.register_player,
            RegisterReferee: self.register_referee,
            TranscriptPart: self.take_transcript,
            ResultReport: self.take_result,
            Query: self.query,
        }

    def tools(self) -> Sequence[ToolCard]:
        added = [card for extension in self._extensions for card in extension.tools()]
        return (exhibits.get_standings(self.season), *self.organiser.cards(), *added)

    def supply(self, kind: type[Message], token: str | None) -> dict[str, Json]:
        """Fill in the league, and the sender that the token belongs to."""
        known = super().supply(kind, token)
        held = self.season.roster.holder(token, self.clock())
        sender = f"{held[0].role}:{held[0].agent_id}" if held else known["sender"]
        return {**known, "sender": sender, "league_id": self.settings.league_id}

    def offer(self) -> Offer:
        offer = super().offer()
        return replace(
            offer,
            instructions=INSTRUCTIONS.format(game=self.settings.game_type),
            resources=exhibits.resources(self.season),
            templates=exhibits.templates(self.season, self._transcript),
            prompts=prompts(self.season, offer.tools),
            changes=self._changes,
        )

    async def _transcript(self, match_id: str) -> Json | None:
        """Return what was said in a match, once it is over: until then it is a secret."""
        if self._store is None or not (
            match_id in self.season.results or self.season.past(match_id)
        ):
            return None
        found = await self._store.transcript(self.settings.league_id, match_id)
        return msgspec.json.decode(found) if found else None

    def extend(self, extension: Extension) -> None:
        """Do *extension* too; to be said before this manager is served."""
        self._extensions.append(extension)

    def site(self) -> Site:
        return replace(super().site(), beside=self._beside)

    def _beside(self, path: str) -> Site | None:
        found = (extension.site(path) for extension in self._extensions)
        return next((site for site in found if site is not None), None)

    def about(self) -> dict[str, Json]:
        return {**super().about(), **answers.status(self.season)}

    def look(self, path: str) -> Json | None:
        """Return a page; those under a name of the league need no token, for spectators."""
        section, _, name = path.strip("/").partition("/")
        entry = self.season.roster.get(name)
        if section == "players" and entry is not None and entry.role is Role.PLAYER:
            return answers.player_stats(self.season, {"player_id": name})
        return super().look(path)

    def pages(self) -> Mapping[str, Any]:
        return {
            **super().pages(),
            "/status": lambda: answers.status(self.season),
            "/standings": lambda: answers.standings(self.season, {}),
            "/schedule": lambda: answers.schedule(self.season, {}),
        }

    async def open(self, store: Store | None = None) -> None:
        """Open registration, or take up a league where it stopped, if *store* has it."""
        if store is not None:
            await self._restore(store)
        event = SeasonOpened(
            at=written(self.clock()),
            league_id=self.settings.league_id,
            game_type=self.settings.game_type,
            seed=self.settings.seed,
            legs=self.settings.legs,
        )
        await self.events.append(event)
        for extension in self._extensions:
            await extension.opened()

    async def _restore(self, store: Store) -> None:
        self._store = store
        league_id, settings = self.settings.league_id, msgspec.json.encode(self.settings)
        at = written(self.clock())
        self.events.attach(await store.open(league_id, at, settings.decode()))
        after = await self._skipped(store) if self.events.skippable else 0
        self._keeper = SnapshotKeeper(self, self.season, self.events, store)
        async for page in store.events(league_id, after):
            self.events.replay(page)

    async def _skipped(self, store: Store) -> int:
        """Take up the latest snapshot; return the number of the event that it comes after."""
        after = await take_up_latest(self.season, store)
        if after:
            self.events.skip(after, partial(told, self.season))
        return after

    async def run(self) -> None:
        """Conduct the season to its end, and see everybody off.

        Raise `StoreError` if it cannot be written down: a league that may forget what it
        acknowledged must not go on.
        """
        season = asyncio.ensure_future(self.conductor.run())
        broken = asyncio.ensure_future(self.events.broken())
        try:
            await asyncio.wait({season, broken}, return_when=asyncio.FIRST_COMPLETED)
            if broken.done():
                raise broken.result()
            await season
        finally:
            season.cancel()
            broken.cancel()
        for extension in self._extensions:
            await extension.farewell()
        if self._keeper is not None:
            await self._keeper.save()

    async def close(self) -> None:
        self.conductor.close()
        await super().close()

    async def register_player(
        self, request: RegisterPlayer, *, guest: bool = False, model: str | None = None
    ) -> PlayerRegistered:
        applicant = _applicant(request, Role.PLAYER, request.player_meta)
        decided = await self._decide(replace(applicant, guest=guest, model=model))
        return PlayerRegistered(
            **self.stamp(request.conversation_id),
            **_outcome(decided, self.settings.league_id),
            player_id=decided.agent_id if isinstance(decided, Admission) else None,
        )

    async def register_referee(self, request: RegisterReferee) -> RefereeRegistered:
        decided = await self._decide(_applicant(request, Role.REFEREE, request.referee_meta))
        return RefereeRegistered(
            **self.stamp(request.conversation_id),
            **_outcome(decided, self.settings.league_id),
            referee_id=decided.agent_id if isinstance(decided, Admission) else None,
        )

    async def _decide(self, applicant: Applicant) -> Admission | Refusal:
        started = self.season.stage is not Stage.REGISTRATION
        roster = self.season.roster
        decided = judge(applicant, roster, self.settings, started=started, now=self.clock())
        if isinstance(decided, Refusal):
            log.info("refused %s: %s", applicant.display_name, decided.reason)
            return decided
        returning = roster.get(decided.agent_id)
        await self.events.append(decided.event)
        self.conductor.arrived(roster[decided.agent_id], returning)
        return decided

    def take_transcript(self, part: TranscriptPart) -> Acknowledgement:
        """Take what a referee has to tell of its match before it reports the result."""
        check_right(part, self._who(part), self.season)
        if part.part <= MOST_PARTS and not self.season.past(part.match_id):
            self._transcripts.setdefault(part.match_id, {})[part.part] = part.entries
        return Acknowledgement(match_id=part.match_id)

    async def take_result(self, report: ResultReport) -> Acknowledgement:
        """Take a result once, and only from the referee that has the match."""
        referee = self._who(report)
        at, ticketless = written(self.clock()), self.conductor.matchday.estranged(referee)
        ended = judged(report, referee, self.season, at, ticketless=ticketless)
        if ended is not None and any(one.voids(ended) for one in self._extensions):
            self.conductor.play_again(ended.match_id)
            detail = "the league was away during the match, which is played again"
            raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, about="MATCH_RESULT_REPORT")
        if ended is not None:
            self._incidents(report, referee, ended)
        before = self._transcripts.pop(report.match_id, {})
        said = [entry for part in sorted(before) for entry in before[part]]
        if ended is not None and await self.events.append(ended, [*said, *report.transcript]):
            self.conductor.match_ended(ended)
            return Acknowledgement(match_id=report.match_id)
        await self.events.settled()  # what is known already may still be on its way to the disk
        return Acknowledgement(match_id=report.match_id, note="already known")

    def _incidents(self, report: ResultReport, referee: Entry, ended: MatchEnded) -> None:
        discipline = self.conductor.discipline
        discipline.reported(report.violations, ended)
        for violation in report.violations:
            if violation.rule == rules.PLAYER_ID_OTHER.id and violation.player_id in ended.players:
                entry = self.season.roster[violation.player_id]
                call_by(self, entry, violation.got)
        habits = list(contradiction(report.result.winner, report.result.score))
        if report.ticket is None:
            habits.append(Deviation(rules.REPORT_TICKET, "no ticket"))
        discipline.note(referee.agent_id, habits, report.match_id)

    def admit(self, message: Message, deviations: Sequence[Deviation]) -> Message:
        """Understand strangers, or, in a strict league, tell them what they must mend."""
        if deviations and self.settings.strict:
            if not isinstance(message, (RegisterPlayer, RegisterReferee)):
                self._note(message, deviations)
            broken = [deviation.rule.id for deviation in deviations]
            self.journal.note("REFUSED", "WARNING", sender=message.sender, rules=broken)
            raise refusal(deviations, name(type(message)))
        return message

    def handled(self, message: Message, deviations: Sequence[Deviation], result: Result) -> Result:
        """Write down what deviates; an agent that goes on registering is answered in its words."""
        self._note(message, deviations)
        if not isinstance(result, (PlayerRegistered, RefereeRegistered)):
            return result
        if self.settings.strict or result.status != "ACCEPTED" or message.auth_token:
            return result
        resident = self.season.roster[result.agent_id or ""]
        word = self._welcome.word(resident.endpoint, self.clock().timestamp())
        if word == result.status:
            return result
        habit = Deviation(rules.REGISTERED_EXPECTED, "registers again and again")
        self.conductor.discipline.remark(resident.agent_id, habit)
        return {**msgspec.to_builtins(result), "status": word}

    def _note(self, message: Message, deviations: Sequence[Deviation]) -> None:
        """Write down what whoever proved to be its sender does otherwise.

        Anybody can register an endpoint again: that says nothing of who listens there.
        """
        held = self.season.roster.holder(message.auth_token, self.clock())
        who = held[0] if held else None
        if who is None and isinstance(message, (RegisterPlayer, RegisterReferee)):
            resident = self.season.roster.at(_meta(message).contact_endpoint)
            who = resident if resident and len(resident.tokens) == 1 else None
        if who is not None:
            self.conductor.discipline.note(who.agent_id, deviations, message.match_id)

    def _asks_for_work(self, who: Entry, query: Query) -> bool:
        """Whether a referee asks for its own matches, as some do; the next one is a player's."""
        asks = query.query_type == "GET_NEXT_MATCH" and "player_id" not in query.query_params
        return asks and who.role is Role.REFEREE and not self.settings.strict

    def query(self, query: Query) -> QueryAnswer:
        who = self._who(query)
        found: dict[str, Any]
        try:
            if self._asks_for_work(who, query):
                found = {"data": {"next_match": self.conductor.matchday.polled(who)}}
            else:
                found = {"data": answers.ANSWERS[query.query_type](self.season, query.query_params)}
        except ProtocolError as error:
            code = error.code
            found = {
                "error": QueryProblem(
                    error_code=code, error_name=code.name, error_description=error.detail
                )
            }
        return QueryAnswer(
            **self.stamp(query.conversation_id),
            query_type=query.query_type,
            success="data" in found,
            **found,
        )

    def _who(self, message: Message) -> Entry:
        about = type(message).__struct_config__.tag
        return self.season.roster.authenticated(
            message.auth_token, message.sender, str(about), self.clock()
        )


def _meta(request: RegisterPlayer | RegisterReferee) -> PlayerMeta | RefereeMeta:
    return request.player_meta if isinstance(request, RegisterPlayer) else request.referee_meta


def _applicant(request: Message, role: Role, meta: PlayerMeta | RefereeMeta) -> Applicant:
    return Applicant(role, request.sender, meta, request.auth_token, request.league_id)


def _outcome(decided: Admission | Refusal, league_id: str) -> dict[str, Any]:
    verdict: Verdict
    if isinstance(decided, Refusal):
        verdict = "REJECTED"
        return {"status": verdict, "reason": decided.reason, "error_code": decided.code}
    verdict = "ACCEPTED"
    return {
        "status": verdict,
        "reason": None,
        "auth_token": decided.token,
        "league_id": league_id,
    }
