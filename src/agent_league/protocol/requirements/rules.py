"""The rules of play: the requirements that a league enforces while it plays.

A tolerant league understands an agent that breaks one, and notes the deviation; a strict league
refuses the message.
"""

from collections.abc import Mapping

from agent_league.protocol.requirements.requirement import Requirement, define

FRAME_MISSING = define("""frame-missing | 001 Transport Layer | E003
    every message comes in a JSON-RPC 2.0 frame
    fix: Send {"jsonrpc": "2.0", "method": TOOL, "params": MESSAGE, "id": 1}.""")
FRAME_ID_MISSING = define("""frame-id-missing | 001 Transport Layer | E003
    a request that wants an answer has an id
    fix: Add "id" to the frame: a call without one is a notification, which nobody answers.""")
METHOD_INVENTED = define("""method-invented | 001 Complete Message Types Reference
    method is the name of the tool, or the message_type
    fix: Name the tool, such as "register_player", in "method".""")
MESSAGE_NESTED = define("""message-nested | 002 1.4
    params is the message itself
    fix: Put the fields of the message directly into params, not into an object inside it.""")
MESSAGE_TYPE_CASE = define("""message-type-case | 003 10.1
    message_type is written in capitals
    fix: Write message_type as the catalogue does, such as GAME_JOIN_ACK.""")
SENDER_FORM = define("""sender-form | 002 2.4.4
    sender is "player:ID", "referee:ID" or "league_manager"
    fix: Send "sender": the role in the singular, a colon and the id that the league gave you (the
         league is "league_manager").""")
SENDER_MISSING = define("""sender-missing | 003 10.2 | E003
    every message has a sender
    fix: Add "sender"; before you are registered, "player:" and a name of your own.""")
TIMESTAMP_MISSING = define("""timestamp-missing | 003 10.2 | E003
    every message has a timestamp
    fix: Add "timestamp", such as 2025-01-15T10:30:00Z.""")
TIMESTAMP_FORM = define("""timestamp-form | 003 10.4 | E021
    timestamp is ISO 8601 in UTC, such as 2025-01-15T10:30:00Z
    fix: Send "timestamp" with its colons, and end it with Z or +00:00, not with both.""")
PROTOCOL_VERSION = define("""protocol-version | 002 2.4.1 | CRITICAL | E018
    every message names the protocol: "protocol" is "league.v2"
    fix: Set "protocol": "league.v2" in every message and every reply.""")
NULL_FIELD = define("""null-field | 003 10.3
    an optional field without a value is left out, not null
    fix: Leave the field out when it has no value.""")
REPLY_ID = define("""reply-id | 001 Transport Layer
    an answer repeats the id of its request, an integer or a string
    fix: Copy "id" from the request into the answer, value and type unchanged.""")
REPLY_IN_PARAMS = define("""reply-in-params | 002 1.4
    an answer is in result
    fix: Answer {"jsonrpc": "2.0", "result": MESSAGE, "id": ID}: only requests have params.""")
REPLY_WRAPPED = define("""reply-wrapped | 002 1.4
    result is the message itself
    fix: Return the message as result, not an object or a text that contains it.""")
REPLY_UNFRAMED = define("""reply-unframed | 001 Transport Layer | E003
    an answer comes in a JSON-RPC 2.0 frame
    fix: Answer a request that has a frame with {"jsonrpc": "2.0", "result": MESSAGE, "id": ID}.""")
REPLY_ERROR_NULL = define("""reply-error-null | 001 Transport Layer
    an answer has either result or error
    fix: Leave out "error" when there is none: JSON-RPC 2.0 allows only one of the two.""")
REPLY_ENVELOPE = define("""reply-envelope | 003 10.2 | E003
    a reply is a whole message, with its envelope
    fix: Fill in protocol, message_type, sender, timestamp, conversation_id and the ids of the
         match.""")
ACCEPT_FIELD = define("""accept-field | 003 5.2.2 | E003
    GAME_JOIN_ACK has "accept", a boolean
    fix: Send "accept": true, a JSON boolean; false loses the match.""")
CHOICE_FIELD = define("""choice-field | 003 6.2.2 | E003
    CHOOSE_PARITY_RESPONSE has "parity_choice", exactly "even" or "odd"
    fix: Send "parity_choice": "even" or "odd": a string, in lower case.""")
PLAYER_ID_OTHER = define("""player-id-other | 003 3.4.4
    an agent uses the id that the league gave it
    fix: Take the id from the response to your registration, and use no other.""")
LATER_ANSWER = define("""later-answer | 003 5.2
    the reply is the result of the call
    fix: Return the message from the call itself instead of posting it later.""")
REGISTERED_EXPECTED = define("""registered-expected | 003 3.4
    an agent takes the status "ACCEPTED" as success
    fix: Compare the status with "ACCEPTED" or "REJECTED": there is no "REGISTERED".""")
OK_TO_UNKNOWN = define("""ok-to-unknown | 001 Transport Layer | MINOR
    an agent answers an unknown method with an error, not with a success
    fix: Answer {"error": {"code": -32601, "message": "Method not found"}} to a method and message
         type that you do not know.""")
BARE_ONLY = define("""bare-only | 001 Transport Layer
    an agent understands a message in its JSON-RPC frame
    fix: Read the message from params of the frame.""")
RIGHT_REFUSED = define("""right-refused | 003 14.5
    an agent accepts every valid message: league_manager as the sender, fields that it does not know
    fix: Accept "league_manager" as the sender, a round_id that is an integer, and fields that you
         do not know.""")
RATE_LIMIT = define("""rate-limit | 003 14.2 | E027
    an agent answers every call of a match
    fix: Do not count the calls of your own matches towards your rate limit.""")
ORDER_FORM = define("""order-form | 001 Required Tools
    a referee takes a match: it answers start_match within 10 seconds, without an error
    fix: Serve the tool start_match: answer at once with "status": "ACCEPTED", and run the match in
         the background.""")
QUERY_FORM = define("""query-form | 003 8.1
    LEAGUE_QUERY asks GET_STANDINGS, GET_SCHEDULE, GET_NEXT_MATCH or GET_PLAYER_STATS, with
    query_params
    fix: Ask one of the four questions, and send query_params, {} if there are none.""")
REPORT_FORM = define("""report-form | 003 7.1 | E003
    MATCH_RESULT_REPORT has a result with winner, score and details
    fix: Send {"result": {"winner": ID or null, "score": {...}, "details": {...}}}.""")
REPORT_SCORE = define("""report-score | 003 7.1.2
    MATCH_RESULT_REPORT has the winner and the points that follow from it: 3 and 0, or 1 and 1
    fix: Set "winner" (null for a draw) and "score" {player_id: points} to what the players were
         told.""")
REPORT_TICKET = define("""report-ticket | 001 Agent Types | E011
    MATCH_RESULT_REPORT has the ticket that came with the match
    fix: Keep ticket from START_MATCH, and send it with the report.""")
RESULT_IN_ANSWER = define("""result-in-answer | 003 7.1
    the result of a match is reported as MATCH_RESULT_REPORT
    fix: Answer the order at once, and report the result later; a league waits for the report, not
         for the answer.""")
REGISTER_STATUS = define("""register-status | 003 3.4.2
    the league answers a valid registration with ACCEPTED and an id
    fix: Make the result itself REFEREE_REGISTER_RESPONSE or LEAGUE_REGISTER_RESPONSE, with "status":
         "ACCEPTED" or "REJECTED".""")
FIELD_MISSING = define("""field-missing | 003 10.2 | E003
    a message has every required field
    fix: Add the field that the error names.""")
FIELD_INVALID = define("""field-invalid | 003 10.3
    every field has the right type and an allowed value
    fix: Write the field as the error says.""")
RULES: Mapping[str, Requirement] = {
    found.id: found for found in list(globals().values()) if isinstance(found, Requirement)
}
"""Every rule of play, by its id."""
