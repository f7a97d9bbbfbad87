// SPDX-License-Identifier: Apache-2.0
//
// An official client whose user is asked for approval. Called by test_approvals.py with
// what to use, as client.mjs is, and what the user says: "answer", the result of each
// elicitation, or null for a client that has none. Prints {"asked", "progress", "result"}.

const what = JSON.parse(process.argv[2]);
const patience = { timeout: 120000, maxTotalTimeout: 120000 };

const old = what.lib === "sdk";
const { Client } = old
  ? await import("@modelcontextprotocol/sdk/client/index.js")
  : await import("@modelcontextprotocol/client");
const { StreamableHTTPClientTransport } = old
  ? await import("@modelcontextprotocol/sdk/client/streamableHttp.js")
  : await import("@modelcontextprotocol/client");
const { StdioClientTransport } = old
  ? await import("@modelcontextprotocol/sdk/client/stdio.js")
  : await import("@modelcontextprotocol/client/stdio");

const client = new Client(
  { name: "dewar-tests", version: "1" },
  {
    ...(what.mode ? { versionNegotiation: { mode: what.mode } } : {}),
    capabilities: what.answer ? { elicitation: { form: {} } } : {},
  },
);

const asked = [];
function answer(request) {
  asked.push(request.params);
  return what.answer;
}
if (what.answer && old) {
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  client.setRequestHandler(ElicitRequestSchema, answer);
} else if (what.answer) {
  client.setRequestHandler("elicitation/create", answer);
}

const transport = what.url
  ? new StreamableHTTPClientTransport(new URL(what.url))
  : new StdioClientTransport({
      command: what.command[0],
      args: what.command.slice(1),
      env: process.env,
    });
await client.connect(transport, patience);

const progress = [];
const params = { name: what.tool, arguments: what.arguments };
const options = {
  ...patience,
  onprogress: ({ message }) => {
    progress.push(message);
    // The test that started us may have to act now.
    if (!what.answer) console.error(message);
  },
};
const result = old
  ? await client.callTool(params, undefined, options)
  : await client.callTool(params, options);
console.log(JSON.stringify({ asked, progress, result }));
await client.close();
