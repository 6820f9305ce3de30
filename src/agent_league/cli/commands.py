"""The commands of `league`: what each does, where it is, and examples. Nothing is imported here."""

from collections.abc import Mapping, Sequence

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Play": {
        "play": "Play a whole league on this machine, and name the champion.",
        "resume": "Go on with a league where it stopped.",
        "leagues": "List the leagues that a folder holds.",
    },
    "Look at a league": {
        "web": "Show the leagues of a folder as pages in the browser.",
        "watch": "Follow a league on the terminal, wherever it runs.",
        "status": "Show where a league stands, and who takes part.",
        "standings": "Show the table of a league.",
        "ratings": "Show how strong the players are, and how certain that is.",
        "schedule": "Show who meets whom, and how it ended.",
        "stats": "Show one player's record.",
        "replay": "Show a match message by message.",
        "log": "Show what happened in a league, event by event.",
        "export": "Write the files of a league again, or print it as one document.",
        "report": "Write the pages of a league as files to keep, with a poster.",
        "traces": "Send the matches of a league to a program that shows traces.",
        "grade": "Print the grades of a league as CSV.",
        "verify": "Check that the result of a league holds.",
    },
    "Write an agent": {
        "new": "Write a starter: a player, a referee, a game or a strategy.",
        "lab": "Let strategies play thousands of matches against each other.",
        "compare": "Say whether one strategy is really better than another.",
        "practice": "Let your agent play against our strategies, and judge it.",
        "check": "Judge any agent from outside, rule by rule.",
        "schema": "Print the contract: JSON Schema, OpenRPC or OpenAPI.",
    },
    "Run a league for others": {
        "init": "Write the configuration files of a league.",
        "start": "Open a league that waits for other people's agents.",
        "manager": "Run a league manager alone.",
        "referee": "Run one referee.",
        "player": "Run one player.",
        "backup": "Write every league of a folder into one file.",
        "restore": "Put the leagues of a back-up into a folder or a store.",
        "simulate": "Say what a league of any size needs, without playing it.",
    },
    "Run many leagues": {
        "serve": "Run many leagues at one address.",
        "create": "Open a league on a server that runs.",
        "divisions": "Open the next season of a competition with divisions.",
    },
    "Organise a running league": {
        "begin": "Begin with the players that have registered.",
        "pause": "Let no further match begin.",
        "go-on": "Let matches begin again after a pause.",
        "open-registration": "Let players register again.",
        "close-registration": "Let no further player register.",
        "end": "End a league before everything is played.",
        "void": "Take the result of a match out of the standings.",
        "replay-match": "Void a match, and have it played again.",
        "disqualify": "Exclude a player or a referee, and tell it why.",
        "reinstate": "Let a disqualified agent take part again.",
        "announce": "Show a text to everybody who looks at the league.",
        "token": "Replace the token of an agent.",
        "by-hand": "Play a match step by step.",
        "step": "Take the next step of a match that is played by hand.",
    },
    "Connect MCP clients": {
        "mcp": "List or call the tools of every agent of a league.",
        "mcp-bridge": "Bring a league to MCP clients that have no HTTP.",
    },
    "This machine and this command": {
        "doctor": "Check whether this machine can run a league, and a model.",
        "help": "Show the help of a command.",
        "completion": "Print the completion script of a shell, or install it.",
    },
}
"""What each command does, in the groups of the help and of docs/cli.md."""
COMMANDS = {name: line for commands in GROUPS.values() for name, line in commands.items()}

_MODULES = {
    "play": ("play", "resume"),
    "archive": ("replay", "log", "export", "grade"),
    "keep": ("report",),
    "backup": ("backup", "restore"),
    "start": ("init", "start", "manager"),
    "agents": ("referee", "player"),
    "lab": ("lab", "compare"),
    "organise": (
        *("begin", "pause", "go-on", "end", "void", "replay-match"),
        *("open-registration", "close-registration"),
        *("disqualify", "reinstate", "announce", "token", "by-hand", "step"),
    ),
    "serve": ("serve", "create", "divisions"),
    "queries": ("status", "standings", "schedule", "stats"),
    "mcp": ("mcp", "mcp-bridge"),
    "app": ("help", "completion"),
}
"""The commands of each module; any other command has a module of its own."""
APPS = {"mcp": "app", "token": "token_app"}
"""The commands that have commands of their own."""
_FUNCTIONS = {**APPS, "help": "show_help"}
"""What is not called like its command."""
ALIASES = {"go-on": ("unpause",)}

ARGUMENTS: Mapping[str, str] = {
    **dict.fromkeys(
        ("resume", "status", "standings", "schedule", "log", "export", "report", "grade", "verify"),
        "[LEAGUE]",
    ),
    "watch": "[LEAGUE]",
    **dict.fromkeys(("referee", "player", "begin", "pause", "go-on", "mcp-bridge"), "[LEAGUE]"),
    **dict.fromkeys(("ratings", "traces"), "[LEAGUE]"),
    **dict.fromkeys(("end", "open-registration", "close-registration"), "[LEAGUE]"),
    "create": "LEAGUE_ID",
    "divisions": "COMPETITION",
    **dict.fromkeys(("start", "manager", "init"), "[LEAGUE_ID]"),
    **dict.fromkeys(("replay", "void", "replay-match", "by-hand", "step"), "MATCH [LEAGUE]"),
    **dict.fromkeys(("disqualify", "reinstate"), "AGENT [LEAGUE]"),
    "web": "[FOLDER]",
    **dict.fromkeys(("backup", "restore"), "FILE"),
    "simulate": "[PLAYERS]",
    "stats": "PLAYER [LEAGUE]",
    "announce": "TEXT [LEAGUE]",
    "new": "KIND NAME",
    "practice": "URL",
    "lab": "GAME",
    "compare": "FIRST SECOND",
    "check": "URL",
    "schema": "[MESSAGE]",
    "help": "[COMMAND]",
    "completion": "[SHELL]",
}
"""What comes after a command, in its order."""

EXAMPLES: Mapping[str, Sequence[str]] = {
    "play": (
        "league play --players 8 --seed 42",
        "league play --strategy my_strategy.py,random",
        "league play --players 1 --guests 1",
    ),
    "resume": ("league resume", "league resume league_2025_even_odd_2"),
    "web": ("league web", "league web --open", "league web autumn/SHARED --aliases"),
    "watch": ("league watch", "league watch http://10.0.0.5:8000"),
    "status": ("league status", "league status http://10.0.0.5:8000", "league status --json"),
    "standings": ("league standings league_2025_even_odd",),
    "ratings": ("league ratings", "league ratings --across"),
    "schedule": ("league schedule --round 2",),
    "stats": ("league stats P01",),
    "replay": ("league replay R1M1", "league replay R1M1 league_2025_even_odd"),
    "log": ("league log --follow", "league log --grep disqualified"),
    "export": ("league export --format csv > matches.csv",),
    "report": ("league report --open", "league report autumn_cup --out autumn"),
    "traces": ("league traces --to http://127.0.0.1:4318", "league traces > spans.jsonl"),
    "grade": ("league grade > grades.csv",),
    "verify": (
        "league verify",
        "league verify http://10.0.0.5:8000",
        "league verify --trust REF02",
    ),
    "new": ("league new player ada", "league new player ada --lang js"),
    "lab": (
        "league lab even_odd -n 10000 --plot points.svg",
        "league lab prisoners_dilemma --option rounds=200 -n 10",
    ),
    "compare": ("league compare minimax random --game tic_tac_toe",),
    "practice": ("league practice http://127.0.0.1:8101 --vs random,markov -n 50",),
    "check": (
        "league check http://127.0.0.1:8101",
        "league check http://127.0.0.1:8101 --league-port 8000",
    ),
    "schema": ("league schema GAME_INVITATION", "league schema --format openapi"),
    "init": ("league init autumn_cup",),
    "start": (
        "league start --players 4",
        "league start autumn_cup --class-league --host 0.0.0.0",
    ),
    "manager": ("league manager --port 8000 --players 2",),
    "referee": ("league referee --port 8001 --referee-id REF01",),
    "player": (
        "league player --port 8101 --player-id P01 --strategy markov",
        "league player http://10.0.0.5:8000 --name Ada --host 0.0.0.0",
        "league player --strategy llm --model qwen3:8b",
    ),
    "backup": ("league backup monday.db", "league backup monday.db --store postgresql://..."),
    "simulate": (
        "league simulate 100,1000,10000",
        "league simulate 10000 --format ladder --think 2 --hosts 3 --referees 8",
    ),
    "restore": ("league restore monday.db --shared elsewhere",),
    "serve": ("league serve", "league serve --host 0.0.0.0 --store postgresql://league@db/leagues"),
    "create": (
        "league create autumn_cup",
        "league create autumn_cup --players 8 --game tic_tac_toe --format swiss --rounds 5",
    ),
    "divisions": (
        "league divisions cup --sizes 10,10,12 --movers 2",
        "league divisions cup --without Ada",
    ),
    "end": ('league end autumn_cup --reason "The lesson is over"',),
    "void": ('league void R1M1 --reason "wrong opponent"',),
    "replay-match": ("league replay-match R1M1",),
    "disqualify": ('league disqualify P03 --reason "copied"',),
    "announce": ('league announce "Lunch until one"',),
    "token": ("league token rotate P02",),
    "by-hand": ("league by-hand R2M1",),
    "step": ("league step R2M1",),
    "mcp": ("league mcp ls", """league mcp call LM.get_standings"""),
    "doctor": ("league doctor", "league doctor --model qwen3:8b"),
    "help": ("league help play",),
    "completion": ("league completion --install",),
}
"""Lines to type, for the help of each command."""


def format_usage(command: str) -> str:
    """Return the first line of a command's help page."""
    return " ".join(filter(None, ("league", command, ARGUMENTS.get(command), "[OPTIONS]")))


def format_examples(command: str) -> str:
    """Return the end of a command's help page."""
    examples = EXAMPLES.get(command, ())
    return "\n".join(("Examples:", *(f"  {one}" for one in examples))) if examples else ""


def locate(command: str) -> str:
    """Return where a command is, as `module:function`."""
    places = {name: module for module, names in _MODULES.items() for name in names}
    function = _FUNCTIONS.get(command, command.replace("-", "_"))
    return f"agent_league.cli.{places.get(command, command)}:{function}"
