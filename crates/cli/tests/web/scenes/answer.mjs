// A question is answered from evidence; the page shows the answer, the evidence, and the reply that was sent back.

import assert from "node:assert/strict";
import { browser, person } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

export default async function play() {
  const server = await TestServer.open("answer");
  const { run } = await server.api("POST", "/runs", { protocol: "answer", input: "How many tasks of project Atlas are late?" }, { prefer: "wait=25" });
  const chromium = await browser();
  const ann = await person(chromium, server);
  const { page } = ann;
  await ann.to(`/runs/${run}`);
  await page.getByText("In project ATLAS 1 task is late").first().waitFor();
  await page.getByRole("link", { name: "Document" }).click();
  await page.getByText("query:figures?about=ATLAS#project=ATLAS").first().waitFor();
  await page.getByRole("link", { name: "Timeline" }).click();
  await page.locator(".entry").nth(5).waitFor();
  assert.ok((await page.locator(".entry").count()) > 5);
  const packet = page.getByRole("link", { name: "The memory packet in the prompt" });
  if (await packet.count()) {
    await packet.first().click();
    await page.getByRole("heading", { name: "Selected" }).waitFor();
  }
  ann.check();
  await chromium.close();
  await server.close();
}
