// A graph is zoomed, moved and asked: with the mouse, with the keyboard, and with two fingers on a phone.

import assert from "node:assert/strict";
import { axe, browser, fits, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

/** The labels of the graph that overlap each other or a phase. */
function overlaps() {
  const boxes = [...document.querySelectorAll("dialog .plate, dialog .phase .box")].map((one) => [one, one.getBoundingClientRect()]);
  const found = [];
  boxes.forEach(([one, a], at) => boxes.slice(at + 1).forEach(([other, b]) => {
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) found.push(`${one.parentNode.textContent.slice(0, 40)} / ${other.parentNode.textContent.slice(0, 40)}`);
  }));
  return found;
}

const shown = (page) => page.evaluate(() => document.querySelector("dialog .graph svg").getAttribute("viewBox").split(" ").map(Number));

export default async function play() {
  const server = await TestServer.open("answer");
  const { run } = await server.api("POST", "/runs", { protocol: "answer", input: "How many tasks of project Atlas are late?" }, { prefer: "wait=25" });
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann", width: 1440, height: 1000 });
  const { page } = ann;
  await ann.to(`/runs/${run}`);
  await page.locator(".graph svg").waitFor();
  // Every text is as large as a reader needs it.
  const scale = await page.evaluate(() => document.querySelector(".graph").clientWidth / Number(document.querySelector(".graph svg").getAttribute("viewBox").split(" ")[2]));
  assert.ok(scale >= 0.79, `the scale is ${scale}`);
  await picture(page, "graph-run");
  await page.getByRole("button", { name: "Enlarge the graph" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator(".graph svg").waitFor();
  assert.deepEqual(await page.evaluate(overlaps), []);
  await picture(page, "graph-answer");

  // The keyboard: closer, back, along, and all of it.
  await dialog.locator(".graph").focus();
  await page.keyboard.press("0");
  const all = await shown(page);
  await page.keyboard.press("+");
  const near = await shown(page);
  assert.ok(near[2] < all[2], `${near} is not nearer than ${all}`);
  await page.keyboard.press("ArrowRight");
  assert.ok((await shown(page))[0] > near[0]);
  await page.keyboard.press("-");
  await page.keyboard.press("0");
  assert.deepEqual(await shown(page), all);

  // The mouse: the wheel zooms around the pointer, and a drag moves.
  const box = await dialog.locator(".graph").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, -400);
  await page.waitForFunction((before) => Number(document.querySelector("dialog .graph svg").getAttribute("viewBox").split(" ")[2]) < before, all[2]);
  const close = await shown(page);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 90, box.y + box.height / 2 - 40, { steps: 4 });
  await page.mouse.up();
  const away = await shown(page);
  assert.ok(away[0] > close[0] && away[1] > close[1], `${close} to ${away}`);
  assert.equal(await dialog.locator(".phase-details > *").count(), 0, "a drag is no click");

  // A phase shows what it does, and what the run did in it; the tooltip of an edge has the whole expression.
  await page.keyboard.press("0");
  await dialog.getByRole("button", { name: /^Guardian: model/ }).click();
  const details = dialog.getByRole("region", { name: /^Phase Guardian: model/ });
  await details.getByText("guardian", { exact: true }).first().waitFor();
  await details.getByText("Visits").waitFor();
  await details.getByText("Time in it").waitFor();
  assert.ok((await dialog.locator(".edge title").allTextContents()).some((text) => text.includes("state.")));
  assert.deepEqual(await axe(page), []);
  await picture(page, "graph-phase");
  await details.getByRole("button", { name: "Close the details" }).click();
  assert.equal(await dialog.locator(".phase-details > *").count(), 0);

  // Without a mouse: a phase has the focus, and Enter asks it.
  await dialog.locator("[data-phase]").first().focus();
  await page.keyboard.press("Enter");
  await dialog.locator(".phase-details h3").waitFor();
  await page.keyboard.press("Escape");

  const dark = await person(chromium, server, { name: "Ann", theme: "dark", width: 1440, height: 1000 });
  await dark.to(`/runs/${run}`);
  await dark.page.getByRole("button", { name: "Enlarge the graph" }).click();
  await dark.page.locator("dialog .graph svg").waitFor();
  assert.deepEqual(await dark.page.evaluate(overlaps), []);
  assert.deepEqual(await axe(dark.page), []);
  await picture(dark.page, "graph-answer-dark");

  const phone = await person(chromium, server, { name: "Ann", theme: "dark", width: 390, height: 800 });
  await phone.to("/protocols/answer");
  await phone.page.locator(".graph svg").first().waitFor();
  await phone.page.getByRole("button", { name: "Enlarge the graph" }).first().click();
  await phone.page.locator("dialog .graph svg").waitFor();
  await phone.page.locator("dialog [data-phase]").first().click();
  await phone.page.locator("dialog .phase-details h3").waitFor();
  await fits(phone.page, "a graph on a phone");
  await picture(phone.page, "graph-phone");
  for (const one of [ann, dark, phone]) one.check();
  await chromium.close();
  await server.close();
}
