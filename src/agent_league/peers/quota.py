"""How often one agent may ask for something, wherever its requests come from."""

import asyncio
import logging

from agent_league.http.allowances import Allowance
from agent_league.protocol import ErrorCode, ProtocolError

MOST_AGENTS = 4096
"""How many agents are remembered; an agent that is forgotten may ask anew."""

_log = logging.getLogger("agent_league")


class Quota:
    """Allows each agent *rate* requests of one kind per second, and *burst* at once."""

    def __init__(self, what: str, rate: float, burst: float) -> None:
        self._what, self._rate, self._burst = what, rate, burst
        self._allowances: dict[str, Allowance] = {}

    def check(self, who: str) -> None:
        """Count a request of *who*, or raise `ProtocolError` if it is one too many."""
        now = asyncio.get_running_loop().time()
        allowance = self._allowances.get(who)
        if allowance is None:
            if len(self._allowances) >= MOST_AGENTS:
                self._allowances.clear()
            allowance = Allowance(self._rate, self._burst, now, who, self._warn)
            self._allowances[who] = allowance
        if allowance.spend(1, now):
            allowance.tell()
            detail = f"more than {self._rate:g} {self._what} per second; wait, then send it again"
            raise ProtocolError(ErrorCode.TOO_MANY_REQUESTS, detail)

    def _warn(self, who: str) -> None:
        _log.warning("%s sends more than %g %s per second (E027)", who, self._rate, self._what)
