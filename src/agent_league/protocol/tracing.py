"""Trace contexts as W3C defines them: all calls of a match are one trace.

The ids follow from the match and its messages, so that whoever has the record of a league computes
the ids that its agents were sent.
"""

from hashlib import sha256

ROOT = "match"
"""What stands for a match as a whole, where others have the kind of a message."""


def make_trace_id(league_id: str, subject: str) -> str:
    """Return the trace of *subject*: a match, or else a conversation."""
    return _hash(league_id, subject)[:32]


def make_span_id(trace_id: str, url: str, kind: str, number: int) -> str:
    """Return the id of the message that is the *number*-th of its kind to *url* in its match."""
    return _hash(trace_id, url, kind, str(number))[:16]


def make_root_id(trace_id: str) -> str:
    """Return the id of a match, to which all its messages belong."""
    return _hash(trace_id, ROOT)[:16]


def make_traceparent(trace_id: str, span_id: str) -> str:
    """Return the header; its last part says that the trace is recorded."""
    return f"00-{trace_id}-{span_id}-01"


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
