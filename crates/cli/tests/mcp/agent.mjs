// A coding agent, as far as the protocol sees one: the client from npm drives a run from start to end.
// `node agent.mjs '{"folder", "program", "url"?, "keys"?}'`; without a url the program is started over stdio.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const parts = createRequire(path.join(process.env.COUNTERSIGN_TEST_MCP_NPM, "package.json"));
const part = (name) => import(pathToFileURL(parts.resolve(`@modelcontextprotocol/sdk/client/${name}`)));
const { Client } = await part("index.js");
const { StdioClientTransport } = await part("stdio.js");
const { StreamableHTTPClientTransport } = await part("streamableHttp.js");

const told = JSON.parse(process.argv[2]);

/** A client that has shaken hands; `who` names the key where there are keys. */
async function connect(who) {
  const client = new Client({ name: "agent", version: "1.0.0" });
  const transport = told.url
    ? new StreamableHTTPClientTransport(new URL(told.url), { requestInit: { headers: who ? { authorization: `Bearer ${told.keys[who]}` } : {} } })
    : new StdioClientTransport({ command: told.program, args: ["mcp", "--as", "agent"], cwd: told.folder, env: process.env, stderr: "inherit" });
  await client.connect(transport);
  // The client holds every result against the schema that the list gave.
  await client.listTools();
  return client;
}

/** What a tool gives, where it must go well. */
async function call(client, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

/** The problem that a tool tells, where it must not go well. */
async function refused(client, name, args, code) {
  const result = await client.callTool({ name, arguments: args });
  assert.equal(result.isError, true, `${name}: ${JSON.stringify(result)}`);
  const problem = JSON.parse(result.content[0].text);
  assert.equal(problem.code, code, problem.detail);
  assert.ok(problem.detail.length > 0);
  return problem;
}

/** A person at the terminal. */
function person(...args) {
  const done = spawnSync(told.program, args, { cwd: told.folder, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

const agent = await connect("agent");
assert.match(agent.getInstructions(), /start_run/);
assert.equal(agent.getServerVersion().name, "countersign");

// What there is.
const { tools } = await agent.listTools();
const names = tools.map((tool) => tool.name);
for (const name of ["list_protocols", "start_run", "show_run", "next_step", "submit_reply", "answer", "approve", "deny", "inbox", "remember", "compose_packet", "search_memory", "admit_text"]) assert.ok(names.includes(name), name);
for (const tool of tools) assert.ok(tool.inputSchema && tool.outputSchema && tool.description && tool.annotations, tool.name);
const { items } = await call(agent, "list_protocols");
assert.equal(items[0].name, "demo");
assert.equal(items[0].origin, "folder");
const shown = await call(agent, "show_protocol", { name: "demo" });
assert.equal(shown.workflows[0].id, "text");
const planner = await call(agent, "show_agent", { protocol: "demo", agent: "planner" });
assert.equal(planner.base, "oracle");
assert.match(planner.prompt, /^You are the oracle/);
assert.deepEqual(planner.phases, ["text/outline"]);
const { resources } = await agent.listResources();
const addresses = resources.map((one) => one.uri);
assert.ok(addresses.includes("countersign://protocols/demo") && addresses.includes("countersign://contracts/outline@1.0.0"), addresses.join());
assert.equal((await agent.listResourceTemplates()).resourceTemplates.length, 4);
const contract = await agent.readResource({ uri: "countersign://contracts/outline" });
assert.equal(JSON.parse(contract.contents[0].text).schema.properties.points.minItems, 3);
await assert.rejects(agent.readResource({ uri: "countersign://contracts/nothing" }), /nothing/);

// A run, in which the agent is the model.
const started = await call(agent, "start_run", { idempotency_key: "once" });
assert.equal(started.status, "waiting");
assert.equal(started.expects, "reply");
const { run } = started;
assert.equal((await call(agent, "start_run", { idempotency_key: "once" })).run, run, "the same key is one run");
const first = await call(agent, "next_step", { run });
assert.equal(first.contract.id, "outline");
assert.equal(first.action, started.action);
assert.match(first.messages[0].text, /Why a second signature/);

// A reply that the contract refuses; the violations are enough to mend it.
const points = ["A model proposes, a contract decides"];
const verdict = await call(agent, "submit_reply", { run, action: first.action, reply: { points, status: "completed" } });
assert.equal(verdict.accepted, false);
assert.match(verdict.next_step, /refused/);
const mended = { points: [...points], status: "completed" };
for (const { pointer, code, expected } of verdict.violations) {
  if (pointer === "/status") delete mended.status;
  else if (pointer === "/points") {
    const least = Number(/\d+/.exec(expected)[0]);
    while (mended.points.length < least) mended.points.push(`Point number ${mended.points.length + 1}`);
  } else assert.fail(`${pointer}: ${code}`);
}
assert.equal((await call(agent, "admit_text", { contract: "outline", text: JSON.stringify(mended) })).verdict, "accepted");
await refused(agent, "submit_reply", { run, reply: mended }, "version_required");
await refused(agent, "submit_reply", { run, action: verdict.action }, "bad_arguments");
const taken = await call(agent, "submit_reply", { run, action: verdict.action, reply: mended });
assert.equal(taken.accepted, true);
assert.equal(taken.phase, "draft");
assert.deepEqual((await call(agent, "read_document", { run, pointer: "/outline" })).value, mended.points);

// The old order takes nothing any more, and nothing breaks.
await refused(agent, "submit_reply", { run, action: first.action, reply: mended }, "unknown_action");
await refused(agent, "next_step", { run: "nobody" }, "unknown_run");
await refused(agent, "next_step", {}, "bad_arguments");
await refused(agent, "start_run", { protocol: "dema" }, "unknown_protocol");
await assert.rejects(agent.callTool({ name: "aprove", arguments: {} }), /did you mean `approve`/);

// An approval that is another's.
const body = mended.points.map((point) => `${point}, which is written here at some length.`).join("\n\n");
const draft = await call(agent, "submit_reply", { run, action: taken.action, reply: { title: "The second signature", body } });
assert.equal(draft.accepted, true, JSON.stringify(draft.violations));
assert.equal(draft.status, "waiting");
assert.deepEqual(draft.waits[0].who, ["ann"]);
assert.equal(draft.waits[0].subject.parts[0].value.body, body);
// While a person decides, nobody changes what is decided on.
const patch = JSON.stringify({ merge: { draft: { title: "Mine", body: "Mine" } } });
await refused(agent, "submit_reply", { run, version: draft.version, text: patch }, "patch_not_expected");
assert.match(draft.next_step, /you cannot answer/);
const wait = draft.waits[0].id;
const problem = await refused(agent, "approve", { run, wait, note: "it is fine" }, "not_assignee");
assert.equal(problem.status, 403);
assert.equal((await call(agent, "inbox", { run })).items[0].address, `${run}/${wait}`);
assert.equal((await call(agent, "inbox", { run, mine: true })).items.length, 0);
assert.equal((await call(agent, "show_run", { run })).status, "waiting");

// The person decides, elsewhere, and the agent sees what came of it.
person("approve", `${run}/${wait}`, "--as", "ann");
let ended;
for (let look = 0; look < 50 && ended?.status !== "completed"; look += 1) ended = await call(agent, "show_run", { run });
assert.equal(ended.status, "completed");
assert.equal(ended.output.find((one) => one.pointer === "/published").value, "out/text.md");
assert.match(fs.readFileSync(path.join(told.folder, "out/text.md"), "utf8"), /^# The second signature/);
const document = await agent.readResource({ uri: `countersign://runs/${run}/document` });
assert.equal(JSON.parse(document.contents[0].text).draft.body, body);
person("replay", run, "--verify");

// What is remembered.
const whose = { user: "ann", agent: "helper" };
const remembered = await call(agent, "remember", { ...whose, items: [{ event: "I am vegetarian", id: "e1" }, { fact: "diet", value: "vegetarian", sources: ["e1"], quote: "vegetarian" }] });
assert.equal(remembered.saved.length, 2);
assert.match((await call(agent, "compose_packet", { ...whose, message: "What does Ann eat?", tokens: 600 })).text, /vegetarian/);
assert.equal((await call(agent, "search_memory", { ...whose, text: "vegetarian" })).items.length, 1);

if (told.url) {
  // A key that only looks.
  const reader = await connect("reader");
  const seen = (await reader.listTools()).tools.map((tool) => tool.name);
  assert.ok(seen.includes("show_run") && !seen.includes("start_run") && !seen.includes("approve"), seen.join());
  await refused(reader, "start_run", {}, "role");
  assert.equal((await call(reader, "show_run", { run })).status, "completed");
  await reader.close();
  // A key of somebody else.
  const foreign = await connect("foreign");
  await refused(foreign, "show_run", { run }, "unknown_run");
  assert.deepEqual((await call(foreign, "list_runs")).items, []);
  await foreign.close();
  // No key.
  await assert.rejects(connect(undefined), /401|[Uu]nauthorized|no_key/);
} else {
  // Files that are being written are looked over, also where nothing is kept of them.
  const found = await call(agent, "check_protocol", { files: { "index.yaml": "name: own\nversion: 1.0.0\ndefault_workflow: own\n" } });
  assert.ok(found.errors > 0 && found.diagnostics[0].file.length > 0);
  assert.equal((await call(agent, "check_protocol")).errors, 0);
}
await agent.close();
