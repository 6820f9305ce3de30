"""Whether a referee drew as it was told, and what happens to one that lies."""

from collections.abc import Awaitable, Callable, Mapping
from typing import NoReturn, TypeAlias

from msgspec.structs import replace

from agent_league.agent import log
from agent_league.game import GAMES
from agent_league.league import verdicts
from agent_league.league.context import Context
from agent_league.protocol import ErrorCode, ProtocolError
from agent_league.protocol.play import ResultReport
from agent_league.protocol.results import Termination
from agent_league.replay import ReplayError, is_same_json, list_turns, play_again
from agent_league.season.roster import Entry
from agent_league.store.events import AgentDisqualified, MatchEnded, ReportContested
from agent_league.vocabulary import Json

ABOUT = "MATCH_RESULT_REPORT"
GROUND = "false_report"
"""The ground on which a referee is put out, in every league."""

ReadMatch: TypeAlias = Callable[[str], Awaitable[MatchEnded | None]]
"""Returns how a match ended, even one whose result is only in the store."""


def is_proven(ended: MatchEnded, game_type: str, options: Mapping[str, Json], secret: str) -> bool:
    """Whether *ended* comes from the *secret* of its match, which is played again to find out."""
    details, players = ended.details, ended.players
    try:
        turns = list_turns(details, players)
        outcome, record = play_again(GAMES[game_type], options, secret, turns)
    except ReplayError:
        return False
    winner = None if outcome.winner is None else players[outcome.winner]
    told = {name: details.get(name, value) for name, value in record.items()}
    agrees = is_same_json(told, record) and ended.winner == winner
    return agrees and details.get("draw_secret", secret) == secret


class FairPlay:
    """Looks at every report; a referee that lies is put out, and its match is played elsewhere."""

    def __init__(self, context: Context, read_match: ReadMatch) -> None:
        self._context, self._season = context, context.season
        self._read_match = read_match
        self._own_drawers: set[str] = set()

    def check(self, ended: MatchEnded, referee: Entry, options: Mapping[str, Json]) -> MatchEnded:
        """Return *ended* as it is kept; raise `ProtocolError` if the referee lies."""
        match, settings = self._season.matches[ended.match_id], self._season.settings
        played = not ended.technical_losses and ended.termination == Termination.COMPLETED
        if match.commitment is None or not played:
            return ended
        game = match.game_type or settings.game_type
        if is_proven(ended, game, options, self._season.find_secret(match)):
            if options == settings.options_of(game):
                return ended
            return replace(ended, details={**ended.details, "options": dict(options)})
        if "draw_secret" in ended.details:  # it says that it drew from the secret, and did not
            self._put_out(ended, referee)
        if referee.agent_id not in self._own_drawers:
            self._own_drawers.add(referee.agent_id)
            log.info("%s draws by itself: its draws cannot be proven", referee.agent_id)
        return ended

    async def note_conflict(self, report: ResultReport, referee: Entry) -> bool:
        """Keep a second report of a match as evidence, if it says something else than the first."""
        kept = await self._read_match(report.match_id)
        if kept is None or kept.referee_id != referee.agent_id:
            return False
        try:
            told = verdicts.read_verdict(report.result, kept.players, self._find_game(report))
        except ValueError:
            told = None
        if told is not None and verdicts.tells_same(told, kept.result):
            return False
        why = "reported again, with another result"
        self._note(report.match_id, referee, why, report.result.winner, report.result.details)
        return True

    def _find_game(self, report: ResultReport) -> str:
        """Return what was played; of a match that is only in the store, the report says it.

        No other game than those of the league is believed: to look one up may import a library.
        """
        is_past = report.match_id not in self._season.matches
        if is_past and report.game_type in self._season.settings.games:
            return report.game_type
        return self._season.find_game(report.match_id)

    def _put_out(self, ended: MatchEnded, referee: Entry) -> NoReturn:
        why = f"{ended.match_id}: the number does not come from the secret that it was given"
        self._note(ended.match_id, referee, why, ended.winner, ended.details)
        at, note = self._context.now(), self._context.events.note
        who = referee.agent_id
        note(AgentDisqualified(at=at, agent_id=who, ground=GROUND, why=why))
        log.warning("%s is out: %s", who, why)
        raise ProtocolError(ErrorCode.NOT_ALLOWED, f"result.details: {why}", about=ABOUT)

    def _note(
        self, match_id: str, referee: Entry, why: str, winner: str | None, details: dict[str, Json]
    ) -> None:
        event = ReportContested(
            at=self._context.now(),
            match_id=match_id,
            referee_id=referee.agent_id,
            why=why,
            winner=winner,
            details=details,
        )
        self._context.events.note(event)
