// SPDX-License-Identifier: Apache-2.0
//
// An official client against our server, from end to end: one line of JSON a check,
// {"name", "ok", "why"}. Called by test_clients.py with what to use, as JSON:
// {"lib": "sdk" | "client", "mode", "version", "url" | "command"}.

const what = JSON.parse(process.argv[2]);
const patience = { timeout: 120000, maxTotalTimeout: 120000 };
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";

function say(name, why) {
  console.log(JSON.stringify({ name, ok: !why, why: why || null }));
}

function must(condition, why) {
  if (!condition) throw new Error(why);
}

async function check(name, fn) {
  try {
    await fn();
    say(name);
  } catch (error) {
    say(name, String(error && error.stack ? error.stack : error).slice(0, 2000));
  }
}

async function load() {
  if (what.lib === "sdk") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const { StreamableHTTPClientTransport } = await import(
      "@modelcontextprotocol/sdk/client/streamableHttp.js"
    );
    return { Client, StdioClientTransport, StreamableHTTPClientTransport };
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  return { Client, StdioClientTransport, StreamableHTTPClientTransport };
}

const lib = await load();
const options = what.mode ? { versionNegotiation: { mode: what.mode } } : {};
const client = new lib.Client({ name: "dewar-tests", version: "1" }, options);
const transport = what.url
  ? new lib.StreamableHTTPClientTransport(new URL(what.url))
  : new lib.StdioClientTransport({
      command: what.command[0],
      args: what.command.slice(1),
      env: process.env,
    });

function call(name, args, more) {
  const params = { name, arguments: args };
  const all = { ...patience, ...more };
  return what.lib === "sdk" ? client.callTool(params, undefined, all) : client.callTool(params, all);
}

function textOf(result) {
  return result.content[0].text;
}

await client.connect(transport, patience);

await check("it speaks the revision that we expect", async () => {
  const version =
    what.lib === "sdk" ? transport.protocolVersion : client.getNegotiatedProtocolVersion();
  // The old library does not report it over stdio.
  must(version === undefined || version === what.version, `it is ${version}`);
});

await check("the tools are there, with their schemas", async () => {
  const { tools } = await client.listTools(undefined, patience);
  must(
    tools.map((tool) => tool.name).join() === "code_execute,command_execute",
    JSON.stringify(tools.map((tool) => tool.name)),
  );
  for (const tool of tools)
    must(tool.inputSchema.required.length > 0 && tool.outputSchema.properties.stdout, tool.name);
});

// The library checks the structured content against the schema that it has just received.
await check("code runs, and its output comes back in both forms", async () => {
  const result = await call("code_execute", { language: "python", code: "print(2**64)" });
  must(result.isError !== true, textOf(result));
  must(textOf(result).includes("18446744073709551616"), textOf(result));
  must(result.structuredContent.stdout === "18446744073709551616\n", "stdout");
  must(result.structuredContent.status === "success", "status");
  must(result.structuredContent.proof.achieved === "container", "walls");
});

await check("a command runs, with files and stdin", async () => {
  const result = await call("command_execute", {
    command: "cat in.txt - | tr a-z A-Z",
    files: { "in.txt": "from a file, " },
    stdin: "from stdin",
  });
  must(result.structuredContent.stdout === "FROM A FILE, FROM STDIN", textOf(result));
});

await check("an image comes back as one, and other files as resources", async () => {
  const result = await call("command_execute", {
    command: `echo ${PNG} | base64 -d > dot.png; echo a,b > t.csv`,
    collect: ["*.png", "*.csv"],
  });
  const image = result.content.find((block) => block.type === "image");
  const file = result.content.find((block) => block.type === "resource");
  must(image && image.mimeType === "image/png" && image.data === PNG, textOf(result));
  must(file && file.resource.text === "a,b\n", JSON.stringify(file));
  const again = await client.readResource({ uri: file.resource.uri }, patience);
  must(again.contents[0].text === "a,b\n", "the same as a resource");
});

await check("a program that fails is an error with its output", async () => {
  const result = await call("code_execute", {
    language: "python",
    code: "import sys; print('so far'); sys.exit(3)",
  });
  must(result.isError === true, "isError");
  must(result.structuredContent.exit_code === 3, "exit_code");
  must(textOf(result).includes("so far"), textOf(result));
});

await check("what cannot run says what would", async () => {
  const language = await call("code_execute", { language: "klingon", code: "" });
  must(language.isError && textOf(language).includes("python"), textOf(language));
  const unknown = await call("code_execute", { language: "python", code: "", timeout: 3 });
  must(unknown.isError && textOf(unknown).includes("timeout_s"), textOf(unknown));
  const limit = await call("code_execute", { language: "python", code: "", memory_mb: 4096 });
  must(limit.isError && textOf(limit).includes(": memory_mb must be at most 1024 MB"), textOf(limit));
});

await check("progress is told, and only goes up", async () => {
  const seen = [];
  const result = await call(
    "command_execute",
    { command: "for i in 1 2 3; do echo $i; sleep 0.4; done", timeout_s: 30 },
    { onprogress: (progress) => seen.push(progress) },
  );
  must(result.isError !== true, textOf(result));
  must(seen.length >= 3, JSON.stringify(seen));
  for (let i = 1; i < seen.length; i++)
    must(seen[i].progress > seen[i - 1].progress, JSON.stringify(seen));
  must(seen[0].message === "queued" && seen[0].total === 30, JSON.stringify(seen[0]));
});

await check("a run that is called off is ended", async () => {
  const abort = new AbortController();
  const started = new Promise((resolve) => {
    call(
      "command_execute",
      { command: "echo called-off; sleep 600", timeout_s: 600 },
      {
        signal: abort.signal,
        onprogress: (progress) => progress.message !== "queued" && resolve("started"),
      },
    ).then(
      () => resolve("it was answered"),
      (error) => resolve(String(error)),
    );
  });
  must((await started) === "started", await started);
  abort.abort("no need");
});

await check("two calls run beside each other", async () => {
  const codes = ["print('one')", "print('two')", "print('three')"];
  const results = await Promise.all(
    codes.map((code) => call("code_execute", { language: "python", code })),
  );
  must(
    results.map((result) => result.structuredContent.stdout).join("") === "one\ntwo\nthree\n",
    JSON.stringify(results.map(textOf)),
  );
});

await check("resources can be listed and read", async () => {
  const { resources } = await client.listResources(undefined, patience);
  must(
    resources.map((one) => one.uri).join() === "dewar://languages,dewar://levels",
    JSON.stringify(resources),
  );
  const { resourceTemplates } = await client.listResourceTemplates(undefined, patience);
  must(resourceTemplates[0].uriTemplate === "dewar://runs/{id}", "templates");
  const languages = await client.readResource({ uri: "dewar://languages" }, patience);
  must(languages.contents[0].text.includes('"python"'), languages.contents[0].text);
  const levels = await client.readResource({ uri: "dewar://levels" }, patience);
  must(levels.contents[0].text.includes('"container"'), levels.contents[0].text);
  const { structuredContent } = await call("command_execute", { command: "echo kept" });
  const run = await client.readResource({ uri: `dewar://runs/${structuredContent.id}` }, patience);
  must(JSON.parse(run.contents[0].text).stdout === "kept\n", "the run");
});

await check("what there is not is refused by its name", async () => {
  let error = await call("no_such_tool", {}).then(
    () => null,
    (why) => why,
  );
  must(error && error.code === -32602 && error.message.includes("no_such_tool"), String(error));
  error = await client.readResource({ uri: "dewar://moon" }, patience).then(
    () => null,
    (why) => why,
  );
  must(error && String(error).includes("dewar://moon"), String(error));
});

await client.close();
say("it ends well");
