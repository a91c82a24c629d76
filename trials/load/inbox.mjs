// Measures how long a browser takes to show the inbox with all waits of the server: the whole page from the first
// request, and another kind of waits from the click.

import { browser, person } from "../../crates/cli/tests/web/browser.mjs";

const ROWS = "ul.rows li";
const one = await browser();
const { BASE: base, TOKEN: token } = process.env;
const who = await person(one, { base, opened: (address) => `${base}${address}?token=${token}` }, { name: "ann" });

/** Until the rows are there and painted, on the clock of the page. */
const shown = () => who.page.evaluate(async (rows) => {
  const ready = () => document.querySelectorAll(rows).length >= 50 && !document.querySelector(".desk-list [aria-busy=true], .desk-list .loading");
  while (!ready()) await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return performance.now();
}, ROWS);

const ROUNDS = 60;
await who.to("/");
const first = await shown();
const loads = [];
for (let round = 0; round < ROUNDS; round += 1) {
  await who.to("/");
  loads.push(await shown());
}
const clicks = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const begun = await who.page.evaluate((kind) => {
    const now = performance.now();
    document.querySelector(`.chip[data-kind="${kind}"]`).click();
    return now;
  }, round % 2 ? "" : "question");
  clicks.push(await shown() - begun);
}
const rows = await who.page.locator(ROWS).count();
const at = (list, share) => list.sort((a, b) => a - b)[Math.floor(list.length * share)].toFixed(0);
console.log(`in Chromium, ${rows} rows shown: the first visit ${first.toFixed(0)} ms; the whole page again p50 ${at(loads, 0.5)} ms, p95 ${at(loads, 0.95)} ms; another filter p50 ${at(clicks, 0.5)} ms, p95 ${at(clicks, 0.95)} ms`);
who.check();
await one.close();
