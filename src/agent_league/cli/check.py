"""`league check URL`: judge any agent from outside."""

import json as json_module
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console
from rich.text import Text

from agent_league.check import Finding, Mark, Order, Report, checked, document, explained
from agent_league.check import junit as junit_xml
from agent_league.check.report import FULL
from agent_league.cli.endings import Exit
from agent_league.cli.terms import Switch
from agent_league.hosting import LOOPBACK, run
from agent_league.protocol import Role

RoleName = Literal["player", "referee", "manager"]
ROLES: Mapping[str, Role] = MappingProxyType(
    {"player": Role.PLAYER, "referee": Role.REFEREE, "manager": Role.LEAGUE}
)
NAMES = {role: name for name, role in ROLES.items()}
SIGNS = {Mark.KEPT: "\u2713", Mark.BROKEN: "\u2717", Mark.UNJUDGED: "\u2013"}
PLAIN_SIGNS = {Mark.KEPT: "ok", Mark.BROKEN: "NO", Mark.UNJUDGED: "--"}
STYLES = {Mark.KEPT: "green", Mark.BROKEN: "bold red", Mark.UNJUDGED: "dim"}


def check(
    url: str,
    /,
    *,
    role: RoleName | None = None,
    games: Annotated[int, Parameter(validator=Number(gte=1, lte=10_000))] = 50,
    timeout: Annotated[float, Parameter(validator=Number(gt=0))] = 120.0,
    league_port: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] | None = None,
    host: str = LOOPBACK,
    allow_registration: Switch = False,
    players: Annotated[int, Parameter(validator=Number(gte=2, lte=100))] = 2,
    farewell: bool = True,
    json: Switch = False,
    junit: Path | None = None,
    quiet: Switch = False,
) -> int:
    """Judge a player, a referee or a manager by every rule of the protocol.

    Parameters
    ----------
    url
        Where the agent listens, such as http://127.0.0.1:8101/mcp.
    role
        What it is, if it is not to be found out.
    games
        How many games are played in a row.
    timeout
        How many seconds the whole check may take.
    league_port
        Open a league of the check's own at this port, for the agent to register at; a referee
        takes matches, and reports, only there. Start the check first, then the agent.
    host
        The address of this machine at which the check's own league and agents listen.
    allow_registration
        Send a referee and players of the check into a league that is checked. They stay in it.
    players
        How many players that is.
    farewell
        Tell a player at the end that the league is over, which may stop it.
    json
        Print one JSON document.
    junit
        Write the report to this file as well, as JUnit XML.
    quiet
        Say nothing about the progress.
    """
    order = Order(
        _address(url),
        ROLES[role] if role else None,
        games=games,
        timeout=timeout,
        farewell=farewell,
        league_port=league_port,
        host=host,
        players=players if allow_registration else 0,
    )
    screen = Progress(shown=not quiet)
    try:
        report = run(checked(order, screen.say))
    finally:
        screen.close()
    if junit is not None:
        _write(junit, report)
    if json:
        print(json_module.dumps(document(report), indent=2))
    else:
        _print(report)
    return int(Exit.OK if report.passed else Exit.NO)


def _address(url: str) -> str:
    """Return *url* with what people leave out."""
    full = url if "://" in url else f"http://{url}"
    return full if full.count("/") > 2 and not full.endswith("/") else f"{full.rstrip('/')}/mcp"  # noqa: PLR2004 - those of http://


class Progress:
    """What is being done right now: one line that is overwritten, or plain ones, on stderr."""

    def __init__(self, *, shown: bool) -> None:
        self._console = Console(stderr=True, quiet=not shown)
        self._status = self._console.status("looking who is there")
        if self._console.is_terminal:
            self._status.start()

    def say(self, doing: str) -> None:
        if self._console.is_terminal:
            self._status.update(Text(doing))
        else:
            self._console.print(Text(doing))

    def close(self) -> None:
        self._status.stop()


def _write(file: Path, report: Report) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(junit_xml(report))


def _print(report: Report) -> None:
    console = Console(highlight=False, soft_wrap=True)
    signs = SIGNS if all(_sayable(sign) == sign for sign in SIGNS.values()) else PLAIN_SIGNS
    console.print(_said(f"{report.url}  {NAMES[report.role]}\n"))
    for finding in report.findings:
        _print_finding(console, finding, signs[finding.mark])
    totals, (points, grade) = report.totals, report.compliance()
    console.print(
        _said(
            f"\n{totals[Mark.KEPT]} rules kept, {totals[Mark.BROKEN]} broken, "
            f"{totals[Mark.UNJUDGED]} not judged, in {report.seconds:.1f} s\n"
            f"Protocol compliance (000, Grading Criteria): {points}/{FULL}, {grade}"
        )
    )


def _print_finding(console: Console, finding: Finding, sign: str) -> None:
    rule, verdict = finding.rule, finding.verdict
    why = f" ({verdict.why})" if verdict.mark is Mark.UNJUDGED else ""
    line = _said(f"{rule.id:<36} {rule.title}{why}", "dim" if why else "")
    console.print(Text.assemble((f"{sign} ", STYLES[verdict.mark]), line))
    if verdict.mark is Mark.BROKEN:
        for told in explained(finding):
            console.print(_said(f"      {told}"))


def _said(text: str, style: str = "") -> Text:
    """Return *text*, which may be an agent's, as this output can show it."""
    return Text(_sayable(text), style=style)


def _sayable(text: str) -> str:
    encoding = sys.stdout.encoding or "ascii"
    return text.encode(encoding, "replace").decode(encoding)
