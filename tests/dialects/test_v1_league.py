"""Leagues in league.v1, on the wire in memory: who is let in, how matches go, what goes wrong."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from agent_league.dialects.v1.inbound import V1Reader
from agent_league.dialects.v1.messages import MESSAGES_V1, schemas_v1
from agent_league.http.exchange import Answer
from agent_league.protocol import ProtocolError, Role
from agent_league.protocol.play import StartMatch
from agent_league.season.season import Season
from agent_league.serving.site import make_site
from agent_league.store.events import MatchEnded, ViolationNoted
from agent_league.vocabulary import Json
from dialects.v1_samples import SEED
from league_box import LEAGUE_URL, Box, played
from scripted import hosted
from timewarp import run

SCHEMAS = {sent: Draft7Validator(schema) for sent, schema in schemas_v1().items()}
Reply = Callable[[Json, Json], Json]
"""From what was asked, and what would be right to answer, to what is answered."""


def right(asked: Json, reply: Json) -> Json:
    return reply


class Peer:
    """A player of league.v1 that answers rightly, but for what *replies* changes."""

    def __init__(self, **replies: Reply) -> None:
        self.replies = replies
        self.received: list[Json] = []

    def __call__(self, body: bytes) -> Answer:
        frame = json.loads(body)
        asked = frame["params"]
        if not asked:  # the league asks whether anybody is there
            return Answer(200, b"{}")
        self.received.append(asked)
        kind = asked.get("message_type")
        common = {key: asked[key] for key in ("protocol", "league_id", "round_id", "match_id")}
        own = {"conversation_id": asked["conversation_id"], "sender": "player_003"}
        stamp = {**common, **own, "timestamp": asked["timestamp"]}
        made: Mapping[str, Json] = {
            "GAME_INVITATION": {"message_type": "GAME_INVITATION_RESPONSE", "status": "READY"},
            "PLAY_REQUEST": {
                "message_type": "PLAY_RESPONSE",
                "play": {"action": "choose", "value": "odd"},
            },
        }
        reply = {**stamp, **made[kind]} if kind in made else {"status": "ok"}
        sent = self.replies.get(kind, right)(asked, reply)
        return Answer(
            200, json.dumps({"jsonrpc": "2.0", "id": frame["id"], "result": sent}).encode()
        )

    def kinds(self) -> list[str]:
        return [message["message_type"] for message in self.received]


class Once:
    """Changes the first answer only."""

    def __init__(self, change: Reply) -> None:
        self.change: Reply | None = change

    def __call__(self, asked: Json, reply: Json) -> Json:
        change, self.change = self.change, None
        return change(asked, reply) if change else reply


def application(url: str, **meta: Json) -> Json:
    sent = {**SEED["LEAGUE_REGISTER_REQUEST"]}
    sent["player_meta"] = {**sent["player_meta"], "contact_endpoint": url, **meta}
    return sent


async def registered(box: Box, sent: Json, *, frame: bool = True) -> Json:
    """Return what the league answers to *said*."""
    call = {"jsonrpc": "2.0", "method": "LEAGUE_REGISTER_REQUEST", "params": sent, "id": "a"}
    answer = await box.net.post(LEAGUE_URL, json.dumps(call if frame else sent).encode(), 5.0)
    notices = json.loads(answer.body)
    return notices["result"] if frame else notices


def league_with(peer: Peer, **settings: Any) -> Box:
    """Play a league of two of ours and *peer*, whose id is P03."""
    box = Box(["always_even", "always_odd"], guests=1, **settings)

    async def script() -> None:
        box.net.host("http://theirs/mcp", hosted(peer))
        await box.open()
        await box.fill()
        reply = await registered(box, application("mcp://theirs/player_003"))
        assert reply["player_id"] == "player_003"
        await box.manager.run()
        await box.close()

    run(script())
    return box


def all_v1(box: Box) -> Box:
    for player in box.players:
        player.dialect = "league.v1"
    return box


def said_in_v1(box: Box) -> list[Json]:
    found = []
    for exchange in box.exchanges:
        answer = json.loads(exchange.answer.body) if exchange.answer else {}
        found += [exchange.message, answer.get("result")]
    return [one for one in found if isinstance(one, dict) and one.get("protocol") == "league.v1"]


@pytest.fixture(scope="module")
def pure() -> Box:
    box = Box(
        ["random", "markov", "frequency", "mirror"],
        2,
        protocols=("league.v1",),
        options={"low": 0, "high": 99},
    )
    return played(all_v1(box))


def test_our_own_players_play_a_league_in_league_v1(pure: Box) -> None:
    assert pure.season.played == 6
    assert pure.season.tally["TECHNICAL_LOSS"] == 0
    assert all(player.final is not None for player in pure.players)
    spoken = {one["protocol"] for e in pure.exchanges for one in [e.message] if "http://p" in e.url}
    assert spoken == {"league.v1"}


def test_all_twelve_messages_are_said_and_keep_the_schema(pure: Box) -> None:
    sent = said_in_v1(pure)
    for message in sent:
        SCHEMAS["BASE"].validate(message)
        SCHEMAS[message["message_type"]].validate(message)
    assert {message["message_type"] for message in sent} == MESSAGES_V1.keys()


def test_a_player_of_ours_learns_its_opponents_in_league_v1_too(pure: Box) -> None:
    for player in pure.players:
        assert len(player.history) == 3
        assert {match.opponent for match in player.history.values()} == {
            other.name for other in pure.players if other is not player
        }
        assert all(match.mine and match.theirs for match in player.history.values())


def test_the_league_and_the_matches_have_the_same_ids_everywhere(pure: Box) -> None:
    notices = [one for one in said_in_v1(pure) if one["message_type"] != "LEAGUE_REGISTER_REQUEST"]
    assert len({one["league_id"] for one in notices}) == 1
    talks: dict[str, set[str]] = {}
    for one in notices:
        if one["message_type"] in {"GAME_INVITATION", "PLAY_REQUEST", "GAME_RESULT"}:
            talks.setdefault(one["match_id"], set()).add(one["conversation_id"])
    assert [len(ids) for ids in talks.values()] == [1] * 6
    assert len({next(iter(ids)) for ids in talks.values()}) == 6


def test_the_announcement_has_the_whole_schedule(pure: Box) -> None:
    found = [o for o in said_in_v1(pure) if o["message_type"] == "LEAGUE_START_ANNOUNCEMENT"]
    assert len(found) == 4
    info = found[0]["league_info"]
    assert (info["total_rounds"], info["total_players"]) == (3, 4)
    pairs = [
        frozenset((m["player1"], m["player2"])) for r in info["schedule"] for m in r["matches"]
    ]
    assert Counter(pairs) == Counter(set(pairs))
    assert len(pairs) == 6


def test_players_who_are_level_share_a_rank(pure: Box) -> None:
    tables = [
        one["round_summary"]["standings"]
        for one in said_in_v1(pure)
        if one["message_type"] == "ROUND_COMPLETE" and one["round_id"] == 1
    ]
    assert {tuple(row["rank"] for row in table) for table in tables} <= {
        (1, 1, 3, 3),
        (1, 2, 2, 4),
        (1, 1, 1, 1),
    }
    assert tables


def test_a_game_of_turns_is_played_in_league_v1() -> None:
    box = played(all_v1(Box(["random", "random"], game_type="tic_tac_toe")))
    assert [ended.termination for ended in box.happened(MatchEnded)] == ["completed"]
    turns = [o for o in said_in_v1(box) if o["message_type"] == "PLAY_REQUEST"]
    numbers = [one["game_state"]["turn_number"] for one in turns]
    assert len(numbers) >= 5
    assert max(numbers) >= 3
    started = [o for o in said_in_v1(box) if o["message_type"] == "GAME_START"]
    assert len(started) == 2


def test_a_player_that_declines_forfeits() -> None:
    peer = Peer(GAME_INVITATION=lambda asked, reply: {**reply, "status": "DECLINED"})
    box = league_with(peer)
    lost = [e for e in box.happened(MatchEnded) if "P03" in e.players]
    assert [e.termination for e in lost] == ["declined", "declined"]
    results = [one["result"] for one in peer.received if one["message_type"] == "GAME_RESULT"]
    assert [(one["outcome"], one["loser"]) for one in results] == [("FORFEIT", "player_003")] * 2
    assert "PLAY_VALIDATION" not in peer.kinds()


def test_an_invalid_choice_is_told_and_may_be_corrected() -> None:
    wrong = {"action": "choose", "value": "EVEN"}
    peer = Peer(PLAY_REQUEST=Once(lambda asked, reply: {**reply, "play": wrong}))
    box = league_with(peer)
    assert box.season.tally["TECHNICAL_LOSS"] == 0
    first = next(o for o in peer.received if o["message_type"] == "PLAY_VALIDATION")["validation"]
    assert first["status"] == "INVALID"
    assert first["error"] == "Choice not in allowed values"
    assert first["play"] == wrong
    again = [o for o in peer.received if o["message_type"] == "PLAY_REQUEST"][1]["game_state"]
    assert again["turn_number"] == 1
    assert again["game_specific_state"]["previous_plays"] == []
    assert peer.kinds().count("GAME_START") == 2


def without(*fields: str) -> Reply:
    return lambda asked, reply: {key: reply[key] for key in reply if key not in fields}


def test_an_answer_that_lacks_what_every_message_has_is_understood_and_noted() -> None:
    box = league_with(Peer(GAME_INVITATION=without("conversation_id", "timestamp")))
    assert box.season.tally["TECHNICAL_LOSS"] == 0
    noted = [e for e in box.happened(ViolationNoted) if e.agent_id == "P03"]
    assert {event.rule for event in noted} == {"field-missing"}


@pytest.mark.parametrize(
    ("kind", "change", "rule"),
    [
        ("GAME_INVITATION", {"status": "ACCEPTED"}, "field-invalid"),
        ("GAME_INVITATION", {"sender": "player:P03"}, "field-invalid"),
        ("PLAY_REQUEST", {"play": "odd"}, "field-missing"),
        ("PLAY_REQUEST", {"play": {"value": "odd"}}, "field-missing"),
        ("PLAY_REQUEST", {"conversation_id": "conv-1"}, "field-invalid"),
    ],
)
def test_an_answer_that_is_nearly_right_is_understood_and_noted(
    kind: str, change: Json, rule: str
) -> None:
    box = league_with(Peer(**{kind: lambda asked, reply: {**reply, **change}}))
    assert box.season.tally["TECHNICAL_LOSS"] == 0
    noted = [e for e in box.happened(ViolationNoted) if e.agent_id == "P03"]
    assert {event.rule for event in noted} == {rule}


def test_a_silent_player_forfeits_and_its_opponents_are_told_in_their_own_version() -> None:
    box, peer = all_v1(Box(["random"], guests=1)), Peer()

    async def silence() -> Answer:
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    def silent(body: bytes) -> Answer | Awaitable[Answer]:
        return silence() if b"PLAY_REQUEST" in body else peer(body)

    async def script() -> None:
        box.net.host("http://theirs/mcp", hosted(silent))
        await box.open()
        await box.fill()
        await registered(box, application("mcp://theirs/player_002"))
        await box.manager.run()
        await box.close()

    run(script())
    (ended,) = box.happened(MatchEnded)
    assert (ended.termination, ended.technical_losses) == ("timeout", ["P02"])
    ours = [e.message for e in box.exchanges if e.url == "http://p01/mcp"]
    judged = [one["validation"] for one in ours if one["message_type"] == "PLAY_VALIDATION"]
    assert {one["player_id"]: (one["status"], one["error"]) for one in judged} == {
        "player_001": ("VALID", None),
        "player_002": ("INVALID", "Timeout exceeded"),
    }
    result = next(one["result"] for one in ours if one["message_type"] == "GAME_RESULT")
    assert (result["outcome"], result["winner"]) == ("FORFEIT", "player_001")
    notices = [
        one["validation"] for one in peer.received if one["message_type"] == "PLAY_VALIDATION"
    ]
    assert notices[0] == {
        "player_id": "player_002",
        "play": None,
        "status": "INVALID",
        "error": "Timeout exceeded",
    }


def test_how_a_player_is_spoken_to_is_known_after_a_restart() -> None:
    box = league_with(Peer())
    again = Season(box.settings)
    for event in box.events:
        again.apply(event)
    assert [entry.dialect for entry in again.roster.of(Role.PLAYER)] == [None, None, "league.v1"]


def test_a_strict_league_does_not_let_such_an_answer_pass() -> None:
    box = league_with(Peer(GAME_INVITATION=without("conversation_id")), strictness="strict")
    ended = [e for e in box.happened(MatchEnded) if "P03" in e.players]
    assert all(e.technical_losses == ["P03"] for e in ended)


def test_a_right_player_of_league_v1_plays_in_a_strict_league() -> None:
    box = league_with(Peer(), strictness="strict")
    assert box.season.tally["TECHNICAL_LOSS"] == 0
    assert box.happened(ViolationNoted) == []


def test_the_referee_is_told_who_speaks_league_v1() -> None:
    box = league_with(Peer())
    dialects = {
        player["player_id"]: player.get("dialect", "league.v2")
        for exchange in box.sent(StartMatch)
        for player in exchange.message["players"]
    }
    assert dialects == {"P01": "league.v2", "P02": "league.v2", "P03": "league.v1"}


def refused(sent: Json, *, frame: bool = True, **settings: Any) -> Json:
    """Return the league's answer to *said*, after somebody called AlphaAgent has come."""

    async def script() -> Json:
        box = Box(["random"], guests=3, **settings)
        await box.open()
        await box.fill()
        first = application("http://first/mcp")
        if not settings:
            assert (await registered(box, first))["status"] == "ACCEPTED"
        reply = await registered(box, sent, frame=frame)
        await box.close()
        return reply

    return run(script())


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        ({"game_types": ["chess"]}, "Unsupported game type"),
        ({"contact_endpoint": "ftp://there"}, "Invalid MCP endpoint"),
        ({}, "Duplicate display name"),
    ],
)
def test_a_player_is_rejected_in_the_documents_words(meta: Json, reason: str) -> None:
    reply = refused(application("mcp://second/two", **meta))
    SCHEMAS["LEAGUE_REGISTER_RESPONSE"].validate(reply)
    assert (reply["status"], reply["player_id"], reply["reason"]) == ("REJECTED", None, reason)


def test_a_league_that_does_not_admit_league_v1_says_so() -> None:
    reply = refused(application("mcp://second/two"), protocols=("league.v2",))
    assert reply["status"] == "REJECTED"
    assert reply["reason"].startswith("Protocol version mismatch: this league speaks league.v2")


def test_a_league_of_league_v1_admits_no_other_player() -> None:
    async def script() -> None:
        box = Box(protocols=("league.v1",))
        await box.open()
        guest = box.guest(Peer())
        reply = await guest.register()
        assert (reply.status, reply.error_code) == ("REJECTED", "E018")
        assert box.season.roster.of(Role.PLAYER) == []
        await box.close()

    run(script())


@pytest.mark.parametrize("frame", [True, False])
def test_a_registration_that_nobody_can_mend_is_rejected_with_the_reason(*, frame: bool) -> None:
    sent = application("mcp://second/two", version="one")
    reply = refused(sent, frame=frame)
    SCHEMAS["LEAGUE_REGISTER_RESPONSE"].validate(reply)
    assert reply["status"] == "REJECTED"
    assert "player_meta.version" in reply["reason"]


def test_a_registration_without_a_frame_is_answered_without_one() -> None:
    sent = application("mcp://second/two", display_name="Second")
    reply = refused(sent, frame=False)
    SCHEMAS["LEAGUE_REGISTER_RESPONSE"].validate(reply)
    assert (reply["status"], reply["reason"]) == ("ACCEPTED", None)
    assert reply["conversation_id"] == sent["conversation_id"]


def test_a_registration_that_lacks_common_fields_is_understood() -> None:
    sent = application("mcp://second/two", display_name="Second")
    del sent["conversation_id"], sent["sender"]
    assert refused(sent)["status"] == "ACCEPTED"


def test_a_message_that_the_document_does_not_have_is_an_error() -> None:
    async def script() -> Json:
        box = Box()
        await box.open()
        sent = {**SEED["GAME_START"], "message_type": "GAME_PAUSE"}
        call = {"jsonrpc": "2.0", "method": "GAME_PAUSE", "params": sent, "id": 1}
        answer = await box.net.post(LEAGUE_URL, json.dumps(call).encode(), 5.0)
        await box.close()
        return json.loads(answer.body)

    error = run(script())["error"]
    assert error["code"] == -32601
    assert "GAME_PAUSE" in error["message"]


@pytest.mark.parametrize("kind", ["GAME_INVITATION", "GAME_START", "ROUND_COMPLETE"])
def test_a_message_that_is_not_for_the_league_is_an_error(kind: str) -> None:
    async def script() -> Json:
        box = Box()
        await box.open()
        call = {"jsonrpc": "2.0", "method": kind, "params": SEED[kind], "id": 1}
        answer = await box.net.post(LEAGUE_URL, json.dumps(call).encode(), 5.0)
        await box.close()
        return json.loads(answer.body)

    error = run(script())["error"]
    assert error["code"] == -32601
    assert "not for this agent" in error["message"]
    assert kind in error["message"]


def test_a_player_of_ours_plays_in_a_league_v1_of_others() -> None:
    """Their manager calls it `alpha`, and says what document 000 says."""

    def manager(body: bytes) -> Answer:
        sent = json.loads(body)["params"]
        assert sent["message_type"] == "LEAGUE_REGISTER_REQUEST"
        SCHEMAS["LEAGUE_REGISTER_REQUEST"].validate(sent)
        reply = {**SEED["LEAGUE_REGISTER_RESPONSE"], "player_id": "player_alpha"}
        return Answer(200, json.dumps({"jsonrpc": "2.0", "id": 1, "result": reply}).encode())

    async def script() -> None:
        box = all_v1(Box(["always_odd"]))
        (player,) = box.players
        box.net.host(LEAGUE_URL, hosted(manager))
        box.net.host("http://p01/mcp", make_site(player))
        await player.register()
        assert (player.name, player.league_id) == ("player_alpha", SEED["GAME_START"]["league_id"])
        replies = {}
        for kind in list(MESSAGES_V1)[2:]:
            body = json.dumps(SEED[kind]).encode()
            answer = await box.net.post("http://p01/mcp", body, 5.0)
            replies[kind] = json.loads(answer.body)
        ready, moved = replies["GAME_INVITATION"], replies["PLAY_REQUEST"]
        SCHEMAS["GAME_INVITATION_RESPONSE"].validate(ready)
        SCHEMAS["PLAY_RESPONSE"].validate(moved)
        assert (ready["status"], ready["sender"]) == ("READY", "player_alpha")
        assert moved["play"] == {"action": "choose", "value": "odd"}
        (match,) = player.history.values()
        assert match.opponent in {"P01", "P02"}
        assert replies["PLAY_VALIDATION"] == {"status": "ok"}
        await player.over.wait()
        await box.close()

    run(script())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(kind=st.sampled_from(sorted(MESSAGES_V1)), data=st.data())
def test_whatever_is_wrong_in_a_message_is_understood_or_refused(
    kind: str, data: st.DataObject
) -> None:
    sent = json.loads(json.dumps(SEED[kind]))
    where = sent
    keys = data.draw(st.sampled_from([(key,) for key in sent] + inner_keys(sent)))
    for key in keys[:-1]:
        where = where[key]
    where[keys[-1]] = data.draw(json_values)
    sent["protocol"] = "league.v1"
    with suppress(ProtocolError):
        received = V1Reader().translate(
            json.dumps(sent).encode(), "P01", "2025-01-15T10:30:00.000Z"
        )
        if received is not None and not received.messages:
            received.encode_answer({})


def inner_keys(sent: Json) -> list[tuple[str, str]]:
    return [
        (outer, inner)
        for outer, value in sent.items()
        if isinstance(value, dict)
        for inner in value
    ]


def orders(box: Box) -> list[Json]:
    return [exchange.message.get("options") for exchange in box.sent(StartMatch)]


def test_two_players_of_league_v1_draw_from_its_range() -> None:
    box = played(all_v1(Box(["random", "random"])))
    assert orders(box) == [{"low": 0, "high": 99}]


def test_a_range_that_somebody_chose_holds_in_every_version() -> None:
    box = played(all_v1(Box(["random", "random"], options={"low": 1, "high": 6})))
    assert orders(box) == [{"low": 1, "high": 6}]


def test_players_of_two_versions_draw_from_the_newer_range() -> None:
    box = league_with(Peer())
    mixed = [e for e in box.sent(StartMatch) if "P03" in str(e.message["players"])]
    assert [exchange.message.get("options") for exchange in mixed] == [None, None]
