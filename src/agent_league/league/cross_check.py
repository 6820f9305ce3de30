"""A share of the matches that a referee ends by forfeit is played again by another one."""

from collections import Counter

from agent_league.agent import log
from agent_league.chance import derive_secret
from agent_league.league.context import Context
from agent_league.league.fair_play import GROUND
from agent_league.protocol import Role
from agent_league.store.events import AgentDisqualified, MatchEnded, ReportContested

MOST_DOUBTS = 3
"""How often another referee may find that nobody forfeited; then the first one is out."""
WHY = "another referee played the match, and nobody forfeited"


class CrossCheck:
    """Draws can be proven, but not that a player was silent: so somebody else asks it as well."""

    def __init__(self, context: Context) -> None:
        self._context, self._season = context, context.season
        self._held: dict[str, MatchEnded] = {}
        """The first report of each match that is played again."""
        self._doubts: Counter[str] = Counter()

    def wants_other(self, ended: MatchEnded) -> bool:
        """Whether another referee has to play the match before its result counts."""
        first = self._held.pop(ended.match_id, None)
        if first is not None:
            self._compare(first, ended)
            return False
        if not ended.forfeits or not self._is_drawn(ended.match_id) or not self._has_other(ended):
            return False
        self._held[ended.match_id] = ended
        return True

    def _is_drawn(self, match_id: str) -> bool:
        """Whether the match is among the share to check, which no referee can foresee."""
        number = int(derive_secret(self._season.secret, "cross-check", match_id)[:8], 16)
        return number < self._season.settings.cross_check * 2**32

    def _has_other(self, ended: MatchEnded) -> bool:
        referees = self._season.roster.present(Role.REFEREE)
        return any(one.agent_id != ended.referee_id for one in referees)

    def _compare(self, first: MatchEnded, second: MatchEnded) -> None:
        """Note it if another referee found that a player is there which the first called absent."""
        referee = first.referee_id
        if second.referee_id == referee or set(first.forfeits) <= set(second.forfeits):
            return
        evidence = ReportContested(
            at=self._context.now(),
            match_id=first.match_id,
            referee_id=referee,
            why=WHY,
            winner=first.winner,
            details=first.details,
        )
        self._context.events.note(evidence)
        self._doubts[referee] += 1
        if self._doubts[referee] == MOST_DOUBTS:
            why = f"{MOST_DOUBTS} times: {WHY}"
            log.warning("%s is out: %s", referee, why)
            at, out = self._context.now(), AgentDisqualified
            self._context.events.note(out(at=at, agent_id=referee, ground=GROUND, why=why))
