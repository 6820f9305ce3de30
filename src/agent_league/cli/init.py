"""`league init`: the configuration files of a league, to be changed by hand."""

import sys
from pathlib import Path

from agent_league.sdk.config_writer import DEFAULT_LEAGUE
from agent_league.sdk.config_writer import init as write

SHARED = Path("SHARED")


def init(league_id: str = DEFAULT_LEAGUE, /, *, shared: Path = SHARED) -> None:
    """Write the configuration files of a league, and leave those alone that are there.

    Parameters
    ----------
    league_id
        What the league is called.
    shared
        The folder for configuration, data and logs.
    """
    new = write(shared, league_id)
    for path in new:
        print(path)
    where = "" if shared == SHARED else f" --shared {shared}"
    commands = {
        f"league play{where}": "play a league on this machine",
        f"league start --league-id {league_id}{where}": "wait for agents that others wrote",
    }
    width = max(map(len, commands))
    said = f"Wrote {len(new)} files" if new else "Every file is there already"
    print(f"{said} ({shared / 'config'}).", "", "Next:", sep="\n", file=sys.stderr)
    for command, why in commands.items():
        print(f"  {command:<{width}}  {why}", file=sys.stderr)
