// A contract: a reply that is refused with its places, one that is accepted, two contracts compared, an export.

import assert from "node:assert/strict";
import { axe, browser, person, picture } from "../browser.mjs";
import { House } from "../house.mjs";

export default async function play() {
  const house = await House.open("demo");
  const chromium = await browser();
  const ann = await person(chromium, house);
  const { page } = ann;
  await ann.to("/contracts");
  await page.getByRole("searchbox").fill("guardian");
  await page.getByRole("link", { name: /guardian_report/ }).first().click();
  const reply = page.getByLabel("A reply as a model might give it. Nothing is kept.");
  await reply.fill('{"verdict": "MAYBE"}');
  await page.getByRole("button", { name: "Hold it against the contract" }).click();
  await page.getByText("Refused.").waitFor();
  await page.locator(".violation code", { hasText: "/verdict" }).first().waitFor();
  await picture(page, "contract-refused");
  assert.deepEqual(await axe(page), []);
  await page.getByRole("button", { name: "gemini" }).click();
  await page.getByText(/only Countersign still enforces|It can say all of it/).waitFor();
  await page.getByLabel("With another contract").selectOption({ index: 1 });
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByText("Does the other take all that this one takes?").waitFor();
  await page.getByText("A value that proves it:").first().waitFor();
  ann.check();
  await chromium.close();
  await house.close();
}
