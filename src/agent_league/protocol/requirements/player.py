"""What a player has to do; `league check` looks for it."""

from collections.abc import Mapping

from agent_league.protocol.requirements.requirement import Requirement, define

CONVERSATION = define("""player.envelope.conversation-id | 003 5.1.2
    a reply repeats the conversation_id of the request
    fix: Copy `conversation_id` from the request into the reply.""")
AUTH_TOKEN = define("""player.envelope.auth-token | 002 2.4.5 | MINOR
    a reply has an auth_token
    fix: Send your `auth_token`, or the one that came with the request, with every reply.""")

JOIN_IN_TIME = define("""player.join-ack.in-time | 003 5.2.3 | CRITICAL
    a player answers an invitation within 5 seconds
    fix: Answer GAME_INVITATION at once; do slow work later.""")
JOIN_TYPE = define("""player.join-ack.message-type | 003 5.2.2
    a player answers GAME_INVITATION with GAME_JOIN_ACK
    fix: Make the result itself the message, with "message_type": "GAME_JOIN_ACK".""")
JOIN_MATCH = define("""player.join-ack.match-id | 003 5.2.2
    GAME_JOIN_ACK repeats the match_id of the invitation
    fix: Copy `match_id` from the invitation.""")
JOIN_PLAYER = define("""player.join-ack.player-id | 003 5.2.2
    GAME_JOIN_ACK has the player's player_id
    fix: Send the `player_id` from your registration, a string such as P01.""")
JOIN_ARRIVAL = define("""player.join-ack.arrival-timestamp | 003 5.2.2
    GAME_JOIN_ACK has arrival_timestamp, in UTC
    fix: Write "arrival_timestamp" as 2025-01-15T10:30:00Z.""")

MOVE_IN_TIME = define("""player.move.in-time | 003 6.2.5 | CRITICAL
    a player chooses within 30 seconds
    fix: Answer CHOOSE_PARITY_CALL before its `deadline`; keep a quick choice for the last
         second.""")
MOVE_TYPE = define("""player.move.message-type | 003 6.2.2
    a player answers CHOOSE_PARITY_CALL with CHOOSE_PARITY_RESPONSE
    fix: Make the result itself the message, with "message_type": "CHOOSE_PARITY_RESPONSE".""")
MOVE_MATCH = define("""player.move.match-id | 003 6.2.2
    CHOOSE_PARITY_RESPONSE repeats the match_id of the call
    fix: Copy `match_id` from the call.""")
MOVE_PLAYER = define("""player.move.player-id | 003 6.2.2
    CHOOSE_PARITY_RESPONSE has the same player_id as GAME_JOIN_ACK
    fix: Send the same `player_id` in GAME_JOIN_ACK and in CHOOSE_PARITY_RESPONSE.""")

GAME_OVER = define("""player.game-over.taken | 003 5.3
    a player accepts GAME_OVER within 5 seconds, without an error
    fix: Answer GAME_OVER with any result, such as {"status": "ok"}.""")
_NOTICE_SECTIONS = {
    "ROUND_ANNOUNCEMENT": "003 4.1 | MINOR",
    "ROUND_COMPLETED": "003 4.2 | ADVICE",
    "LEAGUE_STANDINGS_UPDATE": "003 7.2 | MINOR",
    "LEAGUE_ERROR": "003 9.1 | ADVICE",
    "GAME_ERROR": "003 9.2 | ADVICE",
    "LEAGUE_COMPLETED": "003 4.3 | ADVICE",
}
"""001 names a method for two of them; nothing says how a player is told the others."""
NOTICES: Mapping[str, Requirement] = {
    kind: define(f"""player.notice.{kind.lower().replace("_", "-")} | {section}
            a player accepts {kind} without an error
            fix: Answer {kind} with any result, such as {{"status": "ok"}}, even if you
            ignore it.""")
    for kind, section in _NOTICE_SECTIONS.items()
}
"""What is required of a player that gets a notice, by message type."""

UNKNOWN_GAME = define("""player.unknown-game | 000 Critical Requirements | ADVICE
    a player declines a game that it cannot play
    fix: Look at `game_type`: answer "accept": false, or an error, if you do not play it.""")
UNICODE = define("""player.unicode | 003 14.4
    a player understands and repeats any character
    fix: Read and write UTF-8 everywhere; an id can be any text.""")

SAME_CHOICE = define("""player.repeat.move | 000 Required Capabilities
    a player gives the same choice when the same call comes twice
    fix: Remember your choice by match_id, and answer a repeated call with it.""")
REPEATED_RESULT = define("""player.repeat.game-over | 000 Required Capabilities | MINOR
    a player accepts a GAME_OVER that comes twice
    fix: Acknowledge a result that you already know; count it once.""")
CONCURRENT_GAMES = define("""player.concurrent-games | 000 Required Capabilities
    a player plays ten games at once without mixing them up
    fix: Keep no state of a game outside it: answer from the request, and key state by match_id.""")
CONSECUTIVE_GAMES = define("""player.consecutive-games | 000 Phase 1 | CRITICAL
    a player plays 50 games in a row without a timeout or a crash
    fix: Find what grows or breaks over many games; catch every error at the edge.""")
