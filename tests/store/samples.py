"""One event of every kind, which add up to a little league of four players."""

import json
from collections.abc import Sequence

from agent_league.protocol.results import Termination
from agent_league.store.events import (
    AgentDisqualified,
    AgentRecovered,
    AgentRegistered,
    AgentReinstated,
    AgentSuspended,
    AnnouncementMade,
    EndOrdered,
    Event,
    FarewellSaid,
    LeagueContinued,
    LeaguePaused,
    ManualPlayChosen,
    MatchAdded,
    MatchAssigned,
    MatchEnded,
    MatchVoided,
    OrganiserAppointed,
    RegistrationSet,
    ReportContested,
    ReportHeld,
    RoundClosed,
    RoundOpened,
    ScheduledMatch,
    SeasonEnded,
    SeasonOpened,
    SeasonStarted,
    TokenExtended,
    TokenIssued,
    TokenReplaced,
    ViolationNoted,
)
from agent_league.store.log import StoredEvent
from agent_league.vocabulary import Json, PlayerId

OPENED_AT = "2025-01-15T10:00:00Z"
LEAGUE = "cup"
SETTINGS = '{"league_id": "cup", "legs": 1}'
PLAYERS = ["P01", "P02", "P03", "P04"]
TRANSCRIPT: Sequence[Json] = ({"from": "R01", "said": "GAME_INVITATION"}, {"from": "P01", "n": 1})
"""What was said in every match."""


def _at(second: int) -> str:
    return f"2025-01-15T10:00:{second:02}Z"


def recovered(number: int) -> Event:
    """Return one of any number of events that differ."""
    return AgentRecovered(at=OPENED_AT, agent_id=f"P{number}")


def _registered(agent_id: str, role: str, second: int) -> Event:
    return AgentRegistered(
        at=_at(second),
        role=role,
        agent_id=agent_id,
        display_name=f"Zoë “{agent_id}” \0 \N{GAME DIE}" if role == "player" else agent_id,
        version="1.0.0",
        endpoint=f"http://127.0.0.1:81{second:02}/mcp",
        game_types=["even_odd"],
        token_hash="0" * 64,
        expires="2025-01-16T10:00:00Z",
    )


def _round(round_id: int, pairs: Sequence[tuple[str, str]], second: int) -> list[Event]:
    matches = [
        ScheduledMatch(match_id=f"R{round_id}M{n}", round_id=round_id, first=first, second=other)
        for n, (first, other) in enumerate(pairs, 1)
    ]
    played = [event for match in matches for event in _match(match, second)]
    opened = RoundOpened(at=_at(second), round_id=round_id, matches=matches)
    return [opened, *played, RoundClosed(at=_at(second + 2), round_id=round_id)]


def _match(match: ScheduledMatch, second: int) -> list[Event]:
    assigned = MatchAssigned(
        at=_at(second), match_id=match.match_id, referee_id="R01", ticket_hash="1" * 64
    )
    ended = MatchEnded(
        at=_at(second + 1),
        match_id=match.match_id,
        round_id=match.round_id,
        referee_id="R01",
        players=[match.first, match.second],
        winner=match.first if match.round_id > 1 else None,
        status="WIN" if match.round_id > 1 else "DRAW",
        termination="completed",
        technical_losses=[match.second] if match.round_id == 3 else [],
        details={"drawn": 2**70, "half": 0.5, "nested": [None, True, {"a": "\0"}]},
    )
    return [assigned, ended]


SEASON: Sequence[Event] = (
    SeasonOpened(at=OPENED_AT, league_id=LEAGUE, game_type="even_odd", seed="s", legs=1),
    _registered("R01", "referee", 1),
    *(_registered(player, "player", second) for second, player in enumerate(PLAYERS, 2)),
    TokenIssued(
        at=_at(7), agent_id="P04", token_hash="2" * 64, expires="2025-01-16T10:00:07Z", proven=True
    ),
    AgentSuspended(at=_at(8), agent_id="P04", why="did not answer"),
    AgentRecovered(at=_at(9), agent_id="P04"),
    SeasonStarted(at=_at(10), players=PLAYERS),
    *_round(1, [("P01", "P02"), ("P03", "P04")], 11),
    OrganiserAppointed(at=_at(14), token_hash="3" * 64),
    LeaguePaused(at=_at(15)),
    MatchVoided(
        at=_at(16),
        match_id="R1M2",
        round_id=1,
        players=["P03", "P04"],
        winner=None,
        technical_losses=[],
        why="the referee's clock was wrong",
    ),
    LeagueContinued(at=_at(17)),
    ReportContested(
        at=_at(18),
        match_id="R1M1",
        referee_id="R01",
        why="reported again, with another result",
        winner="P02",
        details={"drawn": 7},
    ),
    *_round(2, [("P01", "P03"), ("P02", "P04")], 21),
    *_round(3, [("P01", "P04"), ("P02", "P03")], 31),
    SeasonEnded(at=_at(40), champion="P01"),
    FarewellSaid(at=_at(41)),
    ViolationNoted(at=_at(42), agent_id="P04", rule="choice-field", got="choice", match_id=None),
    ManualPlayChosen(at=_at(43), match_id="R1M1"),
    TokenExtended(at=_at(43), agent_id="P01", token_hash="0" * 64, expires="2025-01-17T10:00:00Z"),
    AgentDisqualified(at=_at(43), agent_id="P04", ground="schema", why="choice-field: choice"),
    RegistrationSet(at=_at(43), closed=True),
    AgentReinstated(at=_at(44), agent_id="P04"),
    TokenReplaced(at=_at(45), agent_id="P04", token_hash="4" * 64, expires="2025-01-17T10:00:00Z"),
    MatchAdded(at=_at(46), match_id="R1M3", round_id=1, first="P03", second="P04", replaces="R1M2"),
    AnnouncementMade(at=_at(47), text="Lunch until one"),
    EndOrdered(at=_at(48), why="The lesson is over"),
    ReportHeld(
        at=_at(49),
        match_id="R1M3",
        referee_id="R01",
        forfeits={PlayerId("P04"): Termination.TIMEOUT},
    ),
)


def get_transcript(event: Event) -> str:
    return json.dumps(TRANSCRIPT) if isinstance(event, MatchEnded) else ""


STORED: Sequence[StoredEvent] = tuple(
    StoredEvent(seq, event) for seq, event in enumerate(SEASON, 1)
)
"""The season, as a store gives it back."""
