// A call of an agent is approved by what it would do: the difference of the file. Nothing is done before the yes, a
// denied call is not made, and everybody sees what follows from each.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { axe, browser, fits, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

const PROTOCOL = {
  "index.yaml": `name: desk
version: 1.0.0
default_workflow: publish
workflows: { publish: { title: The report of June } }
models: { default: "script:editor.yaml" }
policy:
  programs: { publish: { command: [cp] } }
  approvals:
    - { calls: write, who: [Ann], deadline: 1d, description: "May the editor write {{ call.path }}?" }
    - { calls: run, who: [Ann, Bob] }
`,
  "agents/editor.yaml": "id: editor\ndescription: edits\nbase: fixer\ntools: replace\ntools_list: [read, write]\n",
  "contracts/edited.yaml": "id: edited\nversion: 1.0.0\nschema: { type: object, additionalProperties: false, required: [summary], properties: { summary: { type: string } } }\n",
  "workflows/publish.yaml": `id: publish
name: A report that an agent edits
phases:
  - { id: edit, agent: editor, contract: edited, apply: { set: { at: /summary, value: reply.summary } } }
  - { id: publish, do: { run: { program: publish, args: [report.md, the site] }, on_failed: { goto: kept } } }
  - { id: kept, name: It is kept for later, terminal: true }
  - { id: done, terminal: true }
transitions: [{ from: edit, to: publish }, { from: publish, to: done }]
`,
};

/** Sends a request as the page itself does, past its buttons; gives the code of the refusal. */
async function forced(page, at, body) {
  return page.evaluate(async ([at, body]) => {
    const base = document.querySelector("script[src]").src.replace(/main\.js$/, "");
    const { once, post } = await import(`${base}core/api.js`);
    return post(at, body, { once: once() }).then(() => "accepted", (problem) => problem.code);
  }, [at, body]);
}

const BEFORE = "# June\n\nRevenue was 90,000 euros.\nWe hired two people.\n";
const AFTER = BEFORE.replace("90,000", "94,500");
const SCRIPT = [
  { reply: { tool_calls: [{ tool: "write", path: "report.md", content: AFTER }] } },
  { reply: { tool_calls: [{ tool: "write", path: "notes.md", content: "Nobody asked for these." }] } },
  { reply: { summary: "The revenue is corrected." } },
];

export default async function play() {
  const server = await TestServer.open("desk", { before: ({ folder }) => {
    for (const [name, text] of Object.entries(PROTOCOL)) {
      const file = path.join(folder, ".opencode/protocol", name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text);
    }
    fs.writeFileSync(path.join(folder, "report.md"), BEFORE);
    fs.writeFileSync(path.join(folder, "editor.yaml"), JSON.stringify(SCRIPT));
  } });
  server.run("trust", "--yes");
  const report = () => fs.readFileSync(path.join(server.folder, "report.md"), "utf8");
  const { run } = await server.api("POST", "/runs", { protocol: "desk", workflow: "publish" });
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann" });
  const bob = await person(chromium, server, { name: "Bob", theme: "dark" });
  const phone = await person(chromium, server, { name: "Ann", width: 390, height: 800 });

  // The card shows the difference of the file, the arguments that are signed, and what follows.
  for (const one of [ann, bob, phone]) {
    await one.to(`/inbox/${run}/w1`);
    await one.page.getByRole("heading", { name: "May the editor write report.md?" }).waitFor();
    await one.page.getByRole("heading", { name: "changes report.md" }).waitFor();
    assert.equal(await one.page.locator(".subject del.remove").textContent(), "−Revenue was 90,000 euros.");
    assert.equal(await one.page.locator(".subject ins.add").textContent(), "+Revenue was 94,500 euros.");
  }
  const card = ann.page.locator(".wait");
  await card.getByText("The requested action is performed exactly as shown.").waitFor();
  assert.equal(await card.getByText("The agent reads that the call was denied, and why, and goes on without it.").count(), 2);
  await card.getByText("The exact arguments that are signed").click();
  await card.locator(".json").getByText("report.md").waitFor();
  await bob.page.getByText("Somebody else must decide this.").waitFor();
  assert.equal(await bob.page.getByRole("button", { name: "Approve" }).count(), 0);
  await fits(phone.page, "a call on a phone");
  await picture(phone.page, "call-phone", true);
  await picture(bob.page, "call-dark", true);
  await picture(ann.page, "call-light", true);
  assert.deepEqual(await axe(ann.page), []);
  assert.deepEqual(await axe(bob.page), []);
  assert.equal(report(), BEFORE, "nothing is done before the yes");

  // Past the buttons it is refused as well: who may not, who saw something else, and who would write under the decision.
  const waits = `/runs/${run}/waits/w1`;
  const { subject } = (await server.api("GET", `/runs/${run}`)).waits[0];
  assert.equal(await forced(bob.page, `${waits}/approve`, { subject: subject.digest }), "not_assignee");
  assert.equal(await forced(ann.page, `${waits}/approve`, {}), "subject_required");
  assert.equal(await forced(ann.page, `${waits}/approve`, { subject: subject.digest.replace(/.$/, "x") }), "subject_changed");
  assert.equal(await forced(bob.page, `/runs/${run}/submit`, { text: JSON.stringify({ merge: { summary: "Mine." } }) }), "patch_not_expected");
  assert.equal(report(), BEFORE, "nothing of it is done");

  // One yes makes this call, and no other.
  await ann.page.getByRole("button", { name: "Approve" }).click();
  await ann.page.getByText("Accepted.").waitFor();
  await ann.to(`/inbox/${run}/w2`);
  await ann.page.getByText("new file notes.md").waitFor();
  assert.equal(report(), AFTER);
  await ann.page.getByLabel(/Note/).fill("Keep your notes.");
  await ann.page.getByRole("button", { name: "Deny" }).click();
  await ann.page.getByText("Accepted.").waitFor();

  // The agent goes on. The next call is a command line; a no leads where the protocol says.
  await bob.to(`/inbox/${run}/w3`);
  await bob.page.getByText("runs cp report.md 'the site'").waitFor();
  await bob.page.getByText("The run goes on to “It is kept for later” and ends there.").waitFor();
  await picture(bob.page, "call-command", true);
  await bob.page.getByRole("button", { name: "Deny" }).click();
  await bob.page.getByText("Accepted.").waitFor();
  const end = await server.api("GET", `/runs/${run}`);
  assert.deepEqual([end.status, end.phase, end.title], ["completed", "kept", "The report of June"]);
  assert.ok(!fs.existsSync(path.join(server.folder, "notes.md")), "a denied call is not made");
  assert.ok(!fs.existsSync(path.join(server.folder, "the site")), "nor a denied command");
  const proof = await server.api("GET", `/runs/${run}/verify`);
  assert.equal(proof.verified, true);
  for (const one of [ann, bob, phone]) one.check();
  await chromium.close();
  await server.close();
}
