// A headless Chromium, people in it, and what every page must hold: no message of the console, nothing from outside,
// nothing serious for axe.

import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const PARTS = process.env.COUNTERSIGN_TEST_BROWSER;
const parts = createRequire(path.join(PARTS, "package.json"));
const { default: packed } = await import(pathToFileURL(parts.resolve("@sparticuz/chromium")));
const { chromium } = parts("playwright-core");
const AXE = fs.readFileSync(parts.resolve("axe-core/axe.min.js"), "utf8");

/** Where pictures are put. */
export const SCREENS = path.join(PARTS, "..", "..", "screens");

const ARGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"];

/** A browser. */
export async function browser() {
  return chromium.launch({ executablePath: await packed.executablePath(), headless: true, args: ARGS });
}

/** A person at a browser of their own, who is called so and so. What goes wrong in their pages fails the scene. */
export async function person(browser, server, { name, theme = "light", width = 1280, height = 860, language = "en-US" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, locale: language, reducedMotion: "reduce", timezoneId: "UTC" });
  if (name) await context.addInitScript((user) => localStorage.setItem("countersign.liking.user", JSON.stringify(user)), name);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  let known = false;
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error.stack ?? error)));
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    // The browser itself tells of every answer that is no 2xx, and of a server that is away.
    if (/Failed to load resource|net::ERR/.test(message.text())) return;
    faults.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(server.base) && !request.url().startsWith("data:")) faults.push(`asks outside: ${request.url()}`);
  });
  return {
    page,
    faults,
    // The first address carries the token, as the one that `serve` prints; from then on there is a cookie.
    to: (address) => {
      const first = !known;
      known = true;
      return page.goto(first ? server.opened(address) : server.base + address);
    },
    /** Fails where something went wrong in the pages. */
    check: () => assert.deepEqual(faults, []),
    close: () => context.close(),
  };
}

/** What axe finds that is serious or worse. */
export async function axe(page) {
  // The policy of the page lets no script in but its own; the debugger may.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).slice(0, 4).join(" | ")}`);
}

/** A picture. */
export async function picture(page, name, whole = false) {
  fs.mkdirSync(SCREENS, { recursive: true });
  await page.screenshot({ path: path.join(SCREENS, `${name}.png`), fullPage: whole });
}

/** Fails where the page is wider than the window. */
export async function fits(page, name) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(over <= 0, `${name} is ${over} px too wide`);
}
