"""What a verification finds."""

from agent_league.protocol import LeagueError


class NotHeldError(LeagueError):
    """Something in the record does not hold; *place* says where, such as `R1M1` or `event 12`."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"{place}: {what}")
        self.place, self.what = place, what


def require(holds: object, place: str, what: str) -> None:
    """Raise `NotHeldError` unless *holds*."""
    if not holds:
        raise NotHeldError(place, what)
