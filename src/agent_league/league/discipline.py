"""What the league makes of violations: each is written down, and some put a player out."""

import re
from collections.abc import Iterable, Mapping

from agent_league.agent import Agent, log
from agent_league.clock import written
from agent_league.dialects import RULES, Deviation, Ledger, rules
from agent_league.league.roster import Entry, Lifecycle
from agent_league.league.season import Season
from agent_league.protocol import ErrorCode, Role
from agent_league.protocol.play import Violation
from agent_league.store import EventLog
from agent_league.store.events import AgentDisqualified, MatchEnded, ViolationNoted

_BY_CODE: Mapping[ErrorCode, str] = {
    ErrorCode.MISSING_REQUIRED_FIELD: "missing_field",
    ErrorCode.PROTOCOL_VERSION_MISMATCH: "version_mismatch",
}
_BY_TERMINATION: Mapping[str, str] = {
    "timeout": "timeout",
    "unreachable": "crash",
    "error_reply": "crash",
    "invalid_reply": "schema",
    "invalid_move": "schema",
    "tools_changed": "schema",
    "declined": "unsupported_game",
}


_SECRET = re.compile(r"\b(tok|tkt)_[\w-]+")
"""What an agent may repeat, in its own words, of what it was shown."""


def ground_of(rule: str) -> str:
    """Return which condition a player meets that breaks *rule*."""
    if rule == rules.FIELD_INVALID.id:
        return "wrong_type"
    known = RULES.get(rule)
    return _BY_CODE.get(known.code, "schema") if known else "schema"


class Discipline:
    """Keeps account of who broke which rule, and puts out whom the league will not have."""

    def __init__(self, manager: Agent, season: Season, events: EventLog) -> None:
        self._manager = manager
        self._season = season
        self._events = events

    @property
    def strict(self) -> bool:
        return self._season.settings.strict

    def ledger(self, entry: Entry) -> Ledger:
        """Return where to write down what *entry* does otherwise when it is spoken to."""
        return Ledger(entry.agent_id, strict=self.strict)

    def account(self, ledger: Ledger, match_id: str | None = None) -> None:
        self.note(ledger.who, ledger.deviations.values(), match_id)

    def note(
        self, agent_id: str, deviations: Iterable[Deviation], match_id: str | None = None
    ) -> None:
        """Write down what an agent did otherwise, each rule once per match at most."""
        for deviation in deviations:
            self._note(agent_id, deviation.rule.id, deviation.got, match_id)

    def reported(self, violations: Iterable[Violation], ended: MatchEnded) -> None:
        """Write down what a referee reports of the players of its match, before it has ended."""
        for violation in violations:
            if violation.player_id in ended.players and violation.rule in RULES:
                self._note(violation.player_id, violation.rule, violation.got[:80], ended.match_id)

    def match_ended(self, ended: MatchEnded) -> None:
        """Disqualify whoever lost a match in a way that the league does not forgive."""
        ground = _BY_TERMINATION.get(ended.termination)
        if ground is not None:
            for player in ended.technical_losses:
                self._disqualify(player, ground, f"{ended.termination} in {ended.match_id}")

    def never_answered(self, entry: Entry) -> None:
        self._disqualify(entry.agent_id, "invalid_endpoint", "never answered after registration")

    def remark(self, agent_id: str, deviation: Deviation) -> None:
        """Write down what is likely an agent's habit, but may be another's mischief."""
        self._write(agent_id, deviation.rule.id, deviation.got, None)

    def _note(self, agent_id: str, rule: str, got: str, match_id: str | None) -> None:
        if self._write(agent_id, rule, got, match_id):
            self._disqualify(agent_id, ground_of(rule), f"{rule}: {got}")

    def _write(self, agent_id: str, rule: str, got: str, match_id: str | None) -> bool:
        """Write it down; False if that was done before."""
        if self._season.noted(agent_id, rule, match_id):
            return False
        at, said = written(self._manager.clock()), _SECRET.sub("***", got)
        self._events.note(
            ViolationNoted(at=at, agent_id=agent_id, rule=rule, got=said, match_id=match_id)
        )
        return True

    def _disqualify(self, agent_id: str, ground: str, why: str) -> None:
        entry = self._season.roster[agent_id]
        out = entry.state is Lifecycle.DISQUALIFIED or entry.role is not Role.PLAYER
        if out or ground not in self._season.settings.grounds:
            return
        log.warning("%s is disqualified (%s): %s", agent_id, ground, why)
        at = written(self._manager.clock())
        self._events.note(AgentDisqualified(at=at, agent_id=agent_id, ground=ground, why=why))
