"""What a report is worth: from whom it counts, and what follows from it."""

from collections.abc import Sequence

from msgspec import Raw

from agent_league.league.roster import Entry
from agent_league.league.season import Season
from agent_league.protocol import ErrorCode, ProtocolError, Role, tokens
from agent_league.protocol.play import ReportedResult, ResultReport, Status, TranscriptPart
from agent_league.store.events import MatchEnded, ScheduledMatch

ABOUT = "MATCH_RESULT_REPORT"


def judged(
    report: ResultReport, referee: Entry, season: Season, at: str, *, ticketless: bool = False
) -> MatchEnded | None:
    """Return what *report* establishes, None if it is known already; raise `ProtocolError`.

    A referee that cannot know its ticket is *ticketless*: its token has to do.

    What a player gets follows from who won, never from the score that came with it.
    """
    match = season.matches.get(report.match_id)
    if match is None and not season.past(report.match_id):
        detail = f"match_id: there is no match {report.match_id[:40]!r} to report"
        raise ProtocolError(ErrorCode.MATCH_ID_MISMATCH, detail, about=ABOUT, field="match_id")
    check_right(report, referee, season, ticketless=ticketless)
    if match is None or report.match_id in season.results:
        return None
    _check_result(report.result, match)
    _check_readable(report.transcript)
    losers = _losers(report.result, match)
    return MatchEnded(
        at=at,
        match_id=match.match_id,
        round_id=match.round_id,
        referee_id=referee.agent_id,
        players=[match.first, match.second],
        winner=report.result.winner,
        status=_status(report.result, losers),
        termination=report.result.termination or ("forfeit" if losers else "completed"),
        technical_losses=losers,
        details=report.result.details,
    )


def walkover(match: ScheduledMatch, out: list[str], at: str) -> MatchEnded:
    """Return how a match ends, which nobody referees, between players of whom some are *out*."""
    players = [match.first, match.second]
    here = [player for player in players if player not in out]
    return MatchEnded(
        at=at,
        match_id=match.match_id,
        round_id=match.round_id,
        referee_id=Role.LEAGUE,
        players=players,
        winner=here[0] if here else None,
        status="TECHNICAL_LOSS",
        termination="disqualified",
        technical_losses=out,
        details={"reason": f"{', '.join(out)} disqualified"},
    )


def check_right(
    report: ResultReport | TranscriptPart,
    referee: Entry,
    season: Season,
    *,
    ticketless: bool = False,
) -> None:
    """Raise `ProtocolError` unless *referee* has the match that it speaks of."""
    if referee.role is not Role.REFEREE:
        detail = "only a referee reports results"
        raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, about=ABOUT)
    if season.past(report.match_id):
        return  # whose it was is not at hand, and nothing that is said of it counts any more
    assigned = season.assignments.get(report.match_id)
    if assigned is None or assigned.referee_id != referee.agent_id:
        detail = f"match_id: {report.match_id} was given to another referee"
        raise ProtocolError(ErrorCode.NOT_ALLOWED, detail, about=ABOUT, field="match_id")
    if ticketless and report.ticket is None:
        return
    if not tokens.same(tokens.token_hash(report.ticket or ""), assigned.ticket_hash):
        detail = "ticket: not the ticket that came with this match"
        raise ProtocolError(ErrorCode.AUTH_TOKEN_INVALID, detail, about=ABOUT, field="ticket")


def _check_result(result: ReportedResult, match: ScheduledMatch) -> None:
    players = {match.first, match.second}
    losers = set(result.technical_losses)
    if result.winner is not None and result.winner not in players - losers:
        detail = f"result.winner: expected {' or '.join(sorted(players))}, or null"
        raise _impossible(detail, "result.winner")
    if not losers <= players or (len(losers) == 1 and result.winner is None):
        detail = (
            "result.technical_losses: expected players of this match, the winner not among them"
        )
        raise _impossible(detail, "result.technical_losses")


def _check_readable(transcript: Sequence[Raw]) -> None:
    """Refuse what no store could keep: so far the entries were passed over, not read."""
    try:
        b"".join(transcript).decode()
    except UnicodeDecodeError as error:
        raise _impossible(f"transcript: expected UTF-8, got {error.reason}", "transcript") from None


def _impossible(detail: str, field: str) -> ProtocolError:
    return ProtocolError(ErrorCode.INVALID_FIELD_VALUE, detail, about=ABOUT, field=field)


def _losers(result: ReportedResult, match: ScheduledMatch) -> list[str]:
    """Return who forfeited; a technical loss without names is that of whoever did not win."""
    if result.technical_losses or result.status != "TECHNICAL_LOSS":
        return list(result.technical_losses)
    return [player for player in (match.first, match.second) if player != result.winner]


def _status(result: ReportedResult, losers: list[str]) -> Status:
    if losers:
        return "TECHNICAL_LOSS"
    return "DRAW" if result.winner is None else "WIN"
