"""Which message a name means, and which name a message has at a peer."""

import pytest

from agent_league.dialects.meanings import find_kind, find_kinds, find_name
from agent_league.protocol import MESSAGES, TOOLS, Role, name

PLAYER_KINDS = [kind for kind in TOOLS.values() if Role.PLAYER in kind.route.receiver]
LEAGUE_KINDS = [kind for kind in TOOLS.values() if Role.LEAGUE in kind.route.receiver]
REFEREE_KINDS = [kind for kind in MESSAGES.values() if Role.REFEREE in kind.route.receiver]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("receive_game_invitation", "GAME_INVITATION"),
        ("game_invitation", "GAME_INVITATION"),
        ("inviteToGame", "GAME_INVITATION"),
        ("parity_choose", "CHOOSE_PARITY_CALL"),
        ("receive_parity_call", "CHOOSE_PARITY_CALL"),
        ("parity_context", "CHOOSE_PARITY_CALL"),
        ("makeChoice", "CHOOSE_PARITY_CALL"),
        ("receive_game_over", "GAME_OVER"),
        ("match_result", "GAME_OVER"),
        ("notify_standings", "LEAGUE_STANDINGS_UPDATE"),
        ("receive_standings_update", "LEAGUE_STANDINGS_UPDATE"),
        ("receive_round_announcement", "ROUND_ANNOUNCEMENT"),
        ("receive_round_completed", "ROUND_COMPLETED"),
        ("league_ended", "LEAGUE_COMPLETED"),
    ],
)
def test_a_name_means_what_its_words_say_to_a_player(text: str, meant: str) -> None:
    assert find_kind(text, PLAYER_KINDS) is MESSAGES[meant]


@pytest.mark.parametrize("text", ["league_probe", "get_standings_of_the_round", "", "x", "context"])
def test_a_name_that_means_nothing_or_two_things_is_not_guessed(text: str) -> None:
    assert find_kind(text, PLAYER_KINDS) is None


def test_the_same_word_means_something_else_to_another_agent() -> None:
    assert find_kind("match_result", LEAGUE_KINDS) is MESSAGES["MATCH_RESULT_REPORT"]
    assert find_kind("receive_parity_response", REFEREE_KINDS) is MESSAGES["CHOOSE_PARITY_RESPONSE"]
    assert find_kind("receive_game_join_ack", REFEREE_KINDS) is MESSAGES["GAME_JOIN_ACK"]


def test_a_registration_that_names_no_role_may_be_either() -> None:
    found = {name(kind) for kind in find_kinds("register", LEAGUE_KINDS)}
    assert found == {"LEAGUE_REGISTER_REQUEST", "REFEREE_REGISTER_REQUEST"}
    assert find_kind("register_agent_referee", LEAGUE_KINDS) is TOOLS["register_referee"]


def test_every_tool_and_every_message_type_means_its_message() -> None:
    assert {tool: find_kind(tool, ()) for tool in TOOLS} == TOOLS
    assert {kind: find_kind(kind.lower(), ()) for kind in MESSAGES} == MESSAGES


def test_the_tool_for_a_message_is_the_only_one_that_means_it() -> None:
    invitation = TOOLS["handle_game_invitation"]
    tools = ["receive_game_invitation", "choose_parity", "receive_game_over", "notify_round"]
    assert find_name(invitation, tools, PLAYER_KINDS) == "receive_game_invitation"
    assert find_name(invitation, [*tools, "invite"], PLAYER_KINDS) is None
    assert find_name(invitation, ["choose_parity"], PLAYER_KINDS) is None
