"""What a process of agents does before its agents join their league."""

import socket

import pytest

from agent_league.files.logger import AgentLogs
from agent_league.protocol import Role
from agent_league.running import processes
from agent_league.running.serve import LOOPBACK, bind
from agent_league.running.specs import LeagueLink, number_agents


@pytest.mark.parametrize(
    ("agents", "open_seats", "is_loaded"), [(2, True, True), (1, True, False), (2, False, False)]
)
def test_agents_that_share_a_process_load_the_sdk_first_if_strangers_may_come(
    agents: int, open_seats: bool, is_loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(processes, "load_sdk", lambda: done.append("loaded"))
    monkeypatch.setattr(processes, "run_child", lambda work: done.append("run"))
    specs = number_agents(Role.PLAYER, agents)
    sockets: list[socket.socket] = [bind(LOOPBACK, 0) for _ in specs]
    processes._run_child(
        list(zip(specs, sockets, strict=True)),
        LeagueLink("http://127.0.0.1:9/mcp"),
        AgentLogs(),
        expects_mcp_clients=open_seats,
    )
    assert done == (["loaded", "run"] if is_loaded else ["run"])
    for sock in sockets:
        sock.close()
