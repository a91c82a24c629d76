// The server goes away while somebody writes, and comes back: a banner, nothing lost, one answer.

import assert from "node:assert/strict";
import { browser, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

export default async function play() {
  const server = await TestServer.open("intake");
  const { run } = await server.api("POST", "/runs", { protocol: "intake", input: "I need a contract for the supply of 200 chairs." });
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann" });
  const { page } = ann;
  await ann.to(`/runs/${run}`);
  await page.getByLabel("Your answer").fill("40 euros");
  await server.end();
  await page.getByText("Reconnecting. What you typed is saved.").waitFor();
  await page.getByLabel("Your answer").fill("40 euros a chair.");
  await page.getByRole("button", { name: "Send answer" }).click();
  await page.getByText("Not sent yet.").waitFor();
  await picture(page, "server-away");
  await server.start();
  await page.locator(".banner").waitFor({ state: "hidden" });
  assert.equal(await page.getByLabel("Your answer").inputValue(), "40 euros a chair.");
  await page.getByRole("button", { name: "Send answer" }).click();
  await page.getByRole("heading", { name: "Before we can go on: No price. What does one chair cost?" }).waitFor();
  const { items } = await server.api("GET", `/runs/${run}/versions`);
  assert.equal(items.filter((one) => one.input?.kind === "answered").length, 1);
  ann.check();
  await chromium.close();
  await server.close();
}
