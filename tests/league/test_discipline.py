"""Violations are written down once, and a strict league puts players out by conditions it chose."""

import json
import re
from typing import Any

import msgspec
import pytest

from agent_league.cli.screens import format_agent_event
from agent_league.http.exchange import Answer
from agent_league.league.discipline import ground_of
from agent_league.protocol.requirements.rules import RULES
from agent_league.protocol.rounds import LeagueCompleted
from agent_league.season.roster import Lifecycle
from agent_league.season.settings import GROUNDS, LeagueSettings
from agent_league.serving.site import make_site
from agent_league.store.events import AgentDisqualified, MatchEnded, ViolationNoted
from league_box import LEAGUE_URL, Box, played
from scripted import Behaviour, Call, Scripted, does_not_know, refuses, says, stays_silent
from timewarp import run

JOIN, CHOOSE = "GAME_INVITATION", "CHOOSE_PARITY_CALL"


def league(script: dict[str, Behaviour], **settings: Any) -> Box:
    """Play a league of three of ours and a guest that follows *script*."""
    box = Box(["always_even", "always_odd", "random"], guests=1, **settings)
    box.guest(Scripted("guest", script))
    return played(box)


def choice(word: str) -> Behaviour:
    return lambda call: call.returns(
        {k: v for k, v in call.right().items() if k != "parity_choice"} | {"choice": word}
    )


def test_a_violation_is_noted_once_a_match_and_counted_per_agent_and_rule() -> None:
    box = league({CHOOSE: choice("even")})
    noted = box.happened(ViolationNoted)
    assert [(event.agent_id, event.rule) for event in noted] == [("P04", "choice-field")] * 3
    assert len({event.match_id for event in noted}) == 3
    assert box.season.violations_of("P04") == {"choice-field": 3}
    assert box.season.violations_of("P01") == {}
    assert box.happened(AgentDisqualified) == []


def test_violations_are_shown_with_the_league_and_with_the_player() -> None:
    box = league({CHOOSE: choice("even")})
    agents = shown(box, "/status")["agents"]
    assert [agent["violations"] for agent in agents if agent["agent_id"] == "P04"] == [
        {"choice-field": 3}
    ]
    assert shown(box, "/players/P04")["violations"] == {"choice-field": 3}


def shown(box: Box, page: str) -> Any:
    return make_site(box.manager).find_page(page)


CASES: list[tuple[Behaviour, str, str]] = [
    (choice("even"), CHOOSE, "missing_field"),
    (says(parity_choice="EVEN"), CHOOSE, "wrong_type"),
    (says(protocol="league.v1"), CHOOSE, "version_mismatch"),
    (says(player_id="P01"), CHOOSE, "schema"),
    (stays_silent, CHOOSE, "timeout"),
    (refuses(-32603), CHOOSE, "crash"),
    (does_not_know, CHOOSE, "crash"),
    (says(accept=False), JOIN, "unsupported_game"),
]


@pytest.mark.parametrize(("act", "on", "ground"), CASES)
def test_a_strict_league_disqualifies_by_named_conditions(
    act: Behaviour, on: str, ground: str
) -> None:
    box = league({on: act}, strictness="strict")
    (out,) = box.happened(AgentDisqualified)
    assert (out.agent_id, out.ground) == ("P04", ground)
    assert box.season.roster["P04"].state is Lifecycle.DISQUALIFIED
    ends = [e for e in box.happened(MatchEnded) if "P04" in e.players]
    assert [end.termination for end in ends][1:] == ["disqualified", "disqualified"]
    assert {tuple(end.technical_losses) for end in ends} == {("P04",)}
    assert [row.points for row in box.season.standings() if row.player_id == "P04"] == [0]


@pytest.mark.parametrize(("act", "on", "ground"), CASES)
def test_staff_can_switch_each_condition(act: Behaviour, on: str, ground: str) -> None:
    others = tuple(name for name in GROUNDS if name != ground)
    grounds = {event.ground for event in _outs(act, on, others)}
    assert ground not in grounds
    assert [event.ground for event in _outs(act, on, (ground,))] == [ground]
    assert _outs(act, on, ()) == []


def _outs(act: Behaviour, on: str, grounds: tuple[str, ...]) -> list[AgentDisqualified]:
    return league({on: act}, strictness="strict", disqualify=grounds).happened(AgentDisqualified)


def test_a_disqualification_is_shown_once_with_its_ground(caplog: pytest.LogCaptureFixture) -> None:
    box = league({CHOOSE: stays_silent}, strictness="strict")
    (out,) = box.happened(AgentDisqualified)
    assert format_agent_event(out) == f"P04 is disqualified (timeout): {out.why}"
    assert "disqualified" not in caplog.text, "a warning would show it a second time"


def test_a_tolerant_league_may_disqualify_too() -> None:
    box = league({CHOOSE: stays_silent}, disqualify=("timeout",))
    assert [event.ground for event in box.happened(AgentDisqualified)] == ["timeout"]


def test_a_player_that_never_answers_has_no_valid_endpoint() -> None:
    async def main() -> Box:
        box = Box(["always_even", "always_odd"], awaited_players=2, strictness="strict")
        ghost = box.guest(Scripted("ghost"))
        await box.open()
        ghost.leave()
        await box.fill()
        await box.manager.run()
        await box.close()
        return box

    box = run(main())
    (out,) = box.happened(AgentDisqualified)
    assert (out.agent_id, out.ground) == ("P03", "invalid_endpoint")
    assert "P03" not in box.season.players


def test_a_strict_league_of_our_own_has_no_violations() -> None:
    box = played(Box(["random", "mirror", "markov", "frequency"], referees=2, strictness="strict"))
    assert box.happened(ViolationNoted, AgentDisqualified) == []
    assert {end.termination for end in box.happened(MatchEnded)} == {"completed"}


def test_a_player_that_goes_by_another_id_is_told_of_itself_by_that_one() -> None:
    class Stubborn(Scripted):
        def __call__(self, body: bytes) -> Any:
            self.who = "P01"
            return super().__call__(body)

    box = Box(["always_even", "always_odd"], guests=1)
    box.guest(Stubborn("P01"), display_name="Stubborn")
    played(box)
    assert box.season.violations_of("P03") == {"player-id-other": 2}
    (last,) = box.sent(LeagueCompleted, to="http://guest1/mcp")
    names = {row["player_id"]: row["display_name"] for row in last.message["final_standings"]}
    assert names["P01"] == "Stubborn"
    assert names["P03"] == "Player 1"


@pytest.mark.parametrize("strictness", ["tolerant", "strict"])
def test_nobody_is_blamed_for_what_others_send_in_its_name(strictness: Any) -> None:
    async def main() -> Box:
        box = Box(["always_even", "always_odd"], strictness=strictness, disqualify=("schema",))
        await box.open()
        await box.fill()
        reply = msgspec.to_builtins(box.players[0].application()) | {"sender": "players:P01"}
        reply.pop("auth_token")
        frame = {"jsonrpc": "2.0", "method": "x", "params": {"message": reply}, "id": 1}
        for _ in range(6):
            await box.net.post(LEAGUE_URL, json.dumps(frame).encode(), 5)
        await box.manager.run()
        await box.close()
        return box

    box = run(main())
    assert {event.rule for event in box.happened(ViolationNoted)} <= {"registered-expected"}
    assert box.happened(AgentDisqualified) == []


def test_no_violation_repeats_a_secret() -> None:
    def blabs(call: Call) -> Answer:
        reply = call.right() | {"accept": "yes", "auth_token": call.message["auth_token"]}
        return call.returns({"wrong": reply, "why": call.message["auth_token"]})

    box = league({JOIN: blabs, CHOOSE: blabs})
    noted = box.happened(ViolationNoted)
    assert noted
    assert not [event.got for event in noted if re.search("t(ok|kt)_[0-9A-Za-z]", event.got)]


def test_every_rule_leads_to_a_condition_that_exists() -> None:
    assert {ground_of(rule) for rule in RULES} <= GROUNDS.keys()


def test_two_disqualified_players_both_lose() -> None:
    box = Box(["always_even", "always_odd"], guests=2, strictness="strict")
    for name in ("one", "other"):
        box.guest(Scripted(name, {CHOOSE: choice("even")}))
    played(box)
    (between,) = [e for e in box.happened(MatchEnded) if set(e.players) == {"P03", "P04"}]
    assert between.winner is None


def test_two_players_that_forfeit_the_same_match_are_each_disqualified_for_their_own_reason() -> (
    None
):
    box = Box([], guests=2, disqualify=("timeout", "unsupported_game"))
    box.guest(Scripted("P01", {JOIN: says(accept=False)}))
    box.guest(Scripted("P02", {JOIN: stays_silent}))
    played(box)
    outs = {event.agent_id: event.ground for event in box.happened(AgentDisqualified)}
    assert outs == {"P01": "unsupported_game", "P02": "timeout"}


def test_settings_are_tolerant_and_disqualify_nobody_by_default() -> None:
    assert LeagueSettings(seed="x").grounds == frozenset()
    assert LeagueSettings(seed="x", strictness="strict").grounds == frozenset(GROUNDS)
