// What a page shows when it has nothing to show: not yet, nothing there, something wrong.

import { h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { Problem } from "../core/api.js";
import { t } from "../core/words.js";
import { quoted } from "./quoted.js";

/** Something is on its way. */
export const loading = (lines = 6) =>
  h("div", { class: "skeleton", role: "status", "aria-label": t("state.loading") }, Array.from({ length: lines }, () => h("span")));

/** There is nothing, and this is what to do about it. */
export const empty = (name, title, text, ...actions) =>
  h("div", { class: "empty" }, icon(name), h("h2", {}, title), h("p", {}, quoted(text)), h("div", { class: "buttons" }, actions));

/** Something went wrong. */
export function wrong(error, again) {
  const told = error instanceof Problem;
  const retry = again ? h("div", {}, h("button", { class: "button low", type: "button", on: { click: again } }, t("state.again"))) : null;
  return h("div", { class: `note ${told ? "bad-note" : "warn-note"}`, role: "alert" },
    h("strong", {}, told ? quoted(error.message) : t("state.unreachable")),
    told ? h("span", { class: "soft" }, h("code", {}, error.code)) : h("span", {}, t("state.unreachable_why")),
    retry);
}

/** Shows what comes of a promise: first that it is on its way, then it, or what went wrong. */
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
