// A model writes slowly, and is seen writing.

import assert from "node:assert/strict";
import http from "node:http";
import { browser, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

const REPLY = JSON.stringify({ points: ["A second signature", "What it stands for", "Who gives it"] });

/** A provider that writes a word and then waits until it is told to go on. */
function provider() {
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const say = (content, finish_reason = null) => response.write(`data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason }] })}\n\n`);
    say(REPLY.slice(0, 30));
    server.go = () => {
      say(REPLY.slice(30), "stop");
      response.end("data: [DONE]\n\n");
    };
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

export default async function play() {
  process.env.OPENAI_API_KEY = "none";
  const server = await TestServer.open("demo");
  const model = await provider();
  const chromium = await browser();
  const ann = await person(chromium, server);
  const { page } = ann;
  const { run } = await server.api("POST", "/runs", { protocol: "demo", model: `openai:any@http://127.0.0.1:${model.address().port}/v1` }, { prefer: "wait=0" });
  await ann.to(`/runs/${run}`);
  await page.locator(".writing pre", { hasText: REPLY.slice(0, 30) }).waitFor();
  await picture(page, "writing");
  assert.equal(await page.locator(".writing pre").textContent(), REPLY.slice(0, 30));
  model.go();
  await page.getByText("Write the text").first().waitFor();
  ann.check();
  await chromium.close();
  model.closeAllConnections();
  model.close();
  await server.close();
}
