// `serve --try`: the page says that a script plays the model and which inputs it knows; to another input the run says
// so, instead of telling a story about something else.

import assert from "node:assert/strict";
import { axe, browser, fits, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

const EXAMPLE = "I need a contract for the supply of 200 chairs.";

export default async function play() {
  const server = await TestServer.open("intake");
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann", width: 1440, height: 900 });
  const { page } = ann;
  await ann.to("/");
  await page.getByText("A script plays the model of “intake”.").waitFor();
  await page.getByRole("link", { name: "Start with an example" }).click();
  await page.getByRole("region", { name: "A script plays the model" }).getByText("It knows this input:").waitFor();
  const input = page.getByRole("main").getByRole("textbox").first();
  await input.fill("A lease for a flat in Lyon.");
  await page.getByText("The script does not know this input.").waitFor();
  await picture(page, "trial-unknown");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  // The run stops at the first call, and says why; nothing about chairs is told.
  await page.getByText(/a script plays the model, and its next reply fits only a text with/).first().waitFor();
  const { items } = await server.api("GET", "/runs");
  const made = await server.api("GET", `/runs/${items[0].run}/document?pointer=/domain`);
  assert.deepEqual(made, {});
  await picture(page, "trial-stopped", true);

  await ann.to("/start/intake");
  await page.getByRole("button", { name: EXAMPLE }).click();
  assert.equal(await input.inputValue(), EXAMPLE);
  assert.equal(await page.getByText("The script does not know this input.").count(), 0);
  assert.deepEqual(await axe(page), []);
  await picture(page, "trial-start");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.getByRole("heading", { name: "What does one chair cost?", exact: true }).waitFor();
  await page.getByRole("button", { name: "40 euros a chair." }).click();
  assert.equal(await page.getByLabel("Your answer").inputValue(), "40 euros a chair.");
  await picture(page, "trial-answer");
  await page.getByRole("button", { name: "Send answer" }).click();
  await page.getByRole("heading", { name: "Before we can go on: No price. What does one chair cost?" }).waitFor();
  const phone = await person(chromium, server, { name: "Ann", theme: "dark", width: 390, height: 800 });
  await phone.to("/start/intake");
  await phone.page.getByRole("button", { name: EXAMPLE }).waitFor();
  await fits(phone.page, "a trial on a phone");
  await picture(phone.page, "trial-phone", true);
  for (const one of [ann, phone]) one.check();
  await chromium.close();
  await server.close();
}
