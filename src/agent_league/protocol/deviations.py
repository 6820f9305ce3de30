"""What an agent does otherwise than the protocol asks, and where that is written down."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from agent_league.protocol.errors import ErrorCode, ProtocolError
from agent_league.protocol.requirements import Requirement, rules


class Deviation(NamedTuple):
    """A requirement that was broken, and what came instead: short, and without secrets."""

    rule: Requirement
    got: str

    @property
    def sentence(self) -> str:
        return f"{self.rule.id}: {self.rule.demand}; got {self.got}"


class Ledger:
    """The deviations of the agent *who*; a strict ledger refuses them.

    Each rule is kept once, so a ledger stays as short as the table of rules.
    """

    keeps_account = True
    """Whether anybody reads what is written down."""

    def __init__(self, who: str = "", *, strict: bool = False) -> None:
        self.who = who
        self.strict = strict
        self.deviations: dict[str, Deviation] = {}

    def add(self, deviation: Deviation) -> None:
        """Write *deviation* down without refusing it."""
        self.deviations.setdefault(deviation.rule.id, deviation)

    def note(self, deviations: Iterable[Deviation]) -> None:
        """Write *deviations* down; raise `ProtocolError` if they are not allowed."""
        items = list(deviations)
        for deviation in items:
            self.add(deviation)
        if items and self.strict:
            raise make_refusal(items)


class _NullLedger(Ledger):
    keeps_account = False

    def add(self, deviation: Deviation) -> None:
        """Keep nothing."""


NO_LEDGER: Final = _NullLedger(strict=True)
"""For callers that keep no account: nothing is written down, and nothing may deviate."""


def make_refusal(deviations: Iterable[Deviation], about: str = "UNKNOWN") -> ProtocolError:
    """Return *deviations* as the error that their sender receives."""
    items = list(deviations)
    first = items[0]
    return ProtocolError(
        first.rule.code,
        "; ".join(deviation.sentence for deviation in items)[:500],
        about=about,
        expected=first.rule.demand,
        mend=first.rule.fix,
        rules=[deviation.rule.id for deviation in items],
    )


_RULES_BY_CODE: Mapping[ErrorCode, Requirement] = {
    ErrorCode.MISSING_REQUIRED_FIELD: rules.FIELD_MISSING,
    ErrorCode.PROTOCOL_VERSION_MISMATCH: rules.PROTOCOL_VERSION,
}


def make_deviation(error: ProtocolError) -> Deviation:
    """Return what a message breaks that was refused with *error*."""
    return Deviation(_RULES_BY_CODE.get(error.code, rules.FIELD_INVALID), error.detail[:80])
