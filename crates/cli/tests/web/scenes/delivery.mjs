// A form of every kind of field, a choice, a document that is handed in, and an approval with a note.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { axe, browser, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

export default async function play() {
  const server = await TestServer.open("desk");
  const { run } = await server.api("POST", "/runs", { protocol: "desk" });
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann" });
  const { page } = ann;
  await ann.to("/inbox");
  // The nearest deadline first, and its form is there.
  const form = page.locator(".wait").filter({ hasText: "What do you know about the order?" });
  await form.waitFor();
  await form.getByRole("button", { name: "Send answer" }).click();
  assert.equal(await form.locator("[aria-invalid=true]").count(), 3);
  await form.getByLabel("Buyer").fill("A");
  await form.getByLabel("How many").fill("many");
  await form.getByRole("radio", { name: "No", exact: true }).check();
  await form.getByRole("button", { name: "Send answer" }).click();
  await form.getByText("At least 2 characters.").waitFor();
  await form.getByText("Enter a whole number.").waitFor();
  await picture(page, "form-errors");
  assert.deepEqual(await axe(page), []);
  await form.getByLabel("Buyer").fill("Atelier Nord");
  await form.getByLabel("How many").fill("200");
  await form.getByLabel("City").fill("Lyon");
  await form.getByRole("radio", { name: "FR" }).check();
  await form.getByRole("button", { name: "Add an item" }).click();
  await form.getByLabel("Item 1", { exact: true }).fill("By rail.");
  // A page that is loaded anew has what was typed.
  await page.reload();
  assert.equal(await form.getByLabel("Buyer").inputValue(), "Atelier Nord");
  assert.equal(await form.getByLabel("Item 1", { exact: true }).inputValue(), "By rail.");
  await form.getByRole("button", { name: "Send answer" }).click();
  await page.getByRole("heading", { name: "Which colour?" }).waitFor();
  await page.getByRole("radio", { name: "Green as grass" }).check();
  await page.getByRole("button", { name: "Send answer" }).click();
  await page.getByRole("heading", { name: "Bring the brief." }).waitFor();
  await page.getByLabel("Choose a file").setInputFiles({ name: "brief.md", mimeType: "text/markdown", buffer: Buffer.from("# Chairs\n") });
  await page.getByRole("button", { name: "Upload the document" }).click();
  await page.getByRole("heading", { name: "May the order go out?" }).waitFor();
  await page.getByLabel(/Note/).fill("Well prepared.");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Accepted. The run continues.").waitFor();
  const state = await server.api("GET", `/runs/${run}`);
  assert.equal(state.status, "completed");
  const document = await server.api("GET", `/runs/${run}/document`);
  assert.deepEqual(document.facts, { buyer: "Atelier Nord", count: 200, urgent: false, address: { city: "Lyon", country: "FR" }, notes: ["By rail."] });
  assert.equal(document.colour, "green");
  assert.equal(fs.readFileSync(path.join(server.folder, document.brief.path), "utf8"), "# Chairs\n");
  const { items } = await server.api("GET", `/runs/${run}/versions`);
  const decided = items.find((one) => one.input?.kind === "approval_decided").input;
  assert.deepEqual([decided.approve, decided.by, decided.note], [true, "Ann", "Well prepared."]);
  ann.check();
  await chromium.close();
  await server.close();
}
