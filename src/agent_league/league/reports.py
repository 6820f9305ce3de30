"""Receives the reports of referees: from whom they count, and which event follows."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from agent_league.league.context import Context
from agent_league.league.discipline import Discipline
from agent_league.league.dispatcher import Dispatcher
from agent_league.protocol import Acknowledgement, ErrorCode, ProtocolError, Role, tokens
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.play import ResultReport, TranscriptPart
from agent_league.protocol.requirements import rules
from agent_league.protocol.results import MatchResult, ReportedResult, Termination, read_result
from agent_league.season.roster import Entry, Lifecycle
from agent_league.season.season import Season, Stage
from agent_league.store.events import MatchEnded, ScheduledMatch
from agent_league.vocabulary import Json

Report: TypeAlias = ResultReport | TranscriptPart

ABOUT = "MATCH_RESULT_REPORT"
UNPROVEN = (
    "auth_token: this token was given to somebody who registered the endpoint again without its "
    "token; report with the ticket of the match, or register with the token that the agent has"
)
MAX_TRANSCRIPT_PARTS = 100
"""How many parts of a transcript are kept; a referee cannot fill the memory of the league."""
RESUME_GRACE = 60.0
"""Seconds after an interruption in which a referee may not know yet that guests can be reached."""
UNREACHED = {Termination.UNREACHABLE, Termination.SUSPENDED}
"""Why a player loses that the referee could not reach, or did not even try to reach."""


class ReportReceiver:
    """Keeps each result once, with the transcript of its match."""

    def __init__(self, context: Context, dispatcher: Dispatcher, discipline: Discipline) -> None:
        self._context, self._season = context, context.season
        self._dispatcher = dispatcher
        self._discipline = discipline
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

    async def take_result(self, report: ResultReport) -> Acknowledgement:
        """Take a result once, and only from the referee that has the match."""
        referee = self._context.authenticate(report)
        ticketless = report.ticket is None and self._dispatcher.is_ticketless(referee)
        if ticketless and not self._context.has_proof(report):
            raise ProtocolError(ErrorCode.NOT_ALLOWED, UNPROVEN, about=ABOUT, field="auth_token")
        at = self._context.now()
        ended = judge_report(report, referee, self._season, at, ticketless=ticketless)
        if ended is not None:
            self._check_guests(ended)
            self._note_violations(report, referee, ended)
        earlier_parts = self._transcripts.pop(report.match_id, {})
        entries = [entry for part in sorted(earlier_parts) for entry in earlier_parts[part]]
        events = self._context.events
        if ended is not None and await events.append(ended, [*entries, *report.transcript]):
            return Acknowledgement(match_id=report.match_id)
        await events.flush()  # the result that is known already may still be on its way to the disk
        return Acknowledgement(match_id=report.match_id, note="already known")

    def _check_guests(self, ended: MatchEnded) -> None:
        """Refuse a result and have the match played again if a guest lost it through our fault."""
        if asyncio.get_running_loop().time() >= self._guests_excused_until:
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

    def _note_violations(self, report: ResultReport, referee: Entry, ended: MatchEnded) -> None:
        for violation in report.violations:
            player, rule = violation.player_id, rules.RULES.get(violation.rule)
            if rule is None or player not in ended.players:
                continue
            self._discipline.note(player, [Deviation(rule, violation.got[:80])], ended.match_id)
            if rule is rules.PLAYER_ID_OTHER:
                line = self._context.line(self._season.roster[player])
                line.session.alias = player, violation.got
        deviations = list(find_contradiction(report.result.winner, report.result.score))
        strangers = sorted(_find_choices(report.result.details).keys() - {*ended.players})
        if strangers:
            deviations.append(Deviation(rules.REPORT_FORM, f"a choice of {strangers[0]}"[:80]))
        if report.ticket is None:
            deviations.append(Deviation(rules.REPORT_TICKET, "no ticket"))
        self._discipline.note(referee.agent_id, deviations, report.match_id)


def judge_report(
    report: ResultReport, referee: Entry, season: Season, at: str, *, ticketless: bool = False
) -> MatchEnded | None:
    """Return the event that *report* leads to, or None if the result is known already.

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
    try:  # refuse a transcript that no store can keep; nothing has decoded its entries so far
        b"".join(report.transcript).decode()
    except UnicodeDecodeError as error:
        raise _make_field_error(f"transcript: expected UTF-8, got {error.reason}") from None
    return MatchEnded.make(match, _read_result(report.result, match), referee.agent_id, at)


def check_right(
    report: Report, referee: Entry, season: Season, *, ticketless: bool = False
) -> None:
    """Raise `ProtocolError` unless *referee* may report this match."""
    if referee.role is not Role.REFEREE:
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


def _read_result(reported: ReportedResult, match: ScheduledMatch) -> MatchResult:
    players = (match.first, match.second)
    losers = reported.technical_losses
    if not losers and reported.status == "TECHNICAL_LOSS":
        losers = [player for player in players if player != reported.winner]
    try:
        return read_result(
            players,
            reported.winner,
            losers,
            reported.termination,
            reported.forfeits,
            _keep_own_choices(reported.details, players),
        )
    except ValueError as error:
        raise _make_field_error(f"result.{error}") from None


def _keep_own_choices(details: dict[str, Json], players: tuple[str, str]) -> dict[str, Json]:
    """Return *details* without choices under the id of somebody who does not play this match."""
    choices = _find_choices(details)
    own_choices = {who: choices[who] for who in players if who in choices}
    return details | {"choices": own_choices} if choices else details


def _find_choices(details: Mapping[str, Json]) -> dict[str, Json]:
    choices = details.get("choices")
    return choices if isinstance(choices, dict) else {}


def _make_field_error(detail: str) -> ProtocolError:
    field = detail.partition(":")[0]
    return ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail, about=ABOUT, field=field)


def find_contradiction(winner: str | None, score: Mapping[str, Json]) -> Iterator[Deviation]:
    """Yield a deviation if the reported points contradict the winner; they are not counted."""
    if not score:
        return
    most = max(map(_to_number, score.values()))
    best = [who for who, points in score.items() if _to_number(points) == most]
    agrees = len(best) == len(score) if winner is None else best == [winner]
    if not agrees:
        yield Deviation(rules.REPORT_SCORE, f"winner {winner}, score {dict(score)}"[:80])


def _to_number(value: Json) -> float:
    return value if isinstance(value, (int, float)) else -1.0
