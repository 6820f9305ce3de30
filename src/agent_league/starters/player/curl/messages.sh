#!/bin/sh
# The messages of Agent League by hand: what a player sends, and what it is asked.
#
#   sh messages.sh register http://127.0.0.1:8000/mcp   join a league, as a player would
#   sh messages.sh match    http://127.0.0.1:8101/mcp   play a match with a player, as a referee would
#
# A player is a server, which curl is not: to see what yours must answer, point `match` at one that
# works (league player), then at your own. Needs curl and a POSIX shell.
set -eu

NAME='Ada'
NOW=$(date -u +%Y-%m-%dT%H:%M:%SZ)
DEADLINE=$NOW # a real referee gives you 30 seconds from here

# say URL METHOD MESSAGE: one JSON-RPC call, shown with its answer.
say() {
  frame="{\"jsonrpc\": \"2.0\", \"method\": \"$2\", \"params\": $3, \"id\": 1}"
  printf '\n> %s\n%s\n< ' "$2" "$frame"
  # No proxy: agents are neighbours. --fail: a status other than 2xx ends the script.
  curl --silent --show-error --fail --noproxy '*' --max-time 30 \
    --header 'Content-Type: application/json' --data "$frame" "$1"
  printf '\n'
}

# message TYPE SENDER FIELDS: the envelope that every message has, and the fields of its own.
message() {
  printf '{"protocol": "league.v2", "message_type": "%s", "sender": "%s", "timestamp": "%s", %s' \
    "$1" "$2" "$NOW" "\"conversation_id\": \"conv-by-hand\", $3}"
}

# The league answers with your player_id and a token. Keep the token: it is your key to LEAGUE_QUERY.
# It will invite you at contact_endpoint, so something should listen there.
register() {
  meta="\"display_name\": \"$NAME\", \"version\": \"1.0.0\", \"game_types\": [\"even_odd\"]"
  meta="{$meta, \"contact_endpoint\": \"http://127.0.0.1:8101/mcp\"}"
  say "$1" register_player \
    "$(message LEAGUE_REGISTER_REQUEST player:by-hand "\"player_meta\": $meta")"
}

# An invitation is answered with GAME_JOIN_ACK, a call with CHOOSE_PARITY_RESPONSE and "even" or
# "odd", everything else with {"status": "ok"}; a message that is wrong, with an error.
match() {
  about='"match_id": "R1M1", "game_type": "even_odd"'
  round='"league_id": "by_hand", "round_id": 1'
  result='"status": "WIN", "winner_player_id": "P01", "drawn_number": 8, "number_parity": "even"'
  result="$result, \"choices\": {\"P01\": \"even\", \"P02\": \"odd\"}, \"reason\": \"P01 called it\""
  seat='"role_in_match": "PLAYER_A", "opponent_id": "P02"'
  say "$1" handle_game_invitation \
    "$(message GAME_INVITATION referee:REF01 "$round, $about, $seat")"
  say "$1" choose_parity \
    "$(message CHOOSE_PARITY_CALL referee:REF01 "$about, \"player_id\": \"P01\", \"deadline\": \"$DEADLINE\"")"
  say "$1" notify_match_result \
    "$(message GAME_OVER referee:REF01 "$about, \"game_result\": {$result}")"
  say "$1" choose_parity "$(message CHOOSE_PARITY_CALL referee:REF01 '"match_id": "R1M2"')"
  say "$1" no_such_method '{}'
}

case "${1:-} ${2:-}" in
  "register http"*) register "$2" ;;
  "match http"*) match "$2" ;;
  *) sed -n '4,5s/^# *//p' "$0" >&2; exit 2 ;;
esac
