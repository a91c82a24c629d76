// A value as a person reads it before deciding: as text, Markdown, a table, JSON, an image, a file, or a difference.

import { h } from "../view/dom.js";
import { plainName } from "../core/names.js";
import { t } from "../core/words.js";
import { difference } from "./difference.js";
import { fileCard } from "./file.js";
import { brief, json } from "./json.js";
import { looksLikeMarkdown, markdown } from "./markdown.js";

const MOST_ROWS = 200;
const MOST_COLUMNS = 20;
const IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/;

const FORMATS = { text: plain, markdown: formatted, table, json: (value) => json(value), image, file, files, difference: changed };

/**
 * One presented part: `{ title, pointer, format, value, before }`. Without a format, the value decides. `run` is the
 * run whose files it may name.
 */
export function presented({ title, pointer, format, value, before }, { run } = {}) {
  const show = FORMATS[format] ?? FORMATS[guess(value)];
  const name = title ?? (pointer ? plainName(pointer) : null);
  return h("div", { class: "presented stack", data: { format: format ?? guess(value) } },
    name ? h("h4", { title: pointer }, name) : null,
    show(value, { run, before }));
}

/** Several presented parts: short values as one list of facts, everything else below it. */
export function presentedParts(parts, context) {
  const brief = parts.filter((one) => isBrief(one));
  const facts = brief.map(({ title, pointer, value }) => [h("dt", { title: pointer }, title ?? plainName(pointer)), h("dd", {}, value === null ? h("span", { class: "soft" }, t("presented.absent")) : String(value))]);
  return [
    brief.length ? h("dl", { class: "facts brief" }, facts) : null,
    parts.filter((one) => !isBrief(one)).map((one) => (isShownAgain(one, parts) ? firstDifference(one) : presented(one, context))),
  ];
}

/** Whether a difference has nothing to compare with, and another part shows the same value. */
const isShownAgain = (part, all) => part.format === "difference" && part.before === undefined && all.some((one) => one !== part && one.pointer === part.pointer);

const firstDifference = ({ title, pointer }) => h("div", { class: "presented stack", data: { format: "difference" } },
  h("h4", { title: pointer }, title ?? plainName(pointer)), h("p", { class: "soft" }, t("presented.first")));

const isBrief = ({ title, pointer, format, value }) => Boolean(title ?? pointer) && (format === undefined || format === "text" || format === "json")
  && (value === null || typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value.length <= 80 && guess(value) === "text" && !value.includes("\n")));

/** The format that fits a value. */
export function guess(value) {
  if (typeof value === "string") return IMAGE.test(value) ? "image" : looksLikeMarkdown(value) ? "markdown" : "text";
  if (isFile(value)) return "file";
  if (isFiles(value)) return "files";
  if (Array.isArray(value) && value.every(isRow)) return "table";
  return "json";
}

const isFile = (value) => typeof value?.path === "string" && typeof value?.sha256 === "string";
const isFiles = (value) => Array.isArray(value) && value.length > 0 && value.every(isFile);

/** The paths of the files that a value is: one, or several. */
export const filePaths = (value) => (isFile(value) ? [value.path] : isFiles(value) ? value.map(({ path }) => path) : []);

const isRow = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && Object.values(value).every((one) => one === null || typeof one !== "object");

function plain(value) {
  if (value === null || value === undefined) return absent();
  return typeof value === "string" ? h("p", { class: "plain" }, value) : json(value);
}

const absent = () => h("p", { class: "soft" }, t("presented.absent"));

function formatted(value) {
  return typeof value === "string" ? markdown(value) : plain(value);
}

/** A list of objects as a table: a column for every key, numbers to the right. */
function table(value) {
  if (Array.isArray(value) && !value.length) return h("p", { class: "soft" }, t("presented.none"));
  if (!Array.isArray(value) || !value.length || !value.every((one) => one !== null && typeof one === "object")) return plain(value);
  const rows = value.slice(0, MOST_ROWS);
  const columns = [...new Set(rows.flatMap(Object.keys))].slice(0, MOST_COLUMNS);
  const numeric = new Set(columns.filter((name) => rows.every((row) => row[name] === undefined || typeof row[name] === "number")));
  return grid(columns.map(plainName), rows.map((row) => columns.map((name) => row[name])), (_, at) => numeric.has(columns[at]), value.length - rows.length);
}

/** A table of cells; `right(cell, column)` says which cells are numbers. */
export function grid(columns, rows, right = () => false, more = 0) {
  const cell = (value) => (value === null || value === undefined ? "" : typeof value === "object" ? brief(value) : typeof value === "boolean" ? t(value ? "form.yes" : "form.no") : typeof value === "string" && value.includes("\n") ? h("pre", { class: "code-block", tabindex: "0" }, value) : String(value));
  return h("div", { class: "scroll table-frame", tabindex: "0", role: "group", "aria-label": t("presented.table") },
    h("table", { class: "grid-table" },
      h("thead", {}, h("tr", {}, columns.map((name, at) => h("th", { scope: "col", class: right(name, at) ? "right" : null }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((value, at) => h("td", { class: right(value, at) ? "right" : null }, cell(value))))))),
    more > 0 ? h("p", { class: "small soft" }, t("json.more", { n: more })) : null);
}

function image(value, context) {
  if (typeof value === "string" && IMAGE.test(value)) return h("img", { class: "picture", src: value, alt: t("presented.image") });
  return file(value, context);
}

/** A file of the run, named by its path or by an object with its path. */
function file(value, { run }) {
  const path = typeof value === "string" ? value : value?.path;
  if (typeof path !== "string" || !run) return plain(value);
  const known = typeof value === "object" ? value : {};
  return fileCard({ run, path, bytes: known.bytes, sha256: known.sha256 }, { open: true });
}

/** Number of files whose previews are open at once. */
const MOST_OPEN = 3;

/** Several files of the run, each with its preview; few of them are open. */
function files(value, context) {
  if (!context.run) return table(value);
  return h("ul", { class: "files" }, value.map((one) => h("li", {}, fileCard({ run: context.run, path: one.path, bytes: one.bytes, sha256: one.sha256 }, { open: value.length <= MOST_OPEN }))));
}

function changed(value, { before }) {
  return before === undefined ? FORMATS[guess(value)](value, {}) : difference(before, value);
}
