"""What the league does about violations: it records each, and disqualifies players for some."""

import re
from collections.abc import Iterable, Mapping

from agent_league.league.context import Context
from agent_league.protocol import ErrorCode, Role
from agent_league.protocol.deviations import Deviation, Ledger
from agent_league.protocol.requirements.rules import FIELD_INVALID, RULES
from agent_league.protocol.results import Termination
from agent_league.season.roster import Entry, Lifecycle
from agent_league.store.events import AgentDisqualified, MatchEnded, ViolationNoted

_GROUND_BY_CODE: Mapping[ErrorCode, str] = {
    ErrorCode.MISSING_REQUIRED_FIELD: "missing_field",
    ErrorCode.PROTOCOL_VERSION_MISMATCH: "version_mismatch",
}
_GROUND_BY_TERMINATION: Mapping[Termination, str] = {
    Termination.TIMEOUT: "timeout",
    Termination.UNREACHABLE: "crash",
    Termination.ERROR_REPLY: "crash",
    Termination.INVALID_REPLY: "schema",
    Termination.INVALID_MOVE: "schema",
    Termination.TOOLS_CHANGED: "schema",
    Termination.DECLINED: "unsupported_game",
}
_SECRET = re.compile(r"\b(tok|tkt)_[\w-]+")
"""Tokens and tickets, which an agent may repeat in its messages."""


def ground_of(rule: str) -> str:
    """Return the ground on which a player that breaks *rule* may be disqualified."""
    if rule == FIELD_INVALID.id:
        return "wrong_type"
    known = RULES.get(rule)
    return _GROUND_BY_CODE.get(known.code, "schema") if known else "schema"


class Discipline:
    """Records violations, and disqualifies players on the grounds that the league has chosen."""

    def __init__(self, context: Context) -> None:
        self._now, self._note = context.now, context.events.note
        self._season = context.season
        context.events.when_kept(MatchEnded, self._on_match_ended)

    def open_ledger(self, entry: Entry) -> Ledger:
        """Return a ledger for messages to *entry*; `note` records what is written there."""
        return Ledger(entry.agent_id, strict=self._season.settings.strict)

    def note(
        self, agent_id: str, deviations: Iterable[Deviation], match_id: str | None = None
    ) -> None:
        """Record the deviations of an agent; some have it disqualified."""
        for deviation in deviations:
            if self.record(agent_id, deviation, match_id):
                why = f"{deviation.rule.id}: {deviation.got}"
                self.disqualify(agent_id, ground_of(deviation.rule.id), why)

    def disqualify(self, agent_id: str, ground: str, why: str) -> None:
        """Disqualify a player, if the league has chosen this ground."""
        entry = self._season.roster[agent_id]
        exempt = entry.state is Lifecycle.DISQUALIFIED or entry.role is not Role.PLAYER
        if exempt or ground not in self._season.settings.grounds:
            return
        self._note(AgentDisqualified(at=self._now(), agent_id=agent_id, ground=ground, why=why))

    def _on_match_ended(self, ended: MatchEnded) -> None:
        for player, why in ended.forfeits.items():
            if why in _GROUND_BY_TERMINATION:
                self.disqualify(player, _GROUND_BY_TERMINATION[why], f"{why} in {ended.match_id}")

    def record(self, agent_id: str, deviation: Deviation, match_id: str | None = None) -> bool:
        """Record a deviation without consequences; False if it was recorded before in the match."""
        rule = deviation.rule.id
        if self._season.has_violation(agent_id, rule, match_id):
            return False
        at, text = self._now(), _SECRET.sub("***", deviation.got)
        self._note(ViolationNoted(at=at, agent_id=agent_id, rule=rule, got=text, match_id=match_id))
        return True
