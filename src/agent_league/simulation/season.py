"""A season in virtual time, round by round; every wait is an event, none is real."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from agent_league.chance import make_rng
from agent_league.league.table_updates import DISTANCE, find_table_interval
from agent_league.season.assignment import POLICIES, Load, choose
from agent_league.simulation.calls import Called, ask_player
from agent_league.simulation.costs import Costs
from agent_league.simulation.scenario import Scenario
from agent_league.simulation.tally import Tally
from agent_league.simulation.virtual_time import Agenda, Host, Server
from agent_league.tournament.pairing import Pairing, Played
from agent_league.vocabulary import PlayerId

CHUNK = 50
"""How many notices are sent before other work gets its turn."""
SLICES = 3
"""In so many parts a referee works on a match: invitations, the first turn, the result."""
DRAWS = 0.5
"""The share of the matches that nobody wins."""
BITS = 8


class SimulatedSeason:
    """Plays a scenario: who meets whom, who referees it, who is told what, and when."""

    def __init__(self, scenario: Scenario, costs: Costs) -> None:
        self._scenario, self._costs = scenario, costs
        self._settings = scenario.settings
        self._rng = make_rng(self._settings.seed, "simulation")
        self._agenda, self.tally = Agenda(), Tally()
        self._manager, self._line = Server(), Server()
        self._players = [PlayerId(f"P{n:02}") for n in range(1, scenario.players + 1)]
        self._history: list[list[Played]] = []
        self._seat_referees()
        self._waiting: deque[Pairing] = deque()
        self._running = 0
        self._open = 0
        self._is_over = False
        self._table_sent_at = float("-inf")
        self._table_due = self._table_under_way = False
        self._oldest_news: float | None = None
        self._table_since = 0.0

    def run(self) -> Tally:
        """Play until the season is over, or as much of it as the scenario wants."""
        self._agenda.at(0.0, self._open_round)
        self._agenda.at(self._settings.heartbeat, self._beat)
        self._agenda.run(lambda: self._is_over)
        self.tally.ended_at = max(self._agenda.now, self._manager.free_at, self._line.free_at)
        if self._table_under_way:  # it has not reached everybody by now
            self._end_table(self._table_since)
        self.tally.manager_s = self._manager.busy_s
        self.tally.referee_s = sum(host.busy_s for host in self._hosts)
        return self.tally

    def _seat_referees(self) -> None:
        machines = self._scenario.machines
        first = machines.cores - (2 if machines.cores > 1 else 0)  # the manager and the store
        cores = [first or 1, *[machines.cores] * (machines.hosts - 1)]
        # A small first host leaves the referees to the others.
        self._hosts = [Host(n) for n in (cores[1:] if machines.hosts > 1 and not first else cores)]
        names = [f"REF{n:02}" for n in range(1, machines.referees + 1)]
        self._loads = {name: Load(name, 0, machines.capacity, 0) for name in names}
        self._processes = {name: Server() for name in names}
        self._home = {name: self._hosts[n % len(self._hosts)] for n, name in enumerate(names)}
        self._policy = POLICIES[self._settings.assignment]

    # Rounds

    def _open_round(self) -> None:
        if self.tally.matches >= self._scenario.max_matches:
            return self._end()
        began = time.process_time()
        number = self._settings.pace
        pairings = self._scenario.format.pair(self._players, self._history, number)
        spent = time.process_time() - began
        self.tally.pairing_s += spent
        self._manager.serve(self._agenda.now, spent)
        if not pairings:
            return self._end()
        self._history.append([])
        self.tally.rounds += 1
        self._open = len(pairings)
        self._announce(pairings)
        return None

    def _announce(self, pairings: list[Pairing]) -> None:
        """Tell everybody about the round; a match may begin when both its players know of it."""
        place = {player: number for number, player in enumerate(self._players)}
        later: list[list[Pairing]] = [[] for _ in range(len(self._players) // CHUNK + 1)]
        for pairing in pairings:
            later[max(place[pairing.first], place[pairing.second]) // CHUNK].append(pairing)
        ready = iter(later)

        def let_begin() -> None:
            self._waiting += next(ready, [])
            self._assign_waiting()

        self._broadcast("ROUND_ANNOUNCEMENT", len(self._players), 0, on_chunk=let_begin)

    def _close_round(self) -> None:
        receivers = len(self._players) + len(self._loads)
        self._broadcast("ROUND_COMPLETED", receivers, 0)
        if self._scenario.standings == "round":
            table = self._measure_table(is_whole=True)
            self._broadcast("LEAGUE_STANDINGS_UPDATE", len(self._players), table)
        self._open_round()

    def _end(self) -> None:
        self._is_over = True
        table = self._measure_table(is_whole=self._scenario.standings in ("all", "round"))
        receivers = len(self._players) + len(self._loads)
        for size in self._chunks(receivers):
            self._send("LEAGUE_COMPLETED", size, table)

    # Notices

    def _broadcast(
        self,
        kind: str,
        receivers: int,
        table_bytes: int,
        *,
        on_chunk: Callable[[], None] = lambda: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        """Send a notice to everybody, a few at a time, so that other work goes on meanwhile."""
        sizes = self._chunks(receivers)

        def send_next() -> None:
            size = next(sizes, None)
            if size is None:
                return on_end()
            done = self._send(kind, size, table_bytes)
            self._agenda.at(done, on_chunk)
            return self._agenda.at(done, send_next)

        send_next()

    @staticmethod
    def _chunks(receivers: int) -> Iterator[int]:
        return (min(CHUNK, receivers - sent) for sent in range(0, receivers, CHUNK))

    def _send(self, kind: str, receivers: int, table_bytes: int) -> float:
        """Send a notice to some, and return when they have it."""
        costs, size = self._costs, self._costs.notice_bytes + table_bytes
        self.tally.calls[kind] += receivers
        cpu_s = receivers * (costs.manager_notice_s + costs.manager_byte_s * size)
        sent = self._manager.serve(self._agenda.now, cpu_s)
        return max(sent, self._use_line(receivers * size)) + costs.latency_s

    def _use_line(self, size: float) -> float:
        """Let bytes go in or out of the manager's host, and return when they have."""
        self.tally.manager_bytes += size
        seconds = size * BITS / (self._scenario.machines.megabits * 1e6)
        return self._line.serve(self._agenda.now, seconds)

    def _beat(self) -> None:
        """Look whether everybody still listens, and again a while after the last has been seen."""
        sizes = self._chunks(len(self._players) + len(self._loads))

        def look_at_next() -> None:
            size = next(sizes, None)
            if size is None:
                return self._agenda.at(self._agenda.now + self._settings.heartbeat, self._beat)
            seen = self._manager.serve(self._agenda.now, size * self._costs.probe_s)
            return self._agenda.at(seen, look_at_next)

        look_at_next()

    def _note_news(self) -> None:
        """Send the table soon, but not more often than the league does, nor beside another one."""
        if self._scenario.standings not in ("all", "neighbours"):
            return
        if self._oldest_news is None:
            self._oldest_news = self._agenda.now
        if not (self._table_due or self._table_under_way):
            self._table_due = True
            interval = find_table_interval(len(self._players), self._settings.table_interval)
            self._agenda.at(self._table_sent_at + interval, self._send_table)

    def _measure_table(self, *, is_whole: bool) -> int:
        """Return the bytes of a table, or of the part of it that a player has around its row."""
        rows = len(self._players)
        return self._costs.table_row_bytes * (rows if is_whole else min(rows, 2 * DISTANCE + 1))

    def _send_table(self) -> None:
        self._table_due, self._table_under_way = False, True
        self._table_sent_at = self._agenda.now
        since, self._oldest_news = self._oldest_news or self._agenda.now, None
        self._table_since = since
        size = self._measure_table(is_whole=self._scenario.standings == "all")
        on_end = partial(self._end_table, since)
        self._broadcast("LEAGUE_STANDINGS_UPDATE", len(self._players), size, on_end=on_end)

    def _end_table(self, since: float) -> None:
        self._table_under_way = False
        self.tally.table_age_s = max(self.tally.table_age_s, self._agenda.now - since)
        if self._oldest_news is not None:
            self._note_news()

    # Matches

    def _assign_waiting(self) -> None:
        """Give matches to referees, as long as one has room."""
        while self._waiting:
            load = choose(self._policy, list(self._loads.values()))
            if load is None:
                break
            self._change_load(load.referee_id, 1)
            self._order(self._waiting.popleft(), load.referee_id)

    def _change_load(self, referee_id: str, by: int) -> None:
        load = self._loads[referee_id]
        load.running += by
        load.given += max(0, by)
        self._running += by
        self.tally.most_at_once = max(self.tally.most_at_once, self._running)

    def _order(self, pairing: Pairing, referee_id: str) -> None:
        self.tally.calls["START_MATCH"] += 1
        ordered = self._manager.serve(self._agenda.now, self._costs.manager_match_s / 2)
        begin = partial(self._referee_works, referee_id, partial(self._invite, pairing, referee_id))
        self.tally.slot_s -= self._agenda.now
        self._agenda.at(ordered + self._costs.latency_s, begin)

    def _referee_works(self, referee_id: str, then: Callable[[], None], share: float = 1.0) -> None:
        seconds = share * self._costs.referee_match_s / SLICES
        host, process = self._home[referee_id], self._processes[referee_id]
        self._agenda.at(host.serve(process, self._agenda.now, seconds), then)

    def _ask_both(self, kind: str, patience: float, answer_s: float) -> list[Called]:
        asked = [
            ask_player(
                self._rng,
                self._settings.retry,
                failures=self._scenario.failures,
                patience=patience,
                answer_s=answer_s * self._vary() + self._costs.latency_s,
            )
            for _ in range(2)
        ]
        for called in asked:
            self.tally.calls[kind] += (called.calls + 1) // 2
            self.tally.calls["GAME_ERROR"] += called.calls // 2
        return asked

    def _vary(self) -> float:
        spread = self._scenario.spread
        return self._rng.uniform(1 - spread, 1 + spread) if spread else 1.0

    def _invite(self, pairing: Pairing, referee_id: str) -> None:
        asked = self._ask_both("GAME_INVITATION", self._settings.patience.join, 0.0)
        self._go_on(pairing, referee_id, asked, self._scenario.turns)

    def _move(self, pairing: Pairing, referee_id: str, turns: int) -> None:
        patience, think_s = self._settings.patience.move, self._scenario.think_s
        asked = self._ask_both("MOVE_CALL", patience, think_s)
        self._go_on(pairing, referee_id, asked, turns - 1)

    def _go_on(self, pairing: Pairing, referee_id: str, asked: list[Called], turns: int) -> None:
        """Go on when both have answered: with the next turn, or with the result."""
        done = self._agenda.now + max(called.seconds for called in asked)
        failed = [not called.answered for called in asked]
        share = 1.0
        if any(failed) or not turns:
            then: Callable[[], None] = partial(self._report, pairing, referee_id, failed)
        else:
            then = partial(self._move, pairing, referee_id, turns)
            first = turns == self._scenario.turns
            share = (
                1.0 if first else self._costs.referee_turn_s * SLICES / self._costs.referee_match_s
            )
        self._agenda.at(done, partial(self._referee_works, referee_id, then, share))

    def _report(self, pairing: Pairing, referee_id: str, failed: list[bool]) -> None:
        self.tally.calls["GAME_OVER"] += 2
        self.tally.calls["MATCH_RESULT_REPORT"] += 1
        self.tally.referee_bytes += self._costs.referee_bytes
        self.tally.store_s += self._costs.store_match_s
        judged = self._manager.serve(self._agenda.now, self._costs.manager_match_s / 2)
        arrived = max(judged, self._use_line(self._costs.match_bytes))
        kept = arrived + self._costs.commit_s + self._costs.latency_s
        self._agenda.at(kept, partial(self._end_match, pairing, referee_id, failed))

    def _end_match(self, pairing: Pairing, referee_id: str, failed: list[bool]) -> None:
        self.tally.matches += 1
        self.tally.slot_s += self._agenda.now
        self.tally.forfeits += any(failed)
        self._history[-1].append(Played(*pairing, self._find_winner(pairing, failed)))
        self._change_load(referee_id, -1)
        self._note_news()
        self._open -= 1
        if self._open:
            self._assign_waiting()
        else:
            self._close_round()

    def _find_winner(self, pairing: Pairing, failed: list[bool]) -> PlayerId | None:
        if any(failed):
            return None if all(failed) else pairing[failed.index(False)]
        if self._rng.random() < DRAWS:
            return None
        return next(islice(pairing, int(self._rng.random() * 2), None))
