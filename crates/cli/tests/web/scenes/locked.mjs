// A server that wants a key: the page asks for it, keeps it for the tab, and says what a reader may not do.

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
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("this request needs the role").waitFor();
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes("csk_")), false);
  rae.check();
  await chromium.close();
  await server.close();
}
