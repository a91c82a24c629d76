// Two people answer the same question at once: one answer is taken, the other one is told whose, and loses nothing.
// A page that did not hear of the first answer says so before it sends the second.

import assert from "node:assert/strict";
import { browser, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

export default async function play() {
  const server = await TestServer.open("intake");
  const { run } = await server.api("POST", "/runs", { protocol: "intake", input: "I need a contract for the supply of 200 chairs." });
  const chromium = await browser();
  const [ann, bob] = [await person(chromium, server, { name: "Ann" }), await person(chromium, server, { name: "Bob" })];
  for (const [one, words] of [[ann, "40 euros a chair."], [bob, "Ask the buyer, please."]]) {
    await one.to(`/runs/${run}`);
    await one.page.getByLabel("Your answer").fill(words);
  }
  await ann.page.getByRole("button", { name: "Send answer" }).click();
  // Bob hears of it by himself, while he is still writing.
  await bob.page.getByText("Ann answered first").waitFor();
  await bob.page.locator("blockquote", { hasText: "40 euros a chair." }).waitFor();
  await bob.page.locator(".note", { hasText: "What you wrote is still here" }).getByText("Ask the buyer, please.").waitFor();
  await picture(bob.page, "two-people");

  // And where he sends without having heard: his answer comes second, and he is told the same.
  await ann.page.getByLabel("Your answer").waitFor();
  await bob.page.route("**/stream*", (route) => route.abort());
  await bob.to(`/inbox`);
  await bob.page.getByLabel("Your answer").fill("It is in my mail.");
  await ann.page.getByLabel("Your answer").fill("Forty euros, as I said.");
  await ann.page.getByRole("button", { name: "Send answer" }).click();
  await ann.page.getByText("Waiting for a child run").waitFor();
  // The page asks before it sends: nothing of his answer leaves it.
  const sent = [];
  bob.page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
  await bob.page.getByRole("button", { name: "Send answer" }).click();
  await bob.page.getByText("Ann answered first").waitFor();
  await bob.page.getByText("It is in my mail.").waitFor();
  assert.deepEqual(sent, []);
  const { items } = await server.api("GET", `/runs/${run}/versions`);
  const answers = items.filter((one) => one.input?.kind === "answered").map((one) => one.input.by);
  assert.deepEqual(answers, ["Ann", "Ann"]);
  ann.check();
  await chromium.close();
  await server.close();
}
