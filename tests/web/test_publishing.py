"""What everybody may know of an event; no secret is told, and no move before its match is over."""

import msgspec

from agent_league.season.season import Season
from agent_league.season.settings import LeagueSettings
from agent_league.store.codec import KINDS
from agent_league.store.events import ViolationNoted
from agent_league.web.league_view import LeagueView
from agent_league.web.records import RememberedRecords
from store.samples import STORED

PUBLIC = set(
    """agent_id at batched capacity champion closed commitment compact details dialect display_name endpoint first
    forfeits game_type game_types got ground guest league_id legs match_id matches model nonces
    players pooled referee_id replaces role round_id rule second secret standings status technical_losses termination
    text version why winner event""".split()  # noqa: SIM905 - words read better than quoted ones
)
"""The fields that may be seen: a new one is put here, or hidden, by whoever adds it."""


def make_view() -> LeagueView:
    season = Season(LeagueSettings(seed="7"))
    return LeagueView(season, RememberedRecords(season))


def test_every_field_of_an_event_is_public_on_purpose() -> None:
    view = make_view()
    told = {key for stored in STORED for key in view.publish(stored.event)}
    assert told - PUBLIC == set()
    fields = {one.name for kind in KINDS.values() for one in msgspec.structs.fields(kind)}
    hidden = {"token_hash", "ticket_hash", "seed", "expires", "proven", "nonce"}
    assert fields - PUBLIC == hidden


def test_what_a_player_sent_is_told_only_when_its_match_is_over() -> None:
    view = make_view()
    noted = {"at": "2025-01-15T10:30:00.000Z", "agent_id": "P01", "rule": "choice-field"}
    early = ViolationNoted(**noted, got="parity=even", match_id="R1M1")
    assert "got" not in view.publish(early)
    outside = ViolationNoted(**noted, got="tok", match_id=None)
    assert view.publish(outside)["got"] == "tok"
