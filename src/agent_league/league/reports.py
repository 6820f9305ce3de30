"""Receives the reports of referees: from whom they count, and which event follows."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from agent_league.agent import log
from agent_league.league import verdicts
from agent_league.league.context import Context
from agent_league.league.cross_check import CrossCheck
from agent_league.league.fair_play import FairPlay, ReadMatch
from agent_league.league.orders import Assignment
from agent_league.league.season_runner import SeasonRunner
from agent_league.peers.endpoint import Deferred
from agent_league.protocol import Acknowledgement, ErrorCode, ProtocolError, tokens
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.message import LEAGUE, REFEREE
from agent_league.protocol.play import ResultReport, TranscriptPart
from agent_league.protocol.requirements import rules
from agent_league.protocol.results import MatchResult, ReportedResult, Termination
from agent_league.season.roster import Entry, Lifecycle
from agent_league.season.season import Season, Stage
from agent_league.store.events import MatchEnded, MatchVoided
from agent_league.vocabulary import Json

Report: TypeAlias = ResultReport | TranscriptPart

ABOUT = "MATCH_RESULT_REPORT"
UNPROVEN = (
    "auth_token: this token was given to somebody who registered the endpoint again without its "
    "token; report with the ticket of the match, or register with the token that the agent has"
)
PLAYED_AGAIN = "somebody forfeited: another referee plays the match, too"
KNOWN = "already known"
CONTESTED = "another result is known already, and stays; this one is kept as evidence"
MAX_UNPLAYED = 3
"""How often a match may be ended without a result until it is void."""
MAX_TRANSCRIPT_PARTS = 400
"""How many parts of a transcript are kept; a referee cannot fill the memory of the league."""
RESUME_GRACE = 60.0
"""Seconds after an interruption in which a referee may not know yet that guests can be reached."""
UNREACHED = {Termination.UNREACHABLE, Termination.SUSPENDED}
"""Why a player loses that the referee could not reach, or did not even try to reach."""


class ReportReceiver:
    """Keeps each result once, with the transcript of its match."""

    def __init__(self, context: Context, runner: SeasonRunner, read_match: ReadMatch) -> None:
        self._context, self._season = context, context.season
        self._dispatcher, self._discipline = runner.dispatcher, runner.discipline
        self._fair_play, self._cross_check = FairPlay(context, read_match), CrossCheck(context)
        self._dispatcher.offers.take_result = self.take_answer
        self._unplayed: dict[str, set[str]] = defaultdict(set)
        """The tickets of the attempts at a match that were ended without a result."""
        self._unproven: set[str] = set()
        """The referees in whose name something was reported that does not count."""
        self._transcripts: dict[str, dict[int, list[Json]]] = {}
        self._guests_excused_until = float("-inf")

    def resume(self) -> None:
        """Excuse guests for a while: nobody could reach them while the league was down."""
        if self._season.stage is Stage.PLAYING:
            self._guests_excused_until = asyncio.get_running_loop().time() + RESUME_GRACE

    def take_transcript(self, part: TranscriptPart) -> Acknowledgement:
        """Take a part of the transcript of a match that has not been reported yet."""
        check_right(part, self._context.authenticate(part), self._season)
        if part.part <= MAX_TRANSCRIPT_PARTS and not self._season.is_past(part.match_id):
            self._transcripts.setdefault(part.match_id, {})[part.part] = part.entries
        return Acknowledgement(match_id=part.match_id)

    def take_result(self, report: ResultReport) -> Acknowledgement | Awaitable[Acknowledgement]:
        """Take a result once, and only from the referee that has the match."""
        try:
            referee = self._identify(report)
        except ProtocolError as error:
            self._warn_if_unproven(report, error)
            raise
        return self._keep(report, referee)

    async def take_answer(self, assignment: Assignment, result: ReportedResult) -> None:
        """Take the result that came as the answer to an order, on a connection that we opened."""
        match, settings = assignment.match, self._season.settings
        report = ResultReport(
            **self._context.envelope(f"conv-{match.match_id.lower()}-answer"),
            league_id=settings.league_id,
            round_id=match.round_id,
            match_id=match.match_id,
            game_type=match.game_type or settings.game_type,
            result=result,
            ticket=assignment.ticket,
        )
        try:
            kept = self._keep(report, self._season.roster[assignment.referee_id])
            if not isinstance(kept, Acknowledgement):
                await kept
        except ProtocolError as error:
            log.warning("%s answers %s badly: %s", assignment.referee_id, match.match_id, error)
            self._dispatcher.repeat(match.match_id, elsewhere=True)

    def _identify(self, report: ResultReport) -> Entry:
        """Return the referee that sent *report*; without a token, the ticket of the match proves it."""
        assigned = self._season.assignments.get(report.match_id)
        if report.ticket and not report.auth_token and assigned is not None:
            referee = self._season.roster[assigned.referee_id]
            is_right = tokens.is_same_secret(tokens.hash_token(report.ticket), assigned.ticket_hash)
            if is_right and self._dispatcher.offers.is_ticketless(referee):
                return referee
        return self._context.authenticate(report, any_id=not self._season.settings.strict)

    def _warn_if_unproven(self, report: ResultReport, error: ProtocolError) -> None:
        """Tell the operator once that the referee of a match seems to report without proof."""
        assigned = self._season.assignments.get(report.match_id)
        referee_id = assigned.referee_id if assigned else ""
        if report.sender == f"{REFEREE}:{referee_id}" and referee_id not in self._unproven:
            self._unproven.add(referee_id)
            self._dispatcher.note_unproven(self._season.roster[referee_id])
            log.warning(
                "%s reports without proof, so its results do not count: %s "
                "(hint: it must send the auth_token of its registration with every report)",
                referee_id,
                error.detail,
            )

    def _keep(
        self, report: ResultReport, referee: Entry
    ) -> Acknowledgement | Awaitable[Acknowledgement]:
        ticketless = report.ticket is None and self._dispatcher.offers.is_ticketless(referee)
        if ticketless and not self._context.has_proof(report):
            raise ProtocolError(ErrorCode.NOT_ALLOWED, UNPROVEN, about=ABOUT, field="auth_token")
        report = self._use_ids(report)
        at = self._context.now()
        judged = judge_report(report, referee, self._season, at, ticketless=ticketless)
        transcript = self._read_transcript(report)
        if judged is None:
            return self._note_known(report, referee)
        ended, result = judged
        if not self._was_played(report):
            return self._play_again(report, referee, ended)
        self._check_guests(ended)
        options = self._dispatcher.order_writer.find_options(report.match_id)
        ended = self._fair_play.check(ended, referee, options)
        if self._cross_check.wants_other(ended):
            self._dispatcher.repeat(ended.match_id, elsewhere=True)
            return self._acknowledge_when_kept(ended.match_id, PLAYED_AGAIN)
        self._note_violations(report, referee, result)
        if self._context.events.has_happened(ended):
            return self._acknowledge_when_kept(report.match_id, KNOWN)
        kept = self._context.events.add(ended, transcript, self._dispatcher.can_results_wait)
        acknowledgement = Acknowledgement(match_id=report.match_id)
        return acknowledgement if kept is None else Deferred(acknowledgement, kept)

    def _read_transcript(self, report: ResultReport) -> str:
        """Return the whole transcript of a match as JSON: a long one comes in parts before its report.

        Raises `ProtocolError` if no store can keep it; nothing has looked into its entries so far.
        """
        parts = self._transcripts.pop(report.match_id, {})
        before = [msgspec.json.encode(entry) for part in sorted(parts) for entry in parts[part]]
        entries = [*before, *report.transcript]
        try:
            return f"[{b','.join(entries).decode()}]" if entries else ""
        except UnicodeDecodeError as error:
            raise _make_field_error(f"transcript: expected UTF-8, got {error.reason}") from None

    async def _note_known(self, report: ResultReport, referee: Entry) -> Acknowledgement:
        """Acknowledge the report of a match whose result is known; another result is evidence."""
        is_other = await self._fair_play.note_conflict(report, referee)
        return await self._acknowledge_when_kept(report.match_id, CONTESTED if is_other else KNOWN)

    async def _acknowledge_when_kept(self, match_id: str, note: str) -> Acknowledgement:
        """Acknowledge a report when all results so far are on the disk."""
        await self._context.events.flush()
        return Acknowledgement(match_id=match_id, note=note)

    def _was_played(self, report: ResultReport) -> bool:
        return verdicts.was_played(report.result, self._season.find_game(report.match_id))

    def _use_ids(self, report: ResultReport) -> ResultReport:
        """Return *report* with ids in place of display names, where a referee knows only these."""
        match, result = self._season.matches.get(report.match_id), report.result
        if match is None or verdicts.has_ids(result, (match.first, match.second)):
            return report
        players = [self._season.roster[one] for one in (match.first, match.second)]
        ids = {
            one.display_name: one.agent_id
            for one in players
            if one.display_name not in self._season.roster
        }
        if len(ids) < len(players):
            return report
        return replace(report, result=verdicts.use_ids(result, ids))

    def _play_again(
        self, report: ResultReport, referee: Entry, ended: MatchEnded
    ) -> Acknowledgement:
        """Have a match that was not played go to another referee; it is void in the end."""
        attempts = self._unplayed[report.match_id]
        assigned = self._season.assignments[report.match_id]
        if assigned.ticket_hash not in attempts:
            attempts.add(assigned.ticket_hash)
            deviation = Deviation(rules.REPORT_FORM, "a match that was not played")
            self._discipline.note(referee.agent_id, [deviation], report.match_id)
            if len(attempts) >= MAX_UNPLAYED:
                self._end_unplayed(ended)
            else:
                self._dispatcher.repeat(report.match_id, elsewhere=True)
        return Acknowledgement(match_id=report.match_id, note="not played: it is played again")

    def _end_unplayed(self, ended: MatchEnded) -> None:
        """End a match that no referee could play: it counts for nobody."""
        reason = ended.details.get("reason") or "no reason given"
        why = f"it was not played, {MAX_UNPLAYED} times: {reason}"[:200]
        ended = replace(
            ended, termination=Termination.NOT_PLAYED, details=ended.details | {"reason": why}
        )
        self._context.events.note(ended)
        voided = MatchVoided(
            at=ended.at,
            match_id=ended.match_id,
            round_id=ended.round_id,
            players=ended.players,
            winner=None,
            technical_losses=[],
            why=why,
        )
        self._context.events.note(voided)

    def _check_guests(self, ended: MatchEnded) -> None:
        """Refuse a result and have the match played again if a guest lost it through our fault."""
        if not ended.forfeits or asyncio.get_running_loop().time() >= self._guests_excused_until:
            return
        unreached = [
            self._season.roster[player]
            for player, why in ended.forfeits.items()
            if why in UNREACHED
        ]
        if any(entry.guest and entry.state is not Lifecycle.SUSPENDED for entry in unreached):
            self._dispatcher.repeat(ended.match_id)
            detail = "the league was away during the match, which is played again"
            raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, about=ABOUT)

    def _note_violations(self, report: ResultReport, referee: Entry, result: MatchResult) -> None:
        for violation in report.violations:
            player, rule = violation.player_id, rules.RULES.get(violation.rule)
            if rule is None or player not in result.players:
                continue
            self._discipline.note(player, [Deviation(rule, violation.got[:80])], report.match_id)
            if rule is rules.PLAYER_ID_OTHER:
                line = self._context.line(self._season.roster[player])
                line.session.alias = player, violation.got
        deviations = list(verdicts.find_contradiction(report.result, result))
        strangers = verdicts.find_choices(report.result.details).keys() - result.players
        if strangers:
            deviations.append(Deviation(rules.REPORT_FORM, f"a choice of {min(strangers)}"[:80]))
        if report.ticket is None:
            deviations.append(Deviation(rules.REPORT_TICKET, "no ticket"))
        if not report.auth_token and report.sender != LEAGUE:  # its ticket was proof enough
            deviations.append(Deviation(rules.FIELD_MISSING, "no auth_token"))
        if report.sender not in (LEAGUE, f"{REFEREE}:{referee.agent_id}"):
            deviations.append(Deviation(rules.PLAYER_ID_OTHER, report.sender[:80]))
        self._discipline.note(referee.agent_id, deviations, report.match_id)


def judge_report(
    report: ResultReport, referee: Entry, season: Season, at: str, *, ticketless: bool = False
) -> tuple[MatchEnded, MatchResult] | None:
    """Return the event that *report* leads to, and its result, or None if it is known already.

    Raises `ProtocolError` for a report that does not count. A referee that cannot know its ticket
    is *ticketless*: its token is enough. Points follow from the winner, not from the score in the
    report.
    """
    match = season.matches.get(report.match_id)
    if match is None and not season.is_past(report.match_id):
        detail = f"match_id: there is no match {report.match_id[:40]!r} to report"
        raise ProtocolError(ErrorCode.MATCH_ID_MISMATCH, detail, about=ABOUT, field="match_id")
    check_right(report, referee, season, ticketless=ticketless)
    if match is None or report.match_id in season.results:
        return None
    try:
        players = (match.first, match.second)
        game = match.game_type or season.settings.game_type
        result = verdicts.read_verdict(report.result, players, game)
    except ValueError as error:
        raise _make_field_error(f"result.{error}") from None
    return MatchEnded.make(match, result, referee.agent_id, at), result


def check_right(
    report: Report, referee: Entry, season: Season, *, ticketless: bool = False
) -> None:
    """Raise `ProtocolError` unless *referee* may report this match."""
    if referee.role is not REFEREE:
        detail = "only a referee reports results"
        raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, about=ABOUT)
    if season.is_past(report.match_id):
        return  # its assignment is no longer in memory, and the report changes nothing
    assignment = season.assignments.get(report.match_id)
    if assignment is None or assignment.referee_id != referee.agent_id:
        detail = f"match_id: {report.match_id} was given to another referee"
        raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, about=ABOUT, field="match_id")
    if ticketless and report.ticket is None:
        return
    if not tokens.is_same_secret(tokens.hash_token(report.ticket or ""), assignment.ticket_hash):
        detail = "ticket: not the ticket that came with this match"
        raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, about=ABOUT, field="ticket")


def _make_field_error(detail: str) -> ProtocolError:
    field = detail.partition(":")[0]
    return ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail, about=ABOUT, field=field)
