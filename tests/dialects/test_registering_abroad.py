"""Our agents ask other people's leagues for admission: in which forms, and what they make of it."""

import asyncio
import json
from collections.abc import Callable

import msgspec
import pytest

from agent_league.agent_log import AgentLog
from agent_league.http.exchange import Answer, HttpRequest, Response, check_answer
from agent_league.member import Member, NotAdmittedError
from agent_league.protocol import Role
from agent_league.protocol.failures import NoAnswerError, NoPathError, UnreachableError
from agent_league.protocol.play import Retry
from agent_league.running.specs import AgentSpec, LeagueLink, claim_id
from agent_league.store.agent_files import Identity
from agent_league.vocabulary import Json
from timewarp import run

URL = "http://league:8000/mcp"
ONCE = Retry(attempts=1)
Says = Callable[[str, Json], Json | Answer]
"""From the path and the body of a request to the answer."""


class League:
    """A third-party league that answers as it is told to, and keeps what it was sent."""

    def __init__(self, says: Says) -> None:
        self._says = says
        self.received: list[tuple[str, Json]] = []

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        await asyncio.sleep(0)
        path, frame = "/" + url.split("/", 3)[3], json.loads(body)
        self.received.append((path, frame))
        reply = self._says(path, frame)
        answer = reply if isinstance(reply, Answer) else Answer(200, json.dumps(reply).encode())
        return check_answer(answer, "league")

    async def exchange(self, url: str, http_request: HttpRequest, within: float) -> Response:
        answer = await self.post(url, http_request.body, within)
        return Response(answer.status, answer.body, {"content-type": "application/json"})

    async def get(self, url: str, within: float) -> Answer:
        raise UnreachableError("nothing")

    async def reaches(self, url: str, within: float) -> bool:
        return True

    listens = reaches


def member(league: League, role: Role = Role.PLAYER, agent_id: str = "P04") -> Member:
    spec = AgentSpec(role, agent_id, display_name="Ours", endpoint="http://me:8104/mcp")
    return spec.make_member(league, LeagueLink(URL))


def joined(says: Says, role: Role = Role.PLAYER) -> tuple[Member, League]:
    league = League(says)
    agent = member(league, role)
    run(agent.register(ONCE))
    return agent, league


def unknown(frame: Json) -> Json:
    error = {"code": -32601, "message": "Method not found"}
    return {"jsonrpc": "2.0", "error": error, "id": frame.get("id")}


def result(frame: Json, reply: Json) -> Json:
    return {"jsonrpc": "2.0", "result": reply, "id": frame.get("id")}


ACCEPTED = {"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED", "player_id": "P09"}
NOT_FOUND = Answer(404, b'{"detail":"Not Found"}')


def in_text(reply: Json) -> Json:
    return {"content": [{"type": "text", "text": json.dumps(reply)}]}


def by_type(path: str, frame: Json) -> Json:
    known = frame.get("method") == "LEAGUE_REGISTER_REQUEST"
    return result(frame, ACCEPTED) if known else unknown(frame)


def by_tool_call(path: str, frame: Json) -> Json:
    known = frame.get("method") == "tools/call" and "player_meta" in frame["params"]["arguments"]
    return result(frame, in_text(ACCEPTED)) if known else unknown(frame)


def wrapped(path: str, frame: Json) -> Json:
    return result(frame, {"status": "success", "response": ACCEPTED})


@pytest.mark.parametrize("says", [by_type, by_tool_call, wrapped])
def test_a_league_without_token_or_league_id_is_joined_in_the_form_that_it_knows(
    says: Says,
) -> None:
    agent, _ = joined(says)
    assert (agent.name, agent.token, agent.league_id) == ("P09", "", None)


def test_a_league_that_is_an_mcp_server_is_joined_by_a_tool_under_another_name() -> None:
    def says(path: str, frame: Json) -> Json | Answer:
        answers = {
            "initialize": {"protocolVersion": "2024-11-05", "capabilities": {}},
            "tools/list": {"tools": [{"name": "join_as_referee"}, {"name": "player_registration"}]},
        }
        if frame.get("method") in answers:
            return result(frame, answers[frame["method"]])
        if frame.get("method") == "tools/call":
            known = frame["params"]["name"] == "player_registration"
            return result(frame, in_text(ACCEPTED)) if known else unknown(frame)
        return Answer(202, b"") if "id" not in frame else unknown(frame)

    assert joined(says)[0].name == "P09"


REST_SAYS: list[tuple[Json, str]] = [
    ({"status": "registered", "agent_id": "agent_Ours", "message": "Welcome!"}, "Ours"),
    ({"status": "success", "agent_id": "P07"}, "P07"),
    ({"status": "ok", "player_id": "P07", "agent_id": "x"}, "P07"),
    ({"message": "registered"}, "Ours"),
]


@pytest.mark.parametrize(("reply", "name"), REST_SAYS)
def test_a_league_that_registers_by_a_path_is_joined_under_the_id_that_it_uses(
    reply: Json, name: str
) -> None:
    agent, league = joined(lambda path, body: reply if path == "/register" else NOT_FOUND)
    assert agent.name == name
    path, body = league.received[-1]
    assert path == "/register"
    known = {"display_name": "Ours", "version": "1.0.0", "endpoint": "http://me:8104/mcp"}
    assert known.items() <= body.items()
    assert (body["agent_type"], body["player_meta"]["protocol_version"]) == ("player", "2.1.0")


def test_a_referee_that_gets_no_id_keeps_its_own() -> None:
    reply = {"status": "registered", "agent_type": "referee"}
    says: Says = lambda path, body: reply if path == "/register" else NOT_FOUND  # noqa: E731
    assert joined(says, Role.REFEREE)[0].name == "P04"


@pytest.mark.parametrize("path", ["/api/v1/register", "/players/register", "/register/player"])
def test_other_paths_for_a_registration_are_found_too(path: str) -> None:
    reply = {"status": "REGISTERED"}
    _, league = joined(lambda where, body: reply if where == path else NOT_FOUND)
    assert league.received[-1][0] == path


def test_a_league_that_serves_nothing_is_said_to_take_no_registrations() -> None:
    league = League(lambda path, body: NOT_FOUND)
    with pytest.raises(NoPathError):
        run(member(league).register(ONCE))
    assert len(league.received) < 15


@pytest.mark.parametrize(
    "reply",
    [
        {"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "REJECTED", "reason": "Full"},
        {"status": "REJECTED", "reason": "Full"},
    ],
)
@pytest.mark.parametrize("wrap", [lambda reply: reply, in_text])
def test_a_rejection_in_any_wrapping_ends_the_attempts_and_says_why(
    reply: Json, wrap: Callable[[Json], Json]
) -> None:
    league = League(lambda path, frame: result(frame, wrap(reply)))
    with pytest.raises(NotAdmittedError, match="Full"):
        run(member(league).register(ONCE))
    assert len(league.received) == 1


def test_an_error_message_in_the_text_of_a_tool_is_the_answer_of_the_league() -> None:
    refusal = {
        "message_type": "LEAGUE_ERROR",
        "error_code": "E018",
        "error_description": "PROTOCOL_VERSION_MISMATCH",
    }

    def says(path: str, frame: Json) -> Json:
        is_call = frame.get("method") == "tools/call"
        return result(frame, in_text(refusal)) if is_call else unknown(frame)

    league = League(says)
    with pytest.raises(NoAnswerError, match="PROTOCOL_VERSION_MISMATCH"):
        run(member(league).register(ONCE))
    assert league.received[-1][1]["method"] == "tools/call"


REGISTERED_BEFORE: list[Callable[[Json], Json | Answer]] = [
    lambda frame: {"error": "Already registered"},
    lambda frame: Answer(409, b'{"detail":"P04 is there"}'),
    lambda frame: Answer(
        409, b'{"jsonrpc":"2.0","error":{"code":-32000,"message":"Player already registered"}}'
    ),
    lambda frame: result(frame, {"status": "REJECTED", "reason": "Player already registered"}),
]


@pytest.mark.parametrize("says", REGISTERED_BEFORE)
def test_an_agent_that_comes_back_goes_on_as_the_agent_that_is_registered(
    says: Callable[[Json], Json | Answer],
) -> None:
    league = League(lambda path, frame: says(frame))
    agent = member(league)
    agent.resume(Identity("P04", "tok_P04_x", "league_1"))
    run(agent.register(ONCE))
    assert (agent.name, agent.token, agent.league_id) == ("P04", "tok_P04_x", "league_1")
    assert len(league.received) == 1


@pytest.mark.parametrize("says", REGISTERED_BEFORE)
def test_an_agent_that_kept_nothing_is_told_that_the_league_knows_it_already(
    says: Callable[[Json], Json | Answer],
) -> None:
    league = League(lambda path, frame: says(frame))
    with pytest.raises(NotAdmittedError, match="has registered P04 before"):
        run(member(league).register(ONCE))


def test_a_registration_lacks_no_match() -> None:
    """Only what the reply should have, and has not, is a deviation."""

    class Notes(AgentLog):
        def note(self, event_type: str, level: str = "INFO", **details: Json) -> None:
            noted.append(str(details.get("got", "")))

    noted: list[str] = []
    agent = member(League(lambda path, frame: result(frame, ACCEPTED)))
    agent.set_log(Notes())
    run(agent.register(ONCE))
    assert not [got for got in noted if "match_id" in got]


@pytest.mark.parametrize(
    ("role", "port", "agent_id"),
    [
        (Role.PLAYER, 8104, "P04"),
        (Role.PLAYER, 8112, "P12"),
        (Role.REFEREE, 8001, "REF01"),
        (Role.PLAYER, 8001, None),
        (Role.PLAYER, 50000, None),
        (Role.REFEREE, 8000, None),
    ],
)
def test_an_agent_without_an_id_claims_the_one_of_its_port(
    role: Role, port: int, agent_id: str | None
) -> None:
    assert claim_id(role, port) == agent_id


def test_a_player_says_which_version_of_the_protocol_it_speaks() -> None:
    league = League(by_type)
    application = msgspec.to_builtins(member(league).application())
    assert application["player_meta"]["protocol_version"] == "2.1.0"
