"""The tools of many agents under one roof."""

import pytest

from agent_league.dialects.mcp.sessions import AgentSessions, NoSuchToolError
from mcp_peer import McpNetwork, McpPeer, even, text
from scripted import Call, does_not_know, hosted
from timewarp import run

P01, P02, LM = "http://p01/mcp", "http://p02/mcp", "http://league/mcp"


def three() -> tuple[McpNetwork, AgentSessions]:
    network = McpNetwork()
    network.host_mcp(P01, McpPeer({"choose_parity": even, "chat": lambda arguments: text("hi")}))
    network.host_mcp(P02, McpPeer({"choose_parity": lambda arguments: text("odd")}, modern=True))
    agents = {"LM": LM, "P01": P01, "P02": P02}
    return network, AgentSessions(agents, network.exchange, 5.0)


def test_tools_of_the_same_name_have_names_of_their_own() -> None:
    async def main() -> list[str]:
        _, sessions = three()
        await sessions.refresh()
        return list(sessions.tools())

    assert run(main()) == ["P01.chat", "P01.choose_parity", "P02.choose_parity"]


def test_a_tool_is_called_by_its_full_name() -> None:
    async def main() -> list[object]:
        _, sessions = three()
        return [
            (await sessions.call(name, {})).answer
            for name in ("P01.choose_parity", "P02.choose_parity")
        ]

    assert run(main()) == [{"parity_choice": "even"}, "odd"]


@pytest.mark.parametrize("name", ["P09.choose_parity", "P01.fly", "P01", "LM.get_standings", ""])
def test_a_tool_that_nobody_has_is_refused_by_name(name: str) -> None:
    async def main() -> None:
        _, sessions = three()
        with pytest.raises(NoSuchToolError):
            await sessions.call(name, {})

    run(main())


def test_a_tool_that_is_not_listed_is_called_all_the_same() -> None:
    async def main() -> object:
        network = McpNetwork()
        network.host_mcp(LM, McpPeer({"pause_league": even}, hidden=frozenset({"pause_league"})))
        sessions = AgentSessions({"LM": LM}, network.exchange, 5.0)
        assert sessions.tools() == {}
        return (await sessions.call("LM.pause_league", {})).answer

    assert run(main()) == {"parity_choice": "even"}


def test_a_token_is_sent_to_the_agent_that_it_is_for_and_to_nobody_else() -> None:
    async def main() -> list[set[str | None]]:
        network = McpNetwork()
        peers = {LM: McpPeer(token="secret"), P01: McpPeer()}
        for url, peer in peers.items():
            network.host_mcp(url, peer)
        agents = {"LM": LM, "P01": P01}
        sessions = AgentSessions(agents, network.exchange, 5.0, {"LM": "secret"})
        await sessions.refresh()
        assert {name.partition(".")[0] for name in sessions.tools()} == {"LM", "P01"}
        return [{a.headers.get("authorization") for a in peer.received} for peer in peers.values()]

    assert run(main()) == [{"Bearer secret"}, {None}]


def test_an_agent_that_is_lost_and_comes_back_is_noticed_once_each() -> None:
    async def main() -> list[list[tuple[str, bool]]]:
        network, sessions = three()
        await sessions.refresh()
        seen = []
        server = network._servers[P01]
        for there in (True, False, False, True, True):
            network._servers.pop(P01, None)
            network.unhost(P01)
            if there:
                network.host_mcp(P01, server)
            changed = await sessions.refresh()
            seen.append([(session.agent_id, session.problem is None) for session in changed])
        assert "P01.chat" in sessions.tools()
        return seen

    assert run(main()) == [[], [("P01", False)], [], [("P01", True)], []]


def test_an_agent_that_speaks_no_mcp_is_listed_with_the_reason() -> None:
    async def main() -> str | None:
        network, sessions = three()
        network.host(
            LM, hosted(lambda body: does_not_know(Call(0.0, "initialize", None, {}, "LM")))
        )
        await sessions.refresh()
        return sessions.by_agent["LM"].problem

    assert "method not found" in str(run(main()))
