"""What a guest is told: pure looks at its turns and at the season."""

from datetime import datetime
from typing import Literal

import msgspec

from agent_league.clock import written
from agent_league.guests.forms import (
    FinalRow,
    LeagueOver,
    NoTurnYet,
    PastMatch,
    Untrusted,
    YourTurn,
)
from agent_league.guests.guest import Guest
from agent_league.guests.mailbox import MoveCall, OpenTurn
from agent_league.league.season import Season
from agent_league.player import Played
from agent_league.vocabulary import Json

SHOWN_MATCHES = 10
NOT_SHOWN = {"auth_token", "deadline"}
"""What a referee's call holds that is not for the guest: its deadline is another."""


def your_turn(guest: Guest, open_turn: OpenTurn, season: Season, now: datetime) -> YourTurn:
    turn = open_turn.turn
    deadline = open_turn.deadline or now
    opponent = season.roster.get(turn.opponent or "")
    past = [one for one in guest.history.values() if one.opponent == turn.opponent]
    return YourTurn(
        turn_id=open_turn.turn_id,
        deadline=written(deadline),
        seconds_left=round((deadline - now).total_seconds(), 1),
        legal_moves=list(turn.legal),
        request=_shown(open_turn.call),
        past_matches=[_past(one) for one in past[-SHOWN_MATCHES:]],
        untrusted=Untrusted(opponent_display_name=opponent.display_name if opponent else None),
    )


def no_turn_yet(guest: Guest, season: Season) -> NoTurnYet:
    latest = next(reversed(guest.history.values()), None)
    return NoTurnYet(
        stage=season.stage,
        matches_played=len(guest.history),
        last_match=_past(latest) if latest else None,
    )


def league_over(guest: Guest, season: Season) -> LeagueOver:
    table = [
        FinalRow(
            rank=row.rank,
            player_id=row.player_id,
            points=row.points,
            untrusted_display_name=row.display_name,
        )
        for row in season.standings()
    ]
    ranks = {row.player_id: row.rank for row in table}
    return LeagueOver(your_rank=ranks.get(guest.name), table=table)


def _shown(call: MoveCall) -> dict[str, Json]:
    fields: dict[str, Json] = msgspec.to_builtins(call)
    return {key: value for key, value in fields.items() if key not in NOT_SHOWN}


def _past(played: Played) -> PastMatch:
    results: dict[bool | None, Literal["WON", "DRAWN", "LOST"]]
    results = {True: "WON", None: "DRAWN", False: "LOST"}
    return PastMatch(
        match_id=played.match_id,
        opponent_id=played.opponent,
        your_move=played.mine,
        their_move=played.theirs,
        result=results[played.won],
    )
