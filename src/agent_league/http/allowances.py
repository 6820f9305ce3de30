"""How much a caller may ask for: a token bucket for each other machine, and for each local connection.

All agents of this machine share one address, so each of their connections has a bucket of its own.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from ipaddress import IPv6Network
from typing import TypeAlias

from agent_league.http.exchange import Answer
from agent_league.http.site import Site

REQUEST_COST = 1
PAGE_COST = 50
REMOTE_REFUSAL_COST, LOCAL_REFUSAL_COST = 1_000, 400
"""What a request costs that is refused, from another machine and from this one."""
REMOTE_RATE, LOCAL_RATE = 5_000, 20_000
"""How much each caller may spend per second, for ever."""
BURST = 40_000
"""How much each caller may spend at once, after a pause."""
LOCAL_REFUSALS, LOCAL_REFUSAL_BURST = 200, 500
"""How many refusals all local connections get per second, and at once; then each makes wait."""
REMOTE_REFUSALS, REMOTE_REFUSAL_BURST = 20, 40
"""How many refusals all other machines get per second, and at once: as many as one of them alone."""
FLOOD_SURCHARGE = BURST // 2
"""What a refusal costs another machine beside the usual, once these are used up."""
SLOW_RATE, SLOW_BURST, SLOW_WAIT = 5, 50, 5.0
"""How often another machine may ask for what takes milliseconds, per second and at once.

Beyond it, live pages are late by so many seconds, and requests to the MCP SDK come after others.
"""
SHORTEST_WAIT, LONGEST_WAIT = 0.5, 1.0
"""How many seconds a caller waits for its refusal."""
MOST_MACHINES = 4096
LOCAL_ADDRESSES = frozenset({"", "127.0.0.1", "::1", "::ffff:127.0.0.1"})
"""Who has no address has come by a socket of this machine."""
UNLIMITED = float("inf")

Tell: TypeAlias = Callable[[str], None]
"""Tells the operator who has to wait."""

_log = logging.getLogger("agent_league")


def _ignore(who: str) -> None:
    """Tell nobody."""


class Allowance:
    """What a caller may still spend; *left* is filled up again when it is used up."""

    __slots__ = ("_burst", "_filled_at", "_rate", "_tell", "_who", "left", "longest_wait")

    def __init__(
        self, rate: float, burst: float, now: float, who: str = "", tell: Tell = _ignore
    ) -> None:
        self._rate, self._burst, self._who, self._tell = rate, burst, who, tell
        self._filled_at = now
        self.left = burst
        self.longest_wait = LONGEST_WAIT

    def spend(self, cost: int, now: float) -> float:
        """Take *cost* from what is left; return how many seconds the caller has to wait, mostly 0."""
        self.left -= cost
        return 0.0 if self.left >= 0 else self._fill_up(now)

    def _fill_up(self, now: float) -> float:
        self.left = min(self._burst, self.left + max(0.0, now - self._filled_at) * self._rate)
        self._filled_at = now
        if self.left >= 0:
            return 0.0
        # Nobody owes more than that: a long flood must not be punished for minutes.
        self.left = max(self.left, -self.longest_wait * self._rate)
        return max(SHORTEST_WAIT, -self.left / self._rate)

    def tell(self) -> None:
        """Tell the operator, once, that the caller has to wait."""
        self._tell(self._who)
        self._tell = _ignore

    def refuse(self, site: Site, wait: float) -> asyncio.Future[Answer]:
        """Return the refusal, which comes after *wait* seconds: until then nothing more is read."""
        self.tell()
        return asyncio.ensure_future(asyncio.sleep(wait, site.too_many()))


_NO_LIMIT = Allowance(UNLIMITED, UNLIMITED, 0.0)


class CallerAllowance(Allowance, ABC):
    """The allowance of one caller; *refusals* is that of all callers of its kind."""

    __slots__ = ("_refusals", "slow")

    slow: Allowance
    """What the same caller may ask for that takes milliseconds: more is late, and not refused."""

    def __init__(self, rate: float, refusals: Allowance, now: float, who: str, tell: Tell) -> None:
        super().__init__(rate, BURST, now, who, tell)
        self._refusals = refusals

    @abstractmethod
    def charge_refusal(self, now: float) -> None:
        """Take what a refusal costs: an honest agent hardly ever gets one."""


class LocalAllowance(CallerAllowance):
    """The allowance of one local connection; in a flood of refused requests it has no burst."""

    __slots__ = ()

    def __init__(self, refusals: Allowance, now: float, tell: Tell) -> None:
        super().__init__(LOCAL_RATE, refusals, now, "a program on this machine", tell)
        self.slow = _NO_LIMIT

    def charge_refusal(self, now: float) -> None:
        self.left -= LOCAL_REFUSAL_COST
        if self._refusals.spend(1, now):
            self.left = -LONGEST_WAIT * LOCAL_RATE


class RemoteAllowance(CallerAllowance):
    """The allowance of one other machine; in a flood of refused requests its burst is short."""

    __slots__ = ()

    def __init__(self, refusals: Allowance, now: float, machine: str, tell: Tell) -> None:
        super().__init__(REMOTE_RATE, refusals, now, machine, tell)
        self.slow = Allowance(SLOW_RATE, SLOW_BURST, now)
        self.slow.longest_wait = SLOW_WAIT

    def charge_refusal(self, now: float) -> None:
        self.left -= REMOTE_REFUSAL_COST
        if self._refusals.spend(1, now):
            self.left -= FLOOD_SURCHARGE


def is_local(address: str) -> bool:
    """Whether *address* is the one from which the agents of this machine call each other."""
    return address in LOCAL_ADDRESSES


def _find_machine(address: str) -> str:
    """Return *address*; of version 6 its network, in which one machine may have every address."""
    if ":" not in address:
        return address
    return str(IPv6Network((address.partition("%")[0], 64), strict=False))


class Allowances:
    """The allowances of all callers of a process."""

    def __init__(self) -> None:
        self._by_machine: dict[str, CallerAllowance] = {}
        self._remote_refusals = Allowance(REMOTE_REFUSALS, REMOTE_REFUSAL_BURST, now=0.0)
        self._local_refusals = Allowance(LOCAL_REFUSALS, LOCAL_REFUSAL_BURST, now=0.0)
        self._told: set[str] = set()

    def find(self, address: str, now: float) -> CallerAllowance:
        """Return the allowance of a new connection from *address*."""
        if is_local(address):
            return LocalAllowance(self._local_refusals, now, self._tell)
        machine = _find_machine(address)
        allowance = self._by_machine.get(machine)
        if allowance is None:
            if len(self._by_machine) >= MOST_MACHINES:
                self._by_machine.clear()
            allowance = RemoteAllowance(self._remote_refusals, now, machine, self._tell)
            self._by_machine[machine] = allowance
        return allowance

    def _tell(self, who: str) -> None:
        if who not in self._told and len(self._told) < MOST_MACHINES:
            self._told.add(who)
            _log.warning(
                "%s sends too many requests, or too many wrong ones: it has to wait (E027)", who
            )
