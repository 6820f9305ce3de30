"""Matches that end without being played."""

from agent_league.protocol import Role
from agent_league.protocol.results import Termination, read_result
from agent_league.season.roster import DISQUALIFIED, Roster
from agent_league.store.events import MatchEnded, ScheduledMatch


def is_walkover(match: ScheduledMatch, roster: Roster) -> bool:
    """Whether a player of *match* is disqualified."""
    return _is_out(match.first, roster) or _is_out(match.second, roster)


def make_walkover(match: ScheduledMatch, roster: Roster, at: str) -> MatchEnded:
    """Return how a match ends of which a player is disqualified."""
    players = [match.first, match.second]
    out = [player for player in players if _is_out(player, roster)]
    winner = next((player for player in players if player not in out), None)
    details = {"reason": f"{', '.join(out)} disqualified"}
    result = read_result(players, winner, out, Termination.DISQUALIFIED, details=details)
    return MatchEnded.make(match, result, Role.LEAGUE, at)


def _is_out(player: str, roster: Roster) -> bool:
    return roster[player].state is DISQUALIFIED
