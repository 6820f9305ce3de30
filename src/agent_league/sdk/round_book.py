"""The rounds of a season as `rounds.json` tells them: a fold of its own, kept by match."""

from msgspec.structs import replace

from agent_league.protocol.rounds import RoundSummary
from agent_league.sdk.records import RoundMatch, RoundRecord
from agent_league.store.events import RoundClosed, RoundOpened, ScheduledMatch
from agent_league.vocabulary import Json

SCHEDULED = "SCHEDULED"


class RoundBook:
    """Every round that has begun; to change a match costs the same however many there are."""

    def __init__(self, game_type: str) -> None:
        self._game_type = game_type
        self._opened: dict[int, RoundOpened] = {}
        self._closed: dict[int, RoundClosed] = {}
        self._matches: dict[str, RoundMatch] = {}

    def opened(self, event: RoundOpened) -> None:
        self._opened[event.round_id] = event
        self._matches.update({m.match_id: _scheduled(m, self._game_type) for m in event.matches})

    def changed(self, match_id: str, **changes: Json) -> None:
        self._matches[match_id] = replace(self._matches[match_id], **changes)

    def closed(self, event: RoundClosed) -> None:
        self._closed[event.round_id] = event

    def records(self) -> list[RoundRecord]:
        return [self._record(event) for event in self._opened.values()]

    def _record(self, event: RoundOpened) -> RoundRecord:
        closed = self._closed.get(event.round_id)
        matches = [self._matches[match.match_id] for match in event.matches]
        ended = [match.status for match in matches if match.status != SCHEDULED]
        return RoundRecord(
            round_id=event.round_id,
            status="COMPLETED" if closed else "RUNNING",
            started_at=event.at,
            completed_at=closed.at if closed else None,
            matches=matches,
            matches_completed=len(ended),
            summary=RoundSummary(
                total_matches=len(matches),
                wins=ended.count("WIN"),
                draws=ended.count("DRAW"),
                technical_losses=ended.count("TECHNICAL_LOSS"),
            ),
        )


def _scheduled(match: ScheduledMatch, game_type: str) -> RoundMatch:
    return RoundMatch(
        match_id=match.match_id,
        game_type=game_type,
        player_A_id=match.first,
        player_B_id=match.second,
        referee_endpoint="unassigned",
        referee_id=None,
        status=SCHEDULED,
        winner=None,
    )
