"""What a league manager has to do; `league check` looks for it."""

from collections.abc import Mapping
from typing import get_args

from agent_league.protocol.queries import PublicQuery
from agent_league.protocol.requirements.requirement import Requirement, define

TOKEN_MISSING = define("""manager.token.missing | 003 9.1.3
    a query without auth_token is answered with E011
    fix: Answer a message without a token with AUTH_TOKEN_MISSING (E011) in error.data.""")
TOKEN_FALSE = define("""manager.token.false | 003 9.1.3
    a query with a false auth_token is answered with E012
    fix: Answer a token that you did not issue with AUTH_TOKEN_INVALID (E012) in error.data.""")

QUERY_KNOWN = define("""manager.query.known | 003 8.1
    a league knows LEAGUE_QUERY
    fix: Serve the method league_query: read LEAGUE_QUERY from params, and answer with
         LEAGUE_QUERY_RESPONSE.""")

REGISTRATION_FIELDS = define("""manager.register.missing-field | 003 10.5
    a registration without contact_endpoint is refused (E003)
    fix: Check every required field of player_meta; refuse with E003 MISSING_REQUIRED_FIELD.""")
REGISTRATION_GAME = define("""manager.register.unknown-game | 003 3.4.3
    a player that cannot play the game of the league is refused
    fix: Answer "status": "REJECTED", "player_id": null and the reason "Unsupported game type".""")
REGISTRATION_VERSION = define("""manager.register.old-version | 002 2.10.2
    a player whose protocol is older than 2.0.0 is refused
    fix: Compare player_meta.protocol_version; reject what is below 2.0.0 (E018).""")
OWN_ID = define("""manager.register.id | 003 3.4.2
    every agent gets an id of its own: REF01, P01, P02
    fix: Send "referee_id" as REF and two digits, "player_id" as P and two digits, each once.""")
OWN_TOKEN = define("""manager.register.token | 002 2.4.5
    every agent gets an auth_token of its own
    fix: Send a new "auth_token" with each ACCEPTED registration.""")

QUERIES: Mapping[str, Requirement] = {
    query_type: define(f"""manager.query.{query_type.lower().replace("_", "-")} | 003 8.2.2
            a registered player gets an answer to {query_type}
            fix: Answer LEAGUE_QUERY_RESPONSE with the same query_type, "success": true and
            "data".""")
    for query_type in get_args(PublicQuery)
}
"""What is required of a league that gets a query, by query type."""
QUERY_NOBODY = define("""manager.query.nobody | 003 8.2.2
    a query about a player that does not exist is answered with E005
    fix: Answer "success": false with error.error_code E005 PLAYER_NOT_REGISTERED.""")

FORGED_REPORT = define("""manager.report.forged | 002 2.4.5 | CRITICAL
    a result from a sender without a valid token is refused
    fix: Accept MATCH_RESULT_REPORT only with the token of a referee (E012 otherwise).""")
REPORT_TAKEN = define("""manager.report.taken | 003 7.1
    the result of a match is accepted from its referee
    fix: Acknowledge MATCH_RESULT_REPORT with a result such as {"status": "ok"}.""")

ANNOUNCED_MATCHES = define("""manager.round-announcement.matches | 003 4.1.2
    ROUND_ANNOUNCEMENT has each match with its players and its referee
    fix: Fill in match_id, game_type, player_A_id, player_B_id and referee_endpoint of every
         match.""")
FAIR_ROUND = define("""manager.round-announcement.fair | 003 4.1.4
    each player plays at most once in a round, and never against itself
    fix: Draw rounds in which no player_id comes twice.""")
STANDINGS_SENT = define("""manager.standings.sent | 003 7.2.4
    the standings are sent after a result
    fix: Send LEAGUE_STANDINGS_UPDATE to every player within 5 seconds of a result.""")
STANDINGS_ARITHMETIC = define("""manager.standings.arithmetic | 003 7.2.2
    the standings add up: played = wins + draws + losses, points = 3 wins + draws, sorted by rank
    fix: List every registered player, even without points; compute played and points from wins,
         draws and losses, and sort by rank.""")
ROUND_SUMMARY = define("""manager.round-completed.summary | 003 4.2.3
    the summary of a round adds up: wins + draws + technical losses = matches
    fix: Count each match of the round once in ROUND_COMPLETED.summary.""")
CHAMPION = define("""manager.league-completed.champion | 003 4.3.4
    the champion is first in the final standings
    fix: Send LEAGUE_COMPLETED with champion = the first row of final_standings, sorted by rank.""")
