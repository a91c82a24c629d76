// An inbox of 24,000 waits, all of them read, is shown as fast as one of a hundred, and goes on as one scrolls.

import assert from "node:assert/strict";
import { browser, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

const MANY = 24_000;
const PAGE = 100;

export default async function play() {
  const server = await TestServer.open("demo");
  const now = Date.now();
  const row = (n) => ({ id: "w1", kind: n % 3 ? "question" : "approval", phase: "ask", name: "q", question: `Question number ${n}: what is the delivery date of order ${n * 7}?`, shape: { shape: "value", schema: { type: "string" } }, deadline: now + n * 60_000, opened_at: now - n * 1_000, run: `r${n}`, address: `r${n}/w1`, answer_hint: "text", answer_command: "" });
  const chromium = await browser();
  const ann = await person(chromium, server);
  const { page } = ann;
  // What the store takes to find a page is measured elsewhere; here it is what the page takes to show it.
  let held = null;
  await page.route(/\/v1\/inbox(\?|$)/, async (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
    if (from === 2 * PAGE) await held;
    const items = Array.from({ length: Math.min(PAGE, MANY - from) }, (_, at) => row(from + at));
    return route.fulfill({ json: { items, ...(from + PAGE < MANY ? { next_cursor: String(from + PAGE) } : {}) } });
  });
  await ann.to("/system");
  await page.getByRole("heading", { name: "System" }).waitFor();
  await page.evaluate(async () => {
    const core = document.querySelector("script[type=module]").src.replace(/main\.js$/, "core/");
    const [inbox, { store }] = await Promise.all([import(`${core}inbox.js`), import(`${core}store.js`)]);
    window.scene = { inbox, store };
  });
  // A page that comes after the list was read anew leaves no hole behind it.
  let release;
  held = new Promise((resolve) => (release = resolve));
  await page.evaluate(async () => {
    const { inbox } = window.scene;
    await inbox.reload();
    await inbox.more();
    window.scene.late = inbox.more();
    await inbox.reload();
  });
  release();
  held = null;
  // All of them are known to the page, as after a long look through the list.
  const known = await page.evaluate(async () => {
    const { inbox, store, late } = window.scene;
    await late;
    while (!store.get("inbox")?.items.length || store.get("inbox").more) await inbox.more();
    return store.get("inbox").items.length;
  });
  assert.equal(known, MANY);
  const shown = await page.evaluate(async () => {
    const began = performance.now();
    document.querySelector('a[href="/inbox"][data-page]').click();
    while (document.querySelectorAll(".rows > li").length < 100) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - began;
  });
  console.log(`the first rows after ${shown.toFixed(0)} ms`);
  assert.ok(shown < 200, `the inbox took ${shown} ms`);
  assert.equal(await page.locator(".nav .count").textContent(), String(MANY));
  await picture(page, "inbox-many");
  await page.locator(".rows > li").last().scrollIntoViewIfNeeded();
  await page.locator(".rows > li").nth(150).waitFor({ state: "attached" });
  ann.check();
  await chromium.close();
  await server.close();
}
