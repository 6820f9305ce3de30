"""Our players take the invitation and the first question of a match in one batch."""

import json
from typing import Any

import msgspec
import pytest

from agent_league.http.exchange import Answer
from agent_league.http.memory import Network
from agent_league.player import Player, load_brain
from agent_league.protocol import Role, RpcCode
from agent_league.running.specs import AgentSpec, LeagueLink
from agent_league.serving.site import make_site
from agent_league.store.events import AgentRegistered, MatchEnded
from agent_league.vocabulary import Json
from league_box import LEAGUE_URL, Box, player_meta, player_url
from protocol.samples import SAMPLES
from timewarp import clock, run

JOIN, CHOOSE = "GAME_INVITATION", "CHOOSE_PARITY_CALL"
TOOLS = {JOIN: "handle_game_invitation", CHOOSE: "choose_parity"}


def make_box() -> Box:
    box = Box(["random", "markov", "always_odd"], guests=1)
    meta = player_meta(player_url(9), questions="batched")
    player = Player("P09", box.net, LEAGUE_URL, meta=meta, brain=load_brain("random"), clock=clock)
    box.players.append(player)
    box.net.host(player_url(9), make_site(player))
    return box


def list_batches(box: Box, url: str) -> list[list[Json]]:
    bodies = [e.sent for e in box.exchanges if e.url == url and e.sent.startswith(b"[")]
    return [[call["params"] for call in json.loads(body)] for body in bodies]


def test_a_player_that_asks_for_it_gets_both_in_one_call() -> None:
    box = make_box()
    run(box.play())
    batches = list_batches(box, player_url(9))
    kinds = [[message["message_type"] for message in batch] for batch in batches]
    assert kinds == [[JOIN, CHOOSE]] * 3
    assert list_batches(box, player_url(1)) == []
    assert {ended.termination for ended in box.happened(MatchEnded)} == {"completed"}
    (registered,) = [one for one in box.happened(AgentRegistered) if one.batched]
    assert registered.endpoint == player_url(9)


def post(player: Player, frames: list[Json], body: bytes | None = None) -> Json:
    answer = make_site(player).answer(body or json.dumps(frames).encode(), ())
    assert isinstance(answer, Answer)
    return json.loads(answer.body)


def make_frames(**changes: Json) -> list[Json]:
    samples = {kind: msgspec.to_builtins(SAMPLES[kind]) for kind in (JOIN, CHOOSE)}
    return [
        {"jsonrpc": "2.0", "method": TOOLS[kind], "params": {**message, **changes}, "id": number}
        for number, (kind, message) in enumerate(samples.items(), 1)
    ]


def make_player() -> Player:
    meta, brain = player_meta(player_url(1)), load_brain("random")
    player = Player("P01", Network(), LEAGUE_URL, meta=meta, brain=brain, clock=clock)
    player.league_signs = True
    return player


@pytest.mark.parametrize(
    "spoil",
    [
        lambda frames: frames[0]["params"].pop("auth_token"),
        lambda frames: frames[1]["params"].update(auth_token="tok_REF01_x"),
        lambda frames: frames[1].pop("id"),
        lambda frames: frames[1].update(method="choose"),
        lambda frames: frames.append({"jsonrpc": "2.0", "method": "ping", "id": 3}),
        lambda frames: frames.clear(),
    ],
)
def test_a_batch_of_anything_else_is_an_invalid_request(spoil: Any) -> None:
    frames = make_frames(auth_token="tkt_1")
    spoil(frames)
    assert post(make_player(), frames)["error"]["code"] == RpcCode.INVALID_REQUEST


def test_a_batch_with_a_second_token_is_refused() -> None:
    body = json.dumps(make_frames(auth_token="tkt_1")).encode()
    body = body.replace(
        b'"auth_token": "tkt_1"', b'"auth_token": "tkt_2", "auth_token": "tkt_1"', 1
    )
    assert post(make_player(), [], body)["error"]["code"] == RpcCode.PARSE_ERROR


def make_spec_meta(strategy: str, *, is_ours: bool) -> Any:
    spec = AgentSpec(Role.PLAYER, "P01", 0, "Alpha", "1.0.0", strategy=strategy)
    return spec.make_member(Network(), LeagueLink(LEAGUE_URL, is_ours=is_ours)).meta


def test_our_players_ask_for_it_in_leagues_of_ours_if_they_answer_at_once() -> None:
    assert make_spec_meta("markov", is_ours=True).questions == "batched"
    assert make_spec_meta("markov", is_ours=False).questions is None


def test_a_strategy_of_the_user_may_be_slow_and_gets_its_questions_alone(tmp_path: Any) -> None:
    file = tmp_path / "slow.py"
    file.write_text("def strategy(situation):\n    return situation.legal[0]\n", encoding="utf-8")
    assert make_spec_meta(str(file), is_ours=True).questions is None
