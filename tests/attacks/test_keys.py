"""S10: the hash of a token, which stands in the store, signs nothing that an agent of ours believes."""

import pytest

from agent_league.protocol import tokens
from attacks.stranger import Stranger, write
from end_to_end.http_league import HttpLeague, played


@pytest.mark.parametrize("is_hash", [True, False], ids=["with the hash", "with the key"])
def test_an_end_of_the_league_is_believed_only_with_the_key_of_the_league(*, is_hash: bool) -> None:
    async def script(league: HttpLeague) -> None:
        player = await league.add_player()
        league_id = league.manager.settings.league_id
        key = tokens.hash_token(player.token or "") if is_hash else player.signing_key or ""
        proof = tokens.sign_ticket(key, "LEAGUE_COMPLETED", league_id)
        champion = {"player_id": "P01", "display_name": "Eve", "points": 9}
        totals = {"total_rounds": 1, "total_matches": 1, "final_standings": []}
        notice = write(
            "LEAGUE_COMPLETED",
            "league_manager",
            league_id=league_id,
            champion=champion,
            auth_token=proof,
            **totals,
        )
        await Stranger(league).post(player.endpoint, "notify_league_completed", notice)
        assert player.over.is_set() is not is_hash

    played(script)
