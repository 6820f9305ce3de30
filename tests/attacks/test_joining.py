"""T7, T8, S8, S20: who may join, as whom, and which addresses the league can be made to call."""

import asyncio
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from agent_league.cli.gate import read_networks, read_roster
from agent_league.http.resolving import Address
from agent_league.league import admission
from agent_league.league.endpoint_gate import EndpointError, EndpointGate, choose_networks
from agent_league.league.names import make_skeleton
from agent_league.member import NotAdmittedError
from agent_league.protocol.tokens import hash_token
from agent_league.running.errors import UsageError
from attacks.stranger import Stranger, refusal_of, write
from end_to_end.http_league import HttpLeague, played
from league_box import Box
from timewarp import run

CODE = "violet-42"
CLASS: dict[str, Any] = {
    "join_code": "staff",
    "students": {"Ada": hash_token(CODE), "Bob": hash_token("b")},
}


async def register(league: HttpLeague, name: str = "Eve", **fields: Any) -> Any:
    """Register a player at an address of its own, and return the league's reply."""
    port = 20_000 + len(league.manager.season.roster.entries())
    meta = {
        "display_name": name,
        "version": "1.0.0",
        "game_types": ["even_odd"],
        "contact_endpoint": f"http://127.0.0.1:{port}/mcp",
    }
    endpoint = fields.pop("endpoint", None)
    meta |= {"contact_endpoint": endpoint} if endpoint else {}
    message = write("LEAGUE_REGISTER_REQUEST", "player:eve", player_meta=meta, **fields)
    answer = await Stranger(league).post(league.url, "register_player", message)
    return answer["result"]


def test_nobody_joins_without_the_code_of_the_league() -> None:
    async def script(league: HttpLeague) -> None:
        for code in ({}, {"join_code": "wrong"}, {"join_code": "tök\ud83d\ude00"}):
            reply = await register(league, **code)
            assert (reply["status"], reply["error_code"]) == ("REJECTED", "E025")
        assert (await register(league, join_code="open sesame"))["status"] == "ACCEPTED"
        assert len(league.manager.season.roster.entries()) == 1

    played(script, join_code="open sesame")


def test_a_student_joins_with_a_code_of_its_own_under_its_own_name_and_once() -> None:
    async def script(league: HttpLeague) -> None:
        first = await register(league, "I am Bob", join_code=CODE)
        assert first["status"] == "ACCEPTED"
        again = await register(league, "Ada the second", join_code=CODE)
        assert again["player_id"] == first["player_id"]
        names = [entry.display_name for entry in league.manager.season.roster.entries()]
        assert names == ["Ada"]

    played(script, **CLASS)


def test_a_student_does_not_take_the_endpoint_of_another() -> None:
    async def script(league: HttpLeague) -> None:
        place = "http://127.0.0.1:20999/mcp"
        assert (await register(league, join_code=CODE, endpoint=place))["status"] == "ACCEPTED"
        assert (await register(league, join_code="b", endpoint=place))["status"] == "REJECTED"
        assert (await register(league, endpoint=place))["status"] == "REJECTED"

    played(script, **CLASS)


def test_the_code_of_a_student_makes_no_referee() -> None:
    async def attempt() -> None:
        box = Box(referees=1, **CLASS)
        await box.open()
        box.referees[0].join_code = CODE
        with pytest.raises(NotAdmittedError, match="Join code"):
            await box.referees[0].register()
        box.referees[0].join_code = "staff"
        await box.referees[0].register()
        await box.close()

    run(attempt())


def test_a_guest_needs_the_code_too() -> None:
    async def script(league: HttpLeague) -> None:
        stranger, tool = Stranger(league), "join_league"
        refused = await stranger.post(league.url, tool, {"display_name": "Eve"})
        assert refusal_of(refused) == "E025"
        form = {"display_name": "whoever", "join_code": CODE}
        assert (await stranger.post(league.url, tool, form))["result"]["player_id"] == "P01"
        assert league.manager.season.roster["P01"].display_name == "Ada"

    played(script, **CLASS)


def test_no_code_and_no_seed_is_published() -> None:
    async def script(league: HttpLeague) -> None:
        base = league.url.removesuffix("/mcp")
        for page in ("status", "standings", "schedule", "config"):
            body = (await league.wire.get(f"{base}/{page}", 5.0)).body.decode()
            assert not [word for word in ("staff-code", hash_token(CODE), '"seed"') if word in body]

    played(script, **{**CLASS, "join_code": "staff-code"})


OUTSIDE = [
    "http://169.254.169.254/mcp",
    "http://169.254.169.254:80/latest/meta-data",
    "http://[fe80::1]/mcp",
    "http://[fe80::1%25eth0]/mcp",
    "http://0.0.0.0:8101/mcp",
    "http://[::]:8101/mcp",
    "http://8.8.8.8/mcp",
    "http://10.0.0.1/mcp",
    "http://192.168.1.1/mcp",
    "http://172.16.0.1/mcp",
    "http://224.0.0.1/mcp",
    "http://255.255.255.255/mcp",
    "http://[::ffff:10.0.0.1]/mcp",
    "http://[::ffff:169.254.169.254]/mcp",
    "http://[2001:db8::1]/mcp",
    "http://[ff02::1]/mcp",
    "http://2130706433/mcp",
    "http://0x7f000001/mcp",
    "http://0177.0.0.1/mcp",
    "http://127.1/mcp",
    "http://evil.test/mcp",
    "http://flip.test/mcp",
    "http://nowhere.test/mcp",
    "http://127.0.0.1:8000/mcp",
    "http://localhost:8000/anything",
    "http://LOCALHOST:8000/mcp",
]
NAMES = {
    "localhost": ["127.0.0.1"],
    "evil.test": ["10.0.0.1"],
    "flip.test": ["127.0.0.1", "10.0.0.1"],
    "laptop.test": ["127.0.0.1"],
    "2130706433": ["127.0.0.1", "8.8.8.8"],
}


async def look_up(host: str) -> list[Address]:
    try:
        return [ip_address(host.partition("%")[0])]
    except ValueError:
        return [ip_address(one) for one in NAMES.get(host.lower(), ())]


GATE = EndpointGate(choose_networks("127.0.0.1"), "http://127.0.0.1:8000/mcp", look_up)


@pytest.mark.parametrize("endpoint", OUTSIDE)
def test_the_league_calls_no_address_outside_its_networks(endpoint: str) -> None:
    with pytest.raises(EndpointError):
        asyncio.run(GATE.pin(endpoint))


@pytest.mark.parametrize(
    ("endpoint", "pinned"),
    [
        ("http://127.0.0.1:8101/mcp", "http://127.0.0.1:8101/mcp"),
        ("http://localhost:8101/mcp", "http://localhost:8101/mcp"),
        ("http://laptop.test:8101/mcp?x=1", "http://127.0.0.1:8101/mcp?x=1"),
        ("https://laptop.test/mcp", "https://laptop.test/mcp"),
        ("http://[::1]:8101/mcp", "http://[::1]:8101/mcp"),
    ],
)
def test_a_name_is_resolved_once(endpoint: str, pinned: str) -> None:
    assert asyncio.run(GATE.pin(endpoint)) == pinned


def test_a_league_for_others_lets_private_networks_in_and_nothing_else() -> None:
    gate = EndpointGate(choose_networks("0.0.0.0"), "http://10.0.0.5:8000/mcp", look_up)  # noqa: S104 - as staff does
    assert asyncio.run(gate.pin("http://192.168.1.7:8101/mcp"))
    for endpoint in ("http://169.254.169.254/mcp", "http://8.8.8.8/mcp", "http://10.0.0.5:8000/x"):
        with pytest.raises(EndpointError):
            asyncio.run(gate.pin(endpoint))


def test_a_manager_refuses_an_endpoint_outside_its_networks() -> None:
    async def script(league: HttpLeague) -> None:
        league.manager.endpoint_gate = EndpointGate(choose_networks("127.0.0.1"), league.url)
        for endpoint in ("http://169.254.169.254/mcp", "http://10.9.9.9/mcp", league.url):
            reply = await register(league, endpoint=endpoint)
            assert (reply["status"], reply["error_code"]) == ("REJECTED", "E022")
        assert (await register(league))["status"] == "ACCEPTED"

    played(script)


@pytest.mark.parametrize("name", ["аda", "ADA", "A d a", "Ad\u200da", "Àda", "Аdа", "4da"])  # noqa: RUF001 - what looks alike is the point
def test_a_name_that_looks_like_another_is_taken(name: str) -> None:
    """T14, S20: Cyrillic letters, capitals, zero-width characters, accents."""
    same = make_skeleton(name) == make_skeleton("Ada")
    assert same is (name != "4da")


@pytest.mark.parametrize("name", ["League Manager", "REFEREE", "Lеague Маnager", "admin"])  # noqa: RUF001 - what looks alike is the point
def test_no_player_is_called_like_an_office(name: str) -> None:
    async def script(league: HttpLeague) -> None:
        assert (await register(league, name))["reason"] == "Reserved display name"

    played(script)


def test_a_flood_of_referees_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def script(league: HttpLeague) -> None:
        monkeypatch.setattr(admission, "MAX_REFEREES", 3)
        for _ in range(3):
            await league.add_referee()
        with pytest.raises(NotAdmittedError, match="Maximum referees"):
            await league.add_referee()

    played(script)


def test_a_roster_is_read_from_a_file_of_a_spreadsheet(tmp_path: Path) -> None:
    file = tmp_path / "students.csv"
    file.write_text("\ufeffname,code\r\nAda,violet-42\r\nBob,b\r\n", encoding="utf-8")
    assert read_roster(file) == CLASS["students"]


@pytest.mark.parametrize(
    "text", ["", "name,code\n", "a,b\nx,y\n", "name,code\nAda,\n", "name,code\nA,x\nB,x\n"]
)
def test_a_roster_that_cannot_be_right_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "students.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError):
        read_roster(file)


def test_networks_are_read_with_commas() -> None:
    assert read_networks("10.0.0.0/8, 192.168.0.0/16") == ("10.0.0.0/8", "192.168.0.0/16")
    with pytest.raises(UsageError, match="--networks"):
        read_networks("10.0.0.1/8")


def test_a_league_of_3000_registrations_stays_small() -> None:
    """S20, T7: a flood is refused once the league is full."""

    async def script(league: HttpLeague) -> None:
        for number in range(60):
            await register(league, endpoint=f"http://127.0.0.1:{21_000 + number}/mcp")
        assert len(league.manager.season.roster.entries()) == 20

    played(script, max_players=20)
