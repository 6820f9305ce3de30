"""The flags that several commands have, each with its one help text.

A flag that only one command has is described in the docstring of that command.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from agent_league.running.folder import SHARED, Folder
from agent_league.tournament.formats import FORMATS
from agent_league.vocabulary import Level

if TYPE_CHECKING:
    FormatName = str
else:
    FormatName = Literal[tuple(FORMATS)]


def between(low: int, high: int | None = None, **options: Any) -> Parameter:
    """Return a flag whose value is at least *low* and at most *high*."""
    return Parameter(validator=Number(gte=low, lte=high), **options)


Switch = Annotated[bool, Parameter(negative=(), show_default=False)]
Seconds = Annotated[float, Parameter(validator=Number(gt=0))]

# Which league, and where it is kept
Shared = Annotated[Path, Parameter(help="The folder in which leagues are kept.")]
StoreAddress = Annotated[
    str | None,
    Parameter(help="A store instead of the one in that folder: a file, postgresql://..., memory."),
]


def _refuse_memory(kind: object, address: str | None) -> None:
    if address == "memory":
        raise ValueError("nothing is kept in memory")


KeptStore = Annotated[
    str | None,
    Parameter(
        validator=_refuse_memory,
        help="A store instead of the one in that folder: a file, or postgresql://...",
    ),
]
Durability = Annotated[
    Literal["power", "process"],
    Parameter(help="What an acknowledged result survives: a power cut, or the process's death."),
]
League = Annotated[
    str | None,
    Parameter(help="The league: its id, address or folder. By default the latest."),
]
Addresses = Annotated[
    str | None,
    Parameter(
        help="The league: its id, folder or address; several addresses, with commas, in turn."
    ),
]
Match = Annotated[str, Parameter(help="The match, such as R1M1.")]
Agent = Annotated[str, Parameter(help="The agent, such as P01 or REF01.")]
LeagueId = Annotated[
    str | None, Parameter(help="The id of the league; by default as in system.json.")
]
JoinedLeague = Annotated[
    str | None, Parameter(help="The id of the league to join; by default any that is there.")
]

New = Annotated[Switch, Parameter(help="Begin a new league, even if one of that id has not ended.")]
Standby = Annotated[
    Switch,
    Parameter(help="Lead only while no other manager does: those of one PostgreSQL take turns."),
]

# Who may join
JoinCode = Annotated[
    str | None,
    Parameter(help="The code that lets agents into the league."),
]
Students = Annotated[
    Path | None,
    Parameter(help="A CSV file with the columns name and code: who may join, as whom."),
]
Networks = Annotated[
    str | None,
    Parameter(help="Where agents may listen, with commas: 10.0.0.0/8,192.168.0.0/16."),
]

Issuer = Annotated[
    str | None,
    Parameter(help="An OAuth server: only whom it knows may use the league's tools over MCP."),
]

CrossCheck = Annotated[
    float | None,
    Parameter(
        validator=Number(gte=0, lte=1),
        help="The share of the forfeits that another referee plays again: 0 to 1.",
    ),
]

# How a league is played
Players = Annotated[int, between(2, 1000, help="How many players to wait for.")]
Referees = Annotated[
    int,
    between(
        1, 10, help="How many referees to start: by default those in agents_config.json, or 2."
    ),
]
Game = Annotated[
    str | None,
    Parameter(
        help="What to play, if not what the files say: even_odd, connect_four, ...; several with commas."
    ),
]
Legs = Annotated[int | None, between(1, 1000, help="How often each pair meets.")]
Format = Annotated[
    FormatName | None,
    Parameter(help="Who meets whom; swiss needs the extra swiss. By default all meet all."),
]
Rounds = Annotated[
    int | None, between(1, 1000, help="How many rounds, of a swiss or a ladder; by default 8.")
]


OverlapRounds = Annotated[
    int | None,
    between(
        0, 1000, help="How many rounds may begin before an earlier one is over; by default none."
    ),
]


Option = Annotated[
    tuple[str, ...],
    Parameter(negative=(), help="An option of the game, such as rounds=200; may come repeatedly."),
]


@Parameter(name="*")
@dataclass(frozen=True)
class Course:
    """Who meets whom, how often, when, and in what variant of the game; each field is a flag."""

    legs: Legs = None
    format: Format = None
    rounds: Rounds = None
    overlap_rounds: OverlapRounds = None
    option: Option = ()


COURSE = Course()


Seed = Annotated[
    str | None, Parameter(help="The same seed gives the same schedule, draws and choices.")
]
Protocol = Annotated[
    Literal["league.v2", "league.v1"],
    Parameter(help="The version of the protocol: league.v2, or the earlier league.v1."),
]
ClassLeague = Annotated[
    Switch,
    Parameter(help="Unique names, a minute between a round's announcement and its start, strict."),
]
Strict = Annotated[
    bool | None,
    Parameter(
        negative="--tolerant",
        help="Refuse what deviates from the protocol, and disqualify; tolerant: accept and note it.",
    ),
]

# Where agents listen
Port = Annotated[
    int | None,
    between(
        0,
        65535,
        help="The port to listen at; by default as in the files, or the first that is free.",
    ),
]
PortBase = Annotated[
    int | None,
    between(
        0,
        64000,
        help="The manager's port; our referees and players follow. 0 takes any free ports.",
    ),
]
Host = Annotated[
    str | None,
    Parameter(help="The address to listen at; 0.0.0.0 for every address of this machine."),
]
Endpoint = Annotated[
    str | None, Parameter(help="The address that others use, if it is not where the agent listens.")
]
DisplayName = Annotated[str | None, Parameter(help="The name that others see.")]
Patient = Annotated[Switch, Parameter(help="Wait for a league that is not there yet.")]
AgentFolder = Annotated[
    Path, Parameter(help="The folder for its log, and for its identity when it is started again.")
]

Header = Annotated[
    tuple[str, ...],
    Parameter(
        negative=(),
        help="A header for every request to the MCP server, as 'Authorization: Bearer ...'.",
    ),
]
Token = Annotated[
    str | None, Parameter(help="The token to send as the bearer: yours, or the organiser's.")
]

# What is shown
LogLevel = Annotated[
    Level, Parameter(help="What an agent's log contains; DEBUG adds every message.")
]
Trace = Annotated[
    Switch,
    Parameter(help="Send traceparent with every call, for agents that record traces."),
]
Display = Annotated[
    Literal["rich", "plain", "none"],
    Parameter(help="What to show during the league; by default rich on a terminal, else plain."),
]
Open = Annotated[Switch, Parameter(help="Open the pages in the browser.")]
Aliases = Annotated[
    Switch, Parameter(help="Show other names instead of those of the players, for a class.")
]
Json = Annotated[Switch, Parameter(help="Print one JSON document.")]


@Parameter(name="*")
@dataclass(frozen=True)
class Seen:
    """What others learn of a league that is run; each field is a flag."""

    log_level: LogLevel = "INFO"
    aliases: Aliases = False
    trace: Trace = False


SEEN = Seen()


@Parameter(name="*")
@dataclass(frozen=True)
class Terms(Course):
    """What a league of other people's agents is; each field is a flag."""

    game: Game = None
    seed: Seed = None
    class_league: ClassLeague = False
    strict: Strict = None
    join_code: JoinCode = None


TERMS = Terms()


@Parameter(name="*")
@dataclass(frozen=True)
class ListedTerms(Terms):
    """The same for a league that may have a list of those who may join."""

    roster: Students = None


LISTED_TERMS = ListedTerms()


@Parameter(name="*")
@dataclass(frozen=True)
class ManagedTerms(ListedTerms):
    """The same for a league with a manager of its own."""

    networks: Networks = None
    issuer: Issuer = None
    cross_check: CrossCheck = None


MANAGED_TERMS = ManagedTerms()


@Parameter(name="*")
@dataclass(frozen=True)
class Kept:
    """Where a league is kept; each field is a flag."""

    shared: Shared = SHARED
    store: StoreAddress = None
    durability: Durability = "power"

    def open_folder(self) -> Folder:
        return Folder(self.shared, self.store, self.durability)


KEPT = Kept()
