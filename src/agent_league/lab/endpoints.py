"""Meetings with an agent at an address: by messages, as in practice; everything else is as in the lab."""

from agent_league.lab.series import DRAW, LOSS, WIN, Meeting, play_meeting
from agent_league.practice.course import PracticePlan, PracticeReport, run_practice
from agent_league.running.errors import UsageError
from agent_league.running.event_loop import run

_MIRRORED = bytes.maketrans(bytes([LOSS, DRAW, WIN]), bytes([WIN, DRAW, LOSS]))


def is_address(name: str) -> bool:
    return name.startswith(("http://", "https://"))


def play_anywhere(meeting: Meeting) -> bytes:
    """Return how the matches ended for the first, who may be at an address, as may the second."""
    first, second = map(is_address, (meeting.first, meeting.second))
    if first and second:
        raise UsageError(
            "two addresses cannot meet here", "let both meet the same strategies: --against random"
        )
    if first:
        return _practise(meeting, meeting.first, meeting.second)
    if second:
        return _practise(meeting, meeting.second, meeting.first).translate(_MIRRORED)
    return play_meeting(meeting).endings


def _practise(meeting: Meeting, address: str, opponent: str) -> bytes:
    plan = PracticePlan(
        address, [opponent], meeting.matches, meeting.game_type, f"{meeting.seed}|{meeting.begin}"
    )
    return _read_endings(run(run_practice(plan)))


def _read_endings(report: PracticeReport) -> bytes:
    agent = report.agent_id
    if all(agent in ended.technical_losses for ended in report.results):
        why = report.results[0].details.get("reason", "") if report.results else ""
        raise UsageError(
            f"{report.plan.agent} played no match to its end: {why}",
            f"league practice {report.plan.agent} shows what is wrong",
        )
    words = {agent: WIN, None: DRAW}
    return bytes(
        LOSS if agent in ended.technical_losses else words.get(ended.winner, LOSS)
        for ended in report.results
    )
