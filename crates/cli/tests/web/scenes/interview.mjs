// An interview from start to ready and on to its document, held on the page: an outline is chosen, frozen, drafted,
// reviewed and exported.

import assert from "node:assert/strict";
import { browser, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

export default async function play() {
  const server = await TestServer.open("intake");
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann" });
  const { page } = ann;
  await ann.to("/");
  await page.getByRole("heading", { name: "Nothing needs your attention" }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "New run" }).click();
  await page.getByRole("link", { name: /intake/ }).click();
  await page.getByRole("main").getByRole("textbox").first().fill("I need a contract for the supply of 200 chairs.");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("heading", { name: "What does one chair cost?", exact: true }).waitFor();
  await page.getByLabel("Your answer").fill("40 euros a chair.");
  await picture(page, "interview");
  await page.getByRole("button", { name: "Send answer" }).click();
  await page.getByRole("heading", { name: "Before we can go on: No price. What does one chair cost?" }).waitFor();
  await page.getByLabel("Your answer").fill("Forty euros, as I said.");
  await page.getByRole("button", { name: "Send answer" }).click();
  await page.getByText("Waiting for a child run").waitFor();
  const interview = page.url();
  await page.locator("[data-waiting-child] a").click();
  await page.getByRole("heading", { name: "Who brings the chairs?" }).first().waitFor();
  await page.getByRole("radio", { name: "The buyer collects them" }).check();
  await picture(page, "outline-choice");
  await page.getByRole("button", { name: "Send answer" }).click();
  await page.getByRole("heading", { name: /^Freeze this outline\?/ }).first().waitFor();
  await page.getByText("Supply of chairs").first().waitFor();
  await picture(page, "outline-freeze", true);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Completed", { exact: true }).first().waitFor();
  await page.getByText(/out\/.*\.docx/).first().waitFor();
  await picture(page, "document-done", true);
  await page.goto(interview);
  await page.getByText("Completed", { exact: true }).first().waitFor();
  // What was asked and said stands there as a conversation, in order.
  const said = await page.locator(".talk .said").allTextContents();
  assert.deepEqual(said, ["I need a contract for the supply of 200 chairs.", "What does one chair cost?", "40 euros a chair.", "Before we can go on: No price. What does one chair cost?", "Forty euros, as I said."]);
  await page.getByRole("navigation", { name: "Views of the run" }).getByRole("link", { name: "Timeline" }).click();
  await page.getByText("Refused: 1 violation").first().waitFor();
  await page.locator(".violation code", { hasText: "/patch/ops/0/path" }).first().waitFor();
  await page.getByRole("link", { name: "Verification" }).click();
  await page.getByRole("button", { name: "Verify now" }).click();
  await page.getByRole("heading", { name: "Verification passed" }).waitFor();
  const [run] = JSON.parse(server.run("list", "--json")).filter((one) => !one.run.includes("."));
  assert.equal(run.status, "completed");
  const [first] = JSON.parse(server.run("history", run.run, "--json"));
  assert.equal(first.input.by, "Ann");
  ann.check();
  await chromium.close();
  await server.close();
}
