"""What can be wrong with a request to run or to show a league."""

from agent_league.protocol import LeagueError


class UsageError(LeagueError):
    """What was asked for cannot be done; *hint* says what can be."""

    def __init__(self, detail: str, hint: str = "league --help") -> None:
        super().__init__(detail)
        self.hint = hint


class OrderRefusedError(LeagueError):
    """The league did not carry out an order of its organiser."""
