"""How an agent did, as people and programs read it. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import msgspec

from agent_league.check.exchange import Exchange
from agent_league.check.masking import format_body
from agent_league.check.rule import Finding, Mark
from agent_league.protocol import Role
from agent_league.protocol.requirements import Gravity

SCHEMA_VERSION = 1
PERFECT, FULL_POINTS = "perfect compliance", 40
POINTS: Mapping[Gravity, int] = {Gravity.CRITICAL: 0, Gravity.MAJOR: 10, Gravity.MINOR: 30}
"""000, Grading Criteria, 1. Protocol Compliance; the gravest violation decides."""


EXPLAINED = (Mark.BROKEN, Mark.ADVICE)
"""The findings that say what is wrong and how to fix it."""


@dataclass(frozen=True)
class Report:
    """All findings about one agent."""

    url: str
    role: Role
    findings: Sequence[Finding]
    seconds: float
    is_cut_short: bool = False
    """Whether the check ran out of time."""

    @property
    def totals(self) -> Counter[Mark]:
        return Counter(finding.mark for finding in self.findings)

    @property
    def broken_findings(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.mark is Mark.BROKEN]

    @property
    def passed(self) -> bool:
        """Whether something was judged, nothing was wrong, and there was time for everything."""
        judged = self.totals[Mark.KEPT] > 0 and not self.is_cut_short
        return judged and not self.broken_findings

    def compliance(self) -> tuple[int | None, str]:
        """Return the points for protocol compliance, and what they are called.

        A check that ran out of time and found nothing wrong gives none.
        """
        gravities = {finding.rule.requirement.gravity for finding in self.broken_findings}
        worst = next((gravity for gravity in POINTS if gravity in gravities), None)
        if worst:
            return POINTS[worst], worst.value
        if self.is_cut_short:
            return None, "not judged: the check ran out of time, give it more with --timeout"
        unjudged_count = self.totals[Mark.UNJUDGED]
        return FULL_POINTS, f"{PERFECT} in what was judged" if unjudged_count else PERFECT


def build_document(report: Report) -> dict[str, Any]:
    """Return the report as one JSON document."""
    points, grade = report.compliance()
    return {
        "schema_version": SCHEMA_VERSION,
        "url": report.url,
        "role": report.role,
        "passed": report.passed,
        "rules": [_describe_finding(finding) for finding in report.findings],
        "totals": {mark.name.lower(): report.totals[mark] for mark in Mark},
        "compliance": {"points": points, "of": FULL_POINTS, "grade": grade},
        "seconds": round(report.seconds, 3),
    }


def _describe_finding(finding: Finding) -> dict[str, Any]:
    rule, requirement, proof = finding.rule, finding.rule.requirement, finding.proof
    entry: dict[str, Any] = {
        "id": rule.id,
        "verdict": finding.mark.name.lower(),
        "title": requirement.demand,
        "section": requirement.source,
        "gravity": requirement.gravity.name.lower(),
        "recorded_as": [noted.id for noted in rule.recorded],
    }
    if finding.why:
        entry["why"] = finding.why
    if finding.mark in EXPLAINED:
        entry["fix"] = requirement.fix
    if finding.mark in EXPLAINED and proof:
        entry |= {
            "asked_by": "agent" if proof.from_agent else "check",
            "request": format_body(proof.sent),
            "answer": format_answer(proof),
            "answered_after_seconds": round(proof.seconds, 3),
            **({"posted": _format_posted(proof)} if proof.posted is not None else {}),
        }
    return entry


def _format_posted(proof: Exchange) -> str:
    return format_body(msgspec.json.encode(proof.posted))


def format_answer(proof: Exchange) -> str:
    if proof.answer is None:
        return f"none: {proof.failure}" if proof.failure else "none"
    return f"HTTP {proof.answer.status} {format_body(proof.answer.body)}".rstrip()


def build_junit(report: Report) -> bytes:
    """Return the report as continuous integration servers read it."""
    totals = report.totals
    suite = Element(
        "testsuite",
        name=f"league check {report.role}",
        tests=str(len(report.findings)),
        failures=str(totals[Mark.BROKEN]),
        skipped=str(totals[Mark.UNJUDGED]),
        errors="0",
        time=f"{report.seconds:.3f}",
    )
    for finding in report.findings:
        _add_case(suite, finding)
    indent(suite)
    return bytes(tostring(suite, encoding="utf-8", xml_declaration=True))


def _add_case(suite: Element, finding: Finding) -> None:
    group, _, short_id = finding.rule.id.rpartition(".")
    title = f"{short_id}: {finding.rule.requirement.demand}"
    case = SubElement(suite, "testcase", classname=group, name=title)
    if finding.mark is Mark.BROKEN:
        failure = SubElement(case, "failure", message=_strip_unprintable(finding.why))
        failure.text = _strip_unprintable("\n".join(explain(finding)))
    elif finding.mark is Mark.UNJUDGED:
        SubElement(case, "skipped", message=_strip_unprintable(finding.why))


def _strip_unprintable(text: str) -> str:
    """Return *text* without the characters that XML cannot hold."""
    return "".join(c for c in text if c.isprintable() or c == "\n")


def explain(finding: Finding) -> list[str]:
    """Return, line by line, what was wrong and how to fix it."""
    proof, required = finding.proof, finding.rule.requirement
    lines = [f"wrong    {finding.why}"]
    request = f"POST {proof.url} {format_body(proof.sent)}" if proof else ""
    if proof and proof.from_agent:
        lines.append(f"request  the agent: {request}")
        lines += [f"answer   the check: {format_answer(proof)}"] if proof.answer else []
    elif proof:
        lines.append(f"request  {request}")
        lines.append(f"answer   {format_answer(proof)}   after {proof.seconds:.3f} s")
    if proof and proof.posted is not None:
        lines.append(f"posted   the agent, to the referee: {_format_posted(proof)}")
    return [*lines, f"text     {required.source}", f"fix      {required.fix}"]
