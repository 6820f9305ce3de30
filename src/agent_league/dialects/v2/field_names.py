"""Other names under which third-party agents write the fields of a message."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from agent_league.dialects.v2.words import Body
from agent_league.protocol import ProtocolError
from agent_league.protocol.deviations import Deviation
from agent_league.protocol.reading import read_as
from agent_league.protocol.requirements import rules
from agent_league.vocabulary import Json

Synonyms = Mapping[str, Sequence[str]]

MESSAGE_FIELDS: Synonyms = {
    "match_id": ("game_id", "match"),
    "conversation_id": ("conversation", "correlation_id"),
    "auth_token": ("token",),
    "league_id": ("league",),
    "round_id": ("round", "round_number"),
    "opponent_id": ("opponent", "opponent_player_id", "from_player"),
    "role_in_match": ("role", "your_role", "seat"),
    "game_type": ("game",),
    "deadline": ("expires_at", "deadline_utc"),
}
"""The fields that a message of a match or of a round has, and their other names."""

_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])(?=[a-z])")


def rename_fields(body: Body, synonyms: Synonyms) -> Iterator[Deviation]:
    """Give the fields of *body* that are missing the value of their synonyms; the synonyms stay."""
    plain_names = {_CAPITAL.sub(r"_\1", key).lower(): key for key in body}
    for field, others in synonyms.items():
        if is_empty(body.get(field)):
            found = (plain_names[key] for key in (field, *others) if key in plain_names)
            key = next((key for key in found if not is_empty(body[key])), None)
            if key is not None:
                body[field] = body[key]
                yield Deviation(rules.FIELD_MISSING, f"{key} instead of {field}"[:80])


def is_empty(value: Json) -> bool:
    """Whether a field with *value* says nothing."""
    return value is None or value in ("", [], {})


def find_problem(value: Json, kind: type[msgspec.Struct]) -> str | None:
    """Return what is wrong with *value* as a *kind*; None if nothing is."""
    try:
        read_as(kind, value)
    except ProtocolError as error:
        return error.detail
    return None
