// Runs have titles; a search and filters find them, and the address keeps both. A parent says that its child waits, and
// they lead to each other. Statistics are drawn and read.

import assert from "node:assert/strict";
import { axe, browser, fits, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

const BUYERS = ["Иванов и сыновья", "合同价格有限公司", "Smith Chairs"];

export default async function play() {
  const server = await TestServer.open("desk");
  const started = [];
  for (const buyer of BUYERS) started.push((await server.api("POST", "/runs", { workflow: "order", input: buyer })).run);
  await server.api("POST", "/runs", { workflow: "desk" });
  // Each order waits for its child, which waits for Ann.
  const until = Date.now() + 20_000;
  for (;;) {
    const { items } = await server.api("GET", "/runs?workflow=order");
    if (items.length === 3 && items.every((row) => row.waiting_child?.asks === "Ann")) break;
    assert.ok(Date.now() < until, `no child waits: ${JSON.stringify(items)}`);
    await new Promise((done) => setTimeout(done, 100));
  }
  const { waiting_child: child } = (await server.api("GET", "/runs?q=chairs&workflow=order")).items[0];
  assert.equal(child.title, "Credit of Smith Chairs");

  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann" });
  const { page } = ann;
  const titles = () => page.locator(".run-line .what").evaluateAll((all) => all.map((one) => one.firstChild.textContent));
  await ann.to("/runs");
  await page.getByText("Order for Smith Chairs").waitFor();
  assert.equal((await titles()).length, 7);
  await page.getByText("Waiting for a child run: Credit of Smith Chairs, asks Ann").waitFor();

  // `/` goes to the search, which the server answers, in any script, without the endings of words.
  await page.keyboard.press("/");
  assert.ok(await page.evaluate(() => document.activeElement.matches("[data-search]")));
  await page.keyboard.type("chair");
  await page.waitForFunction(() => document.querySelectorAll(".run-line").length === 2);
  assert.deepEqual((await titles()).toSorted(), ["Credit of Smith Chairs", "Order for Smith Chairs"]);
  assert.equal(new URL(page.url()).searchParams.get("q"), "chair");
  await page.locator("[data-search]").fill("价格");
  await page.getByText("Order for 合同价格有限公司").waitFor();
  await page.locator("[data-search]").fill("СЫНОВЬЯ");
  await page.getByText("Order for Иванов и сыновья").waitFor();
  await page.getByText("More filters").click();
  await page.getByLabel("Workflow", { exact: true }).fill("credit");
  await page.waitForFunction(() => document.querySelectorAll(".run-line").length === 1);
  assert.deepEqual(await titles(), ["Credit of Иванов и сыновья"]);
  // Filters by who started it, by the version of the protocol and by time are answered by the server too.
  const only = async (label, value, count) => {
    await page.getByLabel(label, { exact: true }).fill(value);
    await page.waitForFunction((n) => document.querySelectorAll(".run-line").length === n, count);
  };
  await only("Started by", "nobody", 0);
  await only("Started by", "", 1);
  await only("Version of the protocol", "9.9.9", 0);
  await only("Version of the protocol", "1.0.0", 1);
  await only("Created before (UTC)", "2020-01-01", 0);
  await only("Created before (UTC)", "", 1);
  await only("Created on or after (UTC)", "2999-01-01", 0);
  await only("Created on or after (UTC)", "2020-01-01", 1);
  // The address keeps search and filters.
  await page.reload();
  await page.getByText("Credit of Иванов и сыновья").waitFor();
  assert.equal(await page.locator("[data-search]").inputValue(), "СЫНОВЬЯ");
  assert.equal(await page.getByLabel("Workflow", { exact: true }).inputValue(), "credit");
  assert.equal(await page.getByLabel("Version of the protocol", { exact: true }).inputValue(), "1.0.0");
  await picture(page, "run-lists-filtered", true);
  await page.locator("[data-search]").fill("nothing like that");
  await page.getByText("No run matches the search text and the filters.").waitFor();
  await page.getByRole("button", { name: "Clear the filter" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".run-line").length === 7);
  assert.equal(new URL(page.url()).search, "");

  // Parent and child lead to each other.
  await ann.to(`/runs/${started[2]}`);
  await page.getByRole("heading", { level: 1, name: "Order for Smith Chairs" }).waitFor();
  const note = page.locator("[data-waiting-child]");
  await note.waitFor();
  assert.equal(await note.textContent(), "Waiting for a child run: Credit of Smith Chairs, asks Ann");
  await picture(page, "run-lists-parent");
  await note.getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "Credit of Smith Chairs" }).waitFor();
  await page.locator("[data-parent]").getByRole("link", { name: "Order for Smith Chairs" }).click();
  await page.getByRole("heading", { level: 1, name: "Order for Smith Chairs" }).waitFor();
  await server.api("POST", `/runs/${child.run}/waits/w1/answer`, { value: 500 }, { "countersign-as": "Ann" });
  await page.locator(".page-head [data-is=completed]").waitFor();
  await page.waitForFunction(() => !document.querySelector("[data-waiting-child]"));
  // The number is in no title and no input: only the documents have it.
  await ann.to("/runs?q=500");
  await page.waitForFunction(() => document.querySelectorAll(".run-line").length === 2);
  assert.deepEqual((await titles()).toSorted(), ["Credit of Smith Chairs", "Order for Smith Chairs"]);

  // Statistics: the figures are in the table too.
  await ann.to("/stats");
  await page.locator(".chart").first().waitFor();
  const table = await page.locator(".table-wide tbody tr").allTextContents();
  assert.equal(table.length, 3, table.join("\n"));
  assert.ok(table.some((row) => row.includes("order3")), table.join("\n"));
  await page.getByLabel("Workflow", { exact: true }).selectOption("order");
  await page.waitForFunction(() => document.querySelectorAll(".table-wide tbody tr").length === 1);
  assert.equal(await page.locator(".chart").count(), 4);
  ann.check();
  await ann.close();

  const found = [];
  for (const [look, as] of [["light", { theme: "light" }], ["dark", { theme: "dark" }], ["phone", { width: 360, height: 760 }], ["ru", { language: "ru-RU", width: 360, height: 760 }], ["zh", { language: "zh-CN", theme: "dark" }]]) {
    const one = await person(chromium, server, as);
    for (const [name, address, ready] of [["runs", "/runs", ".run-line"], ["stats", "/stats", ".chart"], ["run", `/runs/${started[0]}`, "[data-waiting-child]"]]) {
      await one.to(address);
      await one.page.locator(ready).first().waitFor();
      await picture(one.page, `run-lists-${name}-${look}`, true);
      await fits(one.page, `${name} (${look})`);
      found.push(...(await axe(one.page)).map((fault) => `${name} (${look}): ${fault}`));
    }
    one.check();
    await one.close();
  }
  assert.deepEqual(found, []);
  await chromium.close();
  await server.close();
}
