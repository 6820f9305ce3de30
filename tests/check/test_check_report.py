"""How the findings are told: the score, the documents, and no secret in any of them."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.check import (
    RULES,
    Finding,
    Gravity,
    Mark,
    Report,
    build_document,
    build_junit,
)
from agent_league.check.exchange import Exchange
from agent_league.check.masking import format_body
from agent_league.check.observations import PlayerObservations
from agent_league.check.report import explain
from agent_league.check.rule import Case
from agent_league.http.exchange import Answer
from agent_league.protocol import Role

SECRET = "tok_P01_0123456789abcdef"


def exchange(sent: object, answer: bytes = b"{}") -> Exchange:
    body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    return Exchange("http://agent/mcp", body, Answer(200, answer), None, 0.01, 5.0)


def finding(gravity: Gravity, mark: Mark = Mark.BROKEN, why: str = "because") -> Finding:
    rule = next(rule for rule in RULES if rule.requirement.gravity is gravity)
    return Finding(rule, mark, why, exchange({"auth_token": SECRET}))


def report(*findings: Finding) -> Report:
    return Report("http://agent/mcp", Role.PLAYER, findings, 1.5)


@pytest.mark.parametrize(
    ("gravities", "points"),
    [
        ([], 40),
        ([Gravity.MINOR], 30),
        ([Gravity.MINOR, Gravity.MAJOR], 10),
        ([Gravity.MAJOR, Gravity.CRITICAL, Gravity.MINOR], 0),
    ],
)
def test_the_gravest_violation_decides_the_score(gravities: list[Gravity], points: int) -> None:
    kept = finding(Gravity.MAJOR, Mark.KEPT)
    assert report(kept, *map(finding, gravities)).compliance()[0] == points


def test_an_agent_of_which_nothing_could_be_judged_has_not_passed() -> None:
    assert not report(finding(Gravity.MAJOR, Mark.UNJUDGED)).passed
    assert report(finding(Gravity.MAJOR, Mark.KEPT), finding(Gravity.MAJOR, Mark.UNJUDGED)).passed


def test_the_score_says_when_something_was_not_judged() -> None:
    kept, left = finding(Gravity.MAJOR, Mark.KEPT), finding(Gravity.MAJOR, Mark.UNJUDGED)
    assert report(kept, left).compliance() == (40, "perfect compliance in what was judged")


def test_no_document_shows_a_token() -> None:
    found = report(finding(Gravity.MAJOR))
    notices = [
        json.dumps(build_document(found)),
        build_junit(found).decode(),
        *explain(found.findings[0]),
    ]
    assert [text for text in notices if SECRET in text] == []


@pytest.mark.parametrize(
    "body",
    [
        {"params": {"auth_token": SECRET}},
        {"result": [{"ticket": "tkt_abc", "auth_token": SECRET}]},
        {"error": {"message": f"your token {SECRET} is wrong"}},
        f"<html>{SECRET}</html>".encode(),
    ],
)
def test_a_body_is_shown_without_its_secrets(body: object) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    assert "0123456789" not in format_body(raw)
    assert "tkt_abc" not in format_body(raw)


def test_a_verdict_does_not_repeat_a_secret() -> None:
    notices = exchange({})
    leaky = replace(
        RULES[0], select=lambda seen: [Case(None, notices)], find_problem=lambda _: SECRET
    )
    assert SECRET not in leaky.judge(PlayerObservations()).why


@given(st.binary(max_size=2000))
def test_any_body_is_shown_in_one_short_line(body: bytes) -> None:
    text = format_body(body)
    assert "\n" not in text
    assert "\x1b" not in text
    assert len(text) < 700


@given(st.text(max_size=80))
def test_the_junit_document_is_well_formed_whatever_an_agent_says(why: str) -> None:
    made = build_junit(
        report(finding(Gravity.MAJOR, why=why), finding(Gravity.MINOR, Mark.UNJUDGED, why))
    )
    suite = ET.fromstring(made)  # noqa: S314 - we wrote it ourselves
    assert suite.attrib["tests"] == "2"
    assert len(suite.findall("testcase/failure")) == 1
    assert len(suite.findall("testcase/skipped")) == 1
