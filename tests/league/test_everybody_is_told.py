"""Announcements come before invitations; who is out, suspended or walked over is told too."""

import asyncio
import json
import logging
from collections.abc import Awaitable

import pytest

from agent_league.http.exchange import Answer
from agent_league.player import Player, load_brain
from agent_league.protocol import Role
from agent_league.protocol.play import GameOver, Invitation
from agent_league.protocol.rounds import RoundAnnouncement
from agent_league.season.roster import Lifecycle
from agent_league.serving.site import make_site
from agent_league.store.events import AgentDisqualified, AgentSuspended, MatchEnded
from agent_league.vocabulary import Json
from league_box import LEAGUE_URL, Box, player_meta, player_url, referee_meta, referee_url
from scripted import (
    Call,
    Scripted,
    behaves,
    breaks,
    does_not_know,
    says,
    stays_silent,
    takes,
)
from timewarp import clock, run

JOIN, CHOOSE, OVER, ERROR = "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "LEAGUE_ERROR"
ANNOUNCEMENT, COMPLETED, END = "ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", "LEAGUE_COMPLETED"
TABLE = "LEAGUE_STANDINGS_UPDATE"
FOUR = ["random", "frequency", "always_even", "alternating"]


@pytest.mark.parametrize("seconds", [0.5, 3.0, 9.0])
def test_an_invitation_waits_until_the_player_has_taken_the_announcement(seconds: float) -> None:
    box = Box(FOUR, guests=2)
    slow = [Scripted("?", {ANNOUNCEMENT: takes(seconds)}) for _ in range(2)]
    for peer in slow:
        box.guest(peer)
    run(box.play())
    for peer in slow:
        announced = {c.message["round_id"]: c.at for c in peer.calls(ANNOUNCEMENT)}
        for call in peer.calls(JOIN):
            assert call.at >= announced[call.message["round_id"]] + seconds


def test_a_player_that_does_not_take_announcements_delays_only_its_own_matches() -> None:
    box = Box(FOUR, guests=2)
    deaf = box.guest(Scripted("?", {ANNOUNCEMENT: stays_silent}))
    box.guest(Scripted("?"))
    run(box.play())
    assert {event.termination for event in box.happened(MatchEnded)} == {"completed"}
    for number in range(1, 5):
        url = player_url(number)
        announced = {e.message["round_id"]: e.at for e in box.sent(RoundAnnouncement, to=url)}
        for sent in box.sent(Invitation, to=url):
            other = sent.message["opponent_id"]
            waited = sent.at - announced[sent.message["round_id"]]
            assert waited <= 10 if other == deaf.name else waited < 1


def list_notices(box: Box, url: str, kind: str) -> list[Json]:
    """Return the notices of a *kind* that were sent to *url*, alone or in a batch."""
    frames = [json.loads(e.sent) for e in box.exchanges if e.url == url]
    calls = [call for frame in frames for call in (frame if isinstance(frame, list) else [frame])]
    return [call["params"] for call in calls if call["params"].get("message_type") == kind]


def make_compact_player(box: Box) -> Player:
    meta = player_meta(player_url(9), notices="compact")
    brain = load_brain("random")
    player = Player("P09", box.net, LEAGUE_URL, meta=meta, brain=brain, clock=clock)
    box.players.append(player)
    box.net.host(player_url(9), make_site(player))
    return player


def test_a_player_with_compact_notices_hears_only_of_its_own_matches() -> None:
    box = Box(FOUR, guests=1)
    player = make_compact_player(box)
    run(box.play())
    rounds = list_notices(box, player_url(9), ANNOUNCEMENT)
    named = [match for message in rounds for match in message["matches"]]
    assert len(rounds) == box.season.total_rounds
    assert all(player.name in (match["player_A_id"], match["player_B_id"]) for match in named)
    assert len(named) == len(player.history) == 4
    assert sorted(len(message["matches"]) for message in rounds) == [0, 1, 1, 1, 1]
    (first, *_) = list_notices(box, player_url(1), ANNOUNCEMENT)
    assert len(first["matches"]) == 2


def test_notices_that_wait_for_a_compact_player_come_in_one_batch() -> None:
    box = Box(FOUR, guests=1)
    make_compact_player(box)
    run(box.play())
    batches = [e for e in box.exchanges if e.url == player_url(9) and e.sent.startswith(b"[")]
    kinds = [call["params"]["message_type"] for e in batches for call in json.loads(e.sent)]
    assert {COMPLETED, ANNOUNCEMENT} <= set(kinds)
    for exchange in batches:
        assert exchange.answer is not None
        answers = json.loads(exchange.answer.body)
        assert [one["id"] for one in answers] == [one["id"] for one in json.loads(exchange.sent)]
        assert {one["result"]["status"] for one in answers} == {"ok"}
    assert len(list_notices(box, player_url(9), COMPLETED)) == box.season.total_rounds


def test_a_player_that_refuses_a_batch_gets_every_notice_by_itself() -> None:
    box = Box(FOUR, guests=1)
    peer = Scripted("?")
    box.guest(peer, notices="compact")  # it says so, and yet takes no batches
    run(box.play())
    assert len(peer.calls(COMPLETED)) == len(peer.calls(ANNOUNCEMENT)) == box.season.total_rounds
    assert len(peer.calls(END)) == 1
    assert {event.termination for event in box.happened(MatchEnded)} == {"completed"}


def test_a_disqualified_player_hears_how_the_league_goes_on_and_ends() -> None:
    box = Box(FOUR, guests=1, disqualify=("unsupported_game",))
    peer = Scripted("?", {JOIN: says(accept=False)})
    guest = box.guest(peer)
    run(box.play())
    assert [event.agent_id for event in box.happened(AgentDisqualified)] == [guest.name]
    (notices,) = peer.messages(ERROR)
    assert "disqualified" in notices["detail"]
    rounds = box.season.total_rounds
    assert len(peer.calls(COMPLETED)) == rounds
    assert len(peer.calls(ANNOUNCEMENT)) == rounds
    assert peer.calls(TABLE)
    assert len(peer.calls(END)) == 1


def test_our_own_player_ends_with_its_league_though_it_is_disqualified() -> None:
    async def main() -> None:
        box = Box(FOUR, announcement_lead=5.0, disqualify=("crash",))
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await asyncio.sleep(7)
        box.manager.season_runner.discipline.disqualify("P04", "crash", "testing")
        await season
        assert box.season.roster["P04"].state is Lifecycle.DISQUALIFIED
        assert box.players[3].over.is_set()
        assert len(box.players[3].history) == 3
        await box.close()

    run(main())


def test_the_players_of_a_walkover_are_told_its_result() -> None:
    box = Box(FOUR, guests=1, disqualify=("unsupported_game",))
    peer = Scripted("?", {JOIN: says(accept=False)})
    guest = box.guest(peer)
    run(box.play())
    walkovers = [e for e in box.happened(MatchEnded) if e.referee_id == Role.LEAGUE]
    assert len(walkovers) >= 2
    for ended in walkovers:
        (winner,) = set(ended.players) - {guest.name}
        (sent,) = box.sent(GameOver, to=player_url(int(winner[1:])))[-1:]
        over = [e.message for e in box.sent(GameOver) if e.message["match_id"] == ended.match_id]
        assert len(over) == 2
        assert {message["game_result"]["winner_player_id"] for message in over} == {winner}
        assert sent.answer is not None
    for player in box.players:
        assert len(player.history) == box.season.row(player.name).played


def test_a_suspended_player_hears_how_the_league_goes_on_and_ends() -> None:
    peer = Scripted("?", {JOIN: breaks})

    def answer(body: bytes) -> Answer | Awaitable[Answer]:
        return Answer(503, b"") if b"league_probe" in body else peer(body)

    async def main() -> Box:
        box = Box(FOUR, guests=1, announcement_lead=5.0)
        guest = box.guest(answer)
        await box.open()
        await box.fill()
        peer.who = guest.name
        season = asyncio.ensure_future(box.manager.run())
        await peer.has_heard(ANNOUNCEMENT)
        await box.manager.season_runner.liveness.suspend(box.season.roster[guest.name], "testing")
        await season
        await box.close()
        return box

    box = run(main())
    assert len(box.happened(AgentSuspended)) == 1
    (notices,) = peer.messages(ERROR)
    assert notices["detail"].endswith("is suspended (testing) until it answers or registers again")
    assert len(peer.calls(COMPLETED)) == box.season.total_rounds
    assert peer.calls(TABLE)
    assert len(peer.calls(END)) == 1


def test_a_league_without_referees_says_so_and_goes_on_when_one_joins(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        box = Box(FOUR, announcement_lead=10.0)
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await asyncio.sleep(5)
        box.net.unhost(referee_url(1))
        await asyncio.sleep(300)
        assert box.season.roster["REF01"].state is Lifecycle.SUSPENDED
        assert not season.done()
        other = type(box.referees[0])(
            "other",
            box.net,
            box.referees[0].league_url,
            meta=referee_meta(referee_url(2)),
            clock=box.referees[0].clock,
        )
        box.net.host(referee_url(2), make_site(other))
        await other.register()
        assert other.name == "REF02"
        await season
        await other.close()
        await box.close()
        assert {event.termination for event in box.happened(MatchEnded)} == {"completed"}

    with caplog.at_level(logging.WARNING):
        run(main())
    assert sum("no referee takes matches" in message for message in caplog.messages) == 1


# Agents that do not take their notices


def wants_token(call: Call) -> Answer:
    """Take nothing without a token, as an agent does that asks for one in every message."""
    given = call.message.get("auth_token")
    return behaves(call) if given else call.refuses(-32001, "Missing auth token")


def test_an_agent_that_asks_for_a_token_in_its_notices_gets_a_proof_in_every_one() -> None:
    asks = dict.fromkeys([ANNOUNCEMENT, COMPLETED, TABLE], wants_token)
    box = Box(FOUR, guests=1)
    peer = Scripted("?", asks)
    guest = box.guest(peer)
    run(box.play())
    calls = [call for kind in asks for call in peer.calls(kind)]
    refused = [call for call in calls if not call.message.get("auth_token")]
    assert len(refused) == 1
    proofs = {call.message["auth_token"] for call in calls if call.message.get("auth_token")}
    assert proofs
    assert guest.token not in proofs


def test_an_agent_that_takes_no_notice_is_complained_about_once_with_the_fix(
    caplog: pytest.LogCaptureFixture,
) -> None:
    box = Box(FOUR, guests=1)
    box.guest(Scripted("?", dict.fromkeys([ANNOUNCEMENT, COMPLETED, TABLE, END], does_not_know)))
    with caplog.at_level(logging.WARNING, "agent_league"):
        run(box.play())
    (complaint,) = [text for text in caplog.messages if "does not take" in text]
    assert "P05 does not take ROUND_ANNOUNCEMENT" in complaint
    assert "fix: let it answer the call notify_round with a result" in complaint


def test_nobody_complains_about_a_referee_that_takes_no_notices(
    caplog: pytest.LogCaptureFixture,
) -> None:
    box = Box(FOUR, referees=1)
    guest = box.guest(Scripted("?", dict.fromkeys([COMPLETED, END], does_not_know)), Role.REFEREE)
    with caplog.at_level(logging.WARNING, "agent_league"):
        run(box.play())
    assert not [text for text in caplog.messages if guest.name in text and "notice" in text]
    assert not [text for text in caplog.messages if COMPLETED in text]


def test_a_player_can_tell_that_an_announcement_comes_from_its_league() -> None:
    async def main() -> Box:
        box = Box(FOUR)
        await box.play()
        return box

    box = run(main())
    for number, player in enumerate(box.players, 1):
        for sent in box.sent(RoundAnnouncement, to=player_url(number)):
            proof = sent.message["auth_token"]
            assert player.is_signed(proof, ANNOUNCEMENT, box.season.settings.league_id)
