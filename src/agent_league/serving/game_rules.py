"""The rules of the games, as resources to read."""

from collections.abc import Iterable
from functools import partial

from agent_league.game import GAMES, explain_rules
from agent_league.offer import MARKDOWN, Resource


def rules(game_type: str) -> str:
    """Return what a player must know of a game, from the docstrings of the game."""
    try:
        game = GAMES[game_type]
    except KeyError:
        return f"# {game_type}\n\nThe rules of this game are not known here."
    seats = f"{game.seats} players; each is asked to move at most {game.turns} times."
    forfeits = (
        "A player that does not answer in time, or with a move that is not legal, loses the match."
    )
    return "\n\n".join([f"# {game_type}", explain_rules(game), seats, forfeits])


def rules_resources(game_types: Iterable[str]) -> list[Resource]:
    """Return one resource for the rules of each game; the rules are looked up when it is read."""
    return [
        Resource(
            uri=f"league://rules/{game_type}",
            name=f"rules of {game_type}",
            description=f"How {game_type} is played, and how a match is lost without playing.",
            read=partial(rules, game_type),
            mime=MARKDOWN,
        )
        for game_type in game_types
    ]
