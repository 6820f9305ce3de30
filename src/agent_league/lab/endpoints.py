"""Meetings with agents at addresses: by messages, as in practice; everything else is as in the lab."""

from agent_league.lab.series import DRAW, LOSS, WIN, Meeting, play_meeting
from agent_league.practice.course import PracticePlan, PracticeReport, is_address, run_practice
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run
from agent_league.store.events import MatchEnded

_MIRRORED = bytes.maketrans(bytes([LOSS, DRAW, WIN]), bytes([WIN, DRAW, LOSS]))


def play_anywhere(meeting: Meeting) -> bytes:
    """Return how the matches ended for the first, who may be at an address, as may the second."""
    if is_address(meeting.first):
        return _practise(meeting, meeting.first, meeting.second)
    if is_address(meeting.second):
        return _practise(meeting, meeting.second, meeting.first).translate(_MIRRORED)
    return play_meeting(meeting).endings


def _practise(meeting: Meeting, address: str, opponent: str) -> bytes:
    plan = PracticePlan(
        address,
        [opponent],
        meeting.matches,
        meeting.game_type,
        f"{meeting.seed}|{meeting.begin}",
        meeting.options,
    )
    return _read_endings(run(run_practice(plan)))


def _read_endings(report: PracticeReport) -> bytes:
    agent, names = report.agent_id, (report.plan.agent, *report.plan.opponents)
    for player, name in zip((agent, *report.opponent_ids), names, strict=True):
        if all(player in ended.technical_losses for ended in report.results):
            why = report.results[0].details.get("reason", "") if report.results else ""
            raise UsageError(
                f"{name} played no match to its end: {why}",
                f"league practice {name} shows what is wrong",
            )
    return bytes(_judge(ended, agent) for ended in report.results)


def _judge(ended: MatchEnded, agent: str) -> int:
    if ended.winner is None:  # who forfeits loses, even if the other forfeits too
        return LOSS if agent in ended.technical_losses else DRAW
    return WIN if ended.winner == agent else LOSS
