"""The leagues that a server runs now, and which of them a call is for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from agent_league.hosting.wish import Wish
from agent_league.http.site import Site
from agent_league.offer import Offer, ToolCard
from agent_league.peers.endpoint import Handler
from agent_league.protocol import ErrorCode, Message, ProtocolError, Role
from agent_league.running.open_league import OpenLeague
from agent_league.season.season import Stage
from agent_league.serving.site import make_site
from agent_league.vocabulary import Json

SHOWN = 20
"""How many leagues an error names."""


@dataclass(frozen=True)
class HostedLeague:
    """A league of a server, as others reach it."""

    league: OpenLeague

    @property
    def league_id(self) -> str:
        return self.league.league_id

    @cached_property
    def site(self) -> Site:
        return make_site(self.league.manager)

    @cached_property
    def handlers(self) -> Mapping[type[Message], Handler]:
        return self.league.manager.handlers()

    @cached_property
    def offer(self) -> Offer:
        return self.league.manager.offer()

    @cached_property
    def tools(self) -> Mapping[str, ToolCard]:
        return {card.name: card for card in self.offer.tools}

    @property
    def is_open(self) -> bool:
        """Whether players may register."""
        season = self.league.season
        return season.stage is Stage.REGISTRATION and not season.registration_closed

    @property
    def invited(self) -> Sequence[str]:
        """Who plays in this division, by name; nobody is named in a league without divisions."""
        division = self.league.manager.settings.division
        return division.invited if division else ()

    def describe(self) -> dict[str, Json]:
        """Return what everybody may know of the league."""
        season = self.league.season
        return {
            "league_id": self.league_id,
            "url": self.league.url,
            "game_type": season.settings.game_type,
            "format": season.settings.format,
            "stage": season.stage,
            "paused": season.paused,
            "registration_open": self.is_open,
            "players": len(season.roster.of(Role.PLAYER)),
            "awaited_players": season.settings.awaited_players,
            "round_id": season.round_id,
            "total_rounds": season.total_rounds,
            "matches_played": season.played,
        }


class Directory:
    """Leagues by their ids, in the order in which they were opened."""

    def __init__(self) -> None:
        self._leagues: dict[str, HostedLeague] = {}

    def __iter__(self) -> Iterator[HostedLeague]:
        return iter(tuple(self._leagues.values()))

    def __contains__(self, league_id: str) -> bool:
        return league_id in self._leagues

    def get(self, league_id: str) -> HostedLeague | None:
        return self._leagues.get(league_id)

    def add(self, hosted: HostedLeague) -> None:
        self._leagues[hosted.league_id] = hosted

    def remove(self, league_id: str) -> None:
        self._leagues.pop(league_id, None)

    def count_players(self) -> int:
        """Return how many players the leagues that are being played have."""
        return sum(len(hosted.league.season.players) for hosted in self._leagues.values())

    def choose(self, wish: Wish) -> HostedLeague | None:
        """Return the league that is meant: by its id, by a token of it, or because no other can be."""
        if wish.league_id is not None:
            return self._leagues.get(wish.league_id) or self._choose_division(wish)
        if wish.token is not None:
            for hosted in self:
                if hosted.league.manager.knows(wish.token):
                    return hosted
        candidates = [one for one in self if one.is_open] if wish.joins else list(self)
        return candidates[0] if len(candidates) == 1 else None

    def _choose_division(self, wish: Wish) -> HostedLeague | None:
        """Return the division of a competition in which a player plays, or else has room."""
        for hosted in self:
            settings, season = hosted.league.manager.settings, hosted.league.season
            division, name = settings.division, (wish.display_name or "").strip()
            if division is None or division.competition != wish.league_id:
                continue
            if wish.token is not None and hosted.league.manager.knows(wish.token):
                return hosted
            is_full = len(season.roster.present(Role.PLAYER)) >= settings.max_players
            is_named = name in division.invited
            if wish.joins and division.admits(name) and (is_named or not is_full):
                return hosted
        return None

    def require(self, wish: Wish, about: str = "") -> HostedLeague:
        """Return the league that is meant, or raise `ProtocolError`, which says how to name it."""
        found = self.choose(wish)
        if found is not None:
            return found
        names = [one.league_id for one in self if one.is_open or not wish.joins]
        code, shown = ErrorCode.INVALID_FIELD_VALUE, ", ".join(names[:SHOWN]) or "none"
        if wish.league_id is not None:
            detail = f"no league {wish.league_id[:64]!r} is run here now; these are: {shown}"
        elif not names and wish.joins:
            code, detail = ErrorCode.LATE_REGISTRATION, "no league is open for registration here"
        else:
            what = "are open for registration" if wish.joins else "are run here"
            detail = f"{len(names)} leagues {what}, so name one of them: {shown}"
        raise ProtocolError(code, f"league_id: {detail}", field="league_id", about=about)
