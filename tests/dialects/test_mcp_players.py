"""Players that are MCP servers, in a league: how they are found out, called, understood."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_league.dialects.detection import detect_dialect
from agent_league.dialects.mcp.client import McpClient
from agent_league.dialects.mcp.session import McpSession
from agent_league.dialects.mcp.transports import HttpTransport
from agent_league.http.exchange import Answer
from agent_league.http.traced import TracedWire
from agent_league.peers.line import Line
from agent_league.protocol import ErrorCode, Patience, Role
from agent_league.protocol.failures import LateError, NonsenseError
from agent_league.protocol.play import ParityCall
from agent_league.protocol.tracing import make_trace_id
from agent_league.referee.transcript import Transcript, TranscriptWriter
from agent_league.store.events import MatchEnded
from league_box import Box, Guest
from mcp_peer import Act, McpNetwork, McpPeer, even, structured, text
from protocol.samples import SAMPLES
from scripted import Scripted, does_not_know, hosted
from timewarp import clock, run

NOTICES = {"notify_match_result", "update_standings", "notify_round", "notify_league_completed"}


class McpGuest(Guest):
    """An MCP server that somebody registers."""

    server: McpPeer

    def listen(self) -> None:
        assert isinstance(self.net, McpNetwork)
        self.net.host_mcp(self.url, self.server)


class McpBox(Box):
    """A league in a box with players that are MCP servers."""

    def __init__(self, *servers: McpPeer, players: int = 1, **settings: Any) -> None:
        super().__init__(["always_odd"] * players, guests=len(servers), **settings)
        self.net = self._rewired(McpNetwork())
        for server in servers:
            url = f"http://mcp{len(self.guests) + 1}/mcp"
            guest = McpGuest(self.net, Role.PLAYER, url, hosted(server.refuse))
            guest.server = server
            self.guests.append(guest)

    def _rewired(self, network: McpNetwork) -> McpNetwork:
        for agent in (self.manager, *self.members):
            agent.peers.wire = network
        return network

    @property
    def ended(self) -> list[MatchEnded]:
        return self.happened(MatchEnded)


def thanks(arguments: dict[str, Any]) -> dict[str, Any]:
    return text("thanks")


def league_of(*servers: McpPeer, **settings: Any) -> McpBox:
    box = McpBox(*servers, **settings)
    run(box.play())
    return box


@pytest.mark.parametrize("modern", [True, False])
def test_a_player_that_is_an_mcp_server_plays_a_league(modern: bool) -> None:
    server = McpPeer(modern=modern)
    box = league_of(server, players=3)
    assert len(box.ended) == 6
    assert [ended.termination for ended in box.ended] == ["completed"] * 6
    assert len(server.called("choose_parity")) == 3


@pytest.mark.parametrize(
    "reply",
    [
        structured({"parity_choice": "even"}),
        structured({"choice": "even", "timestamp": "yesterday"}),
        structured({"move": "even", "why": "a feeling"}),
        structured({"result": "even"}),
        structured({"message_type": "CHOOSE_PARITY_RESPONSE", "parity_choice": "even"}),
        text("even"),
        text('{"parity_choice": "even"}'),
    ],
)
def test_the_move_is_understood_however_it_is_said(reply: dict[str, Any]) -> None:
    (ended,) = league_of(McpPeer({"choose_parity": lambda arguments: reply})).ended
    assert ended.termination == "completed"
    assert ended.details["choices"] == {"P01": "odd", "P02": "even"}


def blocks(*reply: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": one} for one in reply]}


IN_OTHER_WORDS = [
    text("EVEN"),
    text(" Even. "),
    structured({"parity_choice": "EVEN!"}),
    text("I think that I will go with even this time."),
    text('Here you are:\n```json\n{"parity_choice": "even"}\n```'),
    blocks("I have thought about it.", '{"parity_choice": "even"}'),
    blocks("My choice:", "EVEN"),
    blocks("even", "Good luck!"),
]


@pytest.mark.parametrize("reply", IN_OTHER_WORDS, ids=str)
def test_the_one_legal_move_in_an_answer_is_taken_and_the_deviation_noted(reply: Any) -> None:
    box = league_of(McpPeer({"choose_parity": lambda arguments: reply}))
    (ended,) = box.ended
    assert ended.termination == "completed"
    assert ended.details["choices"]["P02"] == "even"
    assert set(box.season.violations) == {("P02", "choice-field")}


@pytest.mark.parametrize("reply", IN_OTHER_WORDS, ids=str)
def test_a_strict_league_takes_a_move_only_as_the_protocol_writes_it(reply: Any) -> None:
    server = McpPeer({"choose_parity": lambda arguments: reply})
    (ended,) = league_of(server, strictness="strict").ended
    assert ended.technical_losses == ["P02"]


def test_a_move_of_another_game_is_found_in_prose_too() -> None:
    def choose(arguments: dict[str, Any]) -> dict[str, Any]:
        return text(f"I take cell {arguments['legal_moves'][0]}, of course.")

    (ended,) = league_of(McpPeer({"choose_move": choose}), game_type="tic_tac_toe").ended
    assert ended.technical_losses == []


def test_a_whole_message_is_taken_as_it_is() -> None:
    def whole(arguments: dict[str, Any]) -> dict[str, Any]:
        same = {key: arguments[key] for key in ("conversation_id", "match_id", "player_id")}
        return structured(
            {
                **same,
                "message_type": "CHOOSE_PARITY_RESPONSE",
                "protocol": "league.v2",
                "sender": "player:P02",
                "timestamp": "2025-01-15T10:30:00Z",
                "parity_choice": "even",
            }
        )

    (ended,) = league_of(McpPeer({"choose_parity": whole})).ended
    assert ended.termination == "completed"


def test_a_whole_message_in_another_players_name_is_no_answer_in_a_strict_league() -> None:
    reply = {"message_type": "CHOOSE_PARITY_RESPONSE", "player_id": "P01", "parity_choice": "even"}
    server = McpPeer({"choose_parity": lambda arguments: structured(reply)})
    (ended,) = league_of(server, strictness="strict").ended
    assert (ended.termination, ended.technical_losses) == ("invalid_reply", ["P02"])


@pytest.mark.parametrize(
    ("reply", "termination"),
    [
        (text("neither"), "invalid_move"),
        (text("Even or odd? I cannot decide."), "invalid_move"),
        (structured({"parity_choice": ["even", "odd"]}), "invalid_move"),
        (structured({"unrelated": 7}), "invalid_move"),
        (text("I am out of tokens", error=True), "invalid_reply"),
        ({"resultType": "input_required", "inputRequests": {}}, "invalid_reply"),
    ],
)
def test_a_wrong_answer_is_asked_again_and_then_forfeits(reply: Any, termination: str) -> None:
    server = McpPeer({"choose_parity": lambda arguments: reply})
    (ended,) = league_of(server).ended
    assert ended.termination == termination
    calls = len(server.called("choose_parity"))
    assert calls > 10 if termination == "invalid_move" else calls == 3


def test_a_wrong_answer_can_be_corrected() -> None:
    answers = iter([text("hm", error=True), text("even")])
    tools: dict[str, Act] = {
        "choose_parity": lambda arguments: next(answers),
        "notify_game_error": thanks,
    }
    server = McpPeer(tools)
    (ended,) = league_of(server).ended
    assert ended.termination == "completed"
    (notices,) = server.called("notify_game_error")
    assert "hm" in notices["detail"]


def test_a_player_gets_what_it_declares_and_nothing_else() -> None:
    declared = {
        "choose_parity": ["match_id", "opponent_id", "nonsense"],
        "handle_game_invitation": [],
    }
    tools: dict[str, Act] = {
        "choose_parity": even,
        "handle_game_invitation": lambda arguments: text("with joy"),
    }
    server = McpPeer(tools, properties=declared)
    league_of(server)
    assert server.called("choose_parity") == [{"match_id": "R1M1", "opponent_id": "P01"}]
    assert server.called("handle_game_invitation") == [{}]


@pytest.mark.parametrize("no", [structured({"accept": False}), text("false")])
def test_a_player_can_decline_its_seat(no: dict[str, Any]) -> None:
    tools: dict[str, Act] = {"choose_parity": even, "handle_game_invitation": lambda arguments: no}
    (ended,) = league_of(McpPeer(tools)).ended
    assert (ended.termination, ended.technical_losses) == ("declined", ["P02"])


def test_the_league_tells_a_player_what_it_has_tools_to_hear() -> None:
    server = McpPeer({"choose_parity": even, **dict.fromkeys(NOTICES, thanks)})
    league_of(server)
    for name in NOTICES:
        assert server.called(name), name
    (over,) = server.called("notify_match_result")
    assert over["game_result"]["choices"] == {"P01": "odd", "P02": "even"}


def test_a_player_that_cannot_play_the_game_is_refused_with_its_reason() -> None:
    (ended,) = league_of(McpPeer({"chat": even})).ended
    assert (ended.termination, ended.technical_losses) == ("error_reply", ["P02"])


def test_a_late_player_is_timed_out_as_any_other() -> None:
    async def slowly(arguments: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(3600)
        return even(arguments)

    server = McpPeer({"choose_parity": slowly, "notify_game_error": thanks})
    (ended,) = league_of(server).ended
    assert (ended.termination, ended.technical_losses) == ("timeout", ["P02"])
    assert {notices["error_code"] for notices in server.called("notify_game_error")} == {"E001"}


def test_another_game_is_played_by_its_own_tool() -> None:
    def first(arguments: dict[str, Any]) -> dict[str, Any]:
        return structured({"result": arguments["legal_moves"][0]})

    server = McpPeer({"choose_move": first})
    (ended,) = league_of(server, game_type="tic_tac_toe").ended
    assert ended.termination == "completed"
    assert server.called("choose_move")


class Chameleon(McpPeer):
    """A server that shows other tools from its second list on."""

    def _page(self, start: int) -> dict[str, Any]:
        lists = self.methods().count("tools/list")
        shown = super()._page(start)
        return shown if lists == 1 else {"tools": [*shown["tools"], {"name": f"new{lists}"}]}


def test_tools_that_change_during_the_league_are_refused_by_that_name() -> None:
    server = Chameleon()
    (ended,) = league_of(server).ended
    assert (ended.termination, ended.technical_losses) == ("tools_changed", ["P02"])
    assert server.called("choose_parity") == []


def test_tools_may_change_before_the_league_begins() -> None:
    async def scene() -> McpBox:
        server = McpPeer({"choose_parity": even, "chat": even})
        box = McpBox(server)
        await box.open()
        await box.guests[0].register()
        await asyncio.sleep(1)
        del server.tools["chat"]
        await box.guests[0].register()
        for member in box.members:
            await member.register()
        await box.manager.run()
        await box.close()
        return box

    (ended,) = run(scene()).ended
    assert ended.termination == "completed"


def test_a_session_that_is_lost_between_two_matches_costs_nothing() -> None:
    class Forgetful(McpPeer):
        def forgetting(self, arguments: dict[str, Any]) -> dict[str, Any]:
            self.forget_sessions()
            return even(arguments)

    server = Forgetful()
    server.tools = {"choose_parity": server.forgetting}
    box = league_of(server, players=3)
    assert {ended.termination for ended in box.ended} == {"completed"}
    assert server.opened > 3


# Who speaks what


def found(network: McpNetwork, url: str) -> str:
    return run(detect_dialect(url, network, 5.0))


@pytest.mark.parametrize("era", [{"modern": True}, {"sessions": True}, {"sessions": False}])
def test_a_genuine_server_is_found_out_and_none_of_its_tools_called(era: dict[str, Any]) -> None:
    network, server = McpNetwork(), McpPeer(**era)
    network.host_mcp("http://it/mcp", server)
    assert found(network, "http://it/mcp") == "mcp"
    assert "tools/call" not in server.methods()


def test_a_server_without_sessions_that_says_unknown_method_is_found_out() -> None:
    class Plain(McpPeer):
        def refuse(self, body: bytes) -> Answer:
            error = b'{"code":-32601,"message":"Method not found","data":"league_probe"}'
            return Answer(200, b'{"jsonrpc":"2.0","id":1,"error":%b}' % error)

    network = McpNetwork()
    network.host_mcp("http://it/mcp", Plain(sessions=False))
    assert found(network, "http://it/mcp") == "mcp"


def test_an_agent_of_ours_pays_one_call() -> None:
    async def scene() -> list[str]:
        box = Box(["random"], guests=1)
        await box.open()
        url = box.players[0].meta.contact_endpoint
        assert await detect_dialect(url, box.net, 5.0) == "league.v2"
        return [exchange.url for exchange in box.exchanges]

    assert len(run(scene())) == 1


@pytest.mark.parametrize("status", [200, 400, 404])
def test_a_plain_league_agent_stays_one(status: int) -> None:
    def knows_nothing(body: bytes) -> Answer:
        known = Scripted("P01", {"None": does_not_know})(body)
        assert isinstance(known, Answer)
        return Answer(status, known.body)

    network = McpNetwork()
    network.host("http://it/mcp", hosted(knows_nothing))
    assert found(network, "http://it/mcp") == "league.v2"


def test_a_league_that_is_taken_up_again_asks_again() -> None:
    async def scene() -> list[str]:
        server = McpPeer()
        box = McpBox(server)
        await box.open()
        await box.fill()
        await asyncio.sleep(1)
        entry = box.season.roster["P02"]
        first = box.manager.peers.line(entry.endpoint).session.dialect
        del box.manager.peers._lines[entry.endpoint]
        await box.manager.season_runner.liveness.greet(entry)
        again = box.manager.peers.line(entry.endpoint).session.dialect
        await box.close()
        return [first, again]

    assert run(scene()) == ["mcp", "mcp"]


# On a line


def parity_call() -> ParityCall:
    return ParityCall(
        protocol="league.v2",
        sender="referee:REF01",
        timestamp="2025-01-15T10:30:00Z",
        conversation_id="conv-r1m1-001",
        match_id="R1M1",
        player_id="P07",
        game_type="even_odd",
        deadline="2025-01-15T10:30:30Z",
    )


def line_to(server: McpPeer) -> Line:
    network = McpNetwork()
    network.host_mcp("http://it/mcp", server)
    client = McpClient(HttpTransport("http://it/mcp", network.exchange))
    return Line(McpSession(client, "P07", clock), Patience())


def test_a_server_that_is_late_is_late_each_time() -> None:
    async def sleeps(arguments: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(3600)
        return even(arguments)

    async def main() -> int:
        server = McpPeer({"choose_parity": sleeps})
        line = line_to(server)
        for _ in range(5):
            with pytest.raises(LateError) as late:
                await line.ask(parity_call(), 1.0)
            assert late.value.code is ErrorCode.TIMEOUT_ERROR
        assert line.failures == 5
        return len(server.called("choose_parity"))

    assert run(main()) == 5


KEYS = st.sampled_from(["result", "parity_choice", "move", "message_type", "player_id", "x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9) | st.just("even"),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(KEYS, inside, max_size=3),
    max_leaves=6,
)


@given(JSON, st.booleans())
def test_whatever_a_tool_says_is_a_move_or_a_named_failure(reply: Any, as_text: bool) -> None:
    result = text(json.dumps(reply)) if as_text else structured(reply)

    async def main() -> object:
        line = line_to(McpPeer({"choose_parity": lambda arguments: result}))
        try:
            return (await line.ask(parity_call())).move
        except NonsenseError:
            return None

    assert run(main()) in {"even", "odd", None}


# Tools under other names

ACK = {"status": "ACK"}
OTHER_NAMES = {
    "receive_game_invitation": lambda arguments: text(json.dumps(ACK)),
    "parity_choose": even,
    "receive_game_over": lambda arguments: text(json.dumps(ACK)),
    "notify_standings": thanks,
    "receive_round_announcement": thanks,
    "league_completed": thanks,
}


def test_tools_are_found_by_what_their_names_mean() -> None:
    server = McpPeer(dict(OTHER_NAMES))
    box = league_of(server)
    assert [ended.termination for ended in box.ended] == ["completed"]
    assert {name for name in OTHER_NAMES if not server.called(name)} == set()


def test_a_tool_that_only_its_description_explains_is_found() -> None:
    class Explained(McpPeer):
        def listed(self, name: str) -> dict[str, Any]:
            return {**super().listed(name), "description": "Answers a CHOOSE_PARITY_CALL"}

    server = Explained({"play": even})
    assert [ended.termination for ended in league_of(server).ended] == ["completed"]


def test_a_tool_with_one_argument_of_its_own_gets_the_whole_message() -> None:
    server = McpPeer(properties={"choose_parity": ["request"]})
    league_of(server)
    (arguments,) = server.called("choose_parity")
    assert arguments["request"]["message_type"] == "CHOOSE_PARITY_CALL"


def test_what_a_server_has_no_tool_for_is_not_in_the_transcript() -> None:
    transcript = Transcript(clock)
    witness = TranscriptWriter(transcript, "referee:REF01", "player:P07", "tkt_1")

    async def main() -> None:
        line = line_to(McpPeer())
        invitation: Any = SAMPLES["GAME_INVITATION"]
        assert (await line.ask(invitation, observer=witness)).accept is True
        over: Any = SAMPLES["GAME_OVER"]
        await line.tell(over, observer=witness)
        await line.ask(parity_call(), observer=witness)

    run(main())
    kinds = [json.loads(entry)["message"]["message_type"] for entry in transcript]
    assert kinds == ["CHOOSE_PARITY_CALL", "CHOOSE_PARITY_RESPONSE"]


@pytest.mark.parametrize("modern", [True, False])
def test_an_mcp_server_is_told_the_trace_of_its_match_where_traces_are_wanted(modern: bool) -> None:
    server = McpPeer(modern=modern)
    box = McpBox(server)
    for agent in (box.manager, *box.members):
        agent.peers.wire = TracedWire(box.net)
    run(box.play())
    (called,) = [one for one in server.received if one.params.get("name") == "choose_parity"]
    traceparent = called.params["_meta"]["traceparent"]
    assert called.headers["traceparent"] == traceparent
    assert traceparent.split("-")[1] == make_trace_id(box.season.settings.league_id, "R1M1")


def test_an_mcp_server_is_told_of_no_trace_otherwise() -> None:
    server = McpPeer(modern=False)
    league_of(server)
    (called,) = [one for one in server.received if one.params.get("name") == "choose_parity"]
    assert "_meta" not in called.params
    assert "traceparent" not in called.headers
