#!/bin/sh
# Send the messages of Agent League by hand, to see what a player sends and what it must answer.
#
#   sh messages.sh register http://127.0.0.1:8000/mcp   join a league, as a player would
#   sh messages.sh match    http://127.0.0.1:8101/mcp   play a match with a player, as a referee would
#
# curl is a client, and a player is a server. To see what your player must answer, run `match`
# against a player that works (league player), then against your own. Needs curl and a POSIX shell.
set -eu

NAME='Ada'
NOW=$(date -u +%Y-%m-%dT%H:%M:%SZ)
DEADLINE=$NOW # a real referee sets it 30 seconds later

# call URL METHOD MESSAGE: make a JSON-RPC call, and print the request and the response.
call() {
  request="{\"jsonrpc\": \"2.0\", \"method\": \"$2\", \"params\": $3, \"id\": 1}"
  printf '\n> %s\n%s\n< ' "$2" "$request"
  # --noproxy: connect directly. --fail: an HTTP error ends the script.
  curl --silent --show-error --fail --noproxy '*' --max-time 30 \
    --header 'Content-Type: application/json' --data "$request" "$1"
  printf '\n'
}

# message TYPE SENDER FIELDS: print a message, with the fields that every message has.
message() {
  printf '{"protocol": "league.v2", "message_type": "%s", "sender": "%s", "timestamp": "%s", %s' \
    "$1" "$2" "$NOW" "\"conversation_id\": \"conv-by-hand\", $3}"
}

# The league answers with your player_id and a token. Keep the token: LEAGUE_QUERY needs it.
# Referees send their invitations to contact_endpoint, so your player must listen there.
register() {
  meta="\"display_name\": \"$NAME\", \"version\": \"1.0.0\", \"game_types\": [\"even_odd\"]"
  meta="{$meta, \"contact_endpoint\": \"http://127.0.0.1:8101/mcp\"}"
  call "$1" register_player \
    "$(message LEAGUE_REGISTER_REQUEST player:by-hand "\"player_meta\": $meta")"
}

# A player answers GAME_INVITATION with GAME_JOIN_ACK, CHOOSE_PARITY_CALL with
# CHOOSE_PARITY_RESPONSE ("even" or "odd"), and an invalid message with an error.
# The answer to every other message is {"status": "ok"}. The last two calls here are invalid.
match() {
  about='"match_id": "R1M1", "game_type": "even_odd"'
  round='"league_id": "by_hand", "round_id": 1'
  result='"status": "WIN", "winner_player_id": "P01", "drawn_number": 8, "number_parity": "even"'
  result="$result, \"choices\": {\"P01\": \"even\", \"P02\": \"odd\"}, \"reason\": \"P01 called it\""
  seat='"role_in_match": "PLAYER_A", "opponent_id": "P02"'
  call "$1" handle_game_invitation \
    "$(message GAME_INVITATION referee:REF01 "$round, $about, $seat")"
  call "$1" choose_parity \
    "$(message CHOOSE_PARITY_CALL referee:REF01 "$about, \"player_id\": \"P01\", \"deadline\": \"$DEADLINE\"")"
  call "$1" notify_match_result \
    "$(message GAME_OVER referee:REF01 "$about, \"game_result\": {$result}")"
  call "$1" choose_parity "$(message CHOOSE_PARITY_CALL referee:REF01 '"match_id": "R1M2"')"
  call "$1" no_such_method '{}'
}

case "${1:-} ${2:-}" in
  "register http"*) register "$2" ;;
  "match http"*) match "$2" ;;
  *) sed -n '4,5s/^# *//p' "$0" >&2; exit 2 ;;
esac
