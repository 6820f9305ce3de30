"""What is said to people whose client cannot listen, so that it can play nevertheless."""

SENTENCE = "Join the league as Claude and play until it is over."


def how_to_join(url: str) -> list[str]:
    """Return the command that shows a league to a client, and what to say to it then."""
    return [
        f"claude mcp add --transport http league {url}",
        f'then say: "{SENTENCE}"',
    ]
