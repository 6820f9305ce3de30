"""What every agent has to do, and every agent that registers; `league check` looks for it."""

from agent_league.protocol.requirements.requirement import define

JSON_OVER_HTTP = define("""http.json | 002 1.3 | CRITICAL
    an agent answers POST /mcp with a JSON object
    fix: Serve POST at /mcp, and answer with a JSON object (content-type application/json).""")
ANSWER_FRAME = define("""frame.jsonrpc | 004 Transport Layer
    an answer is a JSON-RPC frame: "jsonrpc": "2.0" and a result or an error
    fix: Answer {"jsonrpc": "2.0", "result": {...}, "id": <the id of the request>}: without params,
         and with "error" only instead of "result".""")
TOOL_NAME = define("""frame.tool-name | 001 Required Tools | MINOR
    an agent understands a call by the name of its tool
    fix: Accept the tool's name (handle_game_invitation, choose_parity, start_match, league_query,
         ...) as `method`, and find the message in `params`.""")
RIGHT_MESSAGE = define("""frame.right-message | 002 2.4
    an agent takes messages as the documents write them: the sender "league_manager", a round_id
    that is an integer
    fix: Accept "league_manager" (without an id) as the sender of the league, and an integer as
         round_id; require no field that the documents do not have.""")
TOOL_NAMES = frozenset(
    {
        "handle_game_invitation",
        "choose_parity",
        "notify_match_result",
        "start_match",
        "register_player",
        "register_referee",
        "report_match_result",
        "league_query",
        "notify_round",
        "update_standings",
    }
)
"""The methods that 001 names; the other notices have no name in any document."""
BROKEN_JSON = define("""frame.broken-json | 000 Required Capabilities
    an agent answers a body that is not JSON with an error, and keeps running
    fix: Catch the parse error; answer {"error": {"code": -32700, "message": "Parse error"}, "id":
         null}.""")
MISSING_FIELD = define("""frame.missing-field | 003 10.5
    an agent answers a message without a required field with an error
    fix: Check required fields first; answer E003 MISSING_REQUIRED_FIELD (-32602).""")
LOWER_CASE_TYPE = define("""frame.wrong-case | 003 10.5
    an agent answers a message_type in lower case with a reply or an error, and keeps running
    fix: Names are case-sensitive: understand it or answer with an error, but do answer.""")
OTHER_TIME_ZONE = define("""frame.non-utc-time | 002 2.4.2
    an agent answers a timestamp that is not in UTC with a reply or an error, and keeps running
    fix: Refuse it with E021 INVALID_TIMESTAMP, or read it with its offset; do not raise.""")
HUGE_BODY = define("""frame.huge-body | 003 14.1
    an agent survives a body of one megabyte
    fix: Limit what you read (10 KB are enough): answer HTTP 413, and keep serving.""")

REGISTRATION_CALL = define("""register.message | 002 1.4
    a registration is a call whose params are the message itself
    fix: Post {"jsonrpc": "2.0", "method": "register_player", "params": {"message_type":
         "LEAGUE_REGISTER_REQUEST", ...}, "id": 1}; a referee says register_referee and
         REFEREE_REGISTER_REQUEST.""")
REGISTRATION_ENVELOPE = define("""register.envelope | 002 2.4.1
    a registration has the whole envelope
    fix: Send protocol "league.v2", sender "player:NAME" or "referee:NAME", a timestamp in UTC and a
         conversation_id with the registration too.""")
DISPLAY_NAME = define("""register.display-name | 003 3.3.2
    display_name has 1 to 50 characters
    fix: Send a display_name of 1 to 50 characters.""")
VERSION = define("""register.version | 003 3.3.2
    version is a semantic version
    fix: Send a version such as "1.0.0".""")
GAME_TYPES = define("""register.game-types | 003 3.3.2 | CRITICAL
    game_types contains "even_odd"
    fix: Send "game_types": ["even_odd"], a list.""")
CONTACT_ENDPOINT = define("""register.contact-endpoint | 003 3.3.2 | CRITICAL
    contact_endpoint is the address at which the agent listens
    fix: Send the http:// address of your /mcp as contact_endpoint, as others can reach it.""")
REFEREE_ID = define("""register.referee-id-used | 003 3.2.3
    a referee uses the id that the league gave it
    fix: Take the id from the response to your registration, and use no other.""")
CAPACITY = define("""register.max-concurrent-matches | 003 3.1.2 | MINOR
    a referee says how many matches it can run at once, 1 to 10
    fix: Send "max_concurrent_matches" in referee_meta, an integer from 1 to 10.""")
