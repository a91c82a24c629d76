// Keyboard shortcuts, and the dialog that lists them.

import { fresh, h } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { go } from "../core/router.js";
import { t } from "../core/words.js";

const PLACES = { i: "/inbox", r: "/runs", n: "/start", p: "/protocols", c: "/contracts", s: "/system" };
const NAMES = { i: "inbox", r: "runs", n: "start", p: "protocols", c: "contracts", s: "system" };

/** Handles the keyboard shortcuts; `theme()` changes the theme. */
export function keyboard(theme) {
  let went = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (typing || document.querySelector("dialog[open]")) {
      if (event.key === "Escape" && typing) typing.blur();
      return;
    }
    if (Date.now() - went < 1_200 && PLACES[event.key]) {
      went = 0;
      event.preventDefault();
      return void go(PLACES[event.key]);
    }
    went = event.key === "g" ? Date.now() : 0;
    if (event.key === "?") help();
    else if (event.key === "t") theme();
    else if (event.key === "/") focus(event, "[data-search]");
    else if (event.key === "j" || event.key === "k") along(event, event.key === "j" ? 1 : -1);
    else if (event.key === "a") focus(event, ".wait textarea, .wait input, .wait button");
  });
}

function focus(event, selector) {
  const found = document.querySelector(selector);
  if (!found) return;
  event.preventDefault();
  found.focus();
}

function along(event, step) {
  const lines = [...document.querySelectorAll("main .line")].filter((one) => one.offsetParent !== null);
  if (!lines.length) return;
  event.preventDefault();
  const here = lines.indexOf(document.activeElement);
  lines[Math.min(Math.max(here + step, 0), lines.length - 1)].focus();
}

/** Shows the list of shortcuts. */
export function help() {
  const named = fresh("help");
  const row = (keys, words) => [h("span", {}, keys.map((one) => [h("kbd", {}, one), " "])), h("span", {}, words)];
  const dialog = h("dialog", { "aria-labelledby": named, on: { close: () => dialog.remove() } },
    h("header", {}, h("h2", { id: named }, t("help.title")), h("button", { class: "button low plain", type: "button", "aria-label": t("act.close"), on: { click: () => dialog.close() } }, icon("close"))),
    h("div", { class: "shortcuts" },
      Object.keys(PLACES).map((one) => row(["g", one], t(`nav.${NAMES[one]}`))),
      row(["j", "k"], t("help.along")), row(["a"], t("help.answer")), row(["/"], t("help.search")), row(["t"], t("help.theme")), row(["?"], t("help.this")), row(["Esc"], t("help.leave"))));
  document.body.append(dialog);
  dialog.showModal();
}
