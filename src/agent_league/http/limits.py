"""How many connections this process accepts: fewer than its files allow, so that it never runs out."""

import logging
from collections import Counter
from contextlib import suppress
from enum import IntEnum
from functools import cache
from heapq import nsmallest
from operator import itemgetter
from typing import Protocol

from agent_league.http.allowances import Allowances, is_local
from agent_league.http.slow_lane import SlowLane

MAX_CONNECTIONS = 8192
MAX_FROM_ONE_PEER = 256
"""The most connections from one other machine; the agents of this machine share the limit for all."""
WANTED_FILES = 65_536

_log = logging.getLogger("agent_league")


class Worth(IntEnum):
    """What would be lost with a connection, in the order in which connections make room."""

    NOTHING = 0
    A_LIVE_PAGE = 1
    HALF_A_REQUEST = 2
    AN_ANSWER = 3
    """Such a connection is never closed for another."""


class Peer(Protocol):
    """A connection, as far as a limit needs it."""

    address: str
    used_at: float
    """When it was used last."""

    def find_worth(self) -> Worth:
        """Return what would be lost if it were closed now."""
        ...

    def abort(self) -> None: ...


class ConnectionLimit:
    """Counts connections; at the limit, those that have been idle longest make room.

    If none is idle, live pages make room, and then callers that have not sent a whole request: so
    whoever only holds connections keeps nobody out.
    """

    def __init__(self, total: int, from_one_peer: int = MAX_FROM_ONE_PEER) -> None:
        self.total, self.from_one_peer = total, from_one_peer
        self._open: dict[Peer, None] = {}
        """The connections in the order in which they were made."""
        self._by_address: Counter[str] = Counter()
        self._has_warned = False
        self.allowances, self.slow_lane = Allowances(), SlowLane()

    def admit(self, peer: Peer) -> bool:
        """Count *peer*; False if there is no room for it."""
        address = peer.address
        if self._by_address[address] >= self.from_one_peer and not is_local(address):
            has_room = self._make_room(address)
        else:
            has_room = len(self._open) < self.total or self._make_room()
        if has_room:
            self._open[peer] = None
            self._by_address[address] += 1
        return has_room

    def remove(self, peer: Peer) -> None:
        """Forget *peer*, which may be forgotten already."""
        if peer in self._open:
            del self._open[peer]
            self._by_address[peer.address] -= 1
            if not self._by_address[peer.address]:
                del self._by_address[peer.address]

    def _make_room(self, address: str | None = None) -> bool:
        if not self._has_warned:
            self._has_warned = True
            limit = self.total if address is None else self.from_one_peer
            where = "" if address is None else f" from {address}"
            _log.warning("%d connections%s are the limit; idle ones are closed", limit, where)
        worths = (
            (peer.find_worth(), peer.used_at, peer)
            for peer in self._open
            if address in (None, peer.address)
        )
        # Several at once, so that a flood of connections does not search all of them each time.
        at_once = max(1, (self.total if address is None else self.from_one_peer) // 64)
        least = nsmallest(at_once, worths, key=itemgetter(0, 1))
        closed = [peer for worth, _, peer in least if worth == least[0][0] < Worth.AN_ANSWER]
        for peer in closed:
            self.remove(peer)
            peer.abort()
        return bool(closed)


def raise_file_limit() -> int:
    """Allow this process as many open files as it may have, and return how many that is."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not there on every system

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard == resource.RLIM_INFINITY:
            hard = max(soft, WANTED_FILES)
        if soft < min(hard, WANTED_FILES):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, WANTED_FILES), hard))
        return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return WANTED_FILES


def make_limit() -> ConnectionLimit:
    """Return a limit that leaves half of the files to the store, the logs and calls of our own."""
    return ConnectionLimit(min(MAX_CONNECTIONS, raise_file_limit() // 2))


get_shared_limit = cache(make_limit)
"""Returns the limit that all servers of this process share."""
