"""Players of league.v1 that others wrote play beside players of league.v2."""

import asyncio
import json
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from agent_league.dialects.v1.messages import BASE, MESSAGES_V1, schemas_v1
from agent_league.protocol import Role
from end_to_end.http_league import HttpLeague, played_with_programs
from strangers.third_party import UNHURRIED, broken, registered, running

V1_PLAYERS = ("v1_framed", "v1_bare", "v1_handler")
COMMON = Draft7Validator(BASE, format_checker=Draft7Validator.FORMAT_CHECKER)
OWN = {
    reply: Draft7Validator(schema, format_checker=Draft7Validator.FORMAT_CHECKER)
    for reply, schema in schemas_v1().items()
}


def league_of(*names: str, logs: Path, ours: int, **settings: Any) -> HttpLeague:
    """Play a league of our players and of players of league.v1, which keep what they heard."""

    async def script(league: HttpLeague) -> None:
        async with AsyncExitStack() as stack:
            await league.add_referee()
            for _ in range(ours):
                await league.add_player()
            processes = []
            for name in names:
                log = str(logs / f"{name}.json")
                context = running(name, "--manager", league.url, "--log", log)
                processes.append(await stack.enter_async_context(context))
            await registered(league, Role.PLAYER, ours + len(names))
            league.manager.season_runner.start_now()
            await league.play()
            for process in processes:
                assert await asyncio.wait_for(process.wait(), 20) == 0

    return played_with_programs(script, patience=UNHURRIED, heartbeat=5.0, farewell=5.0, **settings)


def heard_by(name: str, logs: Path) -> list[Any]:
    received: list[Any] = json.loads((logs / f"{name}.json").read_text("utf-8"))
    return received


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("v1")


@pytest.fixture(scope="module")
def mixed(logs: Path) -> HttpLeague:
    return league_of(*V1_PLAYERS, logs=logs, ours=3)


def test_three_players_of_each_version_play_a_whole_league(mixed: HttpLeague) -> None:
    season = mixed.manager.season
    assert season.played == 15
    assert {ended.termination for ended in season.results.values()} == {"completed"}
    assert season.tally["TECHNICAL_LOSS"] == 0
    assert broken(mixed) == {}


@pytest.mark.parametrize("name", V1_PLAYERS)
def test_everything_that_a_v1_player_hears_and_says_keeps_the_schema(
    name: str, mixed: HttpLeague, logs: Path
) -> None:
    received = heard_by(name, logs)
    for message in received:
        COMMON.validate(message)
        OWN[message["message_type"]].validate(message)
    assert {message["message_type"] for message in received} == MESSAGES_V1.keys()


@pytest.mark.parametrize("name", V1_PLAYERS)
def test_a_v1_player_is_told_everything_once(name: str, mixed: HttpLeague, logs: Path) -> None:
    reply = Counter(message["message_type"] for message in heard_by(name, logs))
    once = {"LEAGUE_REGISTER_REQUEST", "LEAGUE_REGISTER_RESPONSE", "LEAGUE_COMPLETE"}
    assert {kind: reply[kind] for kind in once} == dict.fromkeys(once, 1)
    assert reply["LEAGUE_START_ANNOUNCEMENT"] == 1
    a_match = {"GAME_INVITATION", "GAME_INVITATION_RESPONSE", "GAME_START", "PLAY_REQUEST"}
    a_match |= {"PLAY_RESPONSE", "GAME_RESULT", "ROUND_COMPLETE"}
    assert {kind: reply[kind] for kind in a_match} == dict.fromkeys(a_match, 5)
    assert reply["PLAY_VALIDATION"] == 10


@pytest.mark.parametrize("name", V1_PLAYERS)
def test_nobody_sees_a_choice_before_both_have_moved(
    name: str, mixed: HttpLeague, logs: Path
) -> None:
    matches: dict[str, list[str]] = {}
    for message in heard_by(name, logs):
        if message["match_id"].startswith("R") and message["match_id"][1].isdigit():
            matches.setdefault(message["match_id"], []).append(message["message_type"])
    assert len(matches) == 5
    for order in matches.values():
        assert order == [
            "GAME_INVITATION",
            "GAME_INVITATION_RESPONSE",
            "GAME_START",
            "PLAY_REQUEST",
            "PLAY_RESPONSE",
            "PLAY_VALIDATION",
            "PLAY_VALIDATION",
            "GAME_RESULT",
        ]


def test_a_class_league_does_not_admit_league_v1() -> None:
    async def main() -> None:
        async with (
            HttpLeague(protocols=("league.v2",)) as league,
            running("v1_framed", "--manager", league.url) as process,
        ):
            assert await asyncio.wait_for(process.wait(), 20) == 1
            assert league.manager.season.roster.of(Role.PLAYER) == []

    asyncio.run(main())
