// A player for Agent League in JavaScript: one file, no package but Node's own (20 or newer).
//
//     node player.mjs --league http://127.0.0.1:8000/mcp
//
// It listens at POST /mcp, registers with the league, and answers the messages that it gets.
// Start with `choose`, which selects the moves. The rest is the protocol: it can stay as it is.

import { createServer } from "node:http";
import { parseArgs } from "node:util";

const NAME = "Ada"; // the name that others see; 1 to 50 characters
const VERSION = "1.0.0";
const GAMES = ["even_odd", "tic_tac_toe"];

// Return one of the legal moves. Write your own strategy here.
// In Even/Odd the legal moves are ["even", "odd"]. `view` is what the game shows you, and
// `opponentMoves` is what this opponent played against you before, oldest first.
// The referee waits 30 seconds for a move.
async function choose(legalMoves, view, opponentMoves) {
  return legalMoves[Math.floor(Math.random() * legalMoves.length)];
}

// ------------------------------------------------------------ the messages that a player gets

// The required fields of each message, besides those that every message has.
const REQUIRED_FIELDS = {
  GAME_INVITATION: "league_id round_id match_id game_type role_in_match opponent_id",
  CHOOSE_PARITY_CALL: "match_id player_id game_type deadline",
  GAME_MOVE_CALL: "match_id player_id game_type deadline legal_moves",
  GAME_OVER: "match_id game_type game_result",
  GAME_ERROR: "match_id error_code error_description affected_player action_required consequence",
  LEAGUE_ERROR: "error_code error_description original_message_type",
  ROUND_ANNOUNCEMENT: "league_id round_id matches",
  ROUND_COMPLETED: "league_id round_id matches_completed summary",
  LEAGUE_STANDINGS_UPDATE: "league_id round_id standings",
  LEAGUE_COMPLETED: "league_id total_rounds total_matches champion final_standings",
};
const ENVELOPE_FIELDS = "protocol sender timestamp conversation_id";
// The JSON-RPC methods of these messages. The player goes by message_type, not by the method.
const METHODS = new Set(
  `handle_game_invitation choose_parity choose_move notify_match_result notify_game_error
  notify_league_error notify_round notify_round_completed update_standings
  notify_league_completed`.split(/\s+/),
);
// The types of the fields that are not strings.
const FIELD_TYPES = {
  round_id: "integer", matches_completed: "integer", total_rounds: "integer", total_matches: "integer",
  matches: "array", standings: "array", final_standings: "array", legal_moves: "array",
  game_result: "object", summary: "object", champion: "object",
};
const PATTERNS = {
  sender: /^(league_manager(:.+)?|(referee|player):.+)$/,
  role_in_match: /^PLAYER_[AB]$/,
};
const UTC_TIME = /^\d{4}(-?)(\d\d)\1(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|\+00:00)$/;
// The league's error codes, each with its name and its JSON-RPC error code.
const ERRORS = {
  E003: ["MISSING_REQUIRED_FIELD", -32602],
  E018: ["PROTOCOL_VERSION_MISMATCH", -32018],
  E021: ["INVALID_TIMESTAMP", -32602],
  E022: ["INVALID_FIELD_VALUE", -32602],
  E023: ["UNKNOWN_MESSAGE_TYPE", -32601],
};

class InvalidMessageError extends Error {
  constructor(code, detail) {
    super(detail);
    this.code = code;
  }
}

const isObject = (value) => typeOf(value) === "object";

function typeOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

// Throw an InvalidMessageError unless the message is valid.
function checkMessage(message, method) {
  const kind = isObject(message) ? message.message_type ?? null : null;
  if (kind === null && METHODS.has(method))
    throw new InvalidMessageError("E003", "message_type: is missing");
  if (typeof kind !== "string" || !Object.hasOwn(REQUIRED_FIELDS, kind.toUpperCase()))
    throw new InvalidMessageError("E023", `unknown: ${String(kind ?? method).slice(0, 60)}`);
  if (!Object.hasOwn(REQUIRED_FIELDS, kind))
    throw new InvalidMessageError("E022", "message_type: expected capital letters");
  for (const field of `${ENVELOPE_FIELDS} ${REQUIRED_FIELDS[kind]}`.split(" "))
    checkField(field, message[field]);
}

function checkField(field, value) {
  if (value === undefined || value === null)
    throw new InvalidMessageError("E003", `${field}: is missing`);
  if (field === "protocol" && value !== "league.v2")
    throw new InvalidMessageError("E018", "protocol: expected league.v2");
  if (["timestamp", "deadline"].includes(field) && !isUtcTime(value))
    throw new InvalidMessageError("E021", `${field}: expected UTC, as 2025-01-15T10:30:00Z`);
  const expected = FIELD_TYPES[field] ?? "string";
  if (typeOf(value) !== expected || value === "")
    throw new InvalidMessageError("E022", `${field}: expected ${expected}`);
  if (expected === "integer" && !(value >= (field === "round_id" ? 1 : 0) && value < 2 ** 31))
    throw new InvalidMessageError("E022", `${field}: out of range`);
  if (field in PATTERNS && !PATTERNS[field].test(value))
    throw new InvalidMessageError("E022", `${field}: not an allowed value`);
}

function isUtcTime(text) {
  const match = UTC_TIME.exec(text);
  if (!match) return false;
  const [year, month, day] = [text.slice(0, 4), match[2], match[3]].map(Number);
  const date = new Date(Date.UTC(year, month - 1, day)); // turns 30 February into 2 March
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

// -------------------------------------------------------------------------------- the player

let playerId = "player"; // until the league assigns one
const moves = new Map(); // our moves in the current matches
const opponentMoves = new Map(); // what each opponent played against us

const now = () => new Date().toISOString();
const matchKey = (message) => JSON.stringify([message.match_id, message.conversation_id]);

const HANDLERS = {
  GAME_INVITATION: (invitation) =>
    reply("GAME_JOIN_ACK", invitation, {
      accept: GAMES.includes(invitation.game_type),
      arrival_timestamp: now(),
    }),
  CHOOSE_PARITY_CALL: async (call) => {
    const choices = ["even", "odd"];
    const choice = await chooseOnce(call, choices, { choices });
    return reply("CHOOSE_PARITY_RESPONSE", call, { parity_choice: choice });
  },
  GAME_MOVE_CALL: async (call) =>
    reply("GAME_MOVE_RESPONSE", call, { move: await chooseOnce(call, call.legal_moves, call.view) }),
  GAME_OVER: rememberOpponent,
  LEAGUE_COMPLETED: (notice) => {
    console.log(`The league is over; the champion is ${notice.champion.display_name}.`);
    return { status: "ok" };
  },
};

// Return our move. A referee that repeats its call gets the same move again.
function chooseOnce(call, legalMoves, view) {
  const match = matchKey(call);
  if (!moves.has(match)) moves.set(match, new Map());
  const matchMoves = moves.get(match);
  const turn = JSON.stringify(view);
  const opponent = call.context?.opponent_id ?? "";
  if (!matchMoves.has(turn))
    matchMoves.set(turn, choose(legalMoves, view, opponentMoves.get(opponent) ?? []));
  return matchMoves.get(turn);
}

// Store what the opponent played, once for each match.
function rememberOpponent(gameOver) {
  const choices = gameOver.game_result.choices;
  if (moves.delete(matchKey(gameOver)) && isObject(choices))
    for (const [player, move] of Object.entries(choices))
      if (player !== playerId)
        opponentMoves.set(player, [...(opponentMoves.get(player) ?? []), move]);
  return { status: "ok", match_id: gameOver.match_id };
}

// Return a reply to the request, in the same conversation.
function reply(kind, request, fields) {
  return {
    ...envelope(kind, request.conversation_id),
    // The referee gets its own token back. Send your own token to the league only.
    auth_token: request.auth_token ?? undefined,
    match_id: request.match_id,
    player_id: request.player_id ?? playerId,
    ...fields,
  };
}

// Return the LEAGUE_ERROR that the sender of the message gets.
function describeError(error, message) {
  const fields = isObject(message) ? message : {};
  return {
    ...envelope("LEAGUE_ERROR", String(fields.conversation_id || "conv-error")),
    error_code: error.code,
    error_name: ERRORS[error.code][0],
    error_description: ERRORS[error.code][0],
    original_message_type: String(fields.message_type || "UNKNOWN"),
    detail: error.message,
  };
}

// Return the fields that every message has.
function envelope(kind, conversationId) {
  return {
    protocol: "league.v2",
    message_type: kind,
    sender: `player:${playerId}`,
    timestamp: now(),
    conversation_id: conversationId,
  };
}

// ------------------------------------------------------------------------- JSON-RPC and HTTP

// Return the HTTP status and the JSON-RPC response to a body.
async function answerRequest(body) {
  let request;
  try {
    request = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return [200, rpcError(null, -32700, "not JSON")];
  }
  if (!isObject(request)) return [200, rpcError(null, -32600, "not a JSON-RPC 2.0 request")];
  const { id = null, method, params = {} } = request;
  if (!["string", "integer", "number", "null"].includes(typeOf(id)))
    return [200, rpcError(null, -32600, "id: expected a string, a number or null")];
  if (request.jsonrpc !== "2.0" || typeof method !== "string" || typeof (params ?? 0) !== "object")
    return [200, rpcError(id, -32600, "not a JSON-RPC 2.0 request")];
  const response = await callPlayer(id, method, params);
  return "id" in request ? [200, response] : [202, undefined]; // without an id: no response
}

async function callPlayer(id, method, params) {
  try {
    checkMessage(params, method);
    const handler = HANDLERS[params.message_type] ?? (() => ({ status: "ok" }));
    return { jsonrpc: "2.0", result: await handler(params), id };
  } catch (error) {
    if (!(error instanceof InvalidMessageError)) {
      console.error(error); // a bug in one answer must not stop the player
      return rpcError(id, -32603, "internal error");
    }
    const [name, number] = ERRORS[error.code];
    const text = `${error.code} ${name}: ${error.message}`;
    return rpcError(id, number, text, describeError(error, params));
  }
}

function rpcError(id, code, message, data) {
  return { jsonrpc: "2.0", error: { code, message, data }, id };
}

const MAX_BODY_BYTES = 4 * 1024 * 1024; // the standings of a large league are long

async function serve(request, response) {
  const send = (status, data) => {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(data === undefined ? "" : JSON.stringify(data));
  };
  const [path] = request.url.split("?");
  if (request.method === "GET" && path === "/")
    return send(200, { agent: "player", name: NAME, endpoint: "/mcp" });
  if (path !== "/mcp") return send(404, { error: `there is nothing at ${path}` });
  if (request.method !== "POST") return send(405, { error: "only POST is allowed here" });
  const body = await readBody(request);
  if (body !== null) return send(...(await answerRequest(body)));
  response.setHeader("Connection", "close");
  return send(413, { error: "the request is too long" });
}

// A connection that breaks must not stop the player.
const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.requestTimeout = 10_000; // milliseconds to receive a whole request

// Return the body of a request, or null if it is too long.
async function readBody(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > MAX_BODY_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

// ------------------------------------------------------------------------------ registration

// Register with the league. The same endpoint gets the same player id again.
async function register(league, endpoint) {
  const params = {
    ...envelope("LEAGUE_REGISTER_REQUEST", "conv-register"),
    player_meta: {
      display_name: NAME,
      version: VERSION,
      game_types: GAMES,
      contact_endpoint: endpoint,
    },
  };
  const request = { jsonrpc: "2.0", method: "register_player", params, id: 1 };
  const response = await callLeague(league, request);
  const result = response.result ?? {};
  if (result.status !== "ACCEPTED") {
    const reason = result.reason ?? JSON.stringify(response.error);
    console.error(`The league did not accept ${NAME}: ${reason}`);
    process.exit(1);
  }
  playerId = result.player_id;
  console.log(`${NAME} is ${playerId} in ${result.league_id}`);
}

// Return the league's response. Try again until the league answers.
async function callLeague(url, request) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify(request);
  console.log(`Registering at ${url}; trying every 2 seconds until the league answers.`);
  while (true) {
    try {
      const signal = AbortSignal.timeout(10_000);
      const response = await fetch(url, { method: "POST", headers, body, signal });
      return await response.json();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

const { values: options } = parseArgs({
  options: {
    league: { type: "string", default: "http://127.0.0.1:8000/mcp" },
    port: { type: "string", default: "8101" },
    host: { type: "string", default: "127.0.0.1" },
  },
});
server.on("error", (error) => {
  console.error(`${NAME} cannot listen at port ${options.port} (${error.message}): try --port 0`);
  process.exit(1);
});
server.listen(Number(options.port), options.host, async () => {
  const endpoint = `http://${options.host}:${server.address().port}/mcp`;
  console.log(`${NAME} listens at ${endpoint}`);
  await register(options.league, endpoint);
});
