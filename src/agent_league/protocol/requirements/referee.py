"""What a referee has to do; `league check` looks for it."""

from agent_league.protocol.requirements.requirement import define

START_IN_TIME = define("""referee.start-match.in-time | 002 2.7
    a referee answers start_match within 10 seconds, however long the match takes
    fix: Answer start_match first, and run the match in the background.""")
CONVERSATION = define("""referee.envelope.conversation-id | 003 5.1.4
    all messages of a match have the same conversation_id, and the next match has another
    fix: Make one conversation_id per match, and send it with every message of that match.""")

INVITES_BOTH = define("""referee.invitation.both | 003 5.1.4 | CRITICAL
    a referee invites both players
    fix: Send GAME_INVITATION to the endpoints of both players.""")
INVITATION_MATCH = define("""referee.invitation.match | 003 5.1.2
    GAME_INVITATION has the league, the round and the game that the referee was given
    fix: Copy league_id, round_id, match_id and game_type from the order into the invitation.""")
INVITATION_ROLES = define("""referee.invitation.roles | 003 5.1.2
    one player is PLAYER_A and the other is PLAYER_B
    fix: Set "role_in_match" to "PLAYER_A" for one player and "PLAYER_B" for the other.""")
INVITATION_OPPONENT = define("""referee.invitation.opponent | 003 5.1.2
    GAME_INVITATION names the other player
    fix: Set "opponent_id" to the player_id of the other player.""")

REPLY_READ = define("""referee.reply.read | 002 1.4
    a referee reads the reply of a player from the result of its call
    fix: Take the message from `result` of the answer, {"jsonrpc": "2.0", "result": MESSAGE, "id":
         1}, and in it read message_type, accept and parity_choice.""")
CALL_AFTER_JOINING = define("""referee.call.after-joining | 003 6.1.4
    a referee asks for choices only when both players have joined
    fix: Wait for both GAME_JOIN_ACK before the first CHOOSE_PARITY_CALL.""")
CALLS_AT_ONCE = define("""referee.call.at-once | 003 6.1.4
    a referee asks both players at the same time, not one after the other
    fix: Send both CHOOSE_PARITY_CALL before you wait for either answer (threads, async,
         futures).""")
CALL_PLAYER = define("""referee.call.player-id | 003 6.1.2
    CHOOSE_PARITY_CALL has the player_id of the player that it goes to
    fix: Set "player_id" of the call to the id of the player that it goes to.""")
CALL_DEADLINE = define("""referee.call.deadline | 003 6.1.2
    CHOOSE_PARITY_CALL has a deadline in UTC that has not passed
    fix: Set "deadline" to now plus 30 seconds, as 2025-01-15T10:30:30Z.""")

RESULT_FOR_BOTH = define("""referee.game-over.both | 003 5.3.4
    a referee sends both players the same result
    fix: Send GAME_OVER to both players, with the same game_result.""")
RESULT_CHOICES = define("""referee.game-over.choices | 003 5.3.2
    GAME_OVER has the choices of both players
    fix: Set "choices" to {player_id: choice} of both players.""")
RESULT_NUMBER = define("""referee.game-over.number | 003 5.3.2
    GAME_OVER has a number from 1 to 10 and its parity
    fix: Set "drawn_number" to an integer from 1 to 10 and "number_parity" to its parity.""")
RESULT_WINNER = define("""referee.game-over.winner | 001 Game Rules | CRITICAL
    GAME_OVER names the winner by the rules of the game
    fix: Equal choices are a DRAW (winner_player_id null); otherwise the player who chose the parity
         of the number has the WIN.""")
REPORT_SENT = define("""referee.report.sent | 003 7.1.3 | CRITICAL
    a referee reports every result to the league
    fix: Send MATCH_RESULT_REPORT to the league as soon as the match is over.""")

INVALID_CHOICE = define("""referee.invalid-choice.error | 003 6.2.4
    a referee answers an invalid choice ("Odd") with GAME_ERROR E004
    fix: Send GAME_ERROR with error_code E004 to the player whose choice is not even or odd.""")
SECOND_CHANCE = define("""referee.invalid-choice.second-chance | 003 6.2.4
    a player may correct an invalid choice in the same window
    fix: Ask again, inside the 30 seconds, and continue with the corrected choice.""")
DECLINED = define("""referee.declined | 003 5.2.3
    when a player declines, it has a TECHNICAL_LOSS, and the other player wins
    fix: "accept": false is a TECHNICAL_LOSS: the other player wins.""")
SILENT_LOSES = define("""referee.silent.technical-loss | 003 5.2.3 | CRITICAL
    when a player stays silent, it has a TECHNICAL_LOSS, and the other player wins
    fix: Stop waiting after the timeout; the silent player has a TECHNICAL_LOSS.""")
THREE_ATTEMPTS = define("""referee.silent.three-attempts | 003 9.2.4
    a referee tries three times before it gives up on a silent player
    fix: Send GAME_INVITATION (and CHOOSE_PARITY_CALL) up to three times before a technical
         loss.""")
SILENT_WARNED = define("""referee.silent.warning | 003 9.2.4
    a referee warns a silent player with GAME_ERROR E001 and retry_info
    fix: After each failed attempt send GAME_ERROR, error_code E001, with retry_info.""")

PLAYED_ONCE = define("""referee.repeat.start-match | 000 Required Capabilities
    a referee plays a match once, even if it gets the order twice
    fix: Remember the match_id of every match that you have begun, and only acknowledge a repeated
         order.""")
UNKNOWN_GAME = define("""referee.unknown-game | 000 Critical Requirements | ADVICE
    a referee refuses a game that it does not know
    fix: Look at `game_type`: answer "status": "REJECTED", or an error, if you do not know it.""")
CONCURRENT_MATCHES = define("""referee.concurrent-matches | 003 3.1.2
    a referee runs as many matches at once as it says it can
    fix: Keep the state of each match by its match_id, or declare a smaller
         max_concurrent_matches.""")
CONSECUTIVE_MATCHES = define("""referee.consecutive-games | 000 Phase 1 | CRITICAL
    a referee runs 50 matches in a row to their end
    fix: Find what grows or breaks over many matches; every match must end.""")
