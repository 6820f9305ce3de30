"""A referee of the pool: its matches come from a queue, and it listens nowhere."""

from agent_league.protocol import ErrorCode
from agent_league.protocol.failures import RefusedError
from agent_league.referee.referee import Referee


class PooledReferee(Referee):
    """One worker of the pool, in one league; all workers of the pool go by the same id."""

    def lead_to(self, url: str) -> None:
        """Report to the manager at *url* from now on, and what waits for a manager at once."""
        if url != self.league_url:
            self.other_urls = [self.league_url, *(one for one in self.other_urls if one != url)][:4]
            self.league_url = url
            for match in self._matches.values():
                match.reordered.set()

    async def renew_token(self, refused: str | None) -> None:
        """Refuse to: the token of the pool comes with its matches."""
        raise RefusedError(ErrorCode.AUTH_TOKEN_INVALID.rpc, "the token of the pool is not valid")
