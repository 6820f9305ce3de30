"""Games of the library OpenSpiel: `openspiel:breakthrough`, `openspiel:goofspiel(num_cards=4)`.

Any game of that library for two, in turns or at the same time. It needs the extra `openspiel`.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from agent_league.extras import import_extra
from agent_league.game import Game, IllegalMoveError, OptionsError, Outcome
from agent_league.picture import Picture
from agent_league.vocabulary import Json, Seat

LONGEST_TEXT = 2500
"""Bytes of what a seat sees: a message may be 10 KB long, and it is in there twice, as a picture too."""
PLAYERS = 2


class SpielState:
    """A state of the library that nobody changes: a move is made on a copy."""

    def __init__(self, spiel: Any) -> None:
        self.spiel = spiel
        self._key = (str(spiel.get_game()), tuple(spiel.history()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpielState) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __deepcopy__(self, memo: object) -> "SpielState":
        return self


class OpenSpielGame:
    """The player with the higher return at the end wins; equal returns are a draw."""

    seats = PLAYERS

    def __init__(self, name: str) -> None:
        self._library = import_extra("pyspiel", "openspiel")
        self._name = name
        self._game = self._load({})
        kind = self._game.get_type()
        self._shows_all = kind.information == kind.Information.PERFECT_INFORMATION
        self._kind = kind
        _check_playable(self._game)
        self.turns = self._game.max_game_length()
        self.rules = (
            f"{kind.long_name}, as in the library OpenSpiel.\n\nYou see the state as that library "
            "writes it, and the legal moves by their names. The player with the higher return at "
            "the end wins; equal returns are a draw."
        )

    def start(self, options: Mapping[str, Json], rng: Random) -> SpielState:
        game = self._load(options) if options else self._game
        _check_playable(game)
        return _draw_chance(game.new_initial_state(), rng)

    def to_move(self, state: SpielState) -> Sequence[Seat]:
        spiel = state.spiel
        if spiel.is_terminal():
            return ()
        if spiel.is_simultaneous_node():
            return tuple(seat for seat in range(PLAYERS) if spiel.legal_actions(seat))
        return (spiel.current_player(),)

    def view(self, state: SpielState, seat: Seat) -> Json:
        text = self._show(state.spiel, seat)
        return {"you": seat, "move_number": state.spiel.move_number(), "observation": text}

    def read_move(self, raw: Json) -> str:
        if not isinstance(raw, str) or not raw:
            raise IllegalMoveError(f"expected the name of a legal move, got {raw!r:.60}")
        return raw

    def legal(self, state: SpielState, seat: Seat) -> Sequence[str]:
        return list(_name_actions(state.spiel, seat)) if seat in self.to_move(state) else ()

    def play(self, state: SpielState, moves: Mapping[Seat, str], rng: Random) -> SpielState:
        spiel = state.spiel
        actions = {seat: _name_actions(spiel, seat)[move] for seat, move in moves.items()}
        after = spiel.clone()
        if spiel.is_simultaneous_node():
            after.apply_actions([actions.get(seat, 0) for seat in range(PLAYERS)])
        else:
            ((_, action),) = actions.items()
            after.apply_action(action)
        return _draw_chance(after, rng)

    def outcome(self, state: SpielState) -> Outcome | None:
        if not state.spiel.is_terminal():
            return None
        one, other = state.spiel.returns()
        scores = (float(one), float(other))
        if one == other:
            return Outcome(None, f"Both have a return of {one:g}", scores)
        winner = 0 if one > other else 1
        return Outcome(winner, f"{{{winner}}} has the higher return: {one:g} to {other:g}", scores)

    def record(self, state: SpielState) -> dict[str, Json]:
        spiel = state.spiel
        returns = list(map(float, spiel.returns())) if spiel.is_terminal() else None
        shown = _cut(str(spiel)) if spiel.is_terminal() else ""
        return {"returns": returns, "observation": shown, "move_number": spiel.move_number()}

    def picture(self, shown: Json) -> Picture:
        return Picture([[line] for line in shown["observation"].splitlines()[:30]] or [[""]])

    def _load(self, options: Mapping[str, Json]) -> Any:
        try:
            game = self._library.load_game(self._name, dict(options)) if options else None
            return game or self._library.load_game(self._name)
        except (self._library.SpielError, TypeError) as error:
            if options:
                raise OptionsError(f"unknown option {min(options)!r}: {error}") from None
            raise KeyError(str(error).partition(".")[0]) from None

    def _show(self, spiel: Any, seat: Seat) -> str:
        """Return what *seat* may see."""
        if self._shows_all:
            text = str(spiel)
        elif self._kind.provides_observation_string:
            text = spiel.observation_string(seat)
        else:
            text = spiel.information_state_string(seat)
        return _cut(str(text))


def _cut(text: str) -> str:
    return text.encode()[:LONGEST_TEXT].decode(errors="ignore")


def _check_playable(game: Any) -> None:
    """Raise `OptionsError` for what is no game for two, or cannot be shown."""
    kind = game.get_type()
    if game.num_players() != PLAYERS:
        raise OptionsError(f"{kind.short_name} is a game for {game.num_players()}")
    if kind.dynamics == kind.Dynamics.MEAN_FIELD:
        raise OptionsError(f"{kind.short_name} is a mean field game")
    if kind.chance_mode == kind.ChanceMode.SAMPLED_STOCHASTIC:
        raise OptionsError(f"{kind.short_name} draws by itself, so no match could be replayed")
    hidden = kind.information != kind.Information.PERFECT_INFORMATION
    shown = kind.provides_observation_string or kind.provides_information_state_string
    if hidden and not shown:
        raise OptionsError(f"{kind.short_name} does not say what a player may see")


def _draw_chance(spiel: Any, rng: Random) -> SpielState:
    """Return the next state in which somebody moves; chance is drawn by us."""
    while spiel.is_chance_node():
        actions, chances = zip(*spiel.chance_outcomes(), strict=True)
        spiel.apply_action(rng.choices(actions, chances)[0])
    return SpielState(spiel)


def _name_actions(spiel: Any, seat: Seat) -> dict[str, int]:
    """Return the legal actions by their names; where two have the same, the number is added."""
    named: dict[str, int] = {}
    for action in spiel.legal_actions(seat):
        name = spiel.action_to_string(seat, action)
        named[f"{name} #{action}" if name in named or not name else name] = action
    return named


def make(name: str) -> Game[SpielState, str]:
    return OpenSpielGame(name)
