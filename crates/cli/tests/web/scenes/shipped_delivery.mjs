// The protocol `delivery` as it ships: a goal, a document that is handed in, a budget that somebody must
// answer for, and what was delivered in the end.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { browser, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

const asks = "    - reply: { schema_version: xiaobo_action_v1, task_id: note, result_type: NEEDS_INPUT, needs_input: { required_docs: [ { name: Brief, description: What is wanted, accepted_types: [md], suggested_path: workspace/inputs/brief.md } ] } }\n";

/** The executor wants a document more often than its budget allows. */
function insists(server) {
  const file = path.join(server.folder, "replies.yaml");
  const script = fs.readFileSync(file, "utf8");
  fs.writeFileSync(file, script.replace("\n  execute:\n", `\n  execute:\n${asks.repeat(6)}`));
}

export default async function play() {
  const server = await TestServer.open("delivery", { before: insists });
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann" });
  const { page } = ann;
  await ann.to("/start");
  await page.getByRole("link", { name: /delivery/ }).click();
  await page.getByRole("main").getByRole("textbox").first().fill("A note on countersigning");
  await page.getByRole("button", { name: "Start" }).click();
  await page.waitForURL(/\/runs\//);
  // The task is a run of its own, and what it waits for is in the inbox.
  await ann.to("/inbox");
  const brings = async (wait, text) => {
    const card = page.locator(`article[data-wait="${wait}"]`);
    await card.getByRole("heading", { name: "Task note needs Brief: What is wanted" }).waitFor();
    await card.getByLabel("Choose a file").setInputFiles({ name: "brief.md", mimeType: "text/markdown", buffer: Buffer.from(text) });
    await picture(page, "delivery-upload");
    await card.getByRole("button", { name: "Upload the document" }).click();
  };
  // A file of another type is not sent, and the form says what is expected.
  let sent = 0;
  page.on("request", (request) => (sent += request.method() === "PUT" ? 1 : 0));
  const first = page.locator('article[data-wait="w1"]');
  await first.getByLabel("Choose a file").setInputFiles({ name: "brief.exe", mimeType: "application/octet-stream", buffer: Buffer.from("MZ") });
  await first.getByRole("button", { name: "Upload the document" }).click();
  await first.getByText("brief.exe was not sent. This wait accepts files of these types: .md.").waitFor();
  assert.equal(sent, 0);
  // A document answers one wait; who asks for it once too often must be let go on.
  for (const n of [1, 2, 3, 4, 5]) await brings(`w${n}`, `# Brief ${n}\n`);
  const grant = page.locator(".wait").filter({ hasText: "The executor has asked for documents five times" });
  await grant.waitFor();
  await grant.getByLabel("Amount to add to budget Input rounds").fill("3");
  await picture(page, "delivery-grant");
  await grant.getByRole("button", { name: "Grant and continue" }).click();
  await brings("w7", "# Brief, once more\n");
  await page.getByRole("heading", { name: "Nothing needs your attention" }).waitFor();
  const [whole] = JSON.parse(server.run("list", "--workflow", "delivery", "--json"));
  await ann.to(`/runs/${whole.run}`);
  await page.getByText("Completed", { exact: true }).first().waitFor();
  // What is delivered is looked at and downloaded, not a list of digests.
  const delivered = page.locator(".product .file", { hasText: "v2-countersigning.md" });
  await delivered.locator(".markdown").waitFor();
  const [saved] = await Promise.all([page.waitForEvent("download"), delivered.getByRole("link", { name: /Download/ }).click()]);
  assert.equal(saved.suggestedFilename(), "v2-countersigning.md");
  assert.equal(await page.locator(".file[data-path='deliverables/note/v2-countersigning.md']").count(), 1);
  await page.evaluate(() => window.scrollTo(0, 0));
  await picture(page, "delivery-done");
  const manifest = JSON.parse(fs.readFileSync(path.join(server.folder, "deliverables/manifest.json"), "utf8"));
  assert.equal(manifest.deliverables[0].version, 2);
  const task = JSON.parse(server.run("list", "--workflow", "task", "--json"))[0];
  const said = JSON.parse(server.run("history", task.run, "--json")).map(({ input }) => input).filter((one) => one?.by === "Ann");
  assert.equal(said.length, 7, "six documents, and what Ann granted");
  ann.check();
  await chromium.close();
  await server.close();
}
