"""What the check does with a referee, as its league and its two players. It judges nothing."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count

from agent_league.check.exchange import Exchange
from agent_league.check.judging import find_refusal, is_order_taken
from agent_league.check.messages import GAME, TICKET, CheckMessages, make_match_id
from agent_league.check.observations import Bout, Progress, RefereeObservations, ReplyForm
from agent_league.check.sessions.client import ProbeClient
from agent_league.check.sessions.fake_peers import (
    Behaviour,
    CheckLeague,
    FakePeer,
    Seat,
    make_seats,
)
from agent_league.dialects.v2.order_forms import (
    ORDER_FORMS,
    Get,
    OrderForm,
    find_order_path,
    locate_order,
)
from agent_league.protocol import ErrorCode, Role, tokens
from agent_league.running.serve import LOOPBACK
from agent_league.vocabulary import Json

MAX_CONCURRENT = 5
PROGRESS_EVERY = 10
PLAYER_PORTS = (8101, 8102)
"""Where the documents put the players P01 and P02: some referees know no other places."""
HOLD_SECONDS = 2.0
"""How long a player of the check waits for the other to be asked as well."""
SERIES_FROM, TRIALS_FROM, CONCURRENT_FROM = 100, 60, 20
_NOT_REGISTERED = "not registered"
OTHER_LEAGUE_CODES = frozenset(
    {ErrorCode.AUTH_TOKEN_MISSING, ErrorCode.AUTH_TOKEN_INVALID, ErrorCode.REFEREE_NOT_REGISTERED}
)
SPECIAL_MATCHES: dict[str, tuple[Behaviour, Behaviour]] = {
    "win": (Behaviour(("even",)), Behaviour(("odd",))),
    "draw": (Behaviour(("odd",)), Behaviour(("odd",))),
    "wrong case": (Behaviour(("even",)), Behaviour(("Odd", "odd"))),
    "declined": (Behaviour(("even",)), Behaviour(accept=False)),
    "twice": (Behaviour(("odd",)), Behaviour(("even",))),
    "silent": (Behaviour(("even",)), Behaviour(silent=True)),
}


@dataclass
class RefereeSession:
    """A conversation with one referee, kept in *observations*."""

    client: ProbeClient
    messages: CheckMessages
    progress: Progress
    host: str
    """Where the players of the check listen."""
    check_league: CheckLeague | None
    get: Get
    """Looks at a page of the referee."""
    observations: RefereeObservations = field(default_factory=RefereeObservations)
    _seats: tuple[Seat, Seat] = field(init=False)
    _order_form: OrderForm | None = None
    """The form in which it takes orders, if not as START_MATCH."""
    _reports: bool = True
    """Whether it reported the last match: the next report is worth waiting for."""
    _is_unregistered: bool = False
    """Whether it refuses matches as long as it is in no league."""
    _is_foreign: bool = False
    """Whether it listens to another league only."""
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    async def run(self) -> None:
        self._seats = make_seats(self.messages, min(HOLD_SECONDS, self.client.patience.move / 2))
        async with AsyncExitStack() as stack:
            for seat, port in zip(self._seats, PLAYER_PORTS, strict=True):
                await seat.open_at(stack, self.host, port)
                if f":{port}/" not in seat.url:
                    self.observations.seats_are_documented = False
            try:
                await self._run_all()
            finally:
                self._collect()

    async def _run_all(self) -> None:
        self.progress("one match")
        first = await self._run_special("win")
        self.observations.calls = [first.order]
        self._collect()
        if _is_stalled(first):
            first = await self._run_generously(first)
        is_run = self._check_first_match(first)
        if is_run:
            for name in list(SPECIAL_MATCHES)[1:]:
                self.progress(f"a match: {name}")
                await self._run_special(name)
            await self._run_concurrently()
        if self._is_foreign or first.order.problem():
            return
        self.progress("bad input")
        await self._send_bad_input()
        if is_run:
            await self._run_series()
            self.observations.stop_reason = "the check did not ask for it"

    async def _run_generously(self, stalled: Bout) -> Bout:
        """Play the first match again, with replies that say more, then in more places than one."""
        bout = stalled
        for number, form in enumerate(_list_reply_forms(stalled), len(SPECIAL_MATCHES)):
            for seat in self._seats:
                seat.says_more = True
                seat.send_to_caller = self.client.send if form is ReplyForm.ELSEWHERE else None
            bout = await self._run_special("win", make_match_id(number))
            self._collect()
            if not _is_stalled(bout):
                self.observations.deaf_bout, self.observations.reply_form = stalled, form
                break
        return bout

    def _check_first_match(self, bout: Bout) -> bool:
        """Whether the referee ran the first match; if not, keep why nothing follows."""
        self._collect()
        if bout.order.is_refusal and bout.order.error_code() in OTHER_LEAGUE_CODES:
            self._is_foreign, self.observations.calls = True, []
            self.observations.bouts.clear()
            self.observations.stop_reason = (
                "it takes matches only from the league it registered with: --league-port"
            )
        elif self._is_unregistered:
            self.observations.stop_reason = "it takes no match before it registers: --league-port"
        elif find_refusal(bout.order) and bout.find_messages("GAME_INVITATION"):
            said = bout.order.refusal_text() or bout.order.problem()
            self.observations.stop_reason = f"it began the first match, and answered: {said}"[:160]
        elif find_refusal(bout.order):
            self.observations.stop_reason = "it did not take the first match"
        elif not bout.find_messages("GAME_INVITATION"):
            self.observations.stop_reason = "it invited nobody to the first match"
        elif not bout.has_ended:
            self.observations.stop_reason = "the first match did not end"
        else:
            return True
        return False

    async def _run_special(self, name: str, match_id: str | None = None) -> Bout:
        match_id = match_id or make_match_id(list(SPECIAL_MATCHES).index(name))
        behaviours, gate = SPECIAL_MATCHES[name], asyncio.Event()
        for seat, behaviour in zip(self._seats, behaviours, strict=True):
            seat.behaviours[match_id] = behaviour
            if name == "twice":
                seat.gates[match_id] = gate
        order = await self._give(match_id)
        bout = Bout(match_id, order, (behaviours[0].choices[-1], behaviours[1].choices[-1]))
        self.observations.bouts[name] = bout
        if name == "twice" and order.answer is not None:
            await self.client.send(order.sent, order.time_limit, order.url)
            gate.set()
        await self._wait_for_end(bout, tries=3 if name == "silent" else 1)
        return bout

    async def _give(self, match_id: str, game_type: str = GAME) -> Exchange:
        """Order a match, in the first form that the referee takes."""
        for peer in self._peers:
            peer.running = match_id
        order = self._make_order(match_id, game_type)
        known = self._order_form
        taken = await self._send_order(known, order) if known is not None else None
        if taken is not None:
            return taken
        first = await self.client.ask(order, is_order_taken)
        is_other_league = first.error_code() in OTHER_LEAGUE_CODES
        if not first.is_refusal or is_other_league or game_type != GAME:
            return first
        return await self._find_order_form(first, order) or first

    async def _find_order_form(self, refused: Exchange, order: Json) -> Exchange | None:
        """Return the answer to *order* in the first other form that the referee takes."""
        for form in ORDER_FORMS:
            exchange = await self._send_order(form, order)
            if exchange is None or exchange.serves_nothing:
                continue
            if _NOT_REGISTERED in exchange.refusal_text().lower():
                self._is_unregistered = True
            if is_order_taken(exchange) or self._has_begun(str(order.get("match_id"))):
                self._order_form = form
                self.observations.order_detour = (refused, exchange)
                return exchange
        return None

    def _has_begun(self, match_id: str) -> bool:
        """Whether a player was invited, whatever the referee answered."""
        return any(seat.find_about(match_id) for seat in self._seats)

    async def _send_order(self, form: OrderForm, order: Json) -> Exchange | None:
        """Send *order* as third-party referees want it; None if there is no such form for it."""
        order = {**order, "referee_endpoint": self._find_address()}
        body = form.write(order, next(self._numbers))
        if form.path is None:
            return await self.client.send(body)
        url, within = self.client.url, self.client.patience.generic
        path = form.path or await find_order_path(url, self.get, within)
        if path is None:
            return None
        return await self.client.send(body, within, locate_order(url, path, order))

    def _find_address(self) -> str:
        """Return the address of the referee as it writes it itself, as far as that is known."""
        registration = self.observations.registration
        meta = registration.request_message.get("referee_meta") if registration else None
        own = meta.get("contact_endpoint") if isinstance(meta, dict) else None
        return str(own or self.client.url.replace(LOOPBACK, "localhost"))

    @property
    def _peers(self) -> list[FakePeer]:
        return [*self._seats, *([self.check_league] if self.check_league else [])]

    def _make_order(self, match_id: str, game_type: str = GAME) -> Json:
        players = [seat.contestant() for seat in self._seats]
        proof = TICKET
        if self.check_league is not None:  # only the league that accepted the referee can sign
            key = tokens.hash_token(self.check_league.tokens[Role.REFEREE])
            proof = tokens.sign_ticket(key, match_id, TICKET)
        return self.messages.order(match_id, players, proof, game_type)

    async def _wait_for_end(self, bout: Bout, tries: int = 1) -> None:
        """Wait until both players got the result and the league its report, or time is up."""
        if find_refusal(bout.order) and not bout.order.is_late:
            return
        try:
            await self._wait_for_results(bout, tries)
        except asyncio.CancelledError:
            self.observations.forget(bout)
            raise

    async def _wait_for_results(self, bout: Bout, tries: int) -> None:
        patience = self.client.patience
        within = patience.generic + tries * (patience.join + HOLD_SECONDS) - bout.order.seconds
        if bout is self.observations.bouts["win"] and not await self._goes_on(bout, within):
            return
        waits = [seat.wait_for(bout.match_id, within, "GAME_OVER") for seat in self._seats]
        received = await asyncio.gather(*waits)
        league = self.check_league if self.observations.registration else None
        if all(received) and league and self._reports:
            report = await league.wait_for(bout.match_id, patience.report, "MATCH_RESULT_REPORT")
            self._reports = report is not None

    async def _goes_on(self, bout: Bout, within: float) -> bool:
        """Whether a player is asked to choose soon after both were invited."""
        waits = [seat.wait_for(bout.match_id, within, "GAME_INVITATION") for seat in self._seats]
        if not all(await asyncio.gather(*waits)):
            return False
        soon = self.client.patience.join + HOLD_SECONDS
        kinds = ("CHOOSE_PARITY_CALL", "GAME_OVER")
        return await self._seats[0].wait_for(bout.match_id, soon, *kinds) is not None

    def _collect(self) -> None:
        """Copy what the fake peers received into the matches."""
        first, second = self._seats
        for bout in self.observations.matches:
            match_id = bout.match_id
            bout.inboxes = (first.find_about(match_id), second.find_about(match_id))
            bout.join_times = [
                seat.join_times[match_id] for seat in self._seats if match_id in seat.join_times
            ]
            bout.asked_together = all(s.saw_opponent_asked.get(match_id) for s in self._seats)
            if self.check_league is not None:
                bout.reports = self.check_league.find_about(match_id)

    async def _send_bad_input(self) -> None:
        orders = (self._make_order(make_match_id(TRIALS_FROM + number)) for number in range(2))
        message, valid = orders
        async for name, trial in self.client.run_trials(message, "match_id", valid):
            self.observations.trials[name] = trial
        if find_refusal(self.observations.bouts["win"].order) is None:
            match_id = make_match_id(TRIALS_FROM + 3)
            self.observations.unknown_game = await self._give(match_id, "quidditch")

    async def _run_concurrently(self) -> None:
        """Give it as many matches at once as it says it can run, up to a few."""
        match_count = min(MAX_CONCURRENT, read_capacity(self.observations.registration))
        if match_count <= 1:
            return
        self.progress(f"{match_count} matches at once")
        numbers = range(CONCURRENT_FROM, CONCURRENT_FROM + match_count)
        bouts = [self._start_bout(make_match_id(number)) for number in numbers]
        self.observations.concurrent = await asyncio.gather(*bouts)
        for peer in self._peers:
            peer.running = ""
        await asyncio.gather(*(self._wait_for_end(bout) for bout in self.observations.concurrent))

    async def _start_bout(self, match_id: str) -> Bout:
        order = await self._give(match_id)
        return Bout(match_id, order, ("odd", "odd"))

    async def _run_series(self) -> None:
        match_count = self.observations.game_count
        if not self.observations.bouts["win"].asked_together:
            for seat in self._seats:  # the other is asked later anyway: do not wait for that
                seat.hold = 0.0
        for number in range(match_count):
            if number % PROGRESS_EVERY == 0:
                self.progress(f"match {number + 1} of {match_count} in a row")
            bout = await self._start_bout(make_match_id(SERIES_FROM + number))
            self.observations.series.append(bout)
            await self._wait_for_end(bout)
            self._collect()
            if not bout.has_ended:
                return


def _is_stalled(bout: Bout) -> bool:
    """Whether the referee invited both players, and then asked nobody."""
    is_asked = bool(bout.find_messages("CHOOSE_PARITY_CALL"))
    return bout.reached_both("GAME_INVITATION") and not is_asked


def _list_reply_forms(bout: Bout) -> list[ReplyForm]:
    """Return the other replies that the referee of *bout* may understand.

    One that writes as the protocol does reads the words of the protocol.
    """
    invitations = [got.message for got in bout.find_messages("GAME_INVITATION")]
    has_own_words = any("message_type" not in message for message in invitations)
    return [*([ReplyForm.REWORDED] if has_own_words else []), ReplyForm.ELSEWHERE]


def read_capacity(registration: Exchange | None) -> int:
    """Return how many matches at once a referee says it can run; 1 if it does not say."""
    meta = registration.request_message.get("referee_meta") if registration else None
    declared = meta.get("max_concurrent_matches") if isinstance(meta, dict) else None
    return declared if type(declared) is int else 1
