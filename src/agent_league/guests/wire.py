"""The wire of a league that has guests: it reaches them without leaving the house."""

from collections.abc import Awaitable, Callable

from agent_league.agent import Wire
from agent_league.guests.guest import Guest
from agent_league.transport.exchange import Answer, Heard, Parcel
from agent_league.transport.memory import Network


class HouseWire:
    """Goes to guests inside, to everybody else outside.

    A guest listens, as far as the league can tell, while somebody is behind it: so the league
    suspends one that has gone, and takes one back, as it does with any player.
    """

    def __init__(self, outside: Wire, guest_at: Callable[[str], Guest | None]) -> None:
        self.inside = Network()
        self._outside = outside
        self._guest_at = guest_at

    def post(self, url: str, body: bytes, within: float) -> Awaitable[Answer]:
        way = self._outside if self._guest_at(url) is None else self.inside
        return way.post(url, body, within)

    def exchange(self, url: str, parcel: Parcel, within: float) -> Awaitable[Heard]:
        way = self._outside if self._guest_at(url) is None else self.inside
        return way.exchange(url, parcel, within)

    async def reaches(self, url: str, within: float) -> bool:
        guest = self._guest_at(url)
        return await self._outside.reaches(url, within) if guest is None else guest.present

    async def listens(self, url: str, within: float) -> bool:
        guest = self._guest_at(url)
        return await self._outside.listens(url, within) if guest is None else guest.present
