"""The matches of a lab as a Parquet file, for data frames. It needs the extra `parquet`."""

from collections.abc import Sequence
from pathlib import Path

from agent_league.extras import import_extra
from agent_league.lab.series import DRAW, LOSS, WIN, Met

WORDS = {LOSS: "loss", DRAW: "draw", WIN: "win"}


def write_parquet(path: Path, results: Sequence[Met]) -> None:
    """Write one row for each match: the pair, its number, and how it ended for the first."""
    arrow = import_extra("pyarrow", "parquet")
    parquet = import_extra("pyarrow.parquet", "parquet")
    columns: dict[str, list[object]] = {
        name: [] for name in ("game", "first", "second", "match", "ending")
    }
    for met in results:
        count, meeting = len(met.endings), met.meeting
        columns["game"] += [meeting.game_type] * count
        columns["first"] += [meeting.first] * count
        columns["second"] += [meeting.second] * count
        columns["match"] += range(1, count + 1)
        columns["ending"] += [WORDS[one] for one in met.endings]
    parquet.write_table(arrow.table(columns), path)
