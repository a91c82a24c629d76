// The shipped template for expenses, decided on the page: the claim is shown as its author presents it, nobody approves a
// claim of their own, a denial goes to the claimant with its reason, and a delegate signs the corrected claim.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { axe, browser, fits, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

export default async function play() {
  const server = await TestServer.open("expense");
  const input = fs.readFileSync(path.join(server.folder, "examples/claim.txt"), "utf8").trim();
  const chromium = await browser();
  const dana = await person(chromium, server, { name: "dana" });
  const manager = await person(chromium, server, { name: "manager", width: 1440, height: 1000 });
  const phone = await person(chromium, server, { name: "manager", theme: "dark", width: 390, height: 800 });
  const deputy = await person(chromium, server, { name: "deputy", theme: "dark", width: 1440, height: 1000 });

  // The claimant starts the run, and sees who decides.
  await dana.to("/start/expense");
  await dana.page.getByRole("main").getByRole("textbox").first().fill(input);
  await dana.page.getByRole("button", { name: "Start", exact: true }).click();
  await dana.page.getByRole("heading", { name: "Pay 536.3 EUR to Dana Roth?" }).waitFor();
  const run = new URL(dana.page.url()).pathname.split("/").at(-1);
  await dana.page.getByText("It is assigned to manager.").waitFor();
  // The page starts runs under keys of its own; their ids are nobody's titles.
  assert.match(run, /^key-/);
  assert.doesNotMatch(await dana.page.locator(".page-head").textContent(), /key-/);
  assert.equal(await dana.page.title(), "Dana Roth: 536.3 EUR · Countersign");
  assert.equal(await dana.page.getByRole("button", { name: "Approve" }).count(), 0);
  const { waits: [{ subject }] } = await server.api("GET", `/runs/${run}`);
  const forced = await dana.page.evaluate(async ([at, digest]) => {
    const { post } = await import(`${document.querySelector("script[src]").src.replace(/main\.js$/, "")}core/api.js`);
    return post(at, { subject: digest }).then(() => "accepted", (problem) => problem.code);
  }, [`/runs/${run}/waits/w1/approve`, subject.digest]);
  assert.equal(forced, "not_assignee");

  for (const one of [manager, phone]) {
    await one.to(`/inbox/${run}/w1`);
    await one.page.getByRole("heading", { name: "Pay 536.3 EUR to Dana Roth?" }).waitFor();
    await one.page.locator(".facts dd", { hasText: "Supplier audit in Lyon" }).waitFor();
    assert.deepEqual(await one.page.locator(".subject th[scope=col]").allTextContents(), ["Description", "Category", "Amount", "Receipt"]);
    assert.equal(await one.page.locator(".subject tbody tr").count(), 3);
    await one.page.locator(".subject", { hasText: "What the policy objects to" }).getByText("None.").waitFor();
    await one.page.getByText("The run goes on to “Write the voucher”.").waitFor();
    await one.page.getByText("The run goes on to “The claimant corrects the claim”.").waitFor();
    await one.page.getByText("The run goes on to “Write the rejection”.").waitFor();
    await one.page.getByText(/^From .+, director may decide as well\.$/).waitFor();
    await one.page.locator(".wait .run-title", { hasText: "Dana Roth: 536.3 EUR" }).waitFor();
    assert.doesNotMatch(await one.page.getByRole("main").textContent(), /\/claim|\/findings|key-/);
  }
  await fits(phone.page, "an expense on a phone");
  await picture(phone.page, "expense-card-phone", true);
  await picture(manager.page, "expense-card");
  for (const one of [manager, phone]) assert.deepEqual(await axe(one.page), []);

  await dana.to("/runs");
  await dana.page.locator(".run-line", { hasText: "Dana Roth: 536.3 EUR" }).waitFor();
  assert.doesNotMatch(await dana.page.getByRole("main").textContent(), /key-/);
  await dana.to(`/runs/${run}`);

  // No is an answer.
  await manager.page.getByLabel(/Note/).fill("The dinner was paid by the supplier.");
  await manager.page.getByRole("button", { name: "Deny" }).click();
  await manager.page.getByText("Accepted.").waitFor();
  await dana.page.getByText("the manager denied it (The dinner was paid by the supplier.)").first().waitFor();
  await picture(dana.page, "expense-denied", true);
  await dana.page.getByLabel("Your answer").fill("Leave out the dinner. The total is 487.80 EUR.");
  await dana.page.getByRole("button", { name: "Send answer" }).click();

  // The manager asks the deputy; the record of it is on both cards, and the deputy signs.
  await manager.to(`/runs/${run}`);
  await manager.page.getByRole("heading", { name: "Pay 487.8 EUR to Dana Roth?" }).waitFor();
  await deputy.to(`/runs/${run}`);
  await deputy.page.getByText("It is assigned to manager.").waitFor();
  await manager.page.getByRole("button", { name: "Ask somebody else" }).click();
  const dialog = manager.page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Ask", exact: true }).click();
  await dialog.getByText("This field is required.").waitFor();
  await dialog.getByLabel("Who should decide").fill("deputy");
  await dialog.getByLabel(/Reason/).fill("I am away on Monday.");
  assert.deepEqual(await axe(manager.page), []);
  await picture(manager.page, "expense-delegate");
  await dialog.getByRole("button", { name: "Ask", exact: true }).click();
  await manager.page.getByText("manager asked deputy to decide: I am away on Monday.").waitFor();
  await deputy.page.getByText("manager asked deputy to decide: I am away on Monday.").waitFor();
  await deputy.page.getByRole("button", { name: "Approve" }).click();
  await deputy.page.getByText("Completed", { exact: true }).first().waitFor();

  // The deliverable: looked at, and downloaded.
  const voucher = deputy.page.locator(".file", { hasText: `${run}.json` });
  await voucher.getByText("Preview").click();
  await voucher.getByText("487.8", { exact: true }).first().waitFor();
  const [saved] = await Promise.all([deputy.page.waitForEvent("download"), voucher.getByRole("link", { name: /Download/ }).click()]);
  assert.equal(JSON.parse(fs.readFileSync(await saved.path(), "utf8")).approval.by, "deputy");
  await deputy.page.evaluate(() => window.scrollTo(0, 0));
  await picture(deputy.page, "expense-paid");
  assert.deepEqual(await axe(deputy.page), []);
  assert.equal((await server.api("GET", `/runs/${run}/verify`)).verified, true);
  for (const one of [dana, manager, phone, deputy]) one.check();
  await chromium.close();
  await server.close();
}
