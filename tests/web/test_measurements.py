"""What pages and monitoring systems are told was measured: times, clocks, ratings."""

import asyncio
from typing import Any

import pytest

from agent_league.protocol import Patience
from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store.events import MatchAssigned, MatchEnded
from agent_league.vocabulary import PlayerId
from agent_league.web.call_times import AT_ONCE, CallTimes, Histogram
from agent_league.web.clocks import compare_clocks, compare_referees
from agent_league.web.exchanges import read_exchanges
from agent_league.web.league_view import LeagueView
from agent_league.web.pages.compare import find_certainty
from agent_league.web.records import RememberedRecords


def line(at: str, sender: str, receiver: str, **message: Any) -> dict[str, Any]:
    return {"at": f"2026-01-15T10:30:{at}Z", "from": sender, "to": receiver, "message": message}


def talk(*written: str) -> list[dict[str, Any]]:
    """Return a match of one question, whose answer comes after 200 ms and says when it was written."""
    asked = line("10.000", "referee:REF01", "player:P01", message_type="GAME_INVITATION")
    return [
        entry
        for text in written
        for entry in (asked, line("10.200", "player:P01", "referee:REF01", timestamp=text))
    ]


def test_each_reply_to_two_questions_in_one_call_is_timed_by_its_own_question() -> None:
    to, back = ("referee:REF01", "player:P01"), ("player:P01", "referee:REF01")
    entries = [
        line("10.000", *to, message_type="GAME_INVITATION"),
        line("10.000", *to, message_type="CHOOSE_PARITY_CALL"),
        line("10.200", *back, message_type="GAME_JOIN_ACK"),
        line("10.200", *back, message_type="CHOOSE_PARITY_RESPONSE"),
    ]
    _, _, ack, choice = read_exchanges(entries, Patience())
    assert (ack.limit_ms, choice.limit_ms) == (5_000, 30_000)
    assert [round(one.took_ms or 0) for one in (ack, choice)] == [200, 200]


def test_durations_are_counted_up_to_each_edge() -> None:
    times = Histogram()
    for seconds in (0.001, 0.005, 0.3, 100.0):
        times.add(seconds)
    found = dict(times.list_buckets())
    assert (found["0.005"], found["0.25"], found["0.5"], found["+Inf"]) == (2, 2, 3, 4)
    assert times.seconds == pytest.approx(100.306)


class Kept(RememberedRecords):
    """Has the same transcript for every match."""

    async def read_transcripts(self, match_ids: Any) -> Any:
        self.read = len(match_ids)
        return dict.fromkeys(match_ids, talk("2026-01-15T10:30:10Z"))


def test_of_too_many_matches_only_the_latest_are_measured_and_the_others_counted() -> None:
    times, records = CallTimes(Patience()), Kept(Season(LeagueSettings(seed="7")))
    asyncio.run(times.measure(records, [f"R1M{n}" for n in range(AT_ONCE + 7)]))
    assert (times.left_out, records.read) == (7, AT_ONCE)
    assert dict(times.by_kind["GAME_INVITATION"].list_buckets())["0.25"] == AT_ONCE


@pytest.mark.parametrize(
    ("written", "ahead"),
    [
        ("2026-01-15T10:30:10.100Z", 0.0),
        ("2026-01-15T10:30:13.600Z", 3.5),
        ("2026-01-15T10:29:10.100Z", -60.0),
        ("2026-01-15T10:30:12Z", 2.4),
    ],
)
def test_the_clock_of_a_player_is_compared_with_that_of_its_referee(
    written: str, ahead: float
) -> None:
    found = compare_clocks([read_exchanges(talk(written), Patience())])
    assert found == {"player:P01": pytest.approx(ahead)}


def test_a_message_without_a_readable_time_says_nothing_of_a_clock() -> None:
    assert compare_clocks([read_exchanges(talk("yesterday"), Patience())]) == {}


def test_the_clock_of_a_referee_is_compared_with_that_of_the_league() -> None:
    at = "2026-01-15T10:30:0{}.000Z"
    assigned = MatchAssigned(at=at.format(4), match_id="R1M1", referee_id="REF01", ticket_hash="x")
    ended = MatchEnded(
        at=at.format(5), match_id="R1M1", round_id=1, referee_id="REF01", players=["P01", "P02"],
        winner=None, status="DRAW", termination="completed", technical_losses=[], details={},
    )  # fmt: skip
    found = compare_referees({"R1M1": talk("-")}, {"R1M1": assigned}, {"R1M1": ended})
    assert found == {"referee:REF01": pytest.approx(5.6)}


def test_how_sure_the_order_of_two_is_follows_from_the_gap_of_their_ratings() -> None:
    assert find_certainty(0, 100) == 0.5
    assert find_certainty(100, 100) == pytest.approx(0.975, abs=1e-3)
    assert find_certainty(-100, 100) == pytest.approx(0.025, abs=1e-3)
    assert find_certainty(10, None) is None


def test_ratings_are_computed_again_only_when_a_match_has_ended_or_the_players_change() -> None:
    season = Season(LeagueSettings(seed="7"))
    view = LeagueView(season, RememberedRecords(season))

    async def main() -> None:
        first = await view.ratings.read()
        assert await view.ratings.read() is first
        season.tally["WIN"] += 1
        view.ratings._until = 0.0
        second = await view.ratings.read()
        assert second is not first
        view.ratings._until = float("inf")
        season.players = [PlayerId("P01"), PlayerId("P02")]
        third = await view.ratings.read()
        assert [row.player for row in third.rows] == ["P01", "P02"]

    asyncio.run(main())
