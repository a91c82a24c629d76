// What a page shows instead of contents: loading, empty, or an error.

import { h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { Problem } from "../core/api.js";
import { t } from "../core/words.js";
import { quoted } from "./quoted.js";

/** A placeholder while something loads. */
export const loading = (lines = 6) =>
  h("div", { class: "skeleton", role: "status", "aria-label": t("state.loading") }, Array.from({ length: lines }, () => h("span")));

/** A message for an empty list, with actions. */
export const empty = (name, title, text, ...actions) =>
  h("div", { class: "empty" }, icon(name), h("h2", {}, title), h("p", {}, quoted(text)), h("div", { class: "buttons" }, actions));

/** An error message, with a retry button if `again` is given. */
export function wrong(error, again) {
  const told = error instanceof Problem;
  const retry = again ? h("div", {}, h("button", { class: "button low", type: "button", on: { click: again } }, t("state.again"))) : null;
  return h("div", { class: `note ${told ? "bad-note" : "warn-note"}`, role: "alert" },
    h("strong", {}, told ? quoted(error.message) : t("state.unreachable")),
    told ? h("span", { class: "soft" }, h("code", {}, error.code)) : h("span", {}, t("state.unreachable_why")),
    retry);
}

/** Shows the result of a promise: a placeholder first, then the value or the error. */
export async function shown(node, load, show, lines) {
  put(node, loading(lines));
  try {
    const value = await load();
    put(node, show(value));
    return value;
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    put(node, wrong(error, () => shown(node, load, show, lines)));
    return undefined;
  }
}
