import asyncio
from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import pytest

from agent_league.http.exchange import Answer
from agent_league.member import NotAdmittedError
from agent_league.protocol import Role
from agent_league.protocol.play import GameOver, Invitation, Retry, StartMatch
from agent_league.protocol.rounds import (
    LeagueCompleted,
    RoundAnnouncement,
    RoundCompleted,
    StandingsUpdate,
)
from agent_league.season.assignment import POLICIES
from agent_league.season.season import Stage
from agent_league.serving.site import make_site
from agent_league.store.events import (
    AgentRecovered,
    AgentSuspended,
    MatchAssigned,
    MatchEnded,
    RoundClosed,
    RoundOpened,
    SeasonEnded,
    SeasonStarted,
)
from agent_league.store.log import StoredEvent
from agent_league.tournament.formats import round_robin
from agent_league.vocabulary import PlayerId
from league_box import LEAGUE_URL, Box, Guest, played, player_url, referee_url
from scripted import (
    Behaviour,
    Call,
    Scripted,
    behaves,
    breaks,
    garbles,
    hosted,
    in_turn,
    refuses,
    says,
    settled,
    stays_silent,
    takes,
)
from timewarp import now, run

JOIN, CHOOSE, MOVE = "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_MOVE_CALL"
START, TABLE, OVER = "START_MATCH", "LEAGUE_STANDINGS_UPDATE", "GAME_OVER"
FOUR = ["random", "frequency", "always_even", "alternating"]

SIZES = [(2, 1), (3, 1), (4, 1), (5, 1), (8, 1), (2, 2), (4, 2), (5, 2)]


@pytest.fixture(scope="module", params=SIZES, ids=[f"{n} players, {k} legs" for n, k in SIZES])
def league(request: pytest.FixtureRequest) -> Box:
    """A league that was played, of every size."""
    players, legs = request.param
    return played(Box((FOUR * 2)[:players], 2, legs=legs, capacity=2))


# Whole leagues


def test_everybody_meets_everybody_once_in_each_leg(league: Box) -> None:
    pairs = Counter(frozenset(ended.players) for ended in league.happened(MatchEnded))
    everybody = [player.name for player in league.players]
    expected = {frozenset(pair): league.settings.legs for pair in combinations(everybody, 2)}
    assert pairs == expected
    assert league.season.stage is Stage.COMPLETED


def test_in_two_legs_everybody_sits_first_once_against_everybody(league: Box) -> None:
    seats = Counter(tuple(ended.players) for ended in league.happened(MatchEnded))
    if league.settings.legs == 2:
        assert set(seats.values()) == {1}


def test_nobody_plays_twice_in_a_round(league: Box) -> None:
    for opened in league.happened(RoundOpened):
        seated = [p for match in opened.matches for p in (match.first, match.second)]
        assert len(seated) == len(set(seated))


def test_rounds_follow_each_other_and_each_ends_before_the_next_begins(league: Box) -> None:
    course = [
        (type(event).__name__, event.round_id)
        for event in league.happened(RoundOpened, RoundClosed)
    ]
    rounds = league.season.total_rounds
    expected = [(what, n) for n in range(1, rounds + 1) for what in ("RoundOpened", "RoundClosed")]
    assert course == expected
    open_round = 0
    for event in league.happened(RoundOpened, MatchEnded):
        if isinstance(event, RoundOpened):
            open_round = event.round_id
        assert event.round_id == open_round


def test_a_player_hears_of_a_round_before_it_is_invited_to_its_match(league: Box) -> None:
    for player in league.players:
        url = player_url(int(player.name[1:]))
        announced: set[int] = set()
        for sent in league.sent(RoundAnnouncement, Invitation, to=url):
            if sent.kind == "ROUND_ANNOUNCEMENT":
                announced.add(sent.message["round_id"])
            else:
                assert sent.message["round_id"] in announced
        assert announced == set(range(1, league.season.total_rounds + 1))


def test_an_announcement_lists_the_matches_of_its_round(league: Box) -> None:
    opened = {event.round_id: event.matches for event in league.happened(RoundOpened)}
    endpoints = {referee_url(1), referee_url(2)}
    for sent in league.sent(RoundAnnouncement):
        listed = sent.message["matches"]
        expected = [(m.match_id, m.first, m.second) for m in opened[sent.message["round_id"]]]
        assert [(m["match_id"], m["player_A_id"], m["player_B_id"]) for m in listed] == expected
        assert {m["referee_endpoint"] for m in listed} <= endpoints


def test_matches_are_refereed_where_they_were_announced(league: Box) -> None:
    announced = {
        m["match_id"]: m["referee_endpoint"]
        for sent in league.sent(RoundAnnouncement)
        for m in sent.message["matches"]
    }
    given = {sent.message["match_id"]: sent.url for sent in league.sent(StartMatch)}
    assert given == announced


def test_the_sums_of_a_completed_round_add_up(league: Box) -> None:
    rounds = league.season.total_rounds
    for url in (player_url(1), referee_url(2)):
        notices = [sent.message for sent in league.sent(RoundCompleted, to=url)]
        assert [message["round_id"] for message in notices] == list(range(1, rounds + 1))
        for message in notices:
            summary = message["summary"]
            parts = summary["wins"] + summary["draws"] + summary["technical_losses"]
            results = league.season.results_of(message["round_id"])
            assert parts == summary["total_matches"] == message["matches_completed"] == len(results)
            assert summary["draws"] == sum(ended.status == "DRAW" for ended in results)
        following = [message["next_round_id"] for message in notices]
        assert following == [*range(2, rounds + 1), None]


def test_the_end_is_the_last_that_everybody_hears(league: Box) -> None:
    by_url: dict[str, list[str]] = {}
    for sent in league.exchanges:
        by_url.setdefault(sent.url, []).append(sent.kind)
    del by_url[LEAGUE_URL]
    assert len(by_url) == len(league.members)
    for kinds in by_url.values():
        assert kinds[-1] == "LEAGUE_COMPLETED"
        assert kinds.count("LEAGUE_COMPLETED") == 1


def test_the_last_word_is_the_final_table(league: Box) -> None:
    rows = league.season.standings()
    for member in league.members:
        assert member.over.is_set()
        assert member.final is not None
        assert member.final.champion.player_id == rows[0].player_id
        assert member.final.total_rounds == league.season.total_rounds
        assert member.final.total_matches == len(league.season.results)
        places = [(p.rank, p.player_id, p.points) for p in member.final.final_standings]
        assert places == [(row.rank, row.player_id, row.points) for row in rows]
    for player in league.players:
        assert player.standings == rows
    (ended,) = league.happened(SeasonEnded)
    assert ended.champion == rows[0].player_id


def test_players_remember_what_the_league_recorded(league: Box) -> None:
    for player in league.players:
        assert len(player.history) == league.season.row(player.name).played
        for match_id, remembered in player.history.items():
            ended = league.season.results[match_id]
            assert remembered.won is (None if ended.winner is None else ended.winner == player.name)


def test_no_token_is_ever_shown_to_anybody_but_the_league(league: Box) -> None:
    secrets = [str(member.token).encode() for member in league.members]
    for sent in league.exchanges:
        assert sent.answer is not None
        if sent.url != LEAGUE_URL:
            assert not any(secret in sent.sent for secret in secrets)
            assert not any(secret in sent.answer.body for secret in secrets)
    assert not any(secret.decode() in str(list(league.events)) for secret in secrets)


def test_the_same_seed_plays_the_same_season() -> None:
    def outcome(seed: str) -> list[Any]:
        box = played(Box(FOUR, 2, seed=seed))
        return [(e.match_id, e.winner, e.details["drawn_number"]) for e in sorted_by_match(box)]

    assert outcome("one") == outcome("one")
    assert outcome("one") != outcome("two")


def sorted_by_match(box: Box) -> list[MatchEnded]:
    return sorted(box.happened(MatchEnded), key=lambda ended: ended.match_id)


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_plays_a_league_and_no_referee_gets_more_than_it_can_bear(policy: str) -> None:
    box = Box(assignment=policy, referees=2, capacity=2, guests=8)
    for _ in range(8):
        box.guest(Scripted("?", {CHOOSE: takes(1)}))
    played(box)
    assert len(box.season.results) == 28
    starts = Counter(sent.url for sent in box.sent(StartMatch))
    assert starts == {referee_url(1): 14, referee_url(2): 14}
    running: Counter[str] = Counter()
    for event in box.happened(MatchAssigned, MatchEnded):
        running[event.referee_id] += 1 if isinstance(event, MatchAssigned) else -1
        assert running[event.referee_id] <= 2


class SlowSink:
    """Takes a minute to keep a result."""

    async def keep(self, *records: StoredEvent, may_wait: bool = False) -> None:
        if any(isinstance(record.event, MatchEnded) for record in records):
            await asyncio.sleep(60)


def test_a_referee_gets_its_next_match_while_the_last_result_is_being_kept() -> None:
    box = Box(["random"] * 4, capacity=1)
    box.events.attach(SlowSink())
    played(box)
    first, second, third, *_ = (order.at for order in box.sent(StartMatch))
    assert second - first < 60
    assert third - first >= 60, "a round begins when all results of the one before are kept"


class NotingSink:
    """Notes which results may wait for others."""

    def __init__(self) -> None:
        self.waits: list[tuple[int, bool]] = []

    async def keep(self, *records: StoredEvent, may_wait: bool = False) -> None:
        for record in records:
            if isinstance(record.event, MatchEnded):
                self.waits.append((record.event.round_id, may_wait))
        await asyncio.sleep(1)


@pytest.mark.parametrize("overlap", [0, 1])
def test_only_the_last_result_of_a_round_must_be_kept_at_once(overlap: int) -> None:
    box, sink = Box(["random"] * 6, overlap_rounds=overlap), NotingSink()
    box.events.attach(sink)
    played(box)
    assert len(sink.waits) == 15
    expected = [False, False, False] if overlap else [True, True, False]
    for round_id in range(1, 6):
        waits = [may_wait for of_round, may_wait in sink.waits if of_round == round_id]
        assert waits == expected


def test_rounds_can_be_announced_some_time_before_they_begin() -> None:
    box = played(Box(FOUR[:3], announcement_lead=60.0))
    for round_id in (1, 2, 3):
        announced = [s.at for s in box.sent(RoundAnnouncement) if s.message["round_id"] == round_id]
        invited = [s.at for s in box.sent(Invitation) if s.message["round_id"] == round_id]
        assert min(invited) - max(announced) == 60


def test_a_game_of_turns_makes_a_league_too() -> None:
    box = played(Box(["random", "random", "random"], game_type="tic_tac_toe"))
    assert [ended.termination for ended in box.happened(MatchEnded)] == ["completed"] * 3


def test_the_league_waits_until_it_is_told_to_begin() -> None:
    async def main() -> None:
        box = Box(FOUR[:2], awaited_players=None)
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await asyncio.sleep(1000)
        stages = [box.season.stage]
        box.manager.season_runner.start_now()
        await season
        assert [*stages, box.season.stage] == [Stage.REGISTRATION, Stage.COMPLETED]
        await box.close()

    run(main())


def test_the_league_begins_when_all_players_and_a_referee_are_there() -> None:
    async def main() -> None:
        box = Box(FOUR[:2])
        await box.open()
        season = asyncio.ensure_future(box.manager.run())
        for player in box.players:
            await player.register()
        await asyncio.sleep(100)
        assert box.season.stage is Stage.REGISTRATION
        await box.referees[0].register()
        await season
        await box.close()

    run(main())


def test_a_refused_registration_is_a_result_with_the_reason() -> None:
    async def main() -> None:
        box = Box(FOUR[:2])
        await box.play()
        late = box.guest(Scripted("?"))
        reply = await late.register()
        assert (reply.status, reply.player_id, reply.error_code) == ("REJECTED", None, "E019")
        assert reply.reason == "Registration closed - league already started"
        with pytest.raises(NotAdmittedError, match="Maximum players"):
            await full()

    async def full() -> None:
        box = Box(FOUR[:3], max_players=2)
        await box.open()
        await box.fill()

    run(main())


# Standings


def test_a_slow_player_gets_the_newest_table_and_not_all_of_them() -> None:
    slow, quick = Scripted("?", {TABLE: takes(3)}), Scripted("?")
    box = Box(FOUR * 2, guests=2, announcement_lead=1.0)
    box.guest(slow)
    box.guest(quick)
    played(box)
    assert 2 <= len(slow.calls(TABLE)) < len(quick.calls(TABLE))
    final = [row.points for row in box.season.standings()]
    for player in (slow, quick):
        rows = player.messages(TABLE)[-1]["standings"]
        assert [row["points"] for row in rows] == final
    times = slow.times(TABLE)
    assert all(later - earlier >= 3 for earlier, later in pairwise(times))


def test_tables_never_go_back_in_time() -> None:
    box = played(Box(FOUR * 2, 3))
    for number in range(1, 9):
        tables = box.sent(StandingsUpdate, to=player_url(number))
        counts = [sum(row["played"] for row in sent.message["standings"]) for sent in tables]
        assert counts == sorted(counts)
        assert counts[-1] == 2 * len(box.season.results)


def test_any_number_of_slow_players_does_not_keep_news_from_the_others() -> None:
    async def main() -> None:
        box = Box(referees=1, guests=61)
        news = ("ROUND_ANNOUNCEMENT", "ROUND_COMPLETED", TABLE)
        for _ in range(60):
            box.guest(Scripted("?", dict.fromkeys(news, takes(9))))
        quick = Scripted("?")
        box.guest(quick)
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await quick.has_heard("ROUND_ANNOUNCEMENT")
        assert now() < 1
        season.cancel()
        await box.close()

    run(main())


# Referees that fail


def with_referee(script: Behaviour, **settings: Any) -> tuple[Box, Guest]:
    box = Box(FOUR, 1, awaited_referees=2, **settings)
    guest = box.guest(Scripted("?", {START: script}), Role.REFEREE)
    return box, guest


def complete(box: Box) -> None:
    """Check that every match was played, and was lost by nobody's absence."""
    assert [ended.termination for ended in box.happened(MatchEnded)] == ["completed"] * 6
    assert box.season.stage is Stage.COMPLETED
    for player in box.players:
        assert len(player.history) == 3


@pytest.mark.parametrize(
    ("script", "suspended"),
    [
        (says(status="REJECTED", reason="busy"), False),
        (stays_silent, False),
        (breaks, False),
        (garbles, True),
        (refuses(-32000), True),
        (behaves, True),
    ],
    ids=["refuses", "silent", "down", "garbled", "errors", "never reports"],
)
def test_a_match_that_a_referee_does_not_bring_to_its_end_goes_to_another(
    script: Behaviour,
    suspended: bool,
) -> None:
    box, guest = with_referee(script)
    played(box)
    complete(box)
    assert {ended.referee_id for ended in box.happened(MatchEnded)} == {"REF01"}
    given = [event.referee_id for event in box.happened(MatchAssigned)]
    assert guest.name in given
    assert (guest.name in {e.agent_id for e in box.happened(AgentSuspended)}) is suspended


def test_a_referee_that_vanishes_after_accepting_is_noticed_soon() -> None:
    async def main() -> None:
        def accepts_and_vanishes(call: Call) -> Answer:
            guest.leave()
            return behaves(call)

        box, guest = with_referee(accepts_and_vanishes)
        await box.play()
        complete(box)
        assert now() < 30

    run(main())


def test_a_referee_that_is_only_busy_gets_matches_again() -> None:
    busy = in_turn(says(status="REJECTED", reason="busy"), stays_silent)
    box, guest = with_referee(busy, announcement_lead=10.0)
    played(box)
    complete(box)
    assert isinstance(guest.peer, Scripted)
    assert len(guest.peer.calls(START)) >= 2


def test_the_only_referee_may_be_away_for_a_moment() -> None:
    async def main() -> None:
        box = Box(FOUR, 1)
        site = make_site(box.referees[0])
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        box.net.unhost(referee_url(1))
        await asyncio.sleep(3)
        box.net.host(referee_url(1), site)
        await season
        complete(box)
        await box.close()

    run(main(), limit=600)


def test_a_referee_whose_port_opens_late_still_lets_the_league_begin() -> None:
    # After ten seconds it is suspended; it must count again once it recovers.
    async def main() -> None:
        box = Box(FOUR, 1)
        site = make_site(box.referees[0])
        await box.open()
        box.net.unhost(referee_url(1))
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await asyncio.sleep(15)
        box.net.host(referee_url(1), site)
        await season
        await box.close()

    run(main(), limit=600)


def test_a_referee_that_comes_back_and_has_forgotten_its_matches_does_not_keep_them() -> None:
    async def main() -> None:
        box, guest = with_referee(behaves)
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await asyncio.sleep(1)
        assert isinstance(guest.peer, Scripted)
        guest.peer.on[START] = says(status="REJECTED", reason="busy")
        await guest.register()
        await season
        complete(box)
        assert now() < 60
        await box.close()

    run(main())


def test_a_stranger_who_registers_a_referees_endpoint_again_does_no_harm() -> None:
    # Anybody may do so, without a token; the referee that is really there goes on.
    async def main() -> None:
        box = Box(referees=1, guests=2)
        for _ in range(2):
            box.guest(Scripted("?", {CHOOSE: takes(10)}))
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await asyncio.sleep(3)
        stranger = Guest(box.net, Role.REFEREE, referee_url(1), Scripted("?"))
        assert (await stranger.register()).referee_id == "REF01"
        await season
        await box.close()
        assert box.happened(AgentSuspended) == []
        assert now() < 60

    run(main())


def test_a_result_that_comes_in_while_its_match_waits_for_another_referee_counts() -> None:
    # A referee that cannot be reached can still report; its match must not be played twice.
    async def main() -> None:
        box = Box(referees=3, capacity=1, guests=6)
        pace = [takes(8), takes(12), takes(25)]
        guests = [box.guest(Scripted("?")) for _ in range(6)]
        await box.open()
        await box.fill()
        by_name = {guest.name: guest for guest in guests}
        players = [PlayerId(f"P{number:02}") for number in range(1, 7)]
        for match, slowly in zip(round_robin(players, 0), pace, strict=True):
            for name in (match.first, match.second):
                peer = by_name[name].peer
                assert isinstance(peer, Scripted)
                peer.on[CHOOSE] = in_turn(slowly, behaves)
        season = asyncio.ensure_future(box.manager.run())
        await asyncio.sleep(1)
        assigned = box.season.assignments["R1M1"].referee_id
        box.net.unhost(referee_url(int(assigned[3:])))
        await season
        await box.close()
        given = [sent for sent in box.sent(StartMatch) if sent.message["match_id"] == "R1M1"]
        assert [sent.at for sent in given] == [0]
        notices = [sent for sent in box.sent(GameOver) if sent.message["match_id"] == "R1M1"]
        assert [sent.at for sent in notices] == [8, 8]

    run(main())


def test_a_game_of_many_slow_turns_is_not_taken_from_its_referee() -> None:
    # Tic-tac-toe has up to nine moves, each of which may take its half minute.
    box = Box(referees=1, guests=2, game_type="tic_tac_toe")
    for _ in range(2):
        box.guest(Scripted("?", {MOVE: takes(28)}))
    run(box.play(), limit=1000)
    assert box.happened(AgentSuspended) == []
    assert [ended.termination for ended in box.happened(MatchEnded)] == ["completed"]


# Players that fail


def guest_league(script: dict[str, Behaviour], **settings: Any) -> tuple[Box, Guest]:
    box = Box(FOUR[:3], guests=1, **settings)
    return box, box.guest(Scripted("?", script))


def test_a_port_that_opens_a_moment_after_registration_is_waited_for() -> None:
    async def main() -> None:
        box, guest = guest_league({})
        await box.open()
        guest.leave()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await asyncio.sleep(5)
        assert box.season.stage is Stage.REGISTRATION
        guest.listen()
        await season
        await box.close()
        assert box.happened(AgentSuspended) == []
        assert {ended.termination for ended in box.happened(MatchEnded)} == {"completed"}

    run(main())


def test_dead_endpoints_fill_no_seats_and_do_not_play() -> None:
    async def main() -> None:
        box = Box(["always_even", "always_odd"], guests=2, awaited_players=2)
        for _ in range(2):
            box.guest(Scripted("?"))
        await box.open()
        season = asyncio.ensure_future(box.manager.run())
        for guest in box.guests:
            guest.leave()
            await guest.register()
        await asyncio.sleep(60)
        assert box.season.stage is Stage.REGISTRATION
        for member in box.members:
            await member.register()
        await season
        await box.close()
        (started,) = box.happened(SeasonStarted)
        assert started.players == ["P03", "P04"]
        assert [ended.termination for ended in box.happened(MatchEnded)] == ["completed"]

    run(main())


def test_registering_dead_endpoints_again_and_again_delays_the_start_by_ten_seconds_at_most() -> (
    None
):
    async def main() -> None:
        box = Box(["always_even", "always_odd"])
        await box.open()
        season = asyncio.ensure_future(box.manager.run())

        async def flood() -> None:
            for _ in range(30):
                ghost = box.guest(Scripted("?"))
                await ghost.register()
                await asyncio.sleep(1)

        flooding = asyncio.ensure_future(flood())
        await asyncio.sleep(0.5)
        for member in box.members:
            await member.register()
        await season
        assert now() < 15
        assert box.happened(SeasonStarted)[0].players == [player.name for player in box.players]
        flooding.cancel()
        await box.close()

    run(main())


def test_who_answers_late_still_counts_once_it_answers() -> None:
    async def main() -> None:
        box, guest = guest_league({})
        await box.open()
        guest.leave()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await asyncio.sleep(30)
        assert [event.agent_id for event in box.happened(AgentSuspended)] == [guest.name]
        assert box.season.stage is Stage.REGISTRATION
        guest.listen()
        await season
        await box.close()
        assert guest.name in box.happened(SeasonStarted)[0].players
        assert {ended.termination for ended in box.happened(MatchEnded)} == {"completed"}

    run(main())


def test_a_league_that_is_told_to_begin_plays_with_those_that_answered() -> None:
    async def main() -> None:
        box, guest = guest_league({}, awaited_players=None)
        await box.open()
        guest.leave()
        await box.fill()
        assert box.manager.season_runner.start_now()
        await box.manager.run()
        await box.close()
        assert guest.name not in box.happened(SeasonStarted)[0].players
        assert {ended.termination for ended in box.happened(MatchEnded)} == {"completed"}

    run(main())


def test_a_player_that_goes_is_suspended_and_one_that_comes_back_plays_again() -> None:
    async def main() -> None:
        box = Box(FOUR * 2, guests=1, announcement_lead=4.0)
        guest = box.guest(Scripted("?"))
        await box.open()
        await box.fill()
        season = asyncio.ensure_future(box.manager.run())
        await asyncio.sleep(1)
        guest.leave()
        await asyncio.sleep(29)
        guest.listen()
        await season
        await box.close()
        assert {event.agent_id for event in box.happened(AgentSuspended)} == {guest.name}
        assert {event.agent_id for event in box.happened(AgentRecovered)} == {guest.name}
        ends = [e.termination for e in sorted_by_round(box) if guest.name in e.players]
        assert ends[0] == "unreachable"
        assert "suspended" in ends
        assert ends[-1] == "completed"
        others = [e.termination for e in sorted_by_round(box) if guest.name not in e.players]
        assert set(others) == {"completed"}

    run(main())


def sorted_by_round(box: Box) -> list[MatchEnded]:
    return sorted(box.happened(MatchEnded), key=lambda ended: ended.round_id)


@pytest.mark.parametrize(
    ("script", "termination"),
    [
        ({JOIN: says(accept=False)}, "declined"),
        ({CHOOSE: says(parity_choice="EVEN")}, "invalid_move"),
        ({CHOOSE: garbles}, "invalid_reply"),
        ({CHOOSE: refuses(-32000)}, "error_reply"),
    ],
)
def test_a_player_that_plays_badly_loses_but_is_not_suspended(
    script: dict[str, Behaviour], termination: str
) -> None:
    box, guest = guest_league(script)
    played(box)
    lost = [ended for ended in box.happened(MatchEnded) if guest.name in ended.players]
    assert [ended.termination for ended in lost] == [termination] * 3
    assert all(ended.winner != guest.name for ended in lost)
    assert box.season.row(guest.name).technical_losses == 3
    assert box.happened(AgentSuspended) == []
    completed = box.sent(LeagueCompleted, to=guest.url)
    assert len(completed) == 1


def test_two_players_that_only_make_illegal_moves_are_asked_in_every_match() -> None:
    box = Box(guests=2, legs=3)
    for _ in range(2):
        box.guest(Scripted("?", {CHOOSE: says(parity_choice="EVEN")}))
    played(box)
    results = [ended.result for ended in box.happened(MatchEnded)]
    assert [result.termination for result in results] == ["both_forfeit"] * 3
    assert [set(result.forfeits.values()) for result in results] == [{"invalid_move"}] * 3
    assert box.happened(AgentSuspended) == []


async def hang(body: bytes) -> Answer:
    await asyncio.Event().wait()
    raise AssertionError("nobody sets the event")


def test_a_player_that_is_absent_is_suspended_though_its_opponent_forfeits_too() -> None:
    box = Box(guests=2, legs=4)
    bungler = box.guest(Scripted("?", {JOIN: says(accept=False)}))
    sleeper = box.guest(hosted(hang))
    played(box)
    forfeits = [ended.forfeits for ended in box.happened(MatchEnded)]
    assert forfeits[0] == {bungler.name: "declined", sleeper.name: "timeout"}
    assert forfeits[-1] == {bungler.name: "declined", sleeper.name: "suspended"}
    assert [event.agent_id for event in box.happened(AgentSuspended)] == [sleeper.name]


def test_a_silent_player_costs_the_league_little_once_it_is_known() -> None:
    silent: dict[str, Behaviour] = dict.fromkeys((JOIN, CHOOSE, OVER), stays_silent)
    box, guest = guest_league(silent, retry=Retry())
    played(box)
    ends = [e.termination for e in sorted_by_round(box) if guest.name in e.players]
    assert set(ends) <= {"timeout", "suspended"}
    assert ends[0] == "timeout"
    assert box.season.row(guest.name).points == 0


def test_a_player_that_takes_no_notices_holds_nobody_up() -> None:
    async def deaf(body: bytes) -> Answer:
        peer = Scripted("P04")
        answer = await settled(peer(body))
        if peer.received[-1].kind in {JOIN, CHOOSE, OVER}:
            return answer
        return await settled(stays_silent(peer.received[-1]))

    box = Box(FOUR[:3], guests=1)
    box.guest(hosted(deaf))
    played(box)
    assert {e.termination for e in box.happened(MatchEnded)} == {"completed"}
    for player in box.players:
        assert player.over.is_set()


def test_a_league_that_nobody_came_to_can_still_be_told_to_begin() -> None:
    async def main() -> None:
        box = Box(awaited_players=None, referees=0)
        await box.open()
        box.manager.season_runner.start_now()
        try:
            async with asyncio.timeout(60):
                await box.manager.run()
        except TimeoutError:
            pass  # to go on waiting for players would be right, too
        finally:
            await box.close()

    run(main())
