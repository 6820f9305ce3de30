"""Rounds that overlap: a slow player makes only its own opponents wait."""

from collections import defaultdict

import pytest

from agent_league.protocol.rounds import RoundAnnouncement, RoundCompleted
from agent_league.store.events import MatchEnded, RoundClosed, RoundOpened
from league_box import Box, player_url
from scripted import Scripted, takes
from timewarp import run

CHOOSE = "CHOOSE_PARITY_CALL"
SEVEN = ["random", "frequency", "always_even", "alternating", "markov", "mirror", "always_odd"]
SLOWNESS = 20.0


def play_beside_a_slow_player(**settings: int) -> Box:
    box = Box(SEVEN, guests=1, **settings)
    box.guest(Scripted("?", {CHOOSE: takes(SLOWNESS)}))
    run(box.play())
    return box


def find_ends(box: Box) -> dict[str, float]:
    """Return when each match was over: when its players were told."""
    return {e.message["match_id"]: e.at for e in box.exchanges if e.kind == "GAME_OVER"}


def list_fast_ends(box: Box) -> list[float]:
    slow, ends = box.guests[0].name, find_ends(box)
    return [ends[m.match_id] for m in box.happened(MatchEnded) if slow not in m.players]


def test_without_overlap_everybody_waits_for_the_slow_player() -> None:
    box = play_beside_a_slow_player()
    assert max(list_fast_ends(box)) >= 6 * SLOWNESS


def test_with_overlap_only_its_opponents_wait_for_the_slow_player() -> None:
    box = play_beside_a_slow_player(overlap_rounds=6)
    ends = sorted(list_fast_ends(box))
    assert len(ends) == 21
    assert sum(end < SLOWNESS for end in ends) >= 6
    assert max(ends) < 7 * SLOWNESS
    assert {event.termination for event in box.happened(MatchEnded)} == {"completed"}


@pytest.mark.parametrize("overlap", [1, 2, 6, 50])
def test_every_player_plays_its_matches_one_by_one_in_the_order_of_the_rounds(overlap: int) -> None:
    box = play_beside_a_slow_player(overlap_rounds=overlap)
    of_player: defaultdict[str, list[int]] = defaultdict(list)
    for ended in box.happened(MatchEnded):
        for player in ended.players:
            of_player[player].append(ended.round_id)
    assert set(map(tuple, of_player.values())) == {(1, 2, 3, 4, 5, 6, 7)}
    assert [event.round_id for event in box.happened(RoundClosed)] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("overlap", [0, 1, 2])
def test_no_more_rounds_are_open_than_were_asked_for(overlap: int) -> None:
    box = play_beside_a_slow_player(overlap_rounds=overlap)
    open_rounds = most = 0
    for event in box.happened(RoundOpened, RoundClosed):
        open_rounds += 1 if isinstance(event, RoundOpened) else -1
        most = max(most, open_rounds)
    assert most == overlap + 1


def test_announcements_and_ends_of_rounds_come_in_their_order() -> None:
    box = play_beside_a_slow_player(overlap_rounds=3)
    for kind in (RoundAnnouncement, RoundCompleted):
        told = [e.message["round_id"] for e in box.sent(kind, to=player_url(1))]
        assert told == [1, 2, 3, 4, 5, 6, 7]


def test_a_format_that_draws_from_results_plays_one_round_after_the_other() -> None:
    box = Box(SEVEN[:4], format="ladder", rounds=4, overlap_rounds=3)
    run(box.play())
    kinds = [type(event) for event in box.happened(RoundOpened, RoundClosed)]
    assert kinds == [RoundOpened, RoundClosed] * 4
