// Durations, tokens and cost: of each run in the list, in total as figures, and over time as charts that a screen reader
// can read too.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { axe, browser, fits, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

const DAY = 86_400_000;
const REPLY = { reply: { note: "Done." }, usage: { input_tokens: 1_200, output_tokens: 300 } };

const PROTOCOL = {
  "index.yaml": `name: desk
version: 1.0.0
default_workflow: note
models:
  default: "script:notes.yaml"
  prices: { "script:notes.yaml": { input: 2, output: 8 } }
workflows: { note: { title: A note } }
`,
  "agents/clerk.yaml": "id: clerk\ndescription: notes\nbase: fixer\n",
  "contracts/note.yaml": "id: note\nversion: 1.0.0\nschema: { type: object, additionalProperties: false, required: [note], properties: { note: { type: string } } }\n",
  "workflows/note.yaml": `id: note
phases:
  - { id: write, agent: clerk, contract: note, apply: { set: { at: /note, value: reply.note } } }
  - { id: done, terminal: true }
transitions: [{ from: write, to: done }]
`,
};

/** Statistics of four weeks, as the server sends them. */
function month(since) {
  const totals = (at) => ({ runs: 2 + (at % 7), statuses: { completed: 2 + (at % 7) }, duration_p50_ms: 60_000 * (1 + (at % 5)), duration_p95_ms: 600_000, input_tokens: 9_000 + 2_100 * (at % 6), output_tokens: 2_000 + 400 * (at % 4), cost: 41_000 + 9_000 * (at % 6) });
  const days = Array.from({ length: 28 }, (_, at) => ({ day: since + (at + 2) * DAY, totals: totals(at) })).reverse();
  const sum = (name) => days.reduce((all, one) => all + one.totals[name], 0);
  const total = { runs: sum("runs"), statuses: { completed: sum("runs") - 3, waiting: 3 }, duration_p50_ms: 150_000, duration_p95_ms: 600_000, input_tokens: sum("input_tokens"), output_tokens: sum("output_tokens"), cost: sum("cost") };
  return { since, until: since + 30 * DAY, total, days, items: days.map((one) => ({ ...one, workflow: "note" })), truncated: false };
}

export default async function play() {
  const server = await TestServer.open("desk", { before: ({ folder }) => {
    for (const [name, text] of Object.entries(PROTOCOL)) {
      const file = path.join(folder, ".opencode/protocol", name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text);
    }
    fs.writeFileSync(path.join(folder, "notes.yaml"), JSON.stringify([REPLY]));
  } });
  const started = [];
  for (let at = 0; at < 2; at += 1) started.push(await server.api("POST", "/runs", { workflow: "note" }, { prefer: "wait=25" }));
  for (const { run } of started) assert.equal((await server.api("GET", `/runs/${run}`)).status, "completed");
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann" });
  const { page } = ann;

  // Two runs of 1,200 and 300 tokens at 2 and 8 for a million: 0.0048 each.
  await ann.to("/runs");
  await page.locator(".run-line").nth(1).waitFor();
  for (const text of await page.locator(".run-figures").allTextContents()) assert.match(text, /s.*1,500 tokens.*Cost 0\.0048/);
  await ann.to(`/runs/${started[0].run}`);
  await page.locator(".facts", { hasText: "1,500 tokens" }).waitFor();
  await page.locator(".facts dd", { hasText: /^0\.0048$/ }).waitFor();
  await ann.to("/stats");
  const chart = (name) => page.locator("figure.chart", { has: page.locator("strong", { hasText: new RegExp(`^${name}$`) }) });
  await chart("Tokens").getByText("highest: 3,000").waitFor();
  await chart("Cost").getByText("highest: 0.0096").waitFor();
  await chart("Runs").getByText("highest: 2").waitFor();
  await chart("Median duration").waitFor();
  await page.getByRole("img", { name: "Tokens by day, highest value 3,000. The table below has all values." }).waitFor();
  const facts = await page.locator("dl.facts").first().textContent();
  for (const part of ["Input tokens2,400", "Output tokens600", "Cost0.0096"]) assert.ok(facts.includes(part), facts);
  assert.equal(await chart("Tokens").locator(".chart-bar title").last().textContent().then((text) => text.split(": ")[1]), "3,000");
  ann.check();
  await ann.close();

  // A month of figures: the bars are as high as the values.
  for (const [look, as] of [["light", { theme: "light" }], ["dark", { theme: "dark" }], ["phone", { width: 360, height: 760 }]]) {
    const one = await person(chromium, server, as);
    await one.page.route("**/v1/stats?*", (route) => {
      const since = Date.parse(new URL(route.request().url()).searchParams.get("since"));
      return route.fulfill({ json: month(since) });
    });
    await one.to("/stats");
    await one.page.locator(".chart svg").first().waitFor();
    const heights = await one.page.locator("figure.chart").nth(1).locator(".chart-bar").evaluateAll((all) => all.map((bar) => Number(bar.getAttribute("height"))));
    const values = [0, 0, ...month(0).days.map(({ totals }) => totals.input_tokens + totals.output_tokens).reverse()];
    const most = Math.max(...values);
    heights.forEach((height, at) => assert.ok(Math.abs(height - (values[at] / most) * 120) < 1.01, `bar ${at}: ${height} for ${values[at]}`));
    await fits(one.page, `statistics (${look})`);
    assert.deepEqual(await axe(one.page), []);
    await picture(one.page, `figures-${look}`, true);
    one.check();
    await one.close();
  }
  await chromium.close();
  await server.close();
}
