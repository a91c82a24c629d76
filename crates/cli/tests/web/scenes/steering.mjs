// A run is halted with a reason, resumed, forked from a version, and ended for good.

import assert from "node:assert/strict";
import { axe, browser, fits, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

export default async function play() {
  const server = await TestServer.open("demo");
  const { run } = await server.api("POST", "/runs", { protocol: "demo" });
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Änne" });
  const { page } = ann;
  await ann.to(`/runs/${run}`);
  await page.getByRole("button", { name: "Halt" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/Reason/).fill("Lunch.");
  assert.deepEqual(await axe(page), []);
  await dialog.getByRole("button", { name: "Halt" }).click();
  await page.getByText("Halted by Änne.").waitFor();
  await page.getByText("Lunch.").waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await dialog.getByRole("button", { name: "Resume" }).click();
  await page.getByText("Halted by Änne.").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Fork" }).click();
  await dialog.getByLabel("From version").fill("900");
  await dialog.getByRole("button", { name: "Fork" }).click();
  await dialog.getByText(/From 1 to/).waitFor();
  await dialog.getByLabel("From version").fill("2");
  await dialog.getByRole("button", { name: "Fork" }).click();
  await page.getByText("Forked from").waitFor();
  assert.notEqual(new URL(page.url()).pathname, `/runs/${run}`);
  // The original is named by its title.
  await page.locator(".facts").getByRole("link", { name: "Why a second signature" }).click();
  await page.waitForFunction((at) => location.pathname === at, `/runs/${run}`);
  await page.getByRole("heading", { name: "Why a second signature", level: 1 }).waitFor();
  await page.getByRole("button", { name: "End run" }).click();
  await dialog.getByRole("heading", { name: "End this run?" }).waitFor();
  await dialog.getByText("Why a second signature").waitFor();
  // The button that ends the run is red, and no button says "Cancel", which could mean both.
  const ends = dialog.getByRole("button", { name: "End run", exact: true });
  assert.match(await ends.getAttribute("class"), /danger/);
  const [red, plain] = await Promise.all([ends, dialog.getByRole("button", { name: "Keep running" })].map((one) => one.evaluate((node) => getComputedStyle(node).backgroundColor)));
  const [r, g, b] = red.match(/[\d.]+/g).map(Number);
  assert.ok(r > g + 60 && r > b + 60, `${red} is not red`);
  assert.notEqual(plain, red);
  assert.equal(await dialog.getByRole("button", { name: "Cancel" }).count(), 0);
  assert.deepEqual(await axe(page), []);
  await picture(page, "end-run");
  // The same in the dark, and on a phone.
  for (const [look, as] of [["dark", { theme: "dark" }], ["phone", { width: 360, height: 760 }], ["phone-dark", { theme: "dark", width: 360, height: 760 }]]) {
    const one = await person(chromium, server, { name: "Bob", ...as });
    await one.to(`/runs/${run}`);
    await one.page.getByRole("button", { name: "End run" }).click();
    await one.page.getByRole("dialog").getByRole("heading", { name: "End this run?" }).waitFor();
    await fits(one.page, `the end of a run (${look})`);
    assert.deepEqual(await axe(one.page), []);
    await picture(one.page, `end-run-${look}`);
    one.check();
    await one.close();
  }
  await dialog.getByRole("button", { name: "Keep running" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.notEqual((await server.api("GET", `/runs/${run}`)).status, "failed");
  await page.getByRole("button", { name: "End run" }).click();
  await ends.click();
  await page.getByText("Cancelled", { exact: true }).waitFor();
  assert.equal((await server.api("GET", `/runs/${run}`)).status, "failed");
  ann.check();
  await chromium.close();
  await server.close();
}
