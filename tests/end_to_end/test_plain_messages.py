from pathlib import Path

import pytest

from agent_league.peers.endpoint import Endpoint
from agent_league.protocol.strict_json import has_more_tokens
from end_to_end.http_league import HttpLeague
from verification.stored_league import play_stored


async def play_four(league: HttpLeague) -> None:
    await league.add_referee()
    for strategy in ("random", "markov", "always_even", "always_odd"):
        await league.add_player(strategy)
    await league.play()


def test_no_message_about_a_match_takes_the_long_way_not_even_a_report_with_its_transcript(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[bytes] = []
    answer = Endpoint._answer_in_dialect

    def note(endpoint: Endpoint, body: bytes) -> object:
        bodies.append(body)
        return answer(endpoint, body)

    monkeypatch.setattr(Endpoint, "_answer_in_dialect", note)
    play_stored(play_four, tmp_path / "league.db", awaited_players=4)
    assert not [body[:300] for body in bodies if b'"match_id"' in body]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"auth_token":"tkt_1"}', False),
        (b'{"auth_token":"tkt_1","transcript":[{"auth_token":"***"}]}', False),
        (b'{"auth_token":"tkt_1","auth_token":"tkt_2"}', True),
        (b'{"auth_token":"***","auth_token":"tkt_2","x":{"auth_token":"tkt_3"}}', True),
    ],
)
def test_a_hidden_token_in_a_transcript_is_no_second_token(body: bytes, expected: bool) -> None:
    assert has_more_tokens(body, 1) is expected
