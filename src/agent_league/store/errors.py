"""What can be wrong with a store."""

from agent_league.protocol import LeagueError


class StoreError(LeagueError):
    """The store cannot be opened, or no longer be written; the text says what to do."""


class NotLeadingError(StoreError):
    """Another program leads this league."""


class DeposedError(NotLeadingError):
    """Another program has taken over the league that this one led."""
