"""The answers to guests: to programs, and to people whose client asks for each move with a form."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Literal

import msgspec

from agent_league.clock import format_deadline
from agent_league.guests import forms
from agent_league.guests.guest import Guest
from agent_league.guests.mailbox import OpenTurn
from agent_league.offer import InputNeededError
from agent_league.player import FinishedMatch
from agent_league.protocol import ProtocolError, Role
from agent_league.season.season import Season, Stage
from agent_league.vocabulary import Json

MAX_PAST_MATCHES = 10
MAX_AWAITED = 5
HIDDEN_FIELDS = {"auth_token", "deadline"}
"""The fields of a referee's call that a guest does not get; its own deadline is another one."""


def your_turn(guest: Guest, open_turn: OpenTurn, season: Season, now: datetime) -> forms.YourTurn:
    turn = open_turn.turn
    deadline = open_turn.deadline or now
    opponent = season.roster.get(turn.opponent or "")
    past = [one for one in guest.history.values() if one.opponent == turn.opponent]
    request: dict[str, Json] = msgspec.to_builtins(open_turn.call)
    return forms.YourTurn(
        turn_id=open_turn.turn_id,
        deadline=format_deadline(deadline),
        seconds_left=round((deadline - now).total_seconds(), 1),
        legal_moves=list(turn.legal),
        request={key: value for key, value in request.items() if key not in HIDDEN_FIELDS},
        last_match=_find_last_match(guest),
        past_matches=[_past_match(one) for one in past[-MAX_PAST_MATCHES:]],
        untrusted=forms.Untrusted(
            opponent_display_name=opponent.display_name if opponent else None
        ),
    )


def no_turn_yet(guest: Guest, season: Season) -> forms.NoTurnYet:
    return forms.NoTurnYet(
        stage=season.stage,
        waiting_for=describe_awaited(season, guest.name),
        matches_played=len(guest.history),
        last_match=_find_last_match(guest),
    )


def describe_awaited(season: Season, player_id: str) -> str:
    """Say whom the player waits for, in a sentence without any name that a player chose."""
    if season.stage is Stage.REGISTRATION:
        return _describe_missing(season)
    if season.paused:
        return "the organiser, who has paused the league"
    matches = season.pairings(season.round_id) if season.round_id else ()
    awaited = [match for match in matches if match.match_id not in season.results]
    own = [match for match in awaited if player_id in (match.first, match.second)]
    texts = [f"{match.match_id} ({match.first}, {match.second})" for match in own or awaited]
    more = f" and {len(texts) - MAX_AWAITED} more" if len(texts) > MAX_AWAITED else ""
    return f"the end of {', '.join(texts[:MAX_AWAITED])}{more}" if texts else "the next round"


def _describe_missing(season: Season) -> str:
    settings, roster = season.settings, season.roster
    if settings.awaited_players is None:
        return "the organiser, who starts the league"
    players = settings.awaited_players - len(roster.of(Role.PLAYER))
    referees = settings.awaited_referees - len(roster.of(Role.REFEREE))
    missing = {"player": players, "referee": referees}
    texts = [f"{n} more {who}{'s' * (n > 1)}" for who, n in missing.items() if n > 0]
    return f"{' and '.join(texts)} to join" if texts else "everybody who has joined to answer"


def _find_last_match(guest: Guest) -> forms.PastMatch | None:
    latest = next(reversed(guest.history.values()), None)
    return _past_match(latest) if latest else None


def league_over(guest: Guest, season: Season) -> forms.LeagueOver:
    table = [
        forms.FinalRow(
            rank=row.rank,
            player_id=row.player_id,
            points=row.points,
            untrusted_display_name=row.display_name,
        )
        for row in season.standings()
    ]
    ranks = {row.player_id: row.rank for row in table}
    return forms.LeagueOver(your_rank=ranks.get(guest.name), table=table)


def _past_match(played: FinishedMatch) -> forms.PastMatch:
    results: dict[bool | None, Literal["WON", "DRAWN", "LOST"]]
    results = {True: "WON", None: "DRAWN", False: "LOST"}
    return forms.PastMatch(
        match_id=played.match_id,
        opponent_id=played.opponent,
        your_move=played.mine,
        their_move=played.theirs,
        result=results[played.won],
    )


def make_form(turn: forms.YourTurn) -> InputNeededError:
    """Return the form (MCP elicitation) for a turn; it shows no text that another player wrote."""
    match_id, game = turn.request["match_id"], turn.request["game_type"]
    view = turn.request.get("view")
    view_text = "" if view is None else f" You see: {_to_text(view)}."
    message = f"Your move in {match_id} ({game}), within {turn.seconds_left:.0f} s.{view_text}"
    texts = [move if isinstance(move, str) else _to_text(move) for move in turn.legal_moves]
    moves = {"type": "string", "title": "Move", "enum": texts}
    schema = {"type": "object", "properties": {"move": moves}, "required": ["move"]}
    return InputNeededError(turn.turn_id, message, schema)


def play_answers(guest: Guest, answers: Mapping[str, Json]) -> bool:
    """Play the moves that the person chose; False if the person declined.

    Answers for a turn that is over, and illegal moves, are ignored: the person is asked again.
    """
    for turn_id, answer in answers.items():
        if not guest.mailbox.is_open(turn_id):
            continue
        if answer.get("action") != "accept":
            return False
        with suppress(ProtocolError):
            guest.mailbox.play(turn_id, (answer.get("content") or {}).get("move"))
    return True


def _to_text(value: Json) -> str:
    return msgspec.json.encode(value).decode()
