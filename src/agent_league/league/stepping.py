"""Matches that the organiser plays step by step: the referee waits for each step."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from agent_league.league.context import Context
from agent_league.league.dispatcher import Dispatcher
from agent_league.league.orders import Assignment
from agent_league.protocol import Acknowledgement, ErrorCode, ProtocolError, jsonrpc
from agent_league.protocol.failures import NoAnswerError
from agent_league.protocol.message import Result
from agent_league.season.endings import parse_match_id
from agent_league.season.season import Stage
from agent_league.store.events import ManualPlayChosen, MatchAssigned
from agent_league.vocabulary import Json

FIRST_STATE = "COLLECTING_CHOICES"
STEPS: Mapping[str, str] = {
    FIRST_STATE: "collect_choices",
    "DRAWING_NUMBER": "draw_number",
    "FINISHED": "finalize_match",
}
"""The tool of the referee that takes a match on from each state."""


class Stepping:
    """Chooses matches to be played by hand, shows their orders, and takes their steps."""

    def __init__(self, context: Context, dispatcher: Dispatcher) -> None:
        self._context, self._season = context, context.season
        self._dispatcher = dispatcher
        self._states: dict[str, str] = {}
        """The state of each match after its last step, by ticket."""
        self._assigned = asyncio.Event()
        context.events.when_kept(MatchAssigned, lambda event: self._assigned.set())

    async def choose(self, match_id: str) -> Result:
        """Have a match wait for its steps, from its next order on."""
        if match_id in self._season.by_hand:
            return Acknowledgement(match_id=match_id, note=f"{match_id} is played by hand already")
        if self._season.stage is not Stage.PLAYING:
            raise _refuse("there is no schedule: pause the league, start it, then choose a match")
        place = parse_match_id(match_id) or (0, 0)
        scheduled = self._season.pairings(place[0]) if place[0] else []
        if place[0] > self._season.total_rounds or place[1] > len(scheduled):
            detail = f"match_id: there is no match {match_id[:40]!r}"
            raise ProtocolError(ErrorCode.MATCH_ID_MISMATCH, detail)
        if self._dispatcher.find_assignment(match_id) or self._season.find_result(match_id):
            raise _refuse(f"{match_id} has begun; pause the league before its round begins")
        event = ManualPlayChosen(at=self._context.now(), match_id=match_id)
        await self._context.events.append(event)
        return Acknowledgement(match_id=match_id)

    async def show_order(self, match_id: str) -> Result:
        """Return the order of a match that is played by hand, and where its referee listens."""
        assignment = await self._require_assignment(match_id)
        order = msgspec.to_builtins(self._dispatcher.write_order(assignment))
        return {"referee_endpoint": self._find_endpoint(assignment), "order": order}

    async def step(self, match_id: str) -> Result:
        """Take a match one step on, and return its state, or its result after the last step."""
        assignment = await self._require_assignment(match_id)
        state = self._states.get(assignment.ticket, FIRST_STATE)
        frame = await self._call(STEPS[state], assignment)
        context = _read_error(frame).get("context") or {}
        actual = str(context.get("state"))
        if actual in STEPS and actual != state:  # a player forfeited, or somebody took a step
            state = actual
            frame = await self._call(STEPS[state], assignment)
        if error := _read_error(frame):
            raise _refuse(f"{assignment.referee_id} refuses {STEPS[state]}: {error.get('detail')}")
        answer: dict[str, Json] = frame["result"]
        self._states[assignment.ticket] = str(answer.get("state", state))
        return {"step": STEPS[state], **answer}

    async def _require_assignment(self, match_id: str) -> Assignment:
        """Return who has a match that is played by hand; wait a moment until somebody has it."""
        if match_id not in self._season.by_hand:
            detail = f"match_id: {match_id[:40]!r} is not played by hand; play_by_hand chooses it"
            raise ProtocolError(ErrorCode.MATCH_ID_MISMATCH, detail)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._season.settings.patience.join):
                while self._is_awaited(match_id):
                    self._assigned.clear()
                    await self._assigned.wait()
        assignment = self._dispatcher.find_assignment(match_id)
        if assignment is None:
            raise _refuse(f"{match_id} is over, or no referee has it yet; is the league paused?")
        return assignment

    def _is_awaited(self, match_id: str) -> bool:
        is_due = not self._season.paused and self._season.find_result(match_id) is None
        return is_due and self._dispatcher.find_assignment(match_id) is None

    def _find_endpoint(self, assignment: Assignment) -> str:
        return self._season.roster[assignment.referee_id].endpoint

    async def _call(self, tool: str, assignment: Assignment) -> dict[str, Any]:
        """Return the frame with which the referee answers the call of a *tool*."""
        arguments = {"match_id": assignment.match.match_id, "ticket": assignment.ticket}
        body = jsonrpc.encode_call(tool, msgspec.json.encode(arguments), 1)
        url, patience = self._find_endpoint(assignment), self._season.settings.lease(guests=False)
        try:
            answer = await self._context.peers.wire.post(url, body, patience)
            return msgspec.json.decode(answer.body, type=dict[str, Any])
        except (NoAnswerError, msgspec.DecodeError) as error:
            detail = f"{assignment.referee_id} gave no answer to {tool}: {error}"
            raise ProtocolError(ErrorCode.CONNECTION_ERROR, detail) from error


def _read_error(frame: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return why the referee refused; empty if it did not."""
    error = frame.get("error")
    if not isinstance(error, dict):
        return {} if isinstance(frame.get("result"), dict) else {"detail": "no result came"}
    data = error.get("data")
    return data if isinstance(data, dict) else {"detail": error.get("message")}


def _refuse(detail: str) -> ProtocolError:
    return ProtocolError(ErrorCode.NOT_ALLOWED, detail)
