// The files of a run: listed, looked at and downloaded. A file is never run, and others are told from changed ones.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { axe, browser, fits, person, picture } from "../browser.mjs";
import { TestServer } from "../test_server.mjs";

const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** Renders one value in every format, and hostile values in some. */
async function formats() {
  const base = document.querySelector("script[src]").src.replace(/main\.js$/, "");
  const { guess, presented } = await import(`${base}parts/presented.js`);
  const { cells } = await import(`${base}parts/file.js`);
  const shown = (part) => presented(part, { run: "none" });
  const lines = (from) => Array.from({ length: 9 }, (_, at) => (at === 4 ? from : `line ${at}`)).join("\n");
  const changed = shown({ format: "difference", before: lines("a red chair"), value: lines("a blue chair") });
  const dot = "data:image/png;base64,iVBORw0KGgo=";
  return {
    guessed: ["plain", "# Title", [{ a: 1 }], { a: 1 }, 5, dot, { path: "a.md", sha256: "0" }].map(guess),
    text: shown({ title: "Name", format: "text", value: "<b>x</b>\u202e" }).innerHTML,
    markdown: shown({ format: "markdown", value: "**b** <img src=x onerror=alert(1)>" }).querySelector("p").innerHTML,
    table: [...shown({ format: "table", value: [{ what: "A", price: 1 }, { what: "B", more: true }] }).querySelectorAll("tr")].map((row) => [...row.children].map((cell) => cell.textContent).join("|")),
    odd: shown({ format: "table", value: "no list" }).textContent,
    json: shown({ format: "json", value: { a: [1] } }).querySelectorAll("details").length,
    image: shown({ format: "image", value: dot }).querySelector("img").src,
    script: shown({ format: "image", value: "data:image/svg+xml;base64,AAAA" }).querySelectorAll("img").length,
    changed: [...changed.querySelectorAll("mark")].map((mark) => mark.textContent),
    same: [...changed.querySelectorAll(".gap")].map((gap) => gap.textContent),
    large: shown({ format: "difference", before: "a\n".repeat(5_000), value: "b\n".repeat(5_000) }).querySelectorAll("ins").length,
    unknown: shown({ format: "video", value: "plain" }).textContent,
    cells: cells('a,"b ""c"", d"\r\n\r\n1,', 9),
  };
}

const FORMATS = {
  guessed: ["text", "markdown", "table", "json", "json", "image", "file"],
  text: '<h4>Name</h4><p class="plain">&lt;b&gt;x&lt;/b&gt;\\u{202e}</p>',
  markdown: "<strong>b</strong> &lt;img src=x onerror=alert(1)&gt;",
  table: ["What|Price|More", "A|1|", "B||Yes"],
  odd: "no list",
  json: 2,
  image: "data:image/png;base64,iVBORw0KGgo=",
  script: 0,
  changed: ["red", "blue"],
  same: ["2 unchanged lines", "2 unchanged lines"],
  large: 5_000,
  unknown: "plain",
  cells: [["a", 'b "c", d'], [""], ["1", ""]],
};

export default async function play() {
  const server = await TestServer.open("desk", { before: (one) => {
    fs.mkdirSync(path.join(one.folder, "given"), { recursive: true });
    fs.writeFileSync(path.join(one.folder, "given/dot.png"), Buffer.from(PICTURE, "base64"));
  } });
  const { run } = await server.api("POST", "/runs", { protocol: "desk", workflow: "papers", document: { name: "Atelier Nord" } });
  const chromium = await browser();
  const ann = await person(chromium, server, { name: "Ann", width: 1440, height: 1000 });
  const { page } = ann;
  await ann.to(`/runs/${run}`);
  const file = (name) => page.locator(`.file[data-path="out/${name}"]`);
  for (const name of ["report.md", "prices.csv", "page.html", "dot.png", "data.bin"]) await file(name).waitFor();
  await file("report.md").getByText("Preview").click();
  await file("report.md").getByRole("heading", { name: "Report for Atelier Nord" }).waitFor();
  await file("prices.csv").getByText("Preview").click();
  await file("prices.csv").locator("tbody td").first().waitFor();
  assert.deepEqual(await file("prices.csv").locator("tbody tr").first().locator("td").allTextContents(), ["Chair, oak", "40"]);
  await file("dot.png").getByText("Preview").click();
  await file("dot.png").getByRole("img", { name: "Image out/dot.png" }).waitFor();
  // HTML is text here, and bytes there.
  await file("page.html").getByText("Preview").click();
  await file("page.html").locator("pre", { hasText: "<script>document.title = 'mine'</script>" }).waitFor();
  assert.equal(await file("data.bin").getByText("This type of file can only be downloaded.").count(), 1);
  const [saved] = await Promise.all([page.waitForEvent("download"), file("report.md").getByRole("link", { name: /Download/ }).click()]);
  assert.equal(saved.suggestedFilename(), "report.md");
  assert.match(fs.readFileSync(await saved.path(), "utf8"), /^# Report for Atelier Nord/);
  assert.deepEqual(await axe(page), []);
  await picture(page, "files", true);

  assert.deepEqual(await page.evaluate(formats), FORMATS);

  // What lies there now is not what the run wrote.
  fs.writeFileSync(path.join(server.folder, "out/report.md"), "# Another report\n");
  fs.rmSync(path.join(server.folder, "out/data.bin"));
  await ann.to(`/runs/${run}`);
  await file("report.md").getByText("has changed since").waitFor();
  await file("data.bin").getByText("it is not there now").waitFor();
  const phone = await person(chromium, server, { name: "Ann", theme: "dark", width: 390, height: 800 });
  await phone.to(`/runs/${run}`);
  await phone.page.locator(".file").first().waitFor();
  await fits(phone.page, "files on a phone");
  await picture(phone.page, "files-phone", true);
  for (const one of [ann, phone]) one.check();
  await chromium.close();
  await server.close();
}
