"""What can be done after a league, as commands to type."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from agent_league.cli.launch import make_flags
from agent_league.protocol import Role
from agent_league.running.folder import Folder
from agent_league.running.lineup import ConfigFiles, Lineup
from agent_league.running.specs import LeagueSpec
from agent_league.season.settings import LeagueSettings


def list_steps_after_play(spec: LeagueSpec, folder: Folder) -> Mapping[str, str]:
    look = {f"league web --open{make_flags(folder)}": "see every match, message by message"}
    return {
        make_repeat_command(spec, folder): "play exactly this league again",
        **({} if folder.is_in_memory else look),
        "league new strategy mine": "write a strategy of your own",
        "league start --players 4": "wait for agents that others wrote",
    }


def list_steps_after_class(league_id: str, folder: Folder) -> Mapping[str, str]:
    """Return what staff does with a league of other people's agents that is over."""
    if folder.is_in_memory:
        return {}
    where = f"{league_id}{make_flags(folder)}"
    return {
        f"league grade {where} > grades.csv": "the grades",
        f"league export {where} --format csv > matches.csv": "every match",
    }


def make_repeat_command(spec: LeagueSpec, folder: Folder) -> str:
    """Return the command that plays the same league: with every flag that the files do not imply."""
    flags = [f"--{name} {shlex.quote(str(value))}" for name, value in _list_flags(spec, folder)]
    store = " --store memory" if folder.is_in_memory else make_flags(folder)
    return f"league play {' '.join(flags)}{store}"


def _list_flags(spec: LeagueSpec, folder: Folder) -> Iterator[tuple[str, object]]:
    settings, files = spec.settings, ConfigFiles(folder.shared)
    yield "seed", settings.seed
    usual = _describe(files.make_settings(None, settings.seed))
    yield from (pair for pair in _describe(settings).items() if pair not in usual.items())
    yield from _list_options(settings, files)
    for role, agents in ((Role.PLAYER, spec.players), (Role.REFEREE, spec.referees)):
        if len(agents) != len(files.choose_agents(role, settings.game_type, None, None)):
            yield f"{role}s", len(agents)
    guests = (settings.awaited_players or 0) - len(spec.players)
    if guests > 0:
        yield "guests", guests
    lineup = Lineup(len(spec.players), len(spec.referees), guests=guests)
    expected = files.make_spec(files.make_settings(None, game=settings.game_type), lineup).players
    strategies = [str(player.strategy) for player in spec.players]
    if strategies != [player.strategy for player in expected]:
        yield "strategy", ",".join(_find_cycle(strategies))


def _describe(settings: LeagueSettings) -> dict[str, object]:
    """Return the flags of *settings* that any league has."""
    return {
        "game": ",".join(settings.games),
        "format": settings.format,
        "legs": settings.legs,
        "rounds": settings.rounds,
        "overlap-rounds": settings.overlap_rounds,
        "assign": settings.assignment,
        "protocol": settings.protocols[0],
    }


def _list_options(settings: LeagueSettings, files: ConfigFiles) -> Iterator[tuple[str, object]]:
    """Yield the options of the game that the files and the protocol do not imply."""
    game, protocols = settings.game_type, settings.protocols
    usual = files.make_settings(None, settings.seed, game=game, protocols=protocols).options
    for name, value in settings.options.items():
        if usual.get(name) != value:
            yield "option", f"{name}={msgspec.json.encode(value).decode()}"


def _find_cycle(names: Sequence[str]) -> Sequence[str]:
    """Return the shortest beginning of *names* that gives all of them when it is repeated."""
    for size in range(1, len(names)):
        if all(name == names[number % size] for number, name in enumerate(names)):
            return names[:size]
    return names
