// A player for Agent League in JavaScript: one file, no package but Node's own (20 or newer).
//
//     node player.mjs --league http://127.0.0.1:8000/mcp
//
// It listens at POST /mcp, registers with the league, and answers whoever asks. What it plays is
// decided in `choose`: begin there. Everything below is the protocol, and may stay as it is.

import { createServer } from "node:http";
import { parseArgs } from "node:util";

const NAME = "Ada"; // what others see; 1 to 50 characters
const VERSION = "1.0.0";
const GAMES = ["even_odd", "tic_tac_toe"];

// Return one of the legal moves. This is yours: make it clever.
// In Even/Odd, legal is ["even", "odd"]. `view` is what the game shows you, and `theirs` is what
// this opponent played against you before, oldest first. You have 30 seconds; take one.
async function choose(legal, view, theirs) {
  return legal[Math.floor(Math.random() * legal.length)];
}

// ------------------------------------------------------------------ what a player may be told

// Each message, and the fields that it cannot do without.
const MESSAGES = {
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
const ENVELOPE = "protocol sender timestamp conversation_id";
// The methods by which they are called. The message says what it is; the method need not.
const TOOLS = new Set(
  `handle_game_invitation choose_parity choose_move notify_match_result notify_game_error
  notify_league_error notify_round notify_round_completed update_standings
  notify_league_completed`.split(/\s+/),
);
// A field is text, unless it stands here.
const KINDS = {
  round_id: "integer", matches_completed: "integer", total_rounds: "integer", total_matches: "integer",
  matches: "array", standings: "array", final_standings: "array", legal_moves: "array",
  game_result: "object", summary: "object", champion: "object",
};
const ALLOWED = {
  sender: /^(league_manager(:.+)?|(referee|player):.+)$/,
  role_in_match: /^PLAYER_[AB]$/,
};
const UTC_TIME = /^\d{4}(-?)(\d\d)\1(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|\+00:00)$/;
// Each way to be wrong has a code and a name in the league, and a number in JSON-RPC.
const ERRORS = {
  E003: ["MISSING_REQUIRED_FIELD", -32602],
  E018: ["PROTOCOL_VERSION_MISMATCH", -32018],
  E021: ["INVALID_TIMESTAMP", -32602],
  E022: ["INVALID_FIELD_VALUE", -32602],
  E023: ["UNKNOWN_MESSAGE_TYPE", -32601],
};

class WrongMessage extends Error {
  constructor(code, detail) {
    super(detail);
    this.code = code;
  }
}

const isObject = (value) => kindOf(value) === "object";

function kindOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

// Throw WrongMessage unless the message is whole: a wrong one is refused, not guessed at.
function check(message, method) {
  const kind = isObject(message) ? message.message_type ?? null : null;
  if (kind === null && TOOLS.has(method))
    throw new WrongMessage("E003", "message_type: a required field is missing");
  if (typeof kind !== "string" || !Object.hasOwn(MESSAGES, kind.toUpperCase()))
    throw new WrongMessage("E023", `a player knows no ${String(kind ?? method).slice(0, 60)}`);
  if (!Object.hasOwn(MESSAGES, kind))
    throw new WrongMessage("E022", "message_type: expected it in capitals");
  for (const field of `${ENVELOPE} ${MESSAGES[kind]}`.split(" ")) checkField(field, message[field]);
}

function checkField(field, value) {
  if (value === undefined || value === null)
    throw new WrongMessage("E003", `${field}: a required field is missing`);
  if (field === "protocol" && value !== "league.v2")
    throw new WrongMessage("E018", "protocol: expected league.v2");
  if (["timestamp", "deadline"].includes(field) && !isUtc(value))
    throw new WrongMessage("E021", `${field}: expected UTC, as 2025-01-15T10:30:00Z`);
  const kind = KINDS[field] ?? "string";
  if (kindOf(value) !== kind || value === "")
    throw new WrongMessage("E022", `${field}: expected ${kind}`);
  if (kind === "integer" && !(value >= (field === "round_id" ? 1 : 0) && value < 2 ** 31))
    throw new WrongMessage("E022", `${field}: expected a number that can be`);
  if (field in ALLOWED && !ALLOWED[field].test(value))
    throw new WrongMessage("E022", `${field}: expected ${ALLOWED[field]}`);
}

function isUtc(written) {
  const found = UTC_TIME.exec(written);
  if (!found) return false;
  const [year, month, day] = [written.slice(0, 4), found[2], found[3]].map(Number);
  const date = new Date(Date.UTC(year, month - 1, day)); // 30 February would become 2 March
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

// -------------------------------------------------------------------------------- the player

let playerId = "player"; // until the league gives it one
const turns = new Map(); // moves already made, by match
const seen = new Map(); // what each opponent played against us

const now = () => new Date().toISOString();
const matchOf = (message) => JSON.stringify([message.match_id, message.conversation_id]);

const ANSWERS = {
  GAME_INVITATION: (invitation) =>
    reply("GAME_JOIN_ACK", invitation, {
      accept: GAMES.includes(invitation.game_type),
      arrival_timestamp: now(),
    }),
  CHOOSE_PARITY_CALL: async (call) => {
    const choices = ["even", "odd"];
    const choice = await move(call, choices, { choices });
    return reply("CHOOSE_PARITY_RESPONSE", call, { parity_choice: choice });
  },
  GAME_MOVE_CALL: async (call) =>
    reply("GAME_MOVE_RESPONSE", call, { move: await move(call, call.legal_moves, call.view) }),
  GAME_OVER: learn,
  LEAGUE_COMPLETED: (notice) => {
    console.log(`The league is over; the champion is ${notice.champion.display_name}.`);
    return { status: "ok" };
  },
};

// Choose once: a call that comes twice gets the same answer twice.
function move(call, legal, view) {
  const match = matchOf(call);
  if (!turns.has(match)) turns.set(match, new Map());
  const made = turns.get(match);
  const turn = JSON.stringify(view);
  const opponent = call.context?.opponent_id ?? "";
  if (!made.has(turn)) made.set(turn, choose(legal, view, seen.get(opponent) ?? []));
  return made.get(turn);
}

// Remember what the opponent played, once for each match.
function learn(over) {
  const choices = over.game_result.choices;
  if (turns.delete(matchOf(over)) && isObject(choices))
    for (const [player, played] of Object.entries(choices))
      if (player !== playerId) seen.set(player, [...(seen.get(player) ?? []), played]);
  return { status: "ok", match_id: over.match_id };
}

// An answer in the conversation that `asked` belongs to.
function reply(kind, asked, fields) {
  return {
    protocol: "league.v2",
    message_type: kind,
    sender: `player:${playerId}`,
    timestamp: now(),
    conversation_id: asked.conversation_id,
    // What the referee showed goes back to it. Our own token is for the league alone.
    auth_token: asked.auth_token ?? undefined,
    match_id: asked.match_id,
    player_id: asked.player_id ?? playerId,
    ...fields,
  };
}

function refusal(error, message) {
  const asked = isObject(message) ? message : {};
  return {
    protocol: "league.v2",
    message_type: "LEAGUE_ERROR",
    sender: `player:${playerId}`,
    timestamp: now(),
    conversation_id: String(asked.conversation_id || "conv-error"),
    error_code: error.code,
    error_name: ERRORS[error.code][0],
    error_description: ERRORS[error.code][0],
    original_message_type: String(asked.message_type || "UNKNOWN"),
    detail: error.message,
  };
}

// ------------------------------------------------------------------ JSON-RPC 2.0, then HTTP

// Return the HTTP status for a body and the JSON to answer; an id comes back as it came, and
// no id means no answer.
async function framed(body) {
  let frame;
  try {
    frame = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return [200, rpcError(null, -32700, "not JSON")];
  }
  if (!isObject(frame)) return [200, rpcError(null, -32600, "not a JSON-RPC 2.0 request")];
  const { id = null, method, params = {} } = frame;
  if (!["string", "integer", "number", "null"].includes(kindOf(id)))
    return [200, rpcError(null, -32600, "id: expected text, a number or null")];
  if (frame.jsonrpc !== "2.0" || typeof method !== "string" || typeof (params ?? 0) !== "object")
    return [200, rpcError(id, -32600, "not a JSON-RPC 2.0 request")];
  const answer = await called(id, method, params);
  return "id" in frame ? [200, answer] : [202, undefined];
}

async function called(id, method, params) {
  try {
    check(params, method);
    const answered = ANSWERS[params.message_type] ?? (() => ({ status: "ok" }));
    return { jsonrpc: "2.0", result: await answered(params), id };
  } catch (error) {
    if (!(error instanceof WrongMessage)) {
      console.error(error); // whatever goes wrong here, the player stays
      return rpcError(id, -32603, "internal error");
    }
    const [name, number] = ERRORS[error.code];
    const said = `${error.code} ${name}: ${error.message}`;
    return rpcError(id, number, said, refusal(error, params));
  }
}

function rpcError(id, code, message, data) {
  return { jsonrpc: "2.0", error: { code, message, data }, id };
}

const LONGEST = 4 * 1024 * 1024; // the table of a large league is longer than you think

async function serve(request, response) {
  const send = (status, answer) => {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(answer === undefined ? "" : JSON.stringify(answer));
  };
  const [path] = request.url.split("?");
  if (request.method === "GET" && path === "/")
    return send(200, { agent: "player", name: NAME, endpoint: "/mcp" });
  if (path !== "/mcp") return send(404, { error: `there is nothing at ${path}` });
  if (request.method !== "POST") return send(405, { error: "only POST is allowed here" });
  const body = await read(request);
  if (body !== null) return send(...(await framed(body)));
  response.setHeader("Connection", "close");
  return send(413, { error: "longer than I read" });
}

// Whoever hangs up in the middle of a sentence must not take the player along.
const server = createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.requestTimeout = 10_000; // nobody may take for ever to say something

async function read(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > LONGEST) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

// ----------------------------------------------------------------------------------- joining

// Ask to be let in until somebody answers. The same endpoint gets the same id back.
async function register(league, endpoint) {
  const params = {
    protocol: "league.v2",
    message_type: "LEAGUE_REGISTER_REQUEST",
    sender: `player:${playerId}`,
    timestamp: now(),
    conversation_id: "conv-register",
    player_meta: {
      display_name: NAME,
      version: VERSION,
      game_types: GAMES,
      contact_endpoint: endpoint,
    },
  };
  const answer = await insist(league, { jsonrpc: "2.0", method: "register_player", params, id: 1 });
  const result = answer.result ?? {};
  if (result.status !== "ACCEPTED") {
    const why = result.reason ?? JSON.stringify(answer.error);
    console.error(`The league did not let ${NAME} in: ${why}`);
    process.exit(1);
  }
  playerId = result.player_id;
  console.log(`${NAME} is ${playerId} in ${result.league_id}`);
}

// Return the league's answer, however long it takes the league to be there.
async function insist(league, call) {
  const headers = { "Content-Type": "application/json" };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const signal = AbortSignal.timeout(10_000);
      const body = JSON.stringify(call);
      return await (await fetch(league, { method: "POST", headers, body, signal })).json();
    } catch {
      if (attempt === 1) console.log(`No league at ${league} yet; I keep trying.`);
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  }
}

const { values: told } = parseArgs({
  options: {
    league: { type: "string", default: "http://127.0.0.1:8000/mcp" },
    port: { type: "string", default: "8101" },
    host: { type: "string", default: "127.0.0.1" },
  },
});
server.on("error", (error) => {
  console.error(`${NAME} cannot listen there: ${error.message}`);
  process.exit(1);
});
server.listen(Number(told.port), told.host, async () => {
  const endpoint = `http://${told.host}:${server.address().port}/mcp`;
  console.log(`${NAME} listens at ${endpoint}`);
  await register(told.league, endpoint);
});
