"""How an agent did, as people and programs read it. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from agent_league.check.exchange import Exchange
from agent_league.check.masking import shown
from agent_league.check.rule import Gravity, Mark, Rule, Verdict
from agent_league.check.sections import SECTIONS
from agent_league.protocol import Role

SCHEMA_VERSION = 1
PERFECT, FULL = "perfect compliance", 40
POINTS: Mapping[Gravity, int] = MappingProxyType(
    {Gravity.CRITICAL: 0, Gravity.MAJOR: 10, Gravity.MINOR: 30}
)
"""000, Grading Criteria, 1. Protocol Compliance; the gravest violation decides."""


@dataclass(frozen=True)
class Finding:
    """One rule, and how the agent did by it."""

    rule: Rule
    verdict: Verdict

    @property
    def mark(self) -> Mark:
        return self.verdict.mark


@dataclass(frozen=True)
class Report:
    """All findings about one agent."""

    url: str
    role: Role
    findings: Sequence[Finding]
    seconds: float

    @property
    def totals(self) -> Counter[Mark]:
        return Counter(finding.mark for finding in self.findings)

    @property
    def broken(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.mark is Mark.BROKEN]

    @property
    def passed(self) -> bool:
        """Whether something was judged, and nothing was wrong."""
        return not self.broken and self.totals[Mark.KEPT] > 0

    def compliance(self) -> tuple[int, str]:
        """Return the points for protocol compliance, and what they are called."""
        gravities = {finding.rule.gravity for finding in self.broken}
        worst = next((gravity for gravity in POINTS if gravity in gravities), None)
        if worst:
            return POINTS[worst], worst.value
        left = self.totals[Mark.UNJUDGED]
        return FULL, f"{PERFECT} in what was judged" if left else PERFECT


def document(report: Report) -> dict[str, Any]:
    """Return the report as one JSON document."""
    points, grade = report.compliance()
    return {
        "schema_version": SCHEMA_VERSION,
        "url": report.url,
        "role": report.role,
        "passed": report.passed,
        "rules": [_told(finding) for finding in report.findings],
        "totals": {mark.name.lower(): report.totals[mark] for mark in Mark},
        "compliance": {"points": points, "of": FULL, "grade": grade},
        "seconds": round(report.seconds, 3),
    }


def _told(finding: Finding) -> dict[str, Any]:
    rule, verdict = finding.rule, finding.verdict
    told: dict[str, Any] = {
        "id": rule.id,
        "verdict": verdict.mark.name.lower(),
        "title": rule.title,
        "section": section(rule),
        "gravity": rule.gravity.name.lower(),
        "recorded_as": list(rule.recorded),
    }
    if verdict.why:
        told["why"] = verdict.why
    if verdict.mark is Mark.BROKEN:
        told |= {"fix": rule.fix, **_shown_proof(verdict.proof)}
    return told


def _shown_proof(proof: Exchange | None) -> dict[str, Any]:
    if proof is None:
        return {}
    return {
        "asked_by": "agent" if proof.from_agent else "check",
        "request": shown(proof.sent),
        "answer": answer_shown(proof),
        "answered_after_seconds": round(proof.seconds, 3),
    }


def section(rule: Rule) -> str:
    return f"{rule.section} ({SECTIONS[rule.section]})"


def answer_shown(proof: Exchange) -> str:
    if proof.answer is None:
        return f"none: {proof.failure}" if proof.failure else "none"
    return f"HTTP {proof.answer.status} {shown(proof.answer.body)}".rstrip()


def junit(report: Report) -> bytes:
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
        _case(suite, finding)
    indent(suite)
    return bytes(tostring(suite, encoding="utf-8", xml_declaration=True))


def _case(suite: Element, finding: Finding) -> None:
    rule, verdict = finding.rule, finding.verdict
    group, _, own = rule.id.rpartition(".")
    case = SubElement(suite, "testcase", classname=group, name=f"{own}: {rule.title}")
    if verdict.mark is Mark.BROKEN:
        failure = SubElement(case, "failure", message=_printable(verdict.why))
        failure.text = _printable("\n".join(explained(finding)))
    elif verdict.mark is Mark.UNJUDGED:
        SubElement(case, "skipped", message=_printable(verdict.why))


def _printable(text: str) -> str:
    """Return *text* without the characters that XML cannot hold."""
    return "".join(c for c in text if c.isprintable() or c == "\n")


def explained(finding: Finding) -> list[str]:
    """Return, line by line, what was wrong and how to mend it."""
    proof = finding.verdict.proof
    lines = [f"wrong    {finding.verdict.why}"]
    if proof is not None:
        lines += _from_agent(proof) if proof.from_agent else _from_check(proof)
    return [*lines, f"text     {section(finding.rule)}", f"fix      {finding.rule.fix}"]


def _from_check(proof: Exchange) -> list[str]:
    return [
        f"request  POST {proof.url} {shown(proof.sent)}",
        f"answer   {answer_shown(proof)}   after {proof.seconds:.3f} s",
    ]


def _from_agent(proof: Exchange) -> list[str]:
    asked = f"request  the agent: POST {proof.url} {shown(proof.sent)}"
    return [asked, f"answer   the check: {answer_shown(proof)}"] if proof.answer else [asked]
