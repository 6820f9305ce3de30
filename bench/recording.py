"""The messages of one real league of ours: what is sent, how often, and how long it is.

The references send these messages, so that they do the same work.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from agent_league.http.client import HttpClient
from agent_league.http.exchange import Answer
from agent_league.running.event_loop import run
from agent_league.season.season import Season
from agent_league.store.events import Event, SeasonEnded, SeasonStarted
from bench.in_process import HttpVenue, play_here
from bench.ours import CAPACITY, make_spec

Value = Any
"""A message as plain values, as a program without types has it."""


@dataclass(frozen=True)
class Exchange:
    """A message of the usual size, and its reply."""

    request: Value
    reply: Value


@dataclass(frozen=True)
class Script:
    """What a reference has to do to play the same league."""

    players: int
    matches: int
    rounds: int
    capacity: int
    """How many matches are played at once."""
    exchanges: Mapping[str, Exchange]
    """By type of message."""
    messages: Mapping[str, int]
    """How many of each type were sent during the season."""
    receivers: Mapping[str, int]
    """How many agents get each type."""

    def count_broadcasts(self, kind: str) -> int:
        """Return how often *kind* is sent to everybody that gets it."""
        return round(self.messages[kind] / self.receivers[kind]) if kind in self.messages else 0


class Recorder(HttpClient):
    """A client that keeps what it sends, and the answers, while a season is played."""

    def __init__(self) -> None:
        super().__init__()
        self.is_on = False
        self.sent: defaultdict[str, list[Exchange]] = defaultdict(list)
        self.receivers: defaultdict[str, set[str]] = defaultdict(set)

    async def post(self, url: str, body: bytes, within: float) -> Answer:
        is_on = self.is_on
        answer = await super().post(url, body, within)
        if is_on:
            for request, reply in _pair(body, answer.body):
                kind = str(request["params"]["message_type"])
                self.sent[kind].append(Exchange(request, reply))
                self.receivers[kind].add(url)
        return answer

    def note(self, event: Event, season: Season) -> None:
        self.is_on = self.is_on or isinstance(event, SeasonStarted)
        self.is_on = self.is_on and not isinstance(event, SeasonEnded)


def _pair(sent: bytes, received: bytes) -> Iterable[tuple[Value, Value]]:
    """Return each call with its answer; a batch has several."""
    request, reply = msgspec.json.decode(sent), msgspec.json.decode(received)
    return zip(request, reply, strict=True) if isinstance(request, list) else [(request, reply)]


def record(players: int) -> Script:
    """Play a league over real HTTP, and return what was sent in it."""
    recorder, spec = Recorder(), make_spec(players)
    matches = rounds = 0

    def note(event: Event, season: Season) -> None:
        nonlocal matches, rounds
        recorder.note(event, season)
        matches, rounds = season.played, season.total_rounds

    run(play_here(spec, HttpVenue(recorder), note))
    return Script(
        players=players,
        matches=matches,
        rounds=rounds,
        capacity=CAPACITY,
        exchanges={kind: _find_usual(sent) for kind, sent in recorder.sent.items()},
        messages={kind: len(sent) for kind, sent in recorder.sent.items()},
        receivers={kind: len(urls) for kind, urls in recorder.receivers.items()},
    )


def _find_usual(sent: list[Exchange]) -> Exchange:
    """Return the exchange of middle length."""
    return sorted(sent, key=_measure)[len(sent) // 2]


def _measure(exchange: Exchange) -> int:
    return len(msgspec.json.encode((exchange.request, exchange.reply)))
