"""How far the clocks of agents are from ours, by the times in their messages."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from statistics import median

from agent_league.protocol.fields import parse_time
from agent_league.store.events import MatchAssigned, MatchEnded
from agent_league.web.exchanges import Exchange
from agent_league.web.records import Entry

WHOLE_SECOND = timedelta(seconds=0.5)
"""What a time without a fraction is short of the truth, on average."""
OUT_OF_STEP_S = 1.0
"""From here on a clock is wrong: times in messages often have whole seconds."""


def compare_clocks(matches: Sequence[Sequence[Exchange]]) -> Mapping[str, float]:
    """Return by how many seconds the clock of each player is ahead of those of its referees."""
    offsets: defaultdict[str, list[float]] = defaultdict(list)
    for one in (one for exchanges in matches for one in exchanges):
        written = _read_timestamp(one.content) if one.took_ms is not None else None
        if written is not None and one.took_ms is not None:
            halfway = _parse(one.at) - timedelta(milliseconds=one.took_ms / 2)
            offsets[one.sender].append((written - halfway).total_seconds())
    return {who: median(found) for who, found in offsets.items()}


def compare_referees(
    transcripts: Mapping[str, Sequence[Entry]],
    assigned: Mapping[str, MatchAssigned],
    ended: Mapping[str, MatchEnded],
) -> Mapping[str, float]:
    """Return by how many seconds the clock of each referee is ahead of the league's.

    A match lies between its order and its result; if it does not on the referee's clock, or not in
    the middle, that clock is wrong.
    """
    offsets: defaultdict[str, list[float]] = defaultdict(list)
    for match_id, lines in transcripts.items():
        if not (lines and match_id in assigned and match_id in ended):
            continue
        order, result = parse_time(assigned[match_id].at), parse_time(ended[match_id].at)
        began, over = _parse(lines[0]["at"]), _parse(lines[-1]["at"])
        offset = ((began - order) + (over - result)) / 2
        offsets[f"referee:{ended[match_id].referee_id}"].append(offset.total_seconds())
    return {who: median(found) for who, found in offsets.items()}


def _read_timestamp(content: object) -> datetime | None:
    """Return when a message says that it was written."""
    text = content.get("timestamp") if isinstance(content, dict) else None
    if not isinstance(text, str):
        return None
    try:
        return parse_time(text) + (WHOLE_SECOND if "." not in text else timedelta())
    except ValueError:
        return None


def _parse(at: str) -> datetime:
    try:
        return parse_time(at)
    except ValueError:
        return datetime.fromtimestamp(0).astimezone()
