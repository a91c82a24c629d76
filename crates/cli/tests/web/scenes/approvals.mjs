// Four eyes: two people sign what they see. A change between the look and the yes is told before anything is sent, and a
// denial leads somewhere.

import assert from "node:assert/strict";
import { axe, browser, fits, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

const CLAIM = { amount: 1420.5, claimant: "Atelier Nord", items: [{ what: "Train", price: 420.5 }, { what: "Hotel", price: 1000 }] };

export default async function play() {
  const server = await TestServer.open("desk");
  const started = await server.api("POST", "/runs", { protocol: "desk", workflow: "sign", document: CLAIM });
  const { run } = started;
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann" });
  const bob = await person(chromium, server, { name: "Bob", theme: "dark" });
  const zoe = await person(chromium, server, { name: "Zoe", width: 390, height: 800 });
  for (const one of [ann, bob, zoe]) await one.to("/inbox");

  // Each sees what would be signed; only those who may decide have buttons.
  for (const one of [ann, bob, zoe]) {
    await one.page.getByRole("heading", { name: "Pay 1420.5 to Atelier Nord?" }).waitFor();
    await one.page.locator(".subject").getByText("Hotel").first().waitFor();
  }
  await zoe.page.getByText("Somebody else must decide this.").waitFor();
  assert.equal(await zoe.page.getByRole("button", { name: "Approve" }).count(), 0);
  await fits(zoe.page, "an approval on a phone");
  await picture(zoe.page, "approval-phone", true);
  await picture(bob.page, "approval-dark", true);
  await picture(ann.page, "approval-light", true);
  assert.deepEqual(await axe(ann.page), []);
  assert.deepEqual(await axe(bob.page), []);

  // One of two is not enough.
  await ann.page.getByRole("button", { name: "Approve" }).click();
  await ann.page.getByText("Accepted.").waitFor();
  assert.equal((await server.api("GET", `/runs/${run}`)).status, "waiting");

  // The amount changes while Bob looks. What he sends holds for what he saw, and so is refused.
  await bob.page.route("**/stream*", (route) => route.abort());
  await bob.to("/inbox");
  await bob.page.getByRole("heading", { name: "Pay 1420.5 to Atelier Nord?" }).waitFor();
  const { version } = await server.api("GET", `/runs/${run}`);
  await server.api("POST", `/runs/${run}/submit`, { text: JSON.stringify({ merge: { amount: 9000 } }) }, { "if-match": `"${version}"` });
  await bob.page.getByRole("button", { name: "Approve" }).click();
  await bob.page.getByText("This changed").first().waitFor();
  await picture(bob.page, "approval-changed", true);
  const { items: versions } = await server.api("GET", `/runs/${run}/versions`);
  assert.deepEqual(versions.filter((one) => one.input?.kind === "approval_decided").map((one) => one.input.by), ["Ann"]);

  // Ann hears of the change by herself; her first yes is void.
  await ann.to("/inbox");
  await ann.page.getByRole("heading", { name: "Pay 9000 to Atelier Nord?" }).waitFor();
  await ann.page.getByText("/amount", { exact: false }).first().waitFor();

  // A denial needs its reason, and leads where the protocol says.
  await ann.page.getByRole("button", { name: "Deny" }).click();
  await ann.page.getByText("needs a note").waitFor();
  await ann.page.getByLabel(/Note/).fill("It was 1,420.50.");
  await ann.page.getByRole("button", { name: "Deny" }).click();
  await ann.page.getByText("Accepted.").waitFor();
  await ann.to(`/runs/${run}`);
  await ann.page.getByRole("heading", { name: "Denied: It was 1,420.50.. How much is it?" }).waitFor();
  await picture(ann.page, "approval-denied", true);
  for (const one of [ann, bob, zoe]) one.check();
  await chromium.close();
  await server.close();
}
