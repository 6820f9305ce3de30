"""Finds the message that a name means: the name of a method, a tool, an object or a path.

Third-party agents have names of their own for the same messages, such as `receive_game_invitation`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias

from agent_league.protocol import MESSAGES, TOOLS, Message, name
from agent_league.protocol.play import (
    GameMoveCall,
    GameMoveReply,
    GameOver,
    Invitation,
    JoinAck,
    ParityCall,
    ParityReply,
    ResultReport,
    StartMatch,
)
from agent_league.protocol.queries import Query
from agent_league.protocol.registration import RegisterPlayer, RegisterReferee
from agent_league.protocol.rounds import (
    LeagueCompleted,
    RoundAnnouncement,
    RoundCompleted,
    StandingsUpdate,
)
from agent_league.vocabulary import Json

Kind: TypeAlias = type[Message]

_PHRASES: Mapping[Kind, tuple[str, ...]] = {
    Invitation: ("invitation", "invite"),
    JoinAck: ("join", "join ack", "invitation response"),
    ParityCall: ("parity", "choice"),
    ParityReply: ("parity", "choice", "parity response", "choice response"),
    GameMoveCall: ("move",),
    GameMoveReply: ("move", "move response"),
    GameOver: (
        *("game over", "game result", "game end", "game ended", "game completed"),
        *("match over", "match result", "match end", "match ended", "match completed"),
    ),
    RoundAnnouncement: ("round", "round start", "round started", "announcement"),
    RoundCompleted: (
        *("round completed", "round complete", "round end", "round ended"),
        *("round over", "round finished", "round result", "round results"),
    ),
    StandingsUpdate: ("standings", "standing"),
    LeagueCompleted: (
        *("league completed", "league complete", "league end", "league ended"),
        *("league over", "league finished"),
    ),
    RegisterPlayer: ("register", "registration", "player register", "player registration"),
    RegisterReferee: ("register", "registration", "referee register", "referee registration"),
    ResultReport: ("report", "result", "match result", "game result"),
    StartMatch: ("run match", "assign match", "match assignment", "play match", "conduct match"),
    Query: ("query",),
}
"""Words that mean a message, beside those of its message_type and of its tool."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def split_words(text: str) -> frozenset[str]:
    """Return the words of a name, however it joins them: `gameOver`, `game_over`, `GAME-OVER`."""
    return frozenset(word.lower() for word in _WORD.findall(text[:200]))


def _iter_phrases(kind: Kind) -> Iterator[frozenset[str]]:
    phrases = (*_PHRASES.get(kind, ()), name(kind).lower(), kind.route.tool)
    return (split_words(phrase) for phrase in phrases if phrase)


_WORDS_BY_KIND: Mapping[Kind, frozenset[frozenset[str]]] = {
    kind: frozenset(_iter_phrases(kind)) for kind in MESSAGES.values()
}


def find_kind(text: str, kinds: Collection[Kind] = tuple(MESSAGES.values())) -> Kind | None:
    """Return the message that *text* names; by its meaning only one of *kinds*.

    None if it means none of them, or not exactly one.
    """
    found = find_kinds(text, kinds)
    return found[0] if len(found) == 1 else None


def find_message_kind(
    text: str, body: Mapping[str, Json], kinds: Collection[Kind] = tuple(MESSAGES.values())
) -> Kind | None:
    """Return the message that *text* names; a registration without a role is what *body* says."""
    found = find_kinds(text, kinds)
    if len(found) > 1 and set(found) == _REGISTRATIONS:
        return _find_registration(text, body)
    return found[0] if len(found) == 1 else None


_REGISTRATIONS = {RegisterPlayer, RegisterReferee}
_ROLE_FIELDS = ("sender", "agent_type", "role", "type", "agent_role")


def _find_registration(text: str, body: Mapping[str, Json]) -> Kind:
    texts = [text, *(str(body.get(field)) for field in _ROLE_FIELDS)]
    is_referee = "referee_meta" in body or any("referee" in text.lower() for text in texts)
    return RegisterReferee if is_referee else RegisterPlayer


def find_kinds(text: str, kinds: Collection[Kind]) -> list[Kind]:
    """Return the message that *text* names, or those of *kinds* that its words fit best."""
    exact = TOOLS.get(text) or MESSAGES.get(text.upper())
    return [exact] if exact else list(_find_by_meaning(split_words(text), frozenset(kinds)))


@lru_cache(maxsize=1024)
def _find_by_meaning(words: frozenset[str], kinds: frozenset[Kind]) -> tuple[Kind, ...]:
    fits = {kind: _measure_fit(words, kind) for kind in sorted(kinds, key=name)}
    best = max(fits.values(), default=0)
    return tuple(kind for kind, fit in fits.items() if fit == best > 0)


def _measure_fit(words: frozenset[str], kind: Kind) -> int:
    """Return how many words has the longest phrase for *kind* that is part of *words*."""
    return max((len(phrase) for phrase in _WORDS_BY_KIND[kind] if phrase <= words), default=0)


def find_name(kind: Kind, names: Iterable[str], kinds: Collection[Kind]) -> str | None:
    """Return the one of *names* that means *kind*, for a peer that takes *kinds*; None if not one."""
    found = [text for text in names if find_kind(text, kinds) is kind]
    return found[0] if len(found) == 1 else None
