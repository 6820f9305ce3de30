from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agent_league.clock import format_time
from agent_league.league.admission import Admission, Application, Refusal, judge
from agent_league.protocol import Envelope, ErrorCode, Role, tokens
from agent_league.protocol.fields import VERSION, parse_time
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.season.season import Season, Stage
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import AgentRegistered, AgentSuspended, TokenIssued
from agent_league.vocabulary import PlayerId
from league_box import player_meta, player_url, referee_meta, referee_url
from timewarp import EPOCH

OPEN = LeagueSettings(seed="s")


class Gate:
    """Lets applicants in, and remembers them."""

    def __init__(self, settings: LeagueSettings = OPEN) -> None:
        self.season = Season(settings)
        self.roster = self.season.roster
        self.now = EPOCH

    def start(self) -> None:
        self.season.stage = Stage.PLAYING
        self.season.players = [PlayerId(e.agent_id) for e in self.roster.present(Role.PLAYER)]

    def judged(self, applicant: Application) -> Admission | Refusal:
        decided = judge(applicant, self.season, self.now)
        if isinstance(decided, Admission):
            self.roster.apply(decided.event)
        return decided

    def admit(self, applicant: Application) -> Admission:
        decided = self.judged(applicant)
        assert isinstance(decided, Admission), decided
        return decided

    def refuse(self, applicant: Application) -> Refusal:
        decided = self.judged(applicant)
        assert isinstance(decided, Refusal), decided
        return decided


def stamp(sender: str) -> Envelope:
    return {
        "protocol": VERSION,
        "sender": sender,
        "timestamp": format_time(EPOCH),
        "conversation_id": "conv-join",
    }


def player(
    number: int = 1, token: str | None = None, sender: str = "x", **meta: Any
) -> Application:
    about = player_meta(player_url(number), **meta)
    return RegisterPlayer(**stamp(f"player:{sender}"), auth_token=token, player_meta=about)


def referee(
    number: int = 1, token: str | None = None, sender: str = "x", **meta: Any
) -> Application:
    about = referee_meta(referee_url(number), **meta)
    return RegisterReferee(**stamp(f"referee:{sender}"), auth_token=token, referee_meta=about)


def test_newcomers_are_numbered_in_the_order_in_which_they_come() -> None:
    gate = Gate()
    assert [gate.admit(player(n)).agent_id for n in (1, 2, 3)] == ["P01", "P02", "P03"]
    assert [gate.admit(referee(n)).agent_id for n in (1, 2)] == ["REF01", "REF02"]


def test_an_admission_tells_only_the_hash_of_the_token_to_the_log() -> None:
    admitted = Gate().admit(player())
    assert isinstance(admitted.event, AgentRegistered)
    assert admitted.token.startswith("tok_P01_")
    assert len(admitted.token.removeprefix("tok_P01_")) >= 32
    assert admitted.event.token_hash == tokens.hash_token(admitted.token)
    assert admitted.token not in str(admitted.event)


def test_a_token_is_good_for_a_day_or_as_long_as_is_set() -> None:
    for hours in (24.0, 0.5):
        gate = Gate(replace(OPEN, token_hours=hours))
        assert parse_time(gate.admit(player()).event.expires) - EPOCH == timedelta(hours=hours)


def test_what_an_agent_says_of_itself_is_kept() -> None:
    event = Gate().admit(referee(display_name="  Alpha ", max_concurrent_matches=7)).event
    assert isinstance(event, AgentRegistered)
    assert (event.display_name, event.capacity, event.role) == ("Alpha", 7, "referee")
    assert event.endpoint == referee_url(1)


# Refusals


def test_a_referee_may_join_at_any_time() -> None:
    gate = Gate()
    gate.start()
    assert gate.admit(referee()).agent_id == "REF01"


def test_a_player_that_comes_after_the_start_comes_too_late() -> None:
    gate = Gate()
    gate.start()
    refusal = gate.refuse(player())
    assert refusal.code is ErrorCode.LATE_REGISTRATION
    assert refusal.reason == "Registration closed - league already started"


def test_who_plays_another_game_is_refused() -> None:
    refusal = Gate().refuse(player(game_types=["chess", "tic_tac_toe"]))
    assert refusal.reason.startswith("Unsupported game type")
    gate = Gate(replace(OPEN, game_type="tic_tac_toe"))
    assert gate.admit(player(game_types=["tic_tac_toe"])).agent_id == "P01"


@pytest.mark.parametrize(
    "endpoint",
    [
        "localhost:8101",
        "ftp://localhost/mcp",
        "file:///etc/passwd",
        "//localhost:8101/mcp",
        "http://",
        "http:///mcp",
        "http://:8101/mcp",
        "http://localhost:0/mcp",
        "http://localhost:99999/mcp",
        "http://localhost:port/mcp",
        "http://user@localhost/mcp",
        "http://user:secret@localhost/mcp",
        "http://localhost/mcp#here",
        "http://[::1/mcp",
        "just text",
    ],
)
def test_an_endpoint_that_cannot_be_called_is_refused(endpoint: str) -> None:
    refusal = Gate().refuse(player(contact_endpoint=endpoint))
    assert refusal.reason.startswith("Contact endpoint unreachable")
    assert "secret" not in refusal.reason


@pytest.mark.parametrize(
    "endpoint",
    ["http://localhost:8101/mcp", "https://example.com/mcp", "http://[::1]:8101/mcp", "http://a"],
)
def test_any_http_endpoint_may_be_tried(endpoint: str) -> None:
    assert Gate().admit(player(contact_endpoint=endpoint)).agent_id == "P01"


@pytest.mark.parametrize("version", ["0.0.1", "1.0.0", "1.99.99"])
def test_who_speaks_an_old_version_is_refused(version: str) -> None:
    refusal = Gate().refuse(player(protocol_version=version))
    assert refusal.code is ErrorCode.PROTOCOL_VERSION_MISMATCH
    assert version in refusal.reason


@pytest.mark.parametrize("version", [None, "2.0.0", "2.1.0", "2.10.3", "3.0.0"])
def test_who_speaks_this_version_or_says_nothing_is_admitted(version: str | None) -> None:
    assert Gate().admit(player(protocol_version=version)).agent_id == "P01"


def test_a_full_league_takes_no_more_players_but_still_referees() -> None:
    gate = Gate(replace(OPEN, max_players=2))
    gate.admit(player(1))
    gate.admit(player(2))
    assert gate.refuse(player(3)).reason == "Maximum players reached"
    gate.admit(referee(1))
    assert gate.admit(player(1)).agent_id == "P01"


def test_who_means_another_league_is_refused() -> None:
    gate = Gate()
    assert OPEN.league_id in gate.refuse(structs.replace(player(), league_id="league_1999")).reason
    assert gate.admit(structs.replace(player(), league_id=OPEN.league_id)).agent_id == "P01"


def test_a_name_may_be_taken_twice() -> None:
    gate = Gate()
    gate.admit(player(1, display_name="Alpha"))
    assert gate.admit(player(2, display_name="Alpha")).agent_id == "P02"


@pytest.mark.parametrize("name", ["Alpha", "alpha", "ALPHA", " Alpha  "])
def test_a_name_may_be_taken_once_where_names_are_unique(name: str) -> None:
    gate = Gate(replace(OPEN, unique_names=True))
    gate.admit(player(1, display_name="Alpha"))
    assert gate.refuse(player(2, display_name=name)).reason == "Duplicate display name"
    assert gate.admit(player(1, display_name=name)).agent_id == "P01"
    assert gate.admit(referee(1, display_name=name)).agent_id == "REF01"


def test_an_endpoint_belongs_to_one_role() -> None:
    gate = Gate()
    gate.admit(player(1))
    refusal = gate.refuse(referee(1, contact_endpoint=player_url(1)))
    assert refusal.reason.startswith("Duplicate endpoint")
    gate.admit(referee(1))
    assert gate.refuse(player(2, contact_endpoint=referee_url(1))).code is ErrorCode.NOT_ALLOWED


def test_a_refused_agent_leaves_no_trace() -> None:
    gate = Gate()
    gate.refuse(player(game_types=["chess"]))
    assert gate.roster.of(Role.PLAYER) == []
    assert gate.admit(player()).agent_id == "P01"


# Who is who


@pytest.mark.parametrize("started", [False, True])
def test_the_same_endpoint_is_the_same_agent(started: bool) -> None:
    gate = Gate()
    first = gate.admit(player(1))
    gate.admit(player(2))
    if started:
        gate.start()
    again = gate.admit(player(1, display_name="Another name", sender="P07"))
    assert again.agent_id == "P01"
    assert again.token != first.token
    assert isinstance(again.event, TokenIssued)
    assert not again.event.proven
    assert len(gate.roster.of(Role.PLAYER)) == 2


SPELLINGS = [
    "http://localhost:8101/mcp",
    "HTTP://localhost:8101/mcp",
    "http://LocalHost:08101/mcp",
    "http://localhost.:8101/mcp/",
    "http://127.0.0.1:8101/mcp",
    "http://127.1:8101/mcp",
    "http://2130706433:8101/mcp",
    "http://127.0.0.2:8101/mcp",
    "http://0.0.0.0:8101/mcp",
    "http://[::1]:8101/mcp",
    "http://[::ffff:127.0.0.1]:8101/mcp",
    "http://[0:0:0:0:0:0:0:1]:8101/mcp//",
    "http://localhost:8101/mcp?",
]


def test_an_endpoint_that_is_spelled_otherwise_is_the_same_agent() -> None:
    gate = Gate()
    ids = {gate.admit(player(contact_endpoint=spelling)).agent_id for spelling in SPELLINGS}
    assert ids == {"P01"}
    assert gate.roster["P01"].endpoint == SPELLINGS[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.com/mcp", "http://EXAMPLE.com:80/mcp"),
        ("https://example.com/mcp", "https://example.com.:443/mcp/"),
        ("http://[2001:db8::1]:9/a", "http://[2001:DB8:0:0::1]:9/a/"),
    ],
)
def test_the_default_port_and_capitals_make_no_other_agent(one: str, other: str) -> None:
    gate = Gate()
    assert gate.admit(player(contact_endpoint=one)).agent_id == "P01"
    assert gate.admit(player(contact_endpoint=other)).agent_id == "P01"


@pytest.mark.parametrize(
    "other",
    [
        "http://localhost:8102/mcp",
        "https://localhost:8101/mcp",
        "http://localhost:8101/MCP",
        "http://localhost:8101/",
        "http://localhost:8101/mcp?seat=2",
        "http://cafe:8101/mcp",
        "http://10.0.0.1:8101/mcp",
    ],
)
def test_another_port_path_or_host_is_another_agent(other: str) -> None:
    gate = Gate()
    gate.admit(player(contact_endpoint=SPELLINGS[0]))
    assert gate.admit(player(contact_endpoint=other)).agent_id == "P02"


def test_a_player_that_never_answered_takes_no_seat_and_no_name() -> None:
    gate = Gate(replace(OPEN, max_players=1, unique_names=True))
    dead = gate.admit(player(1, display_name="Alpha"))
    assert gate.refuse(player(2)).reason == "Maximum players reached"
    why = "never answered after registration"
    gate.roster.apply(AgentSuspended(at=format_time(EPOCH), agent_id=dead.agent_id, why=why))
    assert gate.admit(player(2, display_name="Alpha")).agent_id == "P02"


def test_a_player_that_did_not_answer_in_time_comes_too_late_when_it_registers_again() -> None:
    gate = Gate()
    gate.admit(player(1))
    gate.start()
    gate.season.players = []
    assert gate.refuse(player(1)).code is ErrorCode.LATE_REGISTRATION


def test_whoever_shows_its_token_is_known_to_be_itself() -> None:
    gate = Gate()
    first = gate.admit(player(1))
    again = gate.admit(player(1, first.token))
    assert again.agent_id == "P01"
    assert isinstance(again.event, TokenIssued)
    assert again.event.proven


@pytest.mark.parametrize("started", [False, True])
def test_whoever_shows_its_token_may_have_moved(started: bool) -> None:
    gate = Gate()
    first = gate.admit(player(1))
    if started:
        gate.start()
    moved = gate.admit(player(9, first.token))
    assert moved.agent_id == "P01"
    assert gate.roster["P01"].endpoint == player_url(9)
    assert gate.roster.at(player_url(1)) is None
    assert len(gate.roster.of(Role.PLAYER)) == 1


def test_a_token_that_was_given_without_proof_cannot_move_an_agent() -> None:
    gate = Gate()
    gate.admit(player(1))
    thief = gate.admit(player(1))  # anybody can name that endpoint
    newcomer = gate.admit(player(9, thief.token))
    assert newcomer.agent_id == "P02"
    assert gate.roster["P01"].endpoint == player_url(1)


def test_a_token_that_was_given_without_proof_proves_nothing_later() -> None:
    gate = Gate()
    gate.admit(player(1))
    thief = gate.admit(player(1))
    again = gate.admit(player(1, thief.token))
    assert isinstance(again.event, TokenIssued)
    assert not again.event.proven
    assert gate.admit(player(9, again.token)).agent_id == "P02"


def test_the_first_token_proves_who_one_is_after_any_number_of_strangers() -> None:
    gate = Gate()
    first = gate.admit(player(1))
    for _ in range(30):
        gate.admit(player(1))
    assert gate.admit(player(9, first.token)).agent_id == "P01"


def test_a_token_does_not_let_its_owner_take_anothers_place() -> None:
    gate = Gate()
    first = gate.admit(player(1))
    gate.admit(player(2))
    assert gate.refuse(player(2, first.token)).reason.startswith("Duplicate endpoint")


@pytest.mark.parametrize("token", ["", "tok_P01_forged", "é", "tok_P01_" + "x" * 5000])
def test_a_forged_token_is_no_token(token: str) -> None:
    gate = Gate()
    gate.admit(player(1))
    assert gate.admit(player(9, token)).agent_id == "P02"


def test_an_expired_token_is_no_token() -> None:
    gate = Gate()
    first = gate.admit(player(1))
    gate.now += timedelta(hours=24)
    assert gate.admit(player(9, first.token)).agent_id == "P02"


def test_a_players_token_is_of_no_use_to_a_referee() -> None:
    gate = Gate()
    first = gate.admit(player(1))
    assert gate.admit(referee(1, first.token)).agent_id == "REF01"


# Ids


@pytest.mark.parametrize(
    ("claimed", "given_id"),
    [
        ("P03", "P03"),
        ("P42", "P42"),
        ("P100", "P100"),
        ("P01", "P02"),
        ("REF03", "P02"),
        ("p03", "P02"),
        ("P3", "P02"),
        ("P03x", "P02"),
        ("Agent Alpha", "P02"),
        # Ids are P01 to P99 and then P100: the rest are other spellings of them.
        ("P00", "P02"),
        ("P003", "P02"),
        ("P0100", "P02"),
        ("P\u0660\u0663", "P02"),
    ],
)
def test_an_id_that_an_agent_claims_is_honoured_when_it_is_free_and_an_id(
    claimed: str, given_id: str
) -> None:
    gate = Gate()
    gate.admit(player(1))
    assert gate.admit(player(2, sender=claimed)).agent_id == given_id


def test_a_claimed_id_is_not_given_to_the_next() -> None:
    gate = Gate()
    gate.admit(player(1, sender="P02"))
    assert [gate.admit(player(n)).agent_id for n in (2, 3)] == ["P01", "P03"]
    assert gate.admit(referee(1, sender="REF07")).agent_id == "REF07"


def test_after_p99_comes_p100() -> None:
    gate = Gate(replace(OPEN, max_players=1000))
    ids = [gate.admit(player(n)).agent_id for n in range(1, 102)]
    assert ids[8:10] == ["P09", "P10"]
    assert ids[-3:] == ["P99", "P100", "P101"]


@given(st.lists(st.integers(1, 6), max_size=30), st.data())
def test_whatever_the_order_one_endpoint_is_one_id(comings: list[int], data: st.DataObject) -> None:
    gate = Gate()
    ids: dict[int, str] = {}
    for number in comings:
        claim = data.draw(st.sampled_from(["x", "P01", "P02", "P05"]))
        given_id = gate.admit(player(number, sender=claim)).agent_id
        assert ids.setdefault(number, given_id) == given_id
    assert len(set(ids.values())) == len(ids)


@pytest.mark.parametrize("spoken", ["league.v3", "klingon"])
def test_a_dialect_that_the_league_does_not_admit_is_refused(spoken: str) -> None:
    refusal = Gate().refuse(player(dialect=spoken))
    assert refusal.code is ErrorCode.PROTOCOL_VERSION_MISMATCH
    assert "league.v2 and league.v1" in refusal.reason


def test_a_player_of_league_v1_needs_a_name_of_its_own() -> None:
    gate = Gate()
    gate.admit(player(1, display_name="Alpha"))
    gate.admit(player(2, display_name="alpha"))
    refusal = gate.refuse(player(3, display_name="ALPHA", dialect="league.v1"))
    assert refusal.reason == "Duplicate display name"
