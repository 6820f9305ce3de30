"""Whatever is changed in the record of a league, `league verify` finds it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_league.verification.problems import NotHeldError
from agent_league.vocabulary import Json
from end_to_end.http_league import HttpLeague
from verification.stored_league import audit, chain_again, edit, execute, play_stored


async def play_four(league: HttpLeague) -> None:
    await league.add_referee()
    for strategy in ("random", "markov", "always_even", "always_odd"):
        await league.add_player(strategy)
    await league.play()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verify") / "league.db"
    play_stored(play_four, path, awaited_players=4)
    return path


@pytest.fixture
def copy(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(original, tmp_path / "copy.db"))


def test_an_honest_league_holds(copy: Path) -> None:
    done = audit(copy)
    assert (done.counts.matches, done.counts.draws, done.counts.unproven) == (6, 6, {})
    assert done.is_over


CLUMSY: dict[str, str] = {
    "an event is changed": "UPDATE events SET body = replace(body, 'at', 'it') WHERE seq = 9",
    "an event is gone": "DELETE FROM events WHERE seq = 9",
    "the last event is gone, and its links": "UPDATE events SET link = NULL WHERE seq > 9",
    "a link is changed": "UPDATE events SET link = 'x' WHERE seq = 9",
    "all links are gone": "UPDATE events SET link = NULL",
    "two events change places": "UPDATE events SET seq = CASE seq WHEN 8 THEN -9 WHEN 9 THEN 8 END "
    "WHERE seq IN (8, 9)",
    "the time of an event": "UPDATE events SET at = '2020-01-01T00:00:00.000Z' WHERE seq = 9",
    "a result is no longer unique": "UPDATE events SET once = 'x' WHERE kind = 'season_ended'",
    "the kind of an event": "UPDATE events SET kind = 'league_paused' WHERE seq = 3",
    "the settings": "UPDATE leagues SET settings = replace(settings, '\"win\":3', '\"win\":9')",
    "when it was opened": "UPDATE leagues SET opened_at = '2020-01-01T00:00:00.000Z'",
    "a message": "UPDATE transcripts SET body = replace(body, 'even', 'odd') WHERE match_id = 'R1M1'",
    "a transcript is gone": "DELETE FROM transcripts WHERE match_id = 'R1M1'",
    "the snapshot": "UPDATE snapshots SET body = replace(body, '\"points\":', '\"points\":9')",
}


@pytest.mark.parametrize("sql", CLUMSY.values(), ids=CLUMSY.keys())
def test_what_is_changed_with_an_editor_is_found(copy: Path, sql: str) -> None:
    assert execute(copy, sql) > 0
    with pytest.raises(NotHeldError):
        audit(copy)


def set_field(*path: str | int, value: Json) -> Callable[[Json], None]:
    def change(body: Json) -> None:
        *places, last = path
        for place in places:
            body = body[place]
        body[last] = value

    return change


def swap_winner(body: Json) -> None:
    players = body["players"]
    body["winner"] = players[0] if body["winner"] != players[0] else players[1]
    body["status"] = "WIN"


def add_one_to_number(body: Json) -> None:
    number = body["details"]["drawn_number"] % 10 + 1
    parity = ("even", "odd")[number % 2]
    body["details"] |= {"drawn_number": number, "number_parity": parity}


def exchange_choices(body: Json) -> None:
    choices = body["details"]["choices"]
    one, other = choices
    choices |= {one: "odd" if choices[one] == "even" else "even", other: choices[other]}
    winner = next((p for p in choices if choices[p] == body["details"]["number_parity"]), None)
    same = choices[one] == choices[other]
    body |= {"winner": None if same else winner, "status": "DRAW" if same else "WIN"}


CAREFUL: dict[str, tuple[str, Callable[[Json], object], str]] = {
    "the winner": ("match_ended", swap_winner, "by the rules"),
    "the number": ("match_ended", add_one_to_number, "its secret gives"),
    "the secret": (
        "match_ended",
        set_field("details", "draw_secret", value="another"),
        "promised before the match",
    ),
    "a choice": ("match_ended", exchange_choices, "which it did not say"),
    "the referee": ("match_ended", set_field("referee_id", value="REF09"), "was given to REF01"),
    "a forfeit": (
        "match_ended",
        set_field("technical_losses", value=["P09"]),
        "contradicts itself",
    ),
    "the status": ("match_ended", set_field("status", value="TECHNICAL_LOSS"), "its status"),
    "the players": ("match_ended", set_field("players", value=["P01", "P03"]), "other players"),
    "a walkover": ("match_ended", set_field("referee_id", value="league_manager"), "disqualified"),
    "a pairing": ("round_opened", set_field("matches", 0, "first", value="P03"), "pairings"),
    "a promise": ("round_opened", set_field("matches", 0, "commitment", value="x"), "promised"),
    "no promise": ("round_opened", set_field("matches", 0, "commitment", value=None), "promised"),
    "the champion": ("season_ended", set_field("champion", value="P09"), "champion"),
    "the league's secret": ("season_ended", set_field("secret", value="x"), "promised"),
    "its promise": ("season_opened", set_field("commitment", value="x"), "promised"),
    "who plays": (
        "season_started",
        set_field("players", value=["P01", "P02", "P03", "P99"]),
        "registered",
    ),
    "the assignment": ("match_assigned", set_field("referee_id", value="P01"), "no referee"),
    "the order of rounds": ("round_closed", set_field("round_id", value=3), "row is not"),
}


@pytest.mark.parametrize(("kind", "change", "found"), CAREFUL.values(), ids=CAREFUL.keys())
def test_what_is_changed_by_a_forger_who_makes_the_chain_fit_is_found(
    copy: Path, kind: str, change: Callable[[Json], object], found: str
) -> None:
    edit(copy, kind, change)
    chain_again(copy)
    with pytest.raises(NotHeldError, match=found):
        audit(copy)


def test_a_link_that_was_noted_shows_that_even_the_whole_record_was_replaced(
    original: Path, copy: Path
) -> None:
    noted = audit(original).link
    execute(copy, "UPDATE events SET body = replace(body, 'Honest', 'Honesty') WHERE seq < 9")
    chain_again(copy)
    assert noted not in audit(copy).links
