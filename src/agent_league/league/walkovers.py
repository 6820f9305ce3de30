"""Matches that end without being played."""

from agent_league.protocol import Role
from agent_league.protocol.results import Termination, read_result
from agent_league.season.roster import Lifecycle, Roster
from agent_league.store.events import MatchEnded, ScheduledMatch


def make_walkover(match: ScheduledMatch, roster: Roster, at: str) -> MatchEnded | None:
    """Return how a match ends of which a player is disqualified; None if both are in play."""
    players = [match.first, match.second]
    out = [player for player in players if roster[player].state is Lifecycle.DISQUALIFIED]
    if not out:
        return None
    winner = next((player for player in players if player not in out), None)
    details = {"reason": f"{', '.join(out)} disqualified"}
    result = read_result(players, winner, out, Termination.DISQUALIFIED, details=details)
    return MatchEnded.make(match, result, Role.LEAGUE, at)
