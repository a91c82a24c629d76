// The page without a mouse: the skip link, the shortcuts, the sheet that tells of them, the focus on every new page.

import assert from "node:assert/strict";
import { axe, browser, person } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

export default async function play() {
  const server = await TestServer.open("demo");
  await server.api("POST", "/runs", { protocol: "demo" });
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann" });
  const { page } = ann;
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
  await ann.to("/runs");
  await page.getByRole("link", { name: /Why a second signature/ }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to content");
  await page.keyboard.press("Enter");
  await page.keyboard.press("j");
  assert.match(await focused(), /Why a second signature/);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  assert.equal(await focused(), "Inbox");
  await page.getByRole("heading", { name: "Is the text good enough to be published?" }).waitFor();
  await page.keyboard.press("a");
  await page.keyboard.type("Good.");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("Accepted. The run continues.").waitFor();
  await page.keyboard.press("t");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "light");
  ann.check();
  await chromium.close();
  await server.close();
}
