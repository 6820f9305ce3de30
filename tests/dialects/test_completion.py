"""What third-party referees and leagues leave out or write in other words, and what is made of it."""

import json
from typing import Any

import msgspec
import pytest

from agent_league.dialects.v2.completion import Situation
from agent_league.dialects.v2.inbound import Interpretation, interpret
from agent_league.protocol import Message, ProtocolError
from agent_league.vocabulary import Json
from protocol.samples import SAMPLES

NOW = "2025-01-15T10:30:00Z"
HERE = Situation(NOW, "P04", "even_odd")


def sample(kind: str, **changes: Json) -> dict[str, Any]:
    """Return a right message with *changes*; what is changed to `...` is left out."""
    fields = msgspec.to_builtins(SAMPLES[kind]) | changes
    return {key: value for key, value in fields.items() if value is not ...}


def understood(params: Json, method: str = "anything") -> Interpretation:
    frame = {"jsonrpc": "2.0", "method": method, "params": params, "id": 1}
    found = interpret(json.dumps(frame).encode(), HERE)
    assert found is not None
    assert found.deviations
    return found


def meant(params: Json, method: str = "anything") -> dict[str, Any]:
    """Return the fields of the message that *params* means."""
    fields: dict[str, Any] = msgspec.to_builtins(understood(params, method).message)
    return fields


def test_a_match_and_a_question_are_all_that_a_player_needs() -> None:
    invited = meant({"game_id": "game_1", "from_player": "LM"}, "handle_game_invitation")
    assert invited["message_type"] == "GAME_INVITATION"
    assert (invited["match_id"], invited["opponent_id"]) == ("game_1", "LM")
    asked = meant({"game_id": "game_1"}, "parity_choose")
    assert asked["message_type"] == "CHOOSE_PARITY_CALL"
    assert (asked["match_id"], asked["player_id"]) == ("game_1", "P04")
    assert asked["deadline"] == "2025-01-15T10:30:30Z"


def test_without_a_match_there_is_no_question() -> None:
    with pytest.raises(ProtocolError, match="match_id: a required field is missing"):
        understood({"message_type": "CHOOSE_PARITY_CALL"})


@pytest.mark.parametrize(
    "params",
    [
        {"message": sample("GAME_INVITATION", message_type=...)},
        {"game_invitation": sample("GAME_INVITATION", message_type=...)},
        {"match_id": "R1M1", "payload": sample("GAME_INVITATION", match_id=...)},
    ],
)
def test_a_message_may_be_in_one_object_that_is_named_after_it(params: Json) -> None:
    found = understood(params, "receive_game_invitation")
    assert found.message == SAMPLES["GAME_INVITATION"]
    assert "message-nested" in {deviation.rule.id for deviation in found.deviations}


@pytest.mark.parametrize(
    ("role", "seat"),
    [("player_a", "PLAYER_A"), ("player_b", "PLAYER_B"), ("Player 2", "PLAYER_B"), (7, "PLAYER_A")],
)
def test_a_seat_is_known_by_its_last_letter(role: Json, seat: str) -> None:
    assert meant(sample("GAME_INVITATION", role_in_match=role))["role_in_match"] == seat


@pytest.mark.parametrize("round_id", ["R3", "ROUND_3", "round-3", "3"])
def test_a_round_may_be_a_text(round_id: str) -> None:
    assert meant(sample("GAME_INVITATION", round_id=round_id))["round_id"] == 3


@pytest.mark.parametrize(
    "context", [None, {}, "x", {"opponent_id": "", "round_id": 0}, {"round_id": 1}]
)
def test_a_context_that_says_nothing_is_left_out(context: Json) -> None:
    assert "context" not in meant(sample("CHOOSE_PARITY_CALL", context=context))


@pytest.mark.parametrize("standings", [{}, {"wins": 1}, "none"])
def test_the_rest_of_a_context_is_kept(standings: Json) -> None:
    context = {"opponent_id": "P02", "round_id": "R2", "your_standings": standings}
    asked = meant(sample("CHOOSE_PARITY_CALL", context=context, match_id="R2M1"))
    assert asked["context"] == {"opponent_id": "P02", "round_id": 2}


def test_a_player_reads_a_time_without_a_zone_as_utc_and_refuses_another_zone() -> None:
    times = {"timestamp": "2025-01-15T10:30:00.123456", "deadline": "2025-01-15T10:30:30"}
    asked = meant(sample("CHOOSE_PARITY_CALL", **times))
    assert (asked["timestamp"], asked["deadline"]) == tuple(f"{time}Z" for time in times.values())
    with pytest.raises(ProtocolError, match="timestamp: expected ISO-8601 in UTC"):
        understood(sample("CHOOSE_PARITY_CALL", timestamp="2025-01-15T10:30:00+02:00"))


RESULTS: list[tuple[dict[str, Json], dict[str, Json]]] = [
    (
        {
            "status": "LOSS",
            "winner_player_id": "P02",
            "drawn_number": 1,
            "number_parity": "odd",
            "player_choices": {"P02": "odd", "P04": "even"},
        },
        {"status": "WIN", "winner_player_id": "P02", "choices": {"P02": "odd", "P04": "even"}},
    ),
    (
        {"status": "TECHNICAL_LOSS", "winner_player_id": "P02", "number_parity": "N/A"},
        {"status": "TECHNICAL_LOSS", "number_parity": None, "choices": {}, "reason": ""},
    ),
    ({"status": "DRAW", "winner": "none"}, {"status": "DRAW", "winner_player_id": None}),
]


@pytest.mark.parametrize(("sent", "read"), RESULTS)
def test_a_result_in_other_words_is_read(sent: Json, read: dict[str, Json]) -> None:
    over = meant(sample("GAME_OVER", game_result=sent, game_type=...))
    assert {key: over["game_result"][key] for key in read} == read


def test_a_result_may_stand_beside_its_details() -> None:
    details = {
        "dice_roll": 10,
        "dice_parity": "even",
        "player1": "C1",
        "player2": "P04",
        "player1_choice": "odd",
        "player2_choice": "even",
    }
    params = {"game_id": "game_1", "winner": "P04", "details": details}
    result = meant(params, "notify_match_result")["game_result"]
    assert (result["status"], result["winner_player_id"]) == ("WIN", "P04")
    assert (result["drawn_number"], result["number_parity"]) == (10, "even")
    assert result["choices"] == {"C1": "odd", "P04": "even"}


ROWS: list[dict[str, Json]] = [
    {"player_id": "P03", "points": 3, "wins": 1, "draws": 0, "losses": 0, "matches_played": 1},
    {"player_id": "P01", "total_points": 1, "wins": 0, "draws": 1, "losses": 0},
]


@pytest.mark.parametrize("rows", [ROWS, {str(row["player_id"]): row for row in ROWS}])
def test_a_table_is_completed_row_by_row(rows: Json) -> None:
    table = meant(sample("LEAGUE_STANDINGS_UPDATE", standings=rows, round_id="R1"))["standings"]
    assert [(row["rank"], row["player_id"], row["played"], row["points"]) for row in table] == [
        (1, "P03", 1, 3),
        (2, "P01", 1, 1),
    ]
    assert [row["display_name"] for row in table] == ["P03", "P01"]


def test_a_row_that_names_no_player_is_left_out() -> None:
    rows = [*ROWS, {"points": 7}, "nonsense"]
    assert len(meant(sample("LEAGUE_STANDINGS_UPDATE", standings=rows))["standings"]) == 2


def test_an_announcement_needs_the_matches_and_their_players() -> None:
    match = {"match_id": "R1M1", "player_a_id": "P01", "player_b_id": "P04"}
    notice = meant(sample("ROUND_ANNOUNCEMENT", round_id="R1", matches=[match, {"match_id": "x"}]))
    (announced,) = notice["matches"]
    assert (announced["player_A_id"], announced["player_B_id"]) == ("P01", "P04")
    assert announced["game_type"] == "even_odd"


def test_the_end_of_a_round_may_name_its_matches() -> None:
    notice = meant(
        sample(
            "ROUND_COMPLETED",
            matches_completed=...,
            summary=...,
            completed_matches=["R1M1", "R1M2"],
            next_round_id="R2",
        )
    )
    assert (notice["matches_completed"], notice["next_round_id"]) == (2, 2)
    assert notice["summary"]["total_matches"] == 0


@pytest.mark.parametrize(
    "champion", [{"player_id": "P03", "total_points": 3}, "P03", None, {"player_id": "P03"}]
)
def test_the_champion_is_found_wherever_it_stands(champion: Json) -> None:
    notice = meant(
        sample("LEAGUE_COMPLETED", champion=champion, final_standings=ROWS, total_rounds=...)
    )
    assert notice["champion"]["player_id"] == "P03"
    assert [row["rank"] for row in notice["final_standings"]] == [1, 2]


def test_a_reply_that_is_posted_names_its_player_by_its_sender() -> None:
    posted = meant(sample("GAME_JOIN_ACK", player_id=..., sender="player:P07"))
    assert posted["player_id"] == "P07"


META = {"contact_endpoint": "http://localhost:9101/mcp"}
APPLICATIONS: list[tuple[str, dict[str, Any], str]] = [
    ("register_player", {"player_meta": META}, "LEAGUE_REGISTER_REQUEST"),
    ("register", {"name": "C1", "endpoint": META["contact_endpoint"]}, "LEAGUE_REGISTER_REQUEST"),
    (
        "register",
        {"display_name": "C1", "endpoint": META["contact_endpoint"], "agent_type": "referee"},
        "REFEREE_REGISTER_REQUEST",
    ),
    ("register", {"referee_meta": META}, "REFEREE_REGISTER_REQUEST"),
    ("register", {"name": "C1", "port": 9101}, "LEAGUE_REGISTER_REQUEST"),
]


@pytest.mark.parametrize(("method", "params", "kind"), APPLICATIONS)
def test_a_registration_needs_no_more_than_an_endpoint(
    method: str, params: Json, kind: str
) -> None:
    sent = meant(params, method)
    assert sent["message_type"] == kind
    meta = sent.get("player_meta") or sent["referee_meta"]
    assert meta["contact_endpoint"] == META["contact_endpoint"]
    assert (meta["version"], meta["game_types"]) == ("1.0.0", ["even_odd"])


def test_a_player_without_a_game_plays_that_of_the_league() -> None:
    frame = {"jsonrpc": "2.0", "method": "register_player", "params": {"player_meta": META}}
    found = interpret(json.dumps(frame).encode(), HERE._replace(game="tic_tac_toe"))
    assert found is not None
    message: Any = found.message
    assert message.player_meta.game_types == ["tic_tac_toe"]


def test_the_name_of_the_protocol_is_no_version_of_it() -> None:
    meta = {**META, "display_name": "x", "version": "1.0.0", "game_types": ["even_odd"]}
    for version in ("league.v2", "2.1", "v2"):
        sent = meant(
            sample("LEAGUE_REGISTER_REQUEST", player_meta=meta | {"protocol_version": version})
        )
        assert "protocol_version" not in sent["player_meta"]


@pytest.mark.parametrize("kind", ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"])
def test_every_repair_is_noted_and_none_is_invented(kind: str) -> None:
    found = understood(sample(kind, conversation_id=...))
    assert [str(deviation.got) for deviation in found.deviations] == [
        "conversation_id: a required field is missing"
    ]
    message: Message = found.message
    assert msgspec.structs.replace(
        message, conversation_id=SAMPLES[kind].conversation_id
    ) == msgspec.structs.replace(SAMPLES[kind])
