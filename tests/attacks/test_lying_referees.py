"""T5, T6, T10, T11, S20: a referee that draws after it has seen the choices, or invents a result."""

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from agent_league.http.client import HttpClient
from agent_league.league import LeagueManager
from agent_league.protocol.results import MatchResult, Termination
from agent_league.referee import Referee
from agent_league.referee.match import Match
from agent_league.referee.reporting import report_result
from agent_league.store.events import AgentDisqualified, Event, MatchEnded, ReportContested
from agent_league.store.log import StoredEvent
from agent_league.verification.problems import NotHeldError
from end_to_end.http_league import HttpLeague
from memory_log import MemoryLog
from verification.stored_league import audit, play_stored

LIAR, HONEST = "REF01", "REF02"


class Chooser(Referee):
    """Draws the number that its favourite needs, once it has seen the choices."""

    tells_secret = True

    async def _officiate(self, match: Match, *, is_reported: bool = True) -> bool:
        await match.play()
        self._matches.pop(match.order.match_id, None)
        return await report_result(self, match, self.invent(match.result()))

    def invent(self, result: MatchResult) -> MatchResult:
        """Return the result in which the first player has won, if it can."""
        first, second = result.players
        choices: Any = result.details["choices"]
        parity = choices[first]
        details = {
            **result.details,
            "drawn_number": 2 if parity == "even" else 1,
            "number_parity": parity,
        }
        if not self.tells_secret:
            del details["draw_secret"]
        winner = first if parity != choices[second] else None
        return replace(result, winner=winner, details=details)


class SilentChooser(Chooser):
    """Does the same, and pretends to know nothing of secrets."""

    tells_secret = False


class OtherSecret(Chooser):
    """Makes a secret of its own that gives the number."""

    def invent(self, result: MatchResult) -> MatchResult:
        result = super().invent(result)
        return replace(result, details={**result.details, "draw_secret": "my own"})


class WrongWinner(Chooser):
    """Reports the right number, and the wrong winner."""

    def invent(self, result: MatchResult) -> MatchResult:
        return replace(result, winner=result.players[0])


class Accuser(Chooser):
    """Says that the second player was silent."""

    def invent(self, result: MatchResult) -> MatchResult:
        first, second = result.players
        return MatchResult(
            players=result.players,
            winner=first,
            forfeits={second: Termination.TIMEOUT},
            termination=Termination.TIMEOUT,
            details={"reason": "invented"},
        )


class SecondThoughts(Referee):
    """Reports the truth, and then something else."""

    async def _officiate(self, match: Match, *, is_reported: bool = True) -> bool:
        await super()._officiate(match)
        other = Chooser.invent(Chooser.__new__(SilentChooser), match.result())
        swapped = {"P01": "even", "P02": "even", "P03": "odd", "P04": "odd"}
        details = {**other.details, "choices": swapped}
        return await report_result(self, match, replace(other, details=details))


def play(rogue: type[Referee], path: Path, **changes: Any) -> HttpLeague:
    async def script(league: HttpLeague) -> None:
        await league.add_referee(rogue)
        await league.add_referee()
        for strategy in ("always_even", "always_odd", "random", "markov"):
            await league.add_player(strategy)
        await league.play()

    return play_stored(script, path, awaited_players=4, awaited_referees=2, **changes)


@pytest.mark.parametrize("rogue", [Chooser, OtherSecret])
def test_a_referee_that_draws_after_the_choices_is_put_out_and_its_matches_are_played_elsewhere(
    rogue: type[Referee], tmp_path: Path
) -> None:
    league = play(rogue, tmp_path / "league.db")
    events = list(league.events)
    assert [e.agent_id for e in events if isinstance(e, AgentDisqualified)] == [LIAR]
    assert {e.referee_id for e in events if isinstance(e, ReportContested)} == {LIAR}
    results = [e for e in events if isinstance(e, MatchEnded)]
    proven = [e for e in results if e.referee_id == HONEST]
    assert len(results) == 6
    assert len(proven) >= 5  # a number that it chose may be the right one by accident
    assert audit(tmp_path / "league.db").counts.draws == 6


def test_a_referee_that_tells_no_secret_is_caught_by_verify(tmp_path: Path) -> None:
    path = tmp_path / "league.db"
    league = play(SilentChooser, path)
    theirs = [e for e in league.events if isinstance(e, MatchEnded) and e.referee_id == LIAR]
    assert theirs
    with pytest.raises(NotHeldError, match=f"{LIAR} told no secret"):
        audit(path)
    assert audit(path, LIAR).counts.unproven == {LIAR: len(theirs)}


def test_a_winner_that_does_not_follow_from_the_choices_is_corrected(tmp_path: Path) -> None:
    league = play(WrongWinner, tmp_path / "league.db")
    assert len(league.manager.season.results) == 6
    assert audit(tmp_path / "league.db").counts.draws == 6


def test_a_second_report_that_says_something_else_is_kept_as_evidence(tmp_path: Path) -> None:
    league = play(SecondThoughts, tmp_path / "league.db")
    contested = [e for e in league.events if isinstance(e, ReportContested)]
    theirs = [e for e in league.events if isinstance(e, MatchEnded) and e.referee_id == LIAR]
    assert {e.match_id for e in contested} == {e.match_id for e in theirs}
    assert audit(tmp_path / "league.db").counts.draws == 6


def test_a_referee_that_invents_forfeits_is_put_out_by_the_cross_check(tmp_path: Path) -> None:
    """T11: another referee plays those matches again, and finds the player there."""
    league = play(Accuser, tmp_path / "league.db", cross_check=1.0, legs=2)
    events = list(league.events)
    assert [e.agent_id for e in events if isinstance(e, AgentDisqualified)] == [LIAR]
    results = [e for e in events if isinstance(e, MatchEnded)]
    assert len(results) == 12
    assert {e.referee_id for e in results} == {HONEST}
    assert not [e for e in results if e.technical_losses]
    assert audit(tmp_path / "league.db").counts.draws == 12


def test_without_a_cross_check_an_invented_forfeit_counts(tmp_path: Path) -> None:
    league = play(Accuser, tmp_path / "league.db")
    assert [e for e in league.events if isinstance(e, MatchEnded) and e.technical_losses]


def test_a_manager_that_is_started_again_knows_what_the_cross_check_holds(tmp_path: Path) -> None:
    """Otherwise whoever lies need only wait until the manager is started again."""
    league = play(Accuser, tmp_path / "league.db", cross_check=1.0, legs=2)
    happened = list(league.events)
    doubts = [n for n, e in enumerate(happened) if isinstance(e, ReportContested)]

    async def restart_before(number: int) -> list[Event]:
        """Return what a manager notes that was started again before event *number*."""
        events = MemoryLog()
        manager = LeagueManager(league.manager.settings, HttpClient(), events)
        events.replay(StoredEvent(n, event) for n, event in enumerate(happened[:number], 1))
        match_id = cast("ReportContested", happened[number]).match_id
        second = league.manager.season.results[match_id]
        assert not manager.report_receiver._cross_check.wants_other(second)
        await events.flush()
        return list(events)[number:]

    noted = [asyncio.run(restart_before(number)) for number in doubts]
    assert [len(events) for events in noted] == [1, 1, 2]
    assert all(isinstance(events[0], ReportContested) for events in noted)
    assert isinstance(noted[-1][1], AgentDisqualified), "earlier doubts are counted too"
