"""Compresses a stream for many readers at once: each piece is packed once, whoever gets it.

A piece that is packed by itself, and flushed, refers to nothing before it. So a reader may begin
with any piece, after the head of a gzip stream. The stream has no end of its own.
"""

import zlib
from functools import lru_cache

from agent_league.http.exchange import PageRequest

HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
"""How every gzip stream begins."""
_QUICKLY, _RAW = 1, -15


@lru_cache(maxsize=16)
def pack(piece: bytes) -> bytes:
    """Return *piece* as a part of a gzip stream."""
    packer = zlib.compressobj(_QUICKLY, zlib.DEFLATED, _RAW)
    return packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)


def takes_gzip(request: PageRequest) -> bool:
    """Whether the reader can unpack what is packed; every browser can."""
    words = (value for name, value in request.headers if name == b"accept-encoding")
    wanted = (word.strip() for value in words for word in value.lower().split(b","))
    return b"gzip" in wanted
