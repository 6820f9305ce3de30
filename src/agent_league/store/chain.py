"""The hash chain over the events of a league: nobody can change one of them unnoticed.

Each link is the SHA-256 of the link before and of one event, in the form in which it may be
published: without the fields that are private. So whoever gets the published record can check it.
"""

from hashlib import sha256
from typing import NamedTuple

import msgspec

from agent_league.vocabulary import Json

PRIVATE_FIELDS = frozenset({"token_hash", "endpoint", "seed"})
"""The fields of events that are never published: they prove who somebody is, or foretell draws."""
_PRIVATE_KEYS = tuple(f'"{name}":' for name in PRIVATE_FIELDS)
PRIVATE_SETTINGS = frozenset({"seed", "join_code", "students"})
"""The same among the settings of a league."""


class Line(NamedTuple):
    """One event of the record, as it may be published."""

    seq: int
    kind: str
    version: int
    body: str
    transcript: str | None
    """The SHA-256 of the messages of the match that it ends."""
    link: str | None
    """Its link of the chain; events of older versions have none."""


def publish_event(body: str) -> str:
    """Return the JSON of an event without its private fields."""
    for key in _PRIVATE_KEYS:
        if key in body:
            return _leave_out(body, PRIVATE_FIELDS)
    return body


def publish_settings(settings: str) -> str:
    """Return the JSON of the settings of a league without what is private."""
    return _leave_out(settings, PRIVATE_SETTINGS)


def _leave_out(body: str, names: frozenset[str]) -> str:
    fields: dict[str, Json] = msgspec.json.decode(body)
    return msgspec.json.encode({k: v for k, v in fields.items() if k not in names}).decode()


def hide_secrets(fields: dict[str, Json]) -> dict[str, Json]:
    """Return the fields of an event as staff may see them: nobody needs the secrets in a log."""
    secret = PRIVATE_FIELDS if fields.get("guest") else PRIVATE_FIELDS - {"endpoint"}
    if secret.isdisjoint(fields):
        return fields
    return {name: value for name, value in fields.items() if name not in secret}


def hash_text(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def make_first_link(league_id: str, opened_at: str, settings: str) -> str:
    """Return the link before the first event: the league itself; *settings* are public."""
    return hash_text(f"{league_id}\n{opened_at}\n{settings}")


def make_link(previous: str, line: Line) -> str:
    """Return the link of the event in *line*, whose own link is not looked at."""
    seq, kind, version, body, transcript, _ = line
    return hash_text(f"{previous}\n{seq}\n{kind}\n{version}\n{body}\n{transcript or ''}")
