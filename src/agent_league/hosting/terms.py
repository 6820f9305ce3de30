"""The terms of a new league, as its creator gives them: what they are, and how they become settings."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct

from agent_league.files.layout import SAFE_ID, SAFE_ID_RULE, is_safe_id
from agent_league.protocol import ErrorCode, ProtocolError
from agent_league.running.errors import UsageError
from agent_league.running.lineup import ConfigFiles
from agent_league.season.settings import LeagueSettings
from agent_league.tournament.formats import FORMATS

MOST_PLAYERS = 100_000
Id = Annotated[str, Meta(pattern=SAFE_ID, extra={"expected": SAFE_ID_RULE})]
Number = Annotated[int, Meta(ge=1, le=1000, extra={"expected": "an integer from 1 to 1000"})]
Players = Annotated[
    int, Meta(ge=2, le=MOST_PLAYERS, extra={"expected": f"an integer from 2 to {MOST_PLAYERS}"})
]


class Terms(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a league is to be; what is left out is as the files of the server say."""

    league_id: Id
    game: str | None = None
    """What is played; several games with commas."""
    format: str | None = None
    legs: Number | None = None
    rounds: Number | None = None
    overlap_rounds: int | None = None
    option: list[str] | None = None
    """Options of the game, such as rounds=200."""
    players: Players | None = None
    """With so many the league begins by itself; else the organiser begins it."""
    max_players: Players | None = None
    seed: str | None = None
    class_league: bool = False
    strict: bool | None = None
    join_code: str | None = None
    students: Mapping[str, str] | None = None
    """Who may join, each with the hash of a code of their own."""


class SeasonTerms(Terms, frozen=True, kw_only=True, omit_defaults=True):
    """What the next season of a competition with divisions is to be.

    `league_id` is the id of the competition. What is left out is as in the last season.
    """

    sizes: (
        Annotated[list[Annotated[int, Meta(ge=2)]], Meta(min_length=2, max_length=100)] | None
    ) = None
    """How many players each division has, the highest first."""
    movers: Annotated[int, Meta(ge=0, le=1000)] | None = None
    """How many go down from each division, and as many go up."""
    seeds: list[str] | None = None
    """The display names of the players of a first season, the best first."""
    gone: list[str] | None = None
    """The display names of those who do not play any more."""


def make_settings(files: ConfigFiles, terms: Terms) -> LeagueSettings:
    """Return the settings of a league with these terms, or raise `UsageError`."""
    if terms.format is not None and terms.format not in FORMATS:
        raise UsageError(f"there is no format {terms.format!r:.40}", f"one of {', '.join(FORMATS)}")
    if not is_safe_id(terms.league_id):
        raise UsageError(f"{terms.league_id!r:.80} cannot be an id", SAFE_ID_RULE)
    flags: dict[str, Any] = {
        "game": terms.game,
        "format": terms.format,
        "legs": terms.legs,
        "rounds": terms.rounds,
        "overlap_rounds": terms.overlap_rounds,
        "option": terms.option or (),
        "awaited_players": terms.players,
        "max_players": terms.max_players,
        "strict": terms.strict,
        "join_code": terms.join_code,
        "students": terms.students,
    }
    return files.make_settings(
        terms.league_id, terms.seed, class_league=terms.class_league, **flags
    )


def refuse(error: UsageError) -> ProtocolError:
    """Return how a mistake of the caller is told over the wire."""
    return ProtocolError(ErrorCode.INVALID_FIELD_VALUE, f"{error} ({error.hint})")
