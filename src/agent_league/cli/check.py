"""`league check URL`: judge any agent from outside."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from rich.text import Text

from agent_league.check import (
    CheckOptions,
    Finding,
    Mark,
    Report,
    build_document,
    build_junit,
    explain,
    run_check,
)
from agent_league.check.report import EXPLAINED, FULL_POINTS
from agent_league.cli import league_options as flags
from agent_league.cli.console import ProgressDisplay, choose_symbols, print_json, show
from agent_league.cli.exit_codes import Exit
from agent_league.protocol import Role
from agent_league.running.event_loop import run
from agent_league.running.serve import LOOPBACK

RoleName = Literal["player", "referee", "manager"]
ROLES: Mapping[RoleName, Role] = {
    "player": Role.PLAYER,
    "referee": Role.REFEREE,
    "manager": Role.LEAGUE,
}
ROLE_NAMES = {role: name for name, role in ROLES.items()}
SYMBOLS = {
    Mark.KEPT: "\u2713",
    Mark.BROKEN: "\u2717",
    Mark.ADVICE: "!",
    Mark.UNJUDGED: "\u2013",
}
PLAIN_SYMBOLS = {Mark.KEPT: "ok", Mark.BROKEN: "NO", Mark.ADVICE: "!", Mark.UNJUDGED: "--"}
STYLES = {
    Mark.KEPT: "green",
    Mark.BROKEN: "bold red",
    Mark.ADVICE: "yellow",
    Mark.UNJUDGED: "dim",
}


def check(
    url: str,
    /,
    *,
    role: RoleName | None = None,
    games: Annotated[int, flags.between(1, 10_000)] = 50,
    timeout: flags.Seconds = 180.0,
    league_port: Annotated[int, flags.between(0, 65535)] | None = None,
    host: str = LOOPBACK,
    allow_registration: flags.Switch = False,
    players: Annotated[int, flags.between(2, 100)] = 2,
    farewell: bool = True,
    json: flags.Json = False,
    junit: Path | None = None,
    quiet: flags.Switch = False,
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
    junit
        Write the report to this file as well, as JUnit XML.
    quiet
        Say nothing about the progress.
    """
    options = CheckOptions(
        _complete_url(url),
        ROLES[role] if role else None,
        games=games,
        timeout=timeout,
        farewell=farewell,
        league_port=league_port,
        host=host,
        players=players if allow_registration else 0,
    )
    screen = ProgressDisplay("looking who is there", shown=not quiet)
    try:
        report = run(run_check(options, screen.show))
    finally:
        screen.close()
    if junit is not None:
        junit.parent.mkdir(parents=True, exist_ok=True)
        junit.write_bytes(build_junit(report))
    if json:
        print_json(build_document(report))
    else:
        _print(report)
    return int(Exit.OK if report.passed else Exit.NO)


def _complete_url(url: str) -> str:
    """Return *url* with what people leave out."""
    full_url = url if "://" in url else f"http://{url}"
    has_path = "/" in full_url.partition("://")[2] and not full_url.endswith("/")
    return full_url if has_path else f"{full_url.rstrip('/')}/mcp"


def _print(report: Report) -> None:
    totals, (points, grade) = report.totals, report.compliance()
    score = "" if points is None else f"{points}/{FULL_POINTS}, "
    show(
        Text(f"{report.url}  {ROLE_NAMES[report.role]}\n"),
        *_describe_all(report, Mark.KEPT, Mark.BROKEN, Mark.UNJUDGED),
        *([Text("\nAdvice: no document demands this")] if totals[Mark.ADVICE] else []),
        *_describe_all(report, Mark.ADVICE),
        Text(
            f"\n{totals[Mark.KEPT]} rules kept, {totals[Mark.BROKEN]} broken, "
            f"{totals[Mark.UNJUDGED]} not judged, in {report.seconds:.1f} s\n"
            f"Protocol compliance (000, Grading Criteria): {score}{grade}"
        ),
        soft_wrap=True,
    )


def _describe_all(report: Report, *marks: Mark) -> Iterator[Text]:
    for finding in report.findings:
        if finding.mark in marks:
            yield from _describe(finding)


def _describe(finding: Finding) -> Iterator[Text]:
    rule, mark = finding.rule, finding.mark
    why = f" ({finding.why})" if mark is Mark.UNJUDGED else ""
    line = (f"{rule.id:<36} {rule.requirement.demand}{why}", "dim" if why else "")
    yield Text.assemble((f"{choose_symbols(SYMBOLS, PLAIN_SYMBOLS)[mark]} ", STYLES[mark]), line)
    if mark in EXPLAINED:
        yield from (Text(f"      {explanation}") for explanation in explain(finding))
