// A contract: a reply that is refused with its places, one that is accepted, two contracts compared, an export.

import assert from "node:assert/strict";
import { axe, browser, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

export default async function play() {
  const server = await TestServer.open("demo");
  const chromium = await browser();
  const ann = await person(chromium, server);
  const { page } = ann;
  await ann.to("/contracts");
  await page.getByRole("searchbox").fill("guardian");
  await page.getByRole("link", { name: /guardian_report/ }).first().click();
  const reply = page.getByLabel("Enter a reply as a model might write it. Nothing is saved.");
  await reply.fill('{"verdict": "MAYBE"}');
  await page.getByRole("button", { name: "Check against the contract" }).click();
  await page.getByText("Refused.").waitFor();
  await page.locator(".violation code", { hasText: "/verdict" }).first().waitFor();
  await picture(page, "contract-refused");
  assert.deepEqual(await axe(page), []);
  await page.getByRole("button", { name: "gemini" }).click();
  await page.getByText(/that the export cannot express|The export expresses the whole contract/).waitFor();
  await page.getByLabel("With another contract").selectOption({ index: 1 });
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByText("Does the other contract accept everything that this one accepts?").waitFor();
  await page.getByText("Counterexample:").first().waitFor();
  ann.check();
  await chromium.close();
  await server.close();
}
