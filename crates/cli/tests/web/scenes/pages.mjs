// Every page, in both themes, at the width of a phone, in three languages: pictures, nothing too wide, nothing for axe.

import assert from "node:assert/strict";
import { axe, browser, fits, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

const LOOKS = [
  ["light", { theme: "light" }],
  ["dark", { theme: "dark" }],
  ["phone", { theme: "light", width: 360, height: 760 }],
];

export default async function play() {
  const server = await TestServer.open("intake");
  const { run } = await server.api("POST", "/runs", { protocol: "intake", input: "I need a contract for the supply of 200 chairs." });
  await server.api("POST", `/runs/${run}/waits/w1/answer`, { value: "40 euros a chair." });
  await server.api("POST", "/runs", { protocol: "demo" });
  const done = await server.api("POST", "/runs", { protocol: "answer", input: "How many tasks of project Atlas are late?", model: "human" });
  await server.api("POST", `/runs/${done.run}/halt`, { reason: "to be looked at" });
  const pages = {
    inbox: "/inbox", runs: "/runs", stats: "/stats", "run-now": `/runs/${run}`, "run-timeline": `/runs/${run}/timeline`, "run-document": `/runs/${run}/document`, "run-prompt": `/runs/${done.run}/prompt`, "run-proof": `/runs/${run}/proof`,
    start: "/start", "start-intake": "/start/intake", protocols: "/protocols", protocol: "/protocols/intake", contracts: "/contracts", contract: "/contracts/xiaojing_review_v1", packets: "/packets", packet: `/packets?build=${run}%2F1.1`, system: "/system", "no-run": "/runs/none",
  };
  const chromium = await browser();
  const found = [];
  for (const [look, as] of LOOKS) {
    const ann = await person(chromium, server, as);
    for (const [name, address] of Object.entries(pages)) {
      await ann.to(address);
      await ann.page.locator("main h1").waitFor();
      // Whatever is still on its way shows a skeleton.
      await ann.page.waitForFunction(() => !document.querySelector(".skeleton"));
      await picture(ann.page, `${name}-${look}`, look === "phone");
      await fits(ann.page, `${name} (${look})`);
      found.push(...(await axe(ann.page)).map((one) => `${name} (${look}): ${one}`));
    }
    ann.check();
    await ann.close();
  }
  for (const [language, title] of [["ru-RU", "Входящие"], ["zh-CN", "收件箱"]]) {
    const ann = await person(chromium, server, { language, width: 360, height: 760 });
    for (const name of ["inbox", "runs", "run-now", "run-timeline", "start-intake", "system"]) {
      await ann.to(pages[name]);
      await ann.page.waitForFunction(() => !document.querySelector(".skeleton"));
      if (name === "inbox") await ann.page.getByRole("heading", { name: title }).waitFor();
      await picture(ann.page, `${name}-${language}`, true);
      await fits(ann.page, `${name} (${language})`);
      const cut = await ann.page.locator(".nav .word").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
      assert.deepEqual(cut, [], `the navigation is cut off (${language})`);
    }
    ann.check();
    await ann.close();
  }
  assert.deepEqual(found, []);
  await chromium.close();
  await server.close();
}
