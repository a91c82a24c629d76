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
  for (const one of [ann, bob]) await one.to("/inbox");
  // A phone shows the list or one card.
  await zoe.to(`/inbox/${run}/w1`);

  // Each sees what would be signed; only those who may decide have buttons.
  for (const one of [ann, bob, zoe]) {
    await one.page.getByRole("heading", { name: "Pay 1420.5 to Atelier Nord?" }).waitFor();
    await one.page.locator(".subject").getByText("Hotel").first().waitFor();
  }
  await zoe.page.getByText("Somebody else must decide this.").waitFor();
  await zoe.page.getByText("It is assigned to Ann, Bob, Carl.").waitFor();
  assert.equal(await zoe.page.getByRole("button", { name: "Approve" }).count(), 0);
  // What follows from a yes and from a no, who asks, and who is still missing.
  const card = ann.page.locator(".wait");
  await card.getByText("The run goes on to “paid” and ends there.").waitFor();
  await card.getByText("The run goes on to “The claimant corrects it”.").waitFor();
  await card.getByText("1 more approval is needed first.").waitFor();
  await card.getByText("Requested by ").waitFor();
  await card.getByText("Excluded from this decision: whoever started the run, whoever wrote a part of it").waitFor();
  assert.equal(await card.locator(".votes li[data-given=false]").count(), 2);
  assert.deepEqual(await card.locator(".presented th[scope=col]").allTextContents(), ["What", "Price"]);
  await fits(zoe.page, "an approval on a phone");
  await picture(zoe.page, "approval-phone", true);
  await picture(bob.page, "approval-dark", true);
  await picture(ann.page, "approval-light", true);
  assert.deepEqual(await axe(ann.page), []);
  assert.deepEqual(await axe(bob.page), []);

  // One of two is not enough.
  await ann.page.getByRole("button", { name: "Approve" }).click();
  await ann.page.getByText("Accepted. 1 more approval is needed.").waitFor();
  assert.equal((await server.api("GET", `/runs/${run}`)).status, "waiting");
  await ann.to(`/inbox/${run}/w1`);
  await ann.page.getByText("You have approved it already; now somebody else must.").waitFor();
  await ann.page.locator(".votes li[data-given=true]", { hasText: "Ann" }).waitFor();
  assert.equal(await ann.page.getByRole("button", { name: "Approve" }).count(), 0);

  // The amount changes while Bob looks, and his page hears of nothing. It asks before it sends, and shows what changed.
  await bob.page.route("**/stream*", (route) => route.abort());
  await bob.to("/inbox");
  await bob.page.getByRole("heading", { name: "Pay 1420.5 to Atelier Nord?" }).waitFor();
  const { version } = await server.api("GET", `/runs/${run}`);
  await server.api("POST", `/runs/${run}/submit`, { text: JSON.stringify({ merge: { amount: 9000 } }) }, { "if-match": `"${version}"` });
  await bob.page.getByLabel(/Note/).fill("As agreed.");
  const sent = [];
  bob.page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
  await bob.page.getByRole("button", { name: "Approve" }).click();
  await bob.page.getByText("This changed while the page was open. Nothing was sent.").waitFor();
  await bob.page.getByRole("heading", { name: "Pay 9000 to Atelier Nord?" }).waitFor();
  assert.deepEqual(sent, []);
  assert.equal(await bob.page.locator(".changed .remove").textContent(), "−1420.5");
  assert.equal(await bob.page.locator(".changed .add").textContent(), "+9000");
  assert.equal(await bob.page.getByLabel(/Note/).inputValue(), "As agreed.");
  assert.deepEqual(await axe(bob.page), []);
  await picture(bob.page, "approval-changed", true);
  const { items: versions } = await server.api("GET", `/runs/${run}/versions`);
  assert.deepEqual(versions.filter((one) => one.input?.kind === "approval_decided").map((one) => one.input.by), ["Ann"]);

  // Ann's page hears of the change by itself; her first yes is void.
  await ann.page.getByText("This changed while the page was open. Nothing was sent.").waitFor();
  await ann.page.getByRole("heading", { name: "Pay 9000 to Atelier Nord?" }).waitFor();
  assert.match(await ann.page.locator(".subject summary").first().textContent(), /requested first: Amount$/);
  await picture(ann.page, "approval-replaced", true);
  assert.equal(await ann.page.locator(".votes li[data-given=true]").count(), 0);

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
