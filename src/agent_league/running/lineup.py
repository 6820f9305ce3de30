"""From configuration files and flags to the spec of a league."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, count, cycle, islice, repeat
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, UnsetType

from agent_league.chance import new_seed
from agent_league.files import ConfigLoader, LeagueConfig, patience, retry, settings
from agent_league.files.config_models import PlayerEntry, RefereeEntry
from agent_league.files.layout import Layout
from agent_league.game import GAMES, OptionsError
from agent_league.player import load_brain
from agent_league.protocol import Role
from agent_league.protocol.fields import VERSION
from agent_league.protocol.versions import DEFAULT_OPTIONS, PROTOCOLS
from agent_league.running.errors import UsageError
from agent_league.running.serve import LOOPBACK
from agent_league.running.specs import ID_PREFIXES, AgentSpec, LeagueLink, LeagueSpec, assign_ports
from agent_league.season.settings import CLASS_LEAD, LeagueSettings
from agent_league.strategy import STRATEGIES, suits
from agent_league.tournament.formats import FORMATS
from agent_league.vocabulary import Json

LOCAL_HOSTS = {"localhost", LOOPBACK, "::1"}
_LETTERS = """Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi
Rho Sigma Tau Upsilon Phi Chi Psi Omega"""
GREEK = tuple(_LETTERS.split())
_MIXTURE = "frequency always_even markov random pattern alternating mirror"
DEFAULT_STRATEGIES = tuple(_MIXTURE.split())
PARITY_GAME = "even_odd"
DEFAULT_COUNTS: Mapping[Role, int] = {Role.REFEREE: 2, Role.PLAYER: 4}
"""How many take part if neither a flag nor a file says it."""
MIN_COUNTS: Mapping[Role, int] = {Role.REFEREE: 1, Role.PLAYER: 2}


@dataclass(frozen=True)
class Lineup:
    """Who is to play, as far as flags say it."""

    players: int | None = None
    referees: int | None = None
    strategy: str | None = None
    port_base: int | None = None
    guests: int = 0


class ConfigFiles:
    """What the configuration files of a folder say."""

    def __init__(self, shared: Path, *, lenient: bool = False) -> None:
        """If *lenient*, a file that is not ours counts as missing."""
        self.shared, loader = shared, ConfigLoader(shared, lenient=lenient)
        self.system, self.agents = loader.load_system(), loader.load_agents()
        self.games = loader.load_games_registry()
        self.referee, self.player = loader.load_referee_defaults(), loader.load_player_defaults()
        host = self.system.network.base_host
        self.host = LOOPBACK if host == "localhost" else host
        self.manager_port = self.system.network.default_league_manager_port

    @property
    def league_url(self) -> str:
        """The address of the league manager."""
        configured = self.agents.league_manager.endpoint
        url_host = f"[{self.host}]" if ":" in self.host else self.host
        derived = f"http://{url_host}:{self.manager_port}/mcp"
        return derived if isinstance(configured, UnsetType) else configured

    def make_link(self, urls: Sequence[str], **options: Any) -> LeagueLink:
        """Return how an agent reaches the league, at the first of *urls* that answers."""
        known: dict[str, Any] = {"patience": patience(self.system), "retry": retry(self.system)}
        return LeagueLink(urls[0], other_urls=urls[1:], **known, **options)

    def make_settings(
        self,
        league_id: str | None = None,
        seed: str | None = None,
        *,
        class_league: bool = False,
        strict: bool | None = None,
        game: str | None = None,
        option: Sequence[str] = (),
        **flags: Any,
    ) -> LeagueSettings:
        """Return the settings of a league: flags win over files, files win over defaults.

        A flag that is None was not given. Without a seed the league gets a random one.
        """
        overrides = {name: value for name, value in flags.items() if value is not None}
        if class_league:
            overrides |= {"unique_names": True, "strictness": "strict"}
        if strict is not None:
            overrides["strictness"] = "strict" if strict else "tolerant"
        wanted = league_id or self.system.default_league_id
        if Layout(self.shared).league(wanted).exists():
            league = ConfigLoader(self.shared).load_league(wanted)
        else:
            league = LeagueConfig(league_id=wanted)
        if league.protocols is UNSET:
            protocols = (VERSION,) if class_league else PROTOCOLS
            league = msgspec.structs.replace(league, protocols=protocols)
        if league.announcement_lead_sec is UNSET and class_league:
            league = msgspec.structs.replace(league, announcement_lead_sec=CLASS_LEAD)
        chosen_seed = seed or new_seed()
        base = settings(self.system, league, seed=chosen_seed, games=self.games)
        first, *others = split_games(game) or [base.game_type]
        if first != base.game_type:
            name = league_id or _name_after_game(wanted, base.game_type, first)
            base = replace(base, game_type=first, options={}, league_id=name)
        base = replace(base, other_games=tuple(others))
        found = _admit(replace(base, **overrides), overrides.get("awaited_players", 0))
        _check_format(found)
        default_options = DEFAULT_OPTIONS.get((found.protocols[0], found.game_type), {})
        known = {**default_options, **found.options}
        return replace(found, options=read_options(found.game_type, option, known))

    def list_local_agents(self, role: Role, game_type: str) -> list[AgentSpec]:
        """Return the agents that a league of that game starts on this machine."""
        local_hosts = {*LOCAL_HOSTS, self.host}
        return [
            _read_entry(entry)
            for entry in self._list_entries(role)
            if entry.active and game_type in entry.game_types
            if urlsplit(entry.url).hostname in local_hosts
        ]

    def find_agent(self, role: Role, agent_id: str) -> AgentSpec:
        """Return an agent that is started alone; a port of 0 means the range of its role."""
        known = {entry.agent_id: entry for entry in self._list_entries(role)}
        entry = known.get(agent_id)
        return _read_entry(entry) if entry else self._make_default(role, agent_id)

    def list_ports(self, spec: AgentSpec) -> Sequence[int]:
        """Return the ports at which an agent may listen, the best first."""
        first, last = self._port_range(spec.role)
        return [spec.port] if spec.port else range(first, last + 1)

    def choose_agents(
        self, role: Role, game_type: str, wanted: int | None, base: int | None
    ) -> list[AgentSpec]:
        """Return the agents of a league: those that the files name, and as many more as it takes."""
        named = self.list_local_agents(role, game_type)
        usual = max(len(named), MIN_COUNTS[role]) if named else DEFAULT_COUNTS[role]
        used_ids = {agent.agent_id for agent in named}
        free_ids = (
            agent_id for n in count(1) if (agent_id := f"{ID_PREFIXES[role]}{n:02}") not in used_ids
        )
        # An agent that is added plays the game of the league.
        added = (
            replace(self._make_default(role, agent_id), game_types=()) for agent_id in free_ids
        )
        agents = list(islice(chain(named, added), usual if wanted is None else wanted))
        if base is not None:
            return assign_ports(agents, base)
        return _assign_range(agents, self._port_range(role))

    def make_spec(self, base: LeagueSettings, lineup: Lineup) -> LeagueSpec:
        """Return a league with the terms of *base*, and the agents that flags and files ask for."""
        game, port_base = base.game_type, lineup.port_base
        players = self.choose_agents(Role.PLAYER, game, lineup.players, port_base)
        referees = self.choose_agents(Role.REFEREE, game, lineup.referees, port_base)
        players = _deal_strategies(lineup.strategy, players, game)
        awaited, least = len(players) + lineup.guests, MIN_COUNTS[Role.PLAYER]
        if awaited < least:
            hint = "league play --players 1 --guests 1"
            raise UsageError(f"a league needs {least} players, this has {awaited}", hint)
        terms = replace(base, awaited_players=awaited, awaited_referees=len(referees))
        port = self.manager_port if port_base is None else port_base
        return LeagueSpec(_admit(terms, awaited), referees, players, port, self.host)

    def _list_entries(self, role: Role) -> Sequence[RefereeEntry | PlayerEntry]:
        return self.agents.referees if role is Role.REFEREE else self.agents.players

    def _port_range(self, role: Role) -> tuple[int, int]:
        network = self.system.network
        return (
            network.default_referee_port_range
            if role is Role.REFEREE
            else network.default_player_port_range
        )

    def _make_default(self, role: Role, agent_id: str) -> AgentSpec:
        """Return an agent that no file names; a player gets its name later."""
        if role is Role.PLAYER:
            version, games = self.player.version, self.player.game_types or list_games()
            strategy = self.player.strategy or None
            return AgentSpec(role, agent_id, 0, "", version, games, strategy=strategy)
        defaults = self.referee
        name, capacity = f"{defaults.display_name} {agent_id}", defaults.max_concurrent_matches
        games = defaults.game_types or list_games()
        return AgentSpec(role, agent_id, 0, name, defaults.version, games, capacity)


def _name_after_game(league_id: str, usual: str, game: str) -> str:
    """Return the id of a league that plays *game* and not what leagues of that name *usual*ly do."""
    suffix = re.sub(r"\W+", "_", game).strip("_")
    return league_id.replace(usual, suffix) if usual in league_id else f"{league_id}_{suffix}"


def _admit(terms: LeagueSettings, players: int) -> LeagueSettings:
    """Return *terms* with room for *players*."""
    return replace(terms, max_players=max(terms.max_players, players))


def _read_entry(entry: RefereeEntry | PlayerEntry) -> AgentSpec:
    port = urlsplit(entry.url).port or 0
    about = (entry.agent_id, port, entry.display_name, entry.version, entry.game_types)
    if isinstance(entry, PlayerEntry):
        return AgentSpec(Role.PLAYER, *about, strategy=entry.strategy or None)
    return AgentSpec(Role.REFEREE, *about, entry.max_concurrent_matches)


def _assign_range(agents: Sequence[AgentSpec], ports: tuple[int, int]) -> list[AgentSpec]:
    """Return *agents*, those without a port in the range; beyond its end any port will do."""
    used_ports = {agent.port for agent in agents}
    free = (port for port in range(ports[0], ports[1] + 1) if port not in used_ports)
    candidates = chain(free, repeat(0))
    return [agent if agent.port else replace(agent, port=next(candidates)) for agent in agents]


def _deal_strategies(
    strategy: str | None, players: Sequence[AgentSpec], game: str
) -> list[AgentSpec]:
    """Return *players* with a strategy and a name each; *strategy* wins over the files."""
    usual = list_usual_strategies(game)
    names = [name.strip() for name in strategy.split(",")] if strategy else usual
    if strategy and len(names) > len(players):
        hint = f"league play --players {len(names)} --strategy {strategy}"
        raise UsageError(f"{len(names)} strategies for {len(players)} players", hint)
    own = [None if strategy else player.strategy for player in players]
    assigned = [chosen or name for chosen, name in zip(own, cycle(names), strict=False)]
    for name in dict.fromkeys(assigned):
        load_brain(name)  # an unknown strategy is an error before anything starts
    # A file is remembered by its whole path: the league may be resumed from another folder.
    paths = [str(Path(name).resolve()) if name.endswith(".py") else name for name in assigned]
    return [
        replace(player, strategy=path, display_name=player.display_name or _make_name(number, path))
        for number, (player, path) in enumerate(zip(players, paths, strict=True))
    ]


def list_usual_strategies(game: str) -> list[str]:
    """Return the strategies that a league of *game* mixes: those made for it come first."""
    if game == PARITY_GAME:
        return list(DEFAULT_STRATEGIES)
    known = {name: STRATEGIES[name] for name in STRATEGIES}
    made = [name for name, one in known.items() if getattr(one, "games", None) and suits(one, game)]
    return [*made, *(name for name in DEFAULT_STRATEGIES if suits(known[name], game))]


def _make_name(number: int, strategy: str) -> str:
    """Return a Greek letter and the strategy as the name of a player."""
    lap, index = divmod(number, len(GREEK))
    letter = f"{GREEK[index]} {lap + 1}" if lap else GREEK[index]
    return f"{letter} ({strategy.rsplit('/', 1)[-1].removesuffix('.py')[:30]})"


@cache
def list_games() -> tuple[str, ...]:
    """Return every game that is known here; the first is meant where a message names none."""
    return tuple(sorted(GAMES, key=lambda game: (game != PARITY_GAME, game)))


def split_games(names: str | None) -> list[str]:
    """Return the games that *names* has, with commas between them; raise `UsageError` for another."""
    outside_brackets = r",(?![^(]*\))"
    return [check_game(one.strip()) for one in re.split(outside_brackets, names)] if names else []


def _check_format(found: LeagueSettings) -> None:
    if found.other_games and FORMATS[found.format].has_byes:
        raise UsageError(
            f"a league in the format {found.format} has one game, not {len(found.games)}",
            "--format round_robin, or one game",
        )


def read_options(
    game: str, given: Sequence[str], known: Mapping[str, Json] = MappingProxyType({})
) -> Mapping[str, Json]:
    """Return the options of a game: those *given* as name=value win over those *known*.

    Raises `UsageError` if the game does not take them.
    """
    try:
        pairs = [one.partition("=") for one in given]
        options = {**known, **{name: _read_value(value) for name, _, value in pairs}}
        if given:
            GAMES[game].start(options, Random(0))
    except OptionsError as error:
        raise UsageError(
            f"--option: {error}", "an option is given as --option NAME=VALUE"
        ) from None
    return options


def _read_value(text: str) -> Json:
    """Return a value as JSON has it; what is no JSON is a text."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def check_game(game: str) -> str:
    """Return *game*, or raise `UsageError` if it cannot be played."""
    if game not in GAMES:
        raise UsageError(f"there is no game {game!r}", f"one of {', '.join(GAMES)}")
    try:
        GAMES[game]
    except (KeyError, OptionsError) as error:
        raise UsageError(f"the game {game!r} cannot be played: {error.args[0]}") from error
    except ImportError as error:
        raise UsageError(f"the game {game!r} cannot be loaded: {error}") from error
    return game
