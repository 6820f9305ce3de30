"""Where the deviations of one agent are written down, or refused."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from agent_league.dialects import rules
from agent_league.dialects.rules import Deviation, Rule
from agent_league.protocol import ErrorCode, ProtocolError


class Ledger:
    """What the agent *who* did otherwise than the protocol asks; a strict one does not let it pass.

    Each rule is kept once, so a ledger stays as short as the table of rules.
    """

    def __init__(self, who: str = "", *, strict: bool = False) -> None:
        self.who = who
        self.strict = strict
        self.deviations: dict[str, Deviation] = {}

    def add(self, deviation: Deviation) -> None:
        """Write *deviation* down; it is refused elsewhere."""
        self.deviations.setdefault(deviation.rule.id, deviation)

    def note(self, deviations: Iterable[Deviation]) -> None:
        """Write *deviations* down; raise `ProtocolError` if they are not allowed."""
        found = list(deviations)
        for deviation in found:
            self.add(deviation)
        if found and self.strict:
            raise refusal(found)


_BROKEN: Mapping[ErrorCode, Rule] = MappingProxyType(
    {
        ErrorCode.MISSING_REQUIRED_FIELD: rules.FIELD_MISSING,
        ErrorCode.PROTOCOL_VERSION_MISMATCH: rules.PROTOCOL_VERSION,
    }
)


def unmended(code: ErrorCode, detail: str) -> Deviation:
    """Return what a message that nobody could understand has broken."""
    return Deviation(_BROKEN.get(code, rules.FIELD_INVALID), detail[:80])


def refusal(deviations: Iterable[Deviation], about: str = "UNKNOWN") -> ProtocolError:
    """Return *deviations* as the error that their sender is told."""
    broken = list(deviations)
    first = broken[0]
    rules = [deviation.rule.id for deviation in broken]
    return ProtocolError(
        first.rule.code,
        "; ".join(deviation.sentence for deviation in broken)[:500],
        about=about,
        expected=first.rule.expected,
        mend=first.rule.mend,
        rules=rules,
    )
