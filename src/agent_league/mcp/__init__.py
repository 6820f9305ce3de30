"""The Model Context Protocol: how the league speaks to servers of it."""
