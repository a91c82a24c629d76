// A question is answered from evidence; the page shows the answer, the evidence, and the reply that was sent back.

import assert from "node:assert/strict";
import { axe, browser, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

/** Renders hostile and ordinary Markdown, and returns what came of it. */
async function safely() {
  const base = document.querySelector("script[src]").src.replace(/main\.js$/, "");
  const { markdown } = await import(`${base}parts/markdown.js`);
  const html = (text) => markdown(text).innerHTML;
  return {
    html: html("<img src=x onerror=alert(1)> **b**"),
    script: html("[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x)"),
    image: html("![pic](https://example.org/a.png)"),
    list: html("- one\n- two\n  - in\n\n1. a"),
    table: markdown("| a | b |\n|---|---|\n| 1 | `2` |").querySelectorAll("td").length,
    fence: html("```js\n**x**\n```"),
    long: markdown(`${"[".repeat(20_000)}${"*a ".repeat(20_000)}x`).textContent.length,
  };
}

const SAFE = {
  html: "<p>&lt;img src=x onerror=alert(1)&gt; <strong>b</strong></p>",
  script: "<p>[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x)</p>",
  image: '<p><a href="https://example.org/a.png" rel="noopener noreferrer nofollow" target="_blank" title="https://example.org/a.png">pic</a></p>',
  list: "<ul><li>one</li><li><p>two</p><ul><li>in</li></ul></li></ul><ol start=\"1\"><li>a</li></ol>",
  table: 2,
  fence: '<pre class="code-block" tabindex="0">**x**</pre>',
  long: 80_001,
};

export default async function play() {
  const server = await TestServer.open("answer");
  const { run } = await server.api("POST", "/runs", { protocol: "answer", input: "How many tasks of project Atlas are late?" }, { prefer: "wait=25" });
  const chromium = await browser();
  const ann = await person(chromium, server);
  const { page } = ann;
  await ann.to(`/runs/${run}`);
  await page.getByText("In project ATLAS 1 task is late").first().waitFor();
  // The answer is Markdown; a reference leads to its evidence.
  await page.locator(".product").getByRole("heading", { name: "Figures" }).waitFor();
  await page.locator(".product a.cite", { hasText: "[2]" }).click();
  const evidence = page.locator(".evidence li:target");
  await evidence.getByText("Audit trail of changes").waitFor();
  assert.deepEqual(await axe(page), []);
  await picture(page, "answer-evidence");
  assert.deepEqual(await page.evaluate(safely), SAFE);
  await page.getByRole("link", { name: "Document" }).click();
  await page.getByText("query:figures?about=ATLAS#project=ATLAS").first().waitFor();
  await page.getByRole("link", { name: "Timeline" }).click();
  await page.locator(".entry").nth(5).waitFor();
  assert.ok((await page.locator(".entry").count()) > 5);
  // The last prompt, and any earlier one by its step; the run has ended.
  await page.getByRole("link", { name: "Prompt", exact: true }).click();
  const pick = page.getByLabel("Prompt", { exact: true });
  await pick.waitFor();
  assert.match(await pick.locator("option").first().textContent(), /^guardian · step 8\.1/);
  await page.getByRole("heading", { name: "System prompt" }).waitFor();
  const last = await page.locator(".code-block").first().textContent();
  await pick.selectOption({ index: (await pick.locator("option").count()) - 1 });
  await page.locator(".code-block", { hasText: "The router classified it as" }).first().waitFor();
  assert.notEqual(await page.locator(".code-block").first().textContent(), last);
  assert.deepEqual(await axe(page), []);
  await picture(page, "prompt-earlier");
  await page.getByRole("link", { name: "Timeline" }).click();
  // The packet says in words why an item is in it, and what each section cost.
  await page.getByRole("link", { name: "The memory packet in the prompt" }).last().click();
  await page.getByRole("heading", { name: "Selected" }).waitFor();
  await page.locator(".packet-item").first().waitFor();
  assert.match(await page.locator(".packet-list").first().textContent(), /How many tasks of project Atlas are late\?/);
  assert.match(await page.locator(".packet-item", { hasText: "result of a look-up" }).first().textContent(), /late_tasks/);
  assert.doesNotMatch(await page.getByRole("main").textContent(), /(score|session|words|nearby):\d|short_term_summary|tool_evidence|\w+\/\d+\/\d+/);
  // Nothing is clipped: no text is wider than its box, and none is cut off without a way to see the rest.
  const clipped = await page.evaluate(() => [...document.querySelectorAll(".packet-item, .packet-item *, .section-bars *")].filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "auto" && getComputedStyle(one).display !== "inline").map((one) => one.className));
  assert.deepEqual(clipped, []);
  assert.equal(await page.getByRole("list", { name: "Tokens by section" }).getByRole("listitem").count(), 6);
  assert.deepEqual(await axe(page), []);
  await picture(page, "packet-answer", true);
  // A follow-up question is a new run; its first prompt has what was said before.
  await ann.to(`/runs/${run}`);
  const follow = page.locator("form[data-follow]");
  await follow.getByLabel("Ask a follow-up question").fill("How many tasks of project Beacon are late?");
  await picture(page, "answer-follow-up");
  await follow.getByRole("button", { name: "Ask" }).click();
  await page.getByText("Continues", { exact: true }).waitFor();
  assert.deepEqual(await axe(page), []);
  await page.locator(`dl.facts a[href="/runs/${run}"]`).waitFor();
  const second = page.url().split("/").at(-1);
  assert.notEqual(second, run);
  assert.equal((await server.api("GET", `/runs/${second}`)).continues, run);
  ann.check();
  await chromium.close();
  await server.close();
}
