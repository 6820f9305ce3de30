"""The Swiss system: who has as many points meets, and nobody meets the same player twice.

The pairings are those of the Dutch system of FIDE, by the library py4swiss (extra `swiss`). With more
players than it can pair in a second, neighbours in the table meet (`large_swiss.py`).
"""

from collections.abc import Sequence
from typing import Any

from agent_league.extras import import_extra
from agent_league.tournament.large_swiss import is_large, pair_neighbours
from agent_league.tournament.pairing import History, Pairing, Played
from agent_league.vocabulary import PlayerId

MOST_BY_LIBRARY = 200
"""How many players the library pairs in about a second; the time grows with the square, or faster."""
WIN, DRAW = 10, 5
"""Tenths of a point."""


def swiss(players: Sequence[PlayerId], history: History, rounds: int) -> list[Pairing]:
    """Return the next round, or none if everybody would have to meet somebody again.

    With an odd number of players, one of the last sits out, once at most, and counts as a winner.
    """
    if len(history) >= min(rounds, len(players) - 1 + len(players) % 2):
        return []
    if is_large(len(players), rounds, MOST_BY_LIBRARY):
        return pair_neighbours(players, history)
    engines = import_extra("py4swiss.engines", "swiss")
    errors = import_extra("py4swiss.engines.common", "swiss")
    try:
        pairs = engines.DutchEngine.generate_pairings(make_trf(players, history, rounds))
    except errors.PairingError:
        return []
    return [
        Pairing(players[pair.white - 1], players[pair.black - 1]) for pair in pairs if pair.black
    ]


def make_trf(players: Sequence[PlayerId], history: History, rounds: int) -> Any:
    """Return the tournament as the library reads it: FIDE's report file, in memory."""
    trf = import_extra("py4swiss.trf", "swiss")
    sections = import_extra("py4swiss.trf.sections", "swiss")
    codes = import_extra("py4swiss.trf.codes", "swiss")
    numbers = {player: number for number, player in enumerate(players, 1)}
    own_matches = [
        {player: match for match in played for player in (match.first, match.second)}
        for played in history
    ]
    made = []
    for player, number in numbers.items():
        results = [_describe(player, own.get(player), numbers) for own in own_matches]
        tenths = sum(_count_tenths(result.result.name) for result in results)
        made.append(
            sections.PlayerSection(
                code=codes.PlayerCode.PLAYER,
                starting_number=number,
                points_times_ten=tenths,
                rank=number,
                results=results,
            )
        )
    return trf.ParsedTrf(
        tournament_section=sections.TournamentSection(),
        player_sections=made,
        x_section=sections.XSection(number_of_rounds=rounds),
    )


def _describe(player: PlayerId, own: Played | None, numbers: dict[PlayerId, int]) -> Any:
    """Return how a round went for *player*, who had the match *own* in it."""
    results = import_extra("py4swiss.trf.results", "swiss")
    colours, tokens = results.ColorToken, results.ResultToken
    if own is not None and own.counts:
        first, second, winner, _ = own
        opponent = second if player == first else first
        colour = colours.WHITE if player == first else colours.BLACK
        lost = tokens.DRAW if winner is None else tokens.LOSS
        token = tokens.WIN if winner == player else lost
        return results.RoundResult(id=numbers[opponent], color=colour, result=token)
    bye = tokens.ZERO_POINT_BYE if own else tokens.PAIRING_ALLOCATED_BYE
    return results.RoundResult(id=0, color=colours.BYE_OR_NOT_PAIRED, result=bye)


def _count_tenths(token: str) -> int:
    return {"WIN": WIN, "PAIRING_ALLOCATED_BYE": WIN, "DRAW": DRAW}.get(token, 0)
