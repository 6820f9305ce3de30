"""Play every OpenSpiel game for two once, by random players through a referee, and print a table."""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import pyspiel

from agent_league.game import OptionsError
from agent_league.games._openspiel import OpenSpielGame
from agent_league.protocol.results import Termination
from agent_league.store.events import MatchEnded
from league_box import Box, played
from timewarp import TooLongError

PAGE = Path(__file__).parents[2] / "docs" / "openspiel.md"


class Trial(NamedTuple):
    """A game that was tried, and how it went; an empty reason means to the end."""

    name: str
    kind: str
    reason: str = ""


def list_games() -> list[Any]:
    kinds = pyspiel.registered_games()
    return [one for one in kinds if one.min_num_players <= 2 <= one.max_num_players]


def try_games() -> Iterator[Trial]:
    for kind in list_games():
        dynamics = str(kind.dynamics).rpartition(".")[2].lower()
        yield Trial(kind.short_name, dynamics, _try_one(kind))


def _try_one(kind: Any) -> str:
    if not kind.default_loadable:
        return "needs parameters"
    name = kind.short_name
    if kind.min_num_players < kind.max_num_players and "players" in kind.parameter_specification:
        name = f"{name}(players=2)"
    try:
        game = OpenSpielGame(name)
        game.start({}, Random(0))
    except (KeyError, OptionsError) as error:
        return str(error.args[0])
    try:
        (ended,) = played(_make_box(f"openspiel:{name}")).happened(MatchEnded)
    except TooLongError:
        return "does not end in an hour"
    if ended.result.termination == Termination.COMPLETED:
        return ""
    return str(ended.result.details.get("reason", ended.result.termination))


def _make_box(game: str) -> Box:
    box = Box(["random", "random"], game_type=game)
    for member in box.members:
        member.meta = msgspec.structs.replace(member.meta, game_types=[game])
    return box


def write_page(trials: list[Trial]) -> str:
    reasons = Counter(trial.reason for trial in trials if trial.reason)
    good = [trial for trial in trials if not trial.reason]
    lines = [f"| {trial.name} | {trial.kind} | {trial.reason or 'yes'} |" for trial in trials]
    return "\n".join(
        [
            f"{len(trials)} games for two; {len(good)} play to the end.",
            "",
            *(f"- {count} times: {reason}" for reason, count in reasons.most_common()),
            "",
            "| game | moves | plays to the end |",
            "| --- | --- | --- |",
            *lines,
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(write_page(list(try_games())) + "\n")
