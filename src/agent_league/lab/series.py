"""A pair of strategies that meet many times, in series that each begin without a memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from agent_league.chance import make_rng
from agent_league.game import GAMES
from agent_league.lab.matches import Contestant, LabMatch, Table
from agent_league.player.brain import load_brain
from agent_league.strategy import is_forgetful
from agent_league.vocabulary import Json, Seat

LOSS, DRAW, WIN = range(3)
SERIES = 100
"""How many matches a series has: a strategy remembers only those of its own series."""


@dataclass(frozen=True)
class Meeting:
    """Two strategies, by name or file, that are to meet so often."""

    game_type: str
    first: str
    second: str
    matches: int
    seed: str
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    series: int = SERIES
    begin: int = 0
    """The number of its first match: a long meeting is divided into several."""


@dataclass(frozen=True)
class Met:
    """How a meeting went: for each match whether the first lost, drew or won, and what was collected."""

    meeting: Meeting
    endings: bytes
    scores: tuple[float, float]
    """What each collected in all matches, in games that count something."""
    turns: int
    fallbacks: tuple[int, int] = (0, 0)
    """How many moves of each were replaced by random ones, because there was no legal one."""


def play_meeting(meeting: Meeting) -> Met:
    """Play all matches; the strategies change seats after each."""
    endings, one, other, turns = bytearray(), 0.0, 0.0, 0
    fallbacks = [0, 0]
    for number, match in _play_all(meeting, fallbacks):
        seat = number % 2
        endings.append(_judge(match, seat))
        scores = match.outcome.scores or (0.0, 0.0)
        one, other, turns = one + scores[seat], other + scores[1 - seat], turns + match.turns
    return Met(meeting, bytes(endings), (one, other), turns, (fallbacks[0], fallbacks[1]))


def _play_all(meeting: Meeting, fallbacks: list[int]) -> Iterator[tuple[int, LabMatch]]:
    """Yield each match with its number; the seat of the first strategy is the number modulo 2.

    *fallbacks* counts the moves of each strategy that had to be replaced.
    """
    table = Table(meeting.game_type, GAMES[meeting.game_type], meeting.options)
    players = _make_contestants(meeting, meeting.begin)
    forget = all(is_forgetful(player.brain.strategy) for player in players)
    repeats: dict[Seat, LabMatch | None] = {} if forget else {0: None, 1: None}
    """For each seat the match that is always the same; None if it may be another each time."""
    for number in range(meeting.begin, meeting.begin + meeting.matches):
        if number % meeting.series == 0 and number > meeting.begin:
            players = _make_contestants(meeting, number)
        seat = number % 2
        match = repeats.get(seat)
        if match is None:
            rng = make_rng(f"{meeting.seed}|{number}")
            before = [player.fallbacks for player in players]
            match = _play_one(table, players, seat, rng, repeats)
            for place, player in enumerate(players):
                fallbacks[place] += player.fallbacks - before[place]
        yield number, match


def _play_one(
    table: Table,
    players: list[Contestant],
    seat: Seat,
    rng: Random,
    repeats: dict[Seat, LabMatch | None],
) -> LabMatch:
    first, second = players
    seated = players if seat == 0 else [second, first]
    if seat not in repeats:  # who remembers nothing uses chance in the first match, or in none
        match, is_certain = table.play_watched(seated, rng)
        repeats[seat] = match if is_certain else None
        return match
    match = table.play(seated, rng)
    first.learn(second.brain.name, match, seat)
    second.learn(first.brain.name, match, 1 - seat)
    return match


def _make_contestants(meeting: Meeting, number: int) -> list[Contestant]:
    series = number // meeting.series
    return [
        Contestant(load_brain(name), make_rng(meeting.seed, str(series), str(place)))
        for place, name in enumerate((meeting.first, meeting.second))
    ]


def _judge(match: LabMatch, seat: Seat) -> int:
    winner = match.outcome.winner
    if winner is None:
        return DRAW
    return WIN if winner == seat else LOSS
