"""T17: an answer to somebody who proves nothing does not tell which players and matches there are."""

from typing import Any

import pytest

from attacks.stranger import Stranger, write
from end_to_end.http_league import HttpLeague, played

TOKENS = {"none": None, "guessed": "tok_P01_" + "x" * 43, "nonsense": "x", "not ASCII": "tök"}
SENDERS = ("player:P01", "player:P02", "player:P77")
MATCHES = ("R1M1", "R77M1")


async def ask(league: HttpLeague, sender: str, match_id: str, token: str | None, what: str) -> Any:
    """Return what a league says to a message that proves nothing."""
    league_id = league.manager.settings.league_id
    fields: dict[str, Any] = {"league_id": league_id, "match_id": match_id}
    fields |= {} if token is None else {"auth_token": token}
    if what == "league_query":
        query = {"query_type": "GET_NEXT_MATCH", "query_params": {"player_id": "P01"}}
        message = write("LEAGUE_QUERY", sender, **fields, **query)
    else:
        result = {"winner": "P01", "score": {}, "details": {}}
        report = {"round_id": 1, "game_type": "even_odd", "result": result}
        message = write("MATCH_RESULT_REPORT", sender, **fields, **report)
    error = (await Stranger(league).post(league.url, what, message))["error"]["data"]
    return error["error_code"], error["detail"]


@pytest.mark.parametrize("what", ["league_query", "report_match_result"])
@pytest.mark.parametrize("token", TOKENS)
def test_the_answer_is_the_same_whoever_is_named(what: str, token: str) -> None:
    async def script(league: HttpLeague) -> None:
        await league.add_referee()
        await league.add_player()
        await league.add_player()
        answers = {
            await ask(league, sender, match_id, TOKENS[token], what)
            for sender in SENDERS
            for match_id in MATCHES
        }
        assert len(answers) == 1, answers
        assert answers.pop()[0] == ("E011" if token == "none" else "E012")

    played(script, awaited_players=3)
