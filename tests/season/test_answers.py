import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from agent_league.protocol import ErrorCode
from agent_league.protocol.failures import RefusedError
from agent_league.protocol.queries import QueryAnswer, QueryType
from agent_league.season.settings import LeagueSettings
from agent_league.serving.site import make_site
from agent_league.vocabulary import Json
from league_box import Box, Guest, referee_url
from scripted import Scripted
from timewarp import run

STANDINGS, SCHEDULE, NEXT, STATS = (
    "GET_STANDINGS",
    "GET_SCHEDULE",
    "GET_NEXT_MATCH",
    "GET_PLAYER_STATS",
)


class Asked:
    """A league of three and a guest; *when* says whether it has been played when we ask."""

    def __init__(self, when: str) -> None:
        self.box = Box(["always_even", "always_odd", "always_even"], guests=1)
        self.guest = self.box.guest(Scripted("?"))
        self._when = when

    def run(self, ask: Callable[[Guest], Any]) -> Any:
        async def main() -> Any:
            await self.box.open()
            await self.box.fill()
            if self._when == "after":
                await self.box.manager.run()
            answer = await ask(self.guest)
            await self.box.close()
            return answer

        return run(main())

    def query(self, query_type: QueryType, **params: Json) -> QueryAnswer:
        answer: QueryAnswer = self.run(lambda guest: guest.query(query_type, params))
        assert answer.query_type == query_type
        assert (answer.data is None) != (answer.error is None)
        assert answer.success == (answer.error is None)
        return answer

    def data(self, query_type: QueryType, **params: Json) -> Json:
        answer = self.query(query_type, **params)
        assert answer.success, answer.error
        json.dumps(answer.data)
        return answer.data


def test_a_query_about_another_league_is_not_answered() -> None:
    asked = Asked("before")
    answer = asked.run(lambda guest: guest.query("GET_STANDINGS", {}, league_id="league_1999"))
    assert not answer.success
    assert answer.error.error_code == "E022"
    assert answer.error.error_description == (
        f"league_id: this is {LeagueSettings.league_id}, not 'league_1999'"
    )


def test_the_standings_are_those_of_the_season() -> None:
    data = Asked("after").data("GET_STANDINGS")
    assert data["round_id"] == 3
    assert [row["rank"] for row in data["standings"]] == [1, 2, 3, 4]
    assert {row["played"] for row in data["standings"]} == {3}
    assert set(data["standings"][0]) == {
        "rank",
        "player_id",
        "display_name",
        "played",
        "wins",
        "draws",
        "losses",
        "points",
    }


def test_before_the_season_everybody_who_registered_stands_at_zero() -> None:
    standings = Asked("before").data("GET_STANDINGS")
    assert standings["round_id"] == 0
    rows = [(row["rank"], row["player_id"], row["points"]) for row in standings["standings"]]
    assert rows == [(1, "P01", 0), (2, "P02", 0), (3, "P03", 0), (4, "P04", 0)]


def test_before_the_season_there_is_no_schedule_and_no_error() -> None:
    assert Asked("before").data("GET_SCHEDULE") == {"rounds": []}
    assert Asked("before").data("GET_NEXT_MATCH", player_id="P01") == {"next_match": None}
    stats = Asked("before").data("GET_PLAYER_STATS", player_id="P01")
    assert (stats["rank"], stats["played"], stats["state"]) == (None, 0, "REGISTERED")


def test_the_schedule_is_all_rounds_or_the_one_that_was_asked_for() -> None:
    rounds = Asked("after").data("GET_SCHEDULE")["rounds"]
    assert [one["round_id"] for one in rounds] == [1, 2, 3]
    assert [len(one["matches"]) for one in rounds] == [2, 2, 2]
    (second,) = Asked("after").data("GET_SCHEDULE", round_id=2)["rounds"]
    assert [match["match_id"] for match in second["matches"]] == ["R2M1", "R2M2"]
    for match in second["matches"]:
        assert match["status"] in {"WIN", "DRAW"}
        assert match["winner"] in {None, match["player_A_id"], match["player_B_id"]}


def test_after_the_season_nobody_has_a_next_match() -> None:
    assert Asked("after").data("GET_NEXT_MATCH", player_id="P01") == {"next_match": None}


def test_a_player_has_its_record_and_its_matches() -> None:
    stats = Asked("after").data("GET_PLAYER_STATS", player_id="P02")
    assert stats["display_name"] == "Player 2"
    assert stats["played"] == len(stats["matches"]) == 3
    assert stats["wins"] + stats["draws"] + stats["losses"] == 3
    assert stats["points"] == 3 * stats["wins"] + stats["draws"]
    assert stats["technical_losses"] == 0
    for match in stats["matches"]:
        assert "P02" in match["players"]
        assert match["termination"] == "completed"


@pytest.mark.parametrize(
    ("query_type", "params", "code"),
    [
        (SCHEDULE, {"round_id": 0}, ErrorCode.INVALID_FIELD_VALUE),
        (SCHEDULE, {"round_id": 4}, ErrorCode.INVALID_FIELD_VALUE),
        (SCHEDULE, {"round_id": "1"}, ErrorCode.INVALID_FIELD_VALUE),
        (SCHEDULE, {"round_id": True}, ErrorCode.INVALID_FIELD_VALUE),
        (SCHEDULE, {"round_id": 1.0}, ErrorCode.INVALID_FIELD_VALUE),
        (SCHEDULE, {"round_id": [1]}, ErrorCode.INVALID_FIELD_VALUE),
        (NEXT, {}, ErrorCode.MISSING_REQUIRED_FIELD),
        (NEXT, {"player_id": None}, ErrorCode.MISSING_REQUIRED_FIELD),
        (NEXT, {"player_id": "P99"}, ErrorCode.PLAYER_NOT_REGISTERED),
        (NEXT, {"player_id": "REF01"}, ErrorCode.PLAYER_NOT_REGISTERED),
        (NEXT, {"player_id": ["P01"]}, ErrorCode.PLAYER_NOT_REGISTERED),
        (STATS, {}, ErrorCode.MISSING_REQUIRED_FIELD),
        (STATS, {"player_id": "P99"}, ErrorCode.PLAYER_NOT_REGISTERED),
        (STATS, {"player_id": {}}, ErrorCode.PLAYER_NOT_REGISTERED),
        (STATS, {"player_id": "x" * 5000}, ErrorCode.PLAYER_NOT_REGISTERED),
    ],
)
def test_a_query_that_cannot_be_answered_is_an_answer_without_success(
    query_type: QueryType, params: dict[str, Json], code: ErrorCode
) -> None:
    answer = Asked("after").query(query_type, **params)
    assert not answer.success
    assert answer.error is not None
    assert (answer.error.error_code, answer.error.error_name) == (code, code.name)
    assert answer.error.error_description != code.name
    assert len(answer.error.error_description) < 300


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"auth_token": None}, "E011"),
        ({"auth_token": "tok_P01_forged"}, "E012"),
        ({"sender": "player:P01"}, "E012"),
        ({"auth_token": "tok", "sender": "referee:REF44"}, "E013"),
    ],
)
def test_only_a_member_may_ask(changes: dict[str, Any], code: str) -> None:
    async def ask(guest: Guest) -> RefusedError:
        with pytest.raises(RefusedError) as caught:
            await guest.query("GET_STANDINGS", {}, **changes)
        return caught.value

    error: RefusedError = Asked("before").run(ask)
    assert error.code == code
    assert error.data["original_message_type"] == "LEAGUE_QUERY"


def test_during_a_round_the_next_match_names_the_opponent_and_the_referee() -> None:
    async def main() -> Json:
        box = Box(["always_even"], guests=1)
        asked: list[Json] = []

        class Curious(Scripted):
            def __call__(self, body: bytes) -> Any:
                answer = super().__call__(body)
                if self.received[-1].kind != "CHOOSE_PARITY_CALL":
                    return answer

                async def ask_first() -> Any:
                    found = await guest.query("GET_NEXT_MATCH", {"player_id": guest.name})
                    asked.append(found.data)
                    return answer

                return ask_first()

        guest = box.guest(Curious("?"))
        await box.play()
        return asked[0]

    assert run(main())["next_match"] == {
        "match_id": "R1M1",
        "round_id": 1,
        "opponent_id": "P01",
        "referee_endpoint": referee_url(1),
    }


def test_anybody_may_look_at_the_league_from_outside() -> None:
    async def looked(guest: Guest) -> None:
        look = make_site(asked.box.manager).find_page
        assert look("/healthz") == {"status": "ok"}
        for path in ("/", "/status"):
            shown = look(path)
            assert shown is not None
            assert shown["stage"] == "COMPLETED"
            assert shown["matches_played"] == 6
        table, schedule, player = look("/standings"), look("/schedule"), look("/players/P01")
        assert table is not None
        assert len(table["standings"]) == 4
        assert schedule is not None
        assert len(schedule["rounds"]) == 3
        assert player is not None
        assert player["played"] == 3
        assert look("/players/P99") is None
        assert look("/nowhere") is None
        shown = [look(path) for path in ("/", "/status", "/standings", "/schedule", "/players/P01")]
        assert b"tok_" not in msgspec.json.encode(shown)

    asked = Asked("after")
    asked.run(looked)


def test_a_referee_has_no_page_among_the_players() -> None:
    async def looked(guest: Guest) -> Json:
        return make_site(asked.box.manager).find_page("/players/REF01")

    asked = Asked("before")
    assert asked.run(looked) is None
