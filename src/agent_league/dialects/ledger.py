"""Where the deviations of one agent are written down, or refused."""

from collections.abc import Iterable

from agent_league.dialects.rules import Deviation
from agent_league.protocol import ProtocolError


class Ledger:
    """What the agent *who* did otherwise than the protocol asks; a strict one does not let it pass.

    Each rule is kept once, so a ledger stays as short as the table of rules.
    """

    def __init__(self, who: str = "", *, strict: bool = False) -> None:
        self.who = who
        self.strict = strict
        self.deviations: dict[str, Deviation] = {}

    def note(self, deviations: Iterable[Deviation]) -> None:
        """Write *deviations* down; raise `ProtocolError` for the first if they are not allowed."""
        for deviation in deviations:
            self.deviations.setdefault(deviation.rule.id, deviation)
            if self.strict:
                raise refusal([deviation])


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
