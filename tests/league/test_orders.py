"""What the organiser orders, and what follows for the season."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_league.files import export
from agent_league.files.repositories import (
    MatchRepository,
    PlayerHistoryRepository,
    RoundsRepository,
)
from agent_league.offer import Caller
from agent_league.protocol import ProtocolError
from agent_league.protocol.error_messages import LeagueErrorMessage
from agent_league.protocol.rounds import RoundAnnouncement
from agent_league.season import answers
from agent_league.season.roster import Lifecycle
from agent_league.season.season import Season
from agent_league.season.snapshots import copy_season, has_happened, restore_season
from agent_league.store.events import AgentDisqualified, Event, MatchEnded, RoundClosed
from league_box import Box, player_url, referee_url
from timewarp import run

FOUR = ("random",) * 4
Script = Callable[["Orders"], Awaitable[None]]


class Orders:
    """The organiser of *box*, who gives orders the moment something happens in it."""

    def __init__(self, box: Box) -> None:
        self.box, self.token = box, ""

    async def order(self, name: str, **arguments: str) -> Any:
        card = next(one for one in self.box.manager.organiser.cards() if one.name == name)
        result: Any = card.call({**arguments, "auth_token": self.token}, Caller())
        return msgspec.to_builtins(await result)


def play(box: Box, after: type[Event], script: Script) -> Box:
    """Play *box*; run *script* while the league is paused after the first event of that kind."""
    organiser, tasks = Orders(box), list[None]()

    async def give_orders() -> None:
        await organiser.order("pause_league")
        await script(organiser)
        await organiser.order("resume_league")

    def on_event(event: Event) -> None:
        if isinstance(event, after) and not tasks:
            box.season.paused = True  # at once: the season might be over before the first order
            tasks.append(None)
            box.manager.spawn(give_orders())

    async def main() -> None:
        await box.open()
        organiser.token = await box.manager.organiser.appoint()
        box.events.listen(on_event)
        await box.fill()
        await box.manager.run()
        await box.close()

    run(main())
    assert tasks
    return box


def refold(box: Box) -> Season:
    season = Season(box.settings)
    for event in box.events:
        season.apply(event)
    return season


async def replay_first(organiser: Orders) -> None:
    done = await organiser.order("replay_match", match_id="R1M1", reason="a dispute")
    assert done["match_id"] == "R1M3"
    again = await organiser.order("replay_match", match_id="R1M1", reason="a dispute")
    assert again["match_id"] == "R1M3", "ordered twice, it is played again once"


@pytest.mark.parametrize("after", [MatchEnded, RoundClosed])
def test_a_match_is_played_again_under_a_new_id_and_counts_once(after: type[Event]) -> None:
    box = play(Box(FOUR), after, replay_first)
    results = {event.match_id: event for event in box.happened(MatchEnded)}
    assert set(results["R1M3"].players) == set(results["R1M1"].players)
    assert len(results) == 7
    assert [row.played for row in box.season.standings()] == [3, 3, 3, 3]
    (first_round, *_) = answers.schedule(box.season)["rounds"]
    statuses = {match["match_id"]: match for match in first_round["matches"]}
    assert statuses["R1M1"]["status"] == "VOIDED"
    assert statuses["R1M1"]["void_reason"] == "a dispute"
    assert statuses["R1M1"]["replayed_as"] == "R1M3"
    assert statuses["R1M3"]["status"] == results["R1M3"].status
    assert statuses["R1M3"]["winner"] == results["R1M3"].winner
    assert refold(box).standings() == box.season.standings()
    announced = [e.message["matches"] for e in box.sent(RoundAnnouncement, to=player_url(1))]
    assert ["R1M3"] in [[match["match_id"] for match in matches] for matches in announced]


def test_a_match_of_the_last_round_is_played_again_before_the_league_ends() -> None:
    async def script(organiser: Orders) -> None:
        await organiser.order("replay_match", match_id="R1M1", reason="a dispute")

    box = play(Box(("random", "random")), RoundClosed, script)
    assert [event.match_id for event in box.happened(MatchEnded)] == ["R1M1", "R1M2"]
    assert [row.played for row in box.season.standings()] == [1, 1]


def test_a_snapshot_holds_a_replay_that_has_not_been_played() -> None:
    box = play(Box(FOUR), RoundClosed, replay_first)
    log = list(box.events)
    (ended,) = [event for event in log if getattr(event, "match_id", "") == "R1M3"][-1:]
    before = Season(box.settings)
    for event in log[: log.index(ended)]:
        before.apply(event)
    before.forget_past()
    assert [one.match_id for one in before.list_unplayed_replays()] == ["R1M3"]
    restored = Season(box.settings)
    assert restore_season(restored, copy_season(before).encode())
    assert [one.match_id for one in restored.list_unplayed_replays()] == ["R1M3"]
    assert not has_happened(restored, ended)
    for event in log[log.index(ended) :]:
        restored.apply(event)
    assert restored.standings() == box.season.standings()
    assert answers.schedule(restored) == answers.schedule(box.season)
    assert has_happened(restored, ended)


def test_a_match_that_memory_has_forgotten_is_voided_too() -> None:
    async def script(organiser: Orders) -> None:
        season = organiser.box.season
        season.closed_rounds, closed = 2, season.closed_rounds  # as if a later round were closed
        season.forget_past()
        season.closed_rounds = closed
        assert "R1M1" not in season.results
        await organiser.order("void_match", match_id="R1M1", reason="a dispute")

    box = play(Box(FOUR), RoundClosed, script)
    assert sorted(row.played for row in box.season.standings()) == [2, 2, 3, 3]
    assert refold(box).standings() == box.season.standings()


def test_the_files_say_which_match_is_void_and_which_was_played_instead(tmp_path: Path) -> None:
    box = play(Box(FOUR), RoundClosed, replay_first)
    export(box.events, tmp_path, box.settings)
    matches = MatchRepository(tmp_path, box.settings.league_id)
    void, replay = matches.load("R1M1"), matches.load("R1M3")
    assert void is not None
    assert (void.voided, void.void_reason, void.replayed_as) == (True, "a dispute", "R1M3")
    assert replay is not None
    assert not replay.voided
    rounds = RoundsRepository(tmp_path, box.settings.league_id).load()
    assert rounds is not None
    statuses = {match.match_id: match.status for match in rounds.rounds[0].matches}
    assert statuses["R1M1"] == "VOIDED"
    assert statuses["R1M3"] == replay.result.status
    history = PlayerHistoryRepository(tmp_path).load(void.player_A_id)
    assert history is not None
    assert [one.match_id for one in history.history if one.voided] == ["R1M1"]
    assert history.wins + history.draws + history.losses == 3


def test_a_disqualified_player_is_told_why_and_loses_the_rest() -> None:
    async def script(organiser: Orders) -> None:
        await organiser.order("disqualify_agent", agent_id="P01", reason="two agents of one owner")

    box = play(Box(FOUR), RoundClosed, script)
    (notices,) = box.sent(LeagueErrorMessage, to=player_url(1))
    assert notices.message["detail"] == "P01 is disqualified (organiser): two agents of one owner"
    lost = [e for e in box.happened(MatchEnded) if "P01" in e.technical_losses]
    assert [event.round_id for event in lost] == [2, 3]
    assert box.season.roster["P01"].state is Lifecycle.DISQUALIFIED


def test_a_reinstated_player_plays_on() -> None:
    async def script(organiser: Orders) -> None:
        await organiser.order("disqualify_agent", agent_id="P01", reason="a mistake")
        await organiser.order("reinstate_agent", agent_id="P01")

    box = play(Box(FOUR), RoundClosed, script)
    assert not [e for e in box.happened(MatchEnded) if e.technical_losses]
    texts = [e.message["detail"] for e in box.sent(LeagueErrorMessage, to=player_url(1))]
    assert texts[-1] == "P01 is no longer disqualified, and takes part again"


def test_the_matches_of_a_disqualified_referee_go_to_another_one() -> None:
    async def script(organiser: Orders) -> None:
        await organiser.order("disqualify_agent", agent_id="REF01", reason="it decides wrongly")
        with pytest.raises(ProtocolError, match="the only referee"):
            await organiser.order("disqualify_agent", agent_id="REF02", reason="it too")

    box = play(Box(FOUR, referees=2), RoundClosed, script)
    assert box.sent(LeagueErrorMessage, to=referee_url(1))
    later = [event for event in box.happened(MatchEnded) if event.round_id > 1]
    assert {event.referee_id for event in later} == {"REF02"}
    assert len(later) == 4


def test_a_new_token_replaces_all_earlier_ones() -> None:
    async def script(organiser: Orders) -> None:
        box = organiser.box
        old, now = box.players[0].token, box.manager.clock()
        answer = await organiser.order("rotate_token", agent_id="P01")
        roster = box.season.roster
        assert roster.holder(old, now) is None
        holder = roster.holder(answer["auth_token"], now)
        assert holder is not None
        assert holder[0].agent_id == "P01"
        box.players[0].token = answer["auth_token"]

    box = play(Box(FOUR), RoundClosed, script)
    assert not [e for e in box.happened(MatchEnded) if e.technical_losses]


def test_an_announcement_is_in_the_status_of_the_league() -> None:
    async def script(organiser: Orders) -> None:
        await organiser.order("announce", text="Lunch\nuntil one")

    box = play(Box(FOUR), RoundClosed, script)
    assert answers.status(box.season)["announcement"] == "Lunch until one"
    assert answers.status(refold(box))["announcement"] == "Lunch until one"


@pytest.mark.parametrize(
    ("order", "arguments", "sentence"),
    [
        ("void_match", {"match_id": "R9M9", "reason": "x"}, "there is no result of 'R9M9'"),
        ("void_match", {"match_id": "R1M1"}, "reason: a required field is missing"),
        ("replay_match", {"match_id": "nonsense", "reason": "x"}, "there is no result"),
        ("disqualify_agent", {"agent_id": "P77", "reason": "x"}, "nobody is registered as 'P77'"),
        ("announce", {}, "text: a required field is missing"),
    ],
)
def test_a_wrong_order_says_what_is_wrong(
    order: str, arguments: dict[str, str], sentence: str
) -> None:
    async def script(organiser: Orders) -> None:
        with pytest.raises(ProtocolError, match=sentence) as caught:
            await organiser.order(order, **arguments)
        assert caught.value.about == order

    play(Box(FOUR), RoundClosed, script)


def test_after_the_end_nothing_is_changed() -> None:
    box = play(Box(FOUR), RoundClosed, lambda organiser: organiser.order("pause_league"))
    organiser = Orders(box)

    async def late() -> None:
        organiser.token = await box.manager.organiser.appoint()
        for order, arguments in (
            ("void_match", {"match_id": "R1M1", "reason": "x"}),
            ("replay_match", {"match_id": "R1M1", "reason": "x"}),
            ("disqualify_agent", {"agent_id": "P01", "reason": "x"}),
        ):
            with pytest.raises(ProtocolError, match="the league is over"):
                await organiser.order(order, **arguments)

    run(late())
    assert not box.happened(AgentDisqualified)
