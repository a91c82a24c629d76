// A server that wants a key: the page asks for it, and keeps it for the tab. A reader sees everything, and no button
// that the server would refuse; the server refuses it all the same.

import assert from "node:assert/strict";
import { axe, browser, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

export default async function play() {
  let operator, reader;
  const before = (server) => {
    const made = (role, user) => server.run("key", "create", "--tenant", "default", "--role", role, "--user", user).trim();
    [operator, reader] = [made("operator", "Ann"), made("reader", "Rae")];
  };
  const server = await TestServer.open("demo", { more: ["--keys"], before });
  const { run } = await server.api("POST", "/runs", { protocol: "demo" }, { authorization: `Bearer ${operator}` });
  const chromium = await browser();
  const rae = await person(chromium, server);
  const { page } = rae;
  await rae.to(`/runs/${run}`);
  await page.getByRole("heading", { name: "An API key is required" }).waitFor();
  await picture(page, "locked");
  assert.deepEqual(await axe(page), []);
  await page.getByLabel("Key").fill("csk_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("no such key").waitFor();
  await page.getByLabel("Key").fill(reader);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Is the text good enough to be published?" }).waitFor();
  const none = async (...names) => {
    for (const name of names) assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);
  };
  await page.getByText("Your role is reader, and a decision needs the role operator.").waitFor();
  await page.getByRole("note").getByText("Your role is reader").waitFor();
  await none("Approve", "Deny", "Halt", "Fork", "End run");
  assert.equal(await page.locator("[data-page=start]:visible").count(), 0);
  const refused = await page.evaluate(async (at) => {
    const { post } = await import(`${document.querySelector("script[src]").src.replace(/main\.js$/, "")}core/api.js`);
    return post(at, {}).then(() => "accepted", (problem) => problem.code);
  }, `/runs/${run}/waits/w1/approve`);
  assert.equal(refused, "role");
  assert.deepEqual(await axe(page), []);
  await picture(page, "reader");
  await rae.to("/inbox");
  await page.locator(".line", { hasText: "Why a second signature" }).waitFor();
  await page.getByText("Your role is reader, and a decision needs the role operator.").waitFor();
  await none("Approve", "Deny");
  await rae.to("/start/demo");
  await page.getByRole("heading", { name: "You cannot start runs" }).waitFor();
  await rae.to("/protocols/demo");
  await page.locator(".graph svg").first().waitFor();
  assert.equal(await page.locator("a[href^='/start']:visible").count(), 0);
  await rae.to(`/runs/${run}/prompt`);
  await page.locator(".split, .empty").first().waitFor();
  await none("Submit");
  await rae.to("/contracts/xiaojing_review_v1");
  await page.getByRole("heading", { name: "Schema" }).waitFor();
  await none("Check against the contract", "Compare");

  // The operator has the buttons.
  const ann = await person(chromium, server);
  await ann.to(`/runs/${run}`);
  await ann.page.getByLabel("Key").fill(operator);
  await ann.page.getByRole("button", { name: "Sign in" }).click();
  for (const name of ["Approve", "Deny", "Halt", "End run"]) await ann.page.getByRole("button", { name, exact: true }).waitFor();
  ann.check();
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes("csk_")), false);
  rae.check();
  await chromium.close();
  await server.close();
}
