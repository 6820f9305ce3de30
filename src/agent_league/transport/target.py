"""An address, taken apart once: what to connect to, and the lines that every request begins with."""

import re
from functools import lru_cache
from typing import NamedTuple, TypeAlias
from urllib.parse import SplitResult, urlsplit

from agent_league.transport.exchange import Parcel
from agent_league.transport.failures import UnreachableError

Origin: TypeAlias = tuple[bool, str, int]
"""What a connection belongs to: whether it is secure, the host, the port."""

_PORTS = {"http": 80, "https": 443}
_PRINTABLE = re.compile(r"[!-~]{1,2048}")


class Target(NamedTuple):
    """A URL, taken apart once."""

    origin: Origin
    name: str
    post: bytes
    get: bytes
    parcel: bytes
    """Where a POST begins whose other headers the caller chooses."""


@lru_cache(maxsize=4096)
def taken_apart(url: str) -> Target:
    """Return *url* taken apart, or raise `UnreachableError` if nothing can be sent there."""
    try:
        return _parsed(url)
    except ValueError:
        raise UnreachableError(f"{url[:200]!r} is not an address") from None


def _parsed(url: str) -> Target:
    # Checked before urlsplit, which drops tabs and newlines without a word.
    parts = urlsplit(url) if _PRINTABLE.fullmatch(url) else SplitResult("", "", "", "", "")
    host, default = parts.hostname, _PORTS.get(parts.scheme)
    if not host or default is None or "@" in parts.netloc or parts.fragment:
        raise ValueError(url)
    port = parts.port or default
    name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target((parts.scheme == "https", host, port), name, *_heads(path, parts.netloc))


def _heads(path: str, netloc: str) -> tuple[bytes, bytes, bytes]:
    shared = f"{path} HTTP/1.1\r\nhost: {netloc}\r\nuser-agent: agent-league\r\n"
    post = f"POST {shared}accept: application/json\r\ncontent-type: application/json\r\ncontent-length: "
    get = f"GET {shared}accept: application/json\r\n\r\n"
    return post.encode("ascii"), get.encode("ascii"), f"POST {shared}".encode("ascii")


_SAFE_VALUE = re.compile(r"[ -~]{0,4096}")


def packed(target: Target, parcel: Parcel) -> bytes:
    """Return the request that brings *parcel* to *target*."""
    if not all(_SAFE_VALUE.fullmatch(value) for value in parcel.headers.values()):
        raise UnreachableError(f"{target.name} cannot be sent such headers")
    lines = "".join(f"{name}: {value}\r\n" for name, value in parcel.headers.items())
    length = f"content-length: {len(parcel.body)}\r\n\r\n"
    return b"%b%b%b" % (target.parcel, (lines + length).encode("ascii"), parcel.body)
