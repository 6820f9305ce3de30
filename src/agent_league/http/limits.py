"""How many connections this process accepts: fewer than its files allow, so that it never runs out."""

import logging
from collections import Counter
from contextlib import suppress
from heapq import nsmallest
from ipaddress import ip_address
from typing import Protocol

MAX_CONNECTIONS = 8192
MAX_FROM_ONE_PEER = 256
"""The most connections from one other machine; the agents of this machine share the limit for all."""
WANTED_FILES = 65_536

_log = logging.getLogger("agent_league")


class Peer(Protocol):
    """A connection, as far as a limit needs it."""

    address: str
    used_at: float
    """When it was used last."""

    def is_idle(self) -> bool:
        """Whether nothing would be lost if it were closed now."""
        ...

    def abort(self) -> None: ...


class ConnectionLimit:
    """Counts connections; at the limit, those that have been idle longest make room."""

    def __init__(self, total: int, from_one_peer: int = MAX_FROM_ONE_PEER) -> None:
        self.total, self.from_one_peer = total, from_one_peer
        self._open: dict[Peer, None] = {}
        """The connections in the order in which they were made."""
        self._by_address: Counter[str] = Counter()
        self._has_warned = False

    def admit(self, peer: Peer) -> bool:
        """Count *peer*; False if there is no room for it."""
        address = peer.address
        if self._by_address[address] >= self.from_one_peer and not _is_local(address):
            has_room = self._drop_idle(address)
        else:
            has_room = len(self._open) < self.total or self._drop_idle()
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

    def _drop_idle(self, address: str | None = None) -> bool:
        if not self._has_warned:
            self._has_warned = True
            limit = self.total if address is None else self.from_one_peer
            where = "" if address is None else f" from {address}"
            _log.warning("%d connections%s are the limit; idle ones are closed", limit, where)
        idle = (peer for peer in self._open if peer.is_idle() and address in (None, peer.address))
        # Several at once, so that a flood of connections does not search all of them each time.
        at_once = max(1, (self.total if address is None else self.from_one_peer) // 64)
        oldest = nsmallest(at_once, idle, key=lambda peer: peer.used_at)
        for peer in oldest:
            self.remove(peer)
            peer.abort()
        return bool(oldest)


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


def _is_local(address: str) -> bool:
    with suppress(ValueError):
        return ip_address(address.partition("%")[0]).is_loopback
    return True
