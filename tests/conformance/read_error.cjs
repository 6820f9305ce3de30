// Calls a tool with the TypeScript SDK 1.x and prints the result: node read_error.cjs TOOLS URL NAME [COMMAND...]
// With a COMMAND, the league is reached over the standard input of that program.
const { createRequire } = require("node:module");

const [tools, url, name, ...command] = process.argv.slice(2);
const load = createRequire(`${tools}/package.json`);
const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = load("@modelcontextprotocol/sdk/client/streamableHttp.js");

async function main() {
  const client = new Client({ name: "conformance", version: "1.0.0" });
  const [program, ...args] = command;
  await client.connect(
    program
      ? new StdioClientTransport({ command: program, args, stderr: "inherit" })
      : new StreamableHTTPClientTransport(new URL(url)),
  );
  await client.listTools(); // from now on the client applies the output schemas
  process.stdout.write(JSON.stringify(await client.callTool({ name, arguments: {} })) + "\n");
  await client.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
