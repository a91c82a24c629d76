// A readable JSON value: large parts are collapsed, and strings are shown as text.

import { h } from "../view/dom.js";
import { t } from "../core/words.js";

const OPEN = 3;
const MOST = 200;

/** A value, expanded to a useful depth. */
export function json(value, depth = 0) {
  return h("div", { class: "json" }, shown(value, depth));
}

function shown(value, depth, name) {
  const label = name === undefined ? null : h("span", { class: "name" }, `${name}: `);
  if (value !== null && typeof value === "object") {
    const pairs = Object.entries(value);
    const list = Array.isArray(value);
    if (!pairs.length) return h("div", {}, label, h("span", { class: "literal" }, list ? "[]" : "{}"));
    const count = h("span", { class: "name" }, t(list ? "json.items" : "json.fields", { n: pairs.length }));
    const rows = h("ul", {});
    const details = h("details", { open: depth < OPEN && pairs.length <= 40 }, h("summary", {}, label, count), rows);
    const fill = () => {
      if (rows.childElementCount) return;
      rows.append(...pairs.slice(0, MOST).map(([key, inner]) => h("li", {}, shown(inner, depth + 1, key))));
      if (pairs.length > MOST) rows.append(h("li", { class: "name" }, t("json.more", { n: pairs.length - MOST })));
    };
    // The contents are built when the section is opened.
    if (details.open) fill();
    else details.addEventListener("toggle", fill, { once: true });
    return details;
  }
  const text = typeof value === "string";
  return h("div", {}, label, h("span", { class: text ? "string" : "literal" }, text ? value : JSON.stringify(value)));
}

/** A value in one line. */
export function brief(value, most = 160) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** A text in a code box. */
export const code = (text, label) => h("pre", { class: "code-block", tabindex: "0", "aria-label": label }, text);

/** Indents a text if it is JSON; returns any other text unchanged. */
export function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
