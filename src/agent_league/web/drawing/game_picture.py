"""The end of a game as the game itself draws it."""

from collections.abc import Mapping

from markupsafe import Markup

from agent_league.game import GAMES, draw_picture
from agent_league.picture import draw_svg
from agent_league.vocabulary import Json


def draw_record(game_type: str, record: Mapping[str, Json]) -> Markup:
    """Return the picture of a finished game; nothing if its record is not what the game expects.

    The record came from a referee, which may be anybody's.
    """
    game = GAMES.get(game_type)
    if game is None or not hasattr(game, "picture"):
        return Markup("")
    try:
        svg = draw_svg(draw_picture(game, dict(record)))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return Markup("")
    return Markup(svg)  # noqa: S704 - draw_svg escapes every text
