"""A share of the matches that a referee ends by forfeit is played again by another one.

A league that does this reads all its events when it is resumed, without a snapshot.
"""

from collections import Counter

from agent_league.agent import log
from agent_league.chance import derive_secret
from agent_league.league.context import Context
from agent_league.league.fair_play import GROUND
from agent_league.protocol import Role
from agent_league.store.events import (
    AgentDisqualified,
    Event,
    MatchEnded,
    ReportContested,
    ReportHeld,
)

MOST_DOUBTS = 3
"""How often another referee may find that nobody forfeited; then the first one is out."""
WHY = "another referee played the match, and nobody forfeited"


class CrossCheck:
    """Draws can be proven, but not that a player was silent: so somebody else asks it as well."""

    def __init__(self, context: Context) -> None:
        self._context, self._season = context, context.season
        self._held: dict[str, ReportHeld] = {}
        """The first report of each match that is played again."""
        self._doubts: Counter[str] = Counter()
        if self._season.settings.cross_check:
            context.events.listen(self._apply, ReportHeld, MatchEnded, ReportContested)

    def _apply(self, event: Event) -> None:
        """Remember what is held, and who was doubted, also before this manager was started."""
        match event:
            case ReportHeld():
                self._held[event.match_id] = event
            case MatchEnded():
                self._held.pop(event.match_id, None)
            case ReportContested(why=why) if why == WHY:
                self._doubts[event.referee_id] += 1

    def wants_other(self, ended: MatchEnded) -> bool:
        """Whether another referee has to play the match before its result counts."""
        first = self._held.get(ended.match_id)
        if first is not None:
            self._compare(first, ended)
            return False
        if not ended.forfeits or not self._is_drawn(ended.match_id) or not self._has_other(ended):
            return False
        at, who = self._context.now(), ended.referee_id
        held = ReportHeld(
            at=at, match_id=ended.match_id, referee_id=who, forfeits=dict(ended.forfeits)
        )
        self._context.events.note(held)
        return True

    def _is_drawn(self, match_id: str) -> bool:
        """Whether the match is among the share to check, which no referee can foresee."""
        number = int(derive_secret(self._season.secret, "cross-check", match_id)[:8], 16)
        return number < self._season.settings.cross_check * 2**32

    def _has_other(self, ended: MatchEnded) -> bool:
        referees = self._season.roster.present(Role.REFEREE)
        return any(one.agent_id != ended.referee_id for one in referees)

    def _compare(self, first: ReportHeld, second: MatchEnded) -> None:
        """Note it if another referee found that a player is there which the first called absent."""
        referee = first.referee_id
        if second.referee_id == referee or set(first.forfeits) <= set(second.forfeits):
            return
        evidence = ReportContested(
            at=self._context.now(),
            match_id=first.match_id,
            referee_id=referee,
            why=WHY,
            winner=next((one for one in second.players if one not in first.forfeits), None),
            details={"forfeits": {who: str(why) for who, why in first.forfeits.items()}},
        )
        self._context.events.note(evidence)
        if self._doubts[referee] == MOST_DOUBTS:
            why = f"{MOST_DOUBTS} times: {WHY}"
            log.warning("%s is out: %s", referee, why)
            at, out = self._context.now(), AgentDisqualified
            self._context.events.note(out(at=at, agent_id=referee, ground=GROUND, why=why))
