"""One result: from the right referee, by the rules, with the number that its secret gives."""

from collections.abc import Sequence

from agent_league.chance import commit_to
from agent_league.game import GAMES, AnyGame, Outcome, find_judge
from agent_league.protocol import Role
from agent_league.protocol.results import Termination
from agent_league.replay import ReplayError, is_same_json, list_turns, play_again
from agent_league.season.roster import Lifecycle
from agent_league.season.season import Season
from agent_league.store.events import MatchEnded, ScheduledMatch
from agent_league.verification.problems import NotHeldError, require
from agent_league.vocabulary import Json


def check_result(season: Season, ended: MatchEnded) -> ScheduledMatch:
    """Check that *ended* is the one result of a match that was to be played; return the match."""
    place = ended.match_id
    match = season.matches.get(place)
    require(match is not None, place, "it has a result, but no round had this match")
    assert match is not None  # noqa: S101 - for the type checker
    require(place not in season.results, place, "it has two results")
    is_own = (ended.round_id, ended.players) == (match.round_id, [match.first, match.second])
    require(is_own, place, "its result names another round, or other players")
    try:
        result = ended.result
    except ValueError as error:
        raise NotHeldError(place, f"its result contradicts itself: {error}") from error
    status = f"its status should be {result.status}, not {ended.status}"
    require(ended.status == result.status, place, status)
    _check_referee(season, ended)
    return match


def _check_referee(season: Season, ended: MatchEnded) -> None:
    """Check that the referee had the match, or that it needed none."""
    place = ended.match_id
    if ended.referee_id == Role.LEAGUE:
        out = [p for p in ended.players if season.roster[p].state is Lifecycle.DISQUALIFIED]
        walkover = ended.termination == Termination.DISQUALIFIED and ended.technical_losses == out
        require(walkover and out, place, "it had no referee, and nobody was disqualified")
        return
    assigned = season.assignments.get(place)
    given_to = assigned.referee_id if assigned else "nobody"
    reported = f"{ended.referee_id} reported it, but it was given to {given_to}"
    require(ended.referee_id == given_to, place, reported)


def is_played(ended: MatchEnded) -> bool:
    """Whether a match was played to its end, so that its rules can be checked."""
    return not ended.technical_losses and ended.termination == Termination.COMPLETED


def check_draws(season: Season, match: ScheduledMatch, ended: MatchEnded) -> None:
    """Play *match* again: its winner and its numbers must follow from its moves and its secret."""
    place, details = ended.match_id, ended.details
    secret = details.get("draw_secret")
    require(isinstance(secret, str), place, f"{ended.referee_id} told no secret of its draws")
    kept = commit_to(str(secret)) == match.commitment
    require(kept, place, "its secret is not the one that was promised before the match")
    game_type = match.game_type or season.settings.game_type
    own, usual = details.get("options"), season.settings.options_of(game_type)
    game, options = GAMES[game_type], own if isinstance(own, dict) else usual
    try:
        turns = list_turns(details, ended.players)
        outcome, record = play_again(game, options, str(secret), turns)
    except ReplayError as error:
        raise NotHeldError(place, str(error)) from error
    for name in record.keys() & details.keys():
        told, value = details[name], record[name]
        what = f"{ended.referee_id} reported {name} {told!r:.40}, its secret gives {value!r:.40}"
        require(is_same_json(told, value), place, what)
    _check_winner(ended, outcome)


def check_rules(season: Season, ended: MatchEnded) -> None:
    """Check the winner by the number that the referee drew, where nobody promised another one."""
    game: AnyGame = GAMES[season.find_game(ended.match_id)]
    judge, choices = find_judge(game), ended.details.get("choices")
    if judge is not None and isinstance(choices, dict):
        outcome = judge([choices.get(player) for player in ended.players], ended.details)
        if outcome is not None:
            _check_winner(ended, outcome)


def _check_winner(ended: MatchEnded, outcome: Outcome) -> None:
    winner = None if outcome.winner is None else ended.players[outcome.winner]
    what = f"by the rules {winner or 'nobody'} won, not {ended.winner or 'nobody'}"
    require(ended.winner == winner, ended.match_id, what)


def check_transcript(match: ScheduledMatch, ended: MatchEnded, entries: Sequence[Json]) -> None:
    """Check that each player said what is reported, after the promise and not before."""
    place, choices = ended.match_id, ended.details.get("choices")
    said: dict[str, list[Json]] = {player: [] for player in ended.players}
    for entry in entries:
        message = entry.get("message") if isinstance(entry, dict) else None
        if not isinstance(message, dict):
            continue
        promised = message.get("commitment")
        # A round that an older version has opened binds nobody, but its match may be played by now.
        kept = match.commitment is None or promised in (None, match.commitment)
        require(kept, place, "a player was promised another secret than that of the match")
        player = str(entry.get("from")).removeprefix(f"{Role.PLAYER}:")
        if player in said and ("parity_choice" in message or "move" in message):
            said[player].append(message.get("parity_choice", message.get("move")))
    for player, moves in said.items():
        told = choices.get(player) if isinstance(choices, dict) else None
        what = f"{player} is said to have chosen {told!r:.40}, which it did not say"
        require(not moves or told is None or told in moves, place, what)
