// A file of a run: its name, a preview of what a browser can show safely, and a download.

import { h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { fileAddress, blob } from "../core/api.js";
import { key } from "../core/kept.js";
import { size, t } from "../core/words.js";
import { json } from "./json.js";
import { markdown } from "./markdown.js";
import { grid } from "./presented.js";
import { shown } from "./states.js";
import { when } from "./status.js";

const TEXT = 1 << 20;
const PICTURE = 8 << 20;
const MOST_ROWS = 200;

const KINDS = { md: "markdown", markdown: "markdown", json: "json", csv: "csv", png: "image", jpg: "image", jpeg: "image", gif: "image", webp: "image" };
const PICTURES = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" };
const PLAIN = ["txt", "log", "yaml", "yml", "toml", "ini", "xml", "html", "svg", "js", "ts", "py", "rs", "sql", "sh", "css", "tex", "diff", "patch"];

const extension = (path) => /\.([^./]+)$/.exec(path)?.[1].toLowerCase() ?? "";

/** How a file can be shown, by its name: null if it can only be downloaded. */
export const previewKind = (path) => KINDS[extension(path)] ?? (PLAIN.includes(extension(path)) ? "text" : null);

/** A card for a file: `{ run, path, bytes, sha256, source, time, current_bytes }`. With `open`, the preview is shown at once. */
export function fileCard(file, { open = false } = {}) {
  const kind = previewKind(file.path);
  const missing = file.current_bytes === null;
  const bytes = file.current_bytes ?? file.bytes;
  const limit = kind === "image" ? PICTURE : TEXT;
  const body = h("div", { class: "preview" });
  const name = file.path.split("/").at(-1);
  const altered = !missing && file.current_bytes !== undefined && file.bytes !== undefined && file.current_bytes !== file.bytes;
  const show = () => shown(body, () => read(file, kind), (value) => value, 4);
  const preview = missing ? null : kind === null ? h("p", { class: "small soft" }, t("file.no_preview"))
    : bytes > limit ? h("p", { class: "small soft" }, t("file.too_large", { size: size(limit) }))
      : details(name, body, show, open);
  return h("article", { class: "file", data: { path: file.path } },
    h("div", { class: "row" }, icon("document"), h("strong", { class: "file-name" }, name),
      h("span", { class: "small soft" }, bytes === undefined ? null : size(bytes), file.source ? ` · ${t(`file.from_${file.source}`)}` : null, file.time ? [" · ", when(file.time)] : null),
      h("span", { class: "grow" }), missing ? null : download(file, name)),
    name === file.path ? null : h("p", { class: "tiny soft mono" }, file.path),
    missing ? h("p", { class: "note warn-note" }, t("file.missing")) : null,
    altered ? h("p", { class: "note warn-note" }, t("file.altered")) : null,
    preview);
}

function details(name, body, show, open) {
  let begun = false;
  const begin = () => {
    if (begun) return;
    begun = true;
    show();
  };
  const node = h("details", { open }, h("summary", { class: "small" }, t("file.preview"), h("span", { class: "quiet-region" }, ` ${name}`)), body);
  if (open) begin();
  else node.addEventListener("toggle", begin);
  return node;
}

async function read({ run, path, sha256 }, kind) {
  const bytes = await blob(run, path);
  const checked = await unchanged(bytes, sha256);
  return h("div", { class: "stack" }, checked ? null : h("p", { class: "note warn-note" }, t("file.altered")), await rendered(bytes, path, kind));
}

async function rendered(bytes, path, kind) {
  if (kind === "image") return h("img", { class: "picture", src: await dataAddress(bytes, PICTURES[extension(path)]), alt: t("file.picture", { name: path }) });
  const text = await bytes.text();
  if (kind === "markdown") return markdown(text);
  if (kind === "json") return parsed(text);
  if (kind === "csv") return separated(text);
  return h("pre", { class: "code-block", tabindex: "0", "aria-label": path }, text);
}

function parsed(text) {
  try {
    return json(JSON.parse(text));
  } catch {
    return h("pre", { class: "code-block", tabindex: "0" }, text);
  }
}

function separated(text) {
  const [head = [], ...rows] = cells(text, MOST_ROWS + 1);
  const lines = text.trimEnd().split("\n").length - 1;
  const numbers = head.map((_, at) => rows.length > 0 && rows.every((row) => row[at] === undefined || /^\s*-?[\d.,]*\s*$/.test(row[at])));
  return grid(head, rows, (_, at) => numbers[at], rows.length >= MOST_ROWS ? Math.max(lines - rows.length, 0) : 0);
}

/** The cells of a CSV text (RFC 4180), at most so many rows. */
export function cells(text, most) {
  const rows = [];
  let row = [];
  const pattern = /("(?:[^"]|"")*"|[^,\r\n"]*)(,|\r?\n|\r|$)/gy;
  for (let found; rows.length < most && pattern.lastIndex < text.length && (found = pattern.exec(text));) {
    const [, cell, end] = found;
    row.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  // A comma at the very end begins an empty cell.
  if (row.length && rows.length < most) rows.push([...row, ""]);
  return rows;
}

/** Whether bytes have the digest that the log records. Unknown counts as unchanged: only a secure page can compute it. */
async function unchanged(bytes, sha256) {
  if (!sha256 || !globalThis.crypto?.subtle) return true;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await bytes.arrayBuffer()));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") === sha256;
}

const dataAddress = (bytes, type) => new Promise((done, failed) => {
  const reader = new FileReader();
  reader.onload = () => done(String(reader.result));
  reader.onerror = () => failed(reader.error);
  reader.readAsDataURL(bytes.slice(0, bytes.size, type));
});

/** A link to the file. With a key, which a link cannot send, a button that reads the file first. */
function download(file, name) {
  const label = [icon("download"), t("file.download"), h("span", { class: "quiet-region" }, ` ${name}`)];
  if (!key.get()) return h("a", { class: "button low", href: fileAddress(file.run, file.path), download: name }, label);
  const told = h("span", {});
  const save = async () => {
    try {
      const address = URL.createObjectURL(await blob(file.run, file.path));
      const link = h("a", { href: address, download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    } catch (error) {
      put(told, h("span", { class: "bad small", role: "alert" }, error.message));
    }
  };
  return h("span", { class: "row" }, h("button", { class: "button low", type: "button", on: { click: save } }, label), told);
}
