"""What the tests of a check share: how to hear where its league is, and what it found."""

import asyncio
from collections.abc import Sequence

from agent_league.check import Finding, Mark, Report


class Herald:
    """Hears from the progress of a check where its own league listens."""

    def __init__(self) -> None:
        self.league: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def __call__(self, doing: str) -> None:
        if "register at" in doing:
            self.league.set_result(doing.rsplit(maxsplit=1)[-1])


def marked(report: Report, *marks: Mark) -> Sequence[str]:
    return [finding.rule.id for finding in report.findings if finding.mark in marks]


def finding_of(report: Report, rule_id: str) -> Finding:
    return next(finding for finding in report.findings if finding.rule.id == rule_id)
