"""Which addresses a host has."""

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
RESOLVE_TIMEOUT = 5.0


async def resolve(host: str) -> list[Address]:
    """Return every address of *host*; none if it has none, or nobody tells in time."""
    try:
        return [ip_address(host)]
    except ValueError:
        pass
    try:
        async with asyncio.timeout(RESOLVE_TIMEOUT):
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, TimeoutError):
        return []
    return [ip_address(str(one[4][0]).partition("%")[0]) for one in found]
