"""The secrets behind the draws of a season, all from its seed, and what is published of them.

The hash of the league's secret is published when registration opens, and that of each match when
its round opens. The secret of a match is told when the match is over, the league's at the end.
"""

from msgspec.structs import replace

from agent_league.chance import commit_to, derive_secret
from agent_league.store.events import ScheduledMatch


def make_league_secret(seed: str) -> str:
    """Return the secret of a league; it does not give away its seed."""
    return derive_secret(seed, "league")


def make_match_secret(league_secret: str, match: ScheduledMatch) -> str:
    """Return the secret of *match*, by the way of the secret of its round."""
    round_secret = derive_secret(league_secret, f"round {match.round_id}")
    return derive_secret(round_secret, match.match_id, *match.nonces)


def commit_to_match(
    league_secret: str, match: ScheduledMatch, nonces: tuple[str, str]
) -> ScheduledMatch:
    """Return *match* with the *nonces* of its players and the hash of its secret."""
    if any(nonces):
        match = replace(match, nonces=list(nonces))
    return replace(match, commitment=commit_to(make_match_secret(league_secret, match)))
