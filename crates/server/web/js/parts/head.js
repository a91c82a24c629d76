// The head of a page: its title, what it is about, and what can be done.

import { h } from "../view/dom.js";

/** A head; the title gets the focus when a page is entered. */
export function head(title, lead, ...actions) {
  document.title = `${title} · Countersign`;
  return h("div", { class: "page-head" },
    h("div", {}, h("h1", { tabindex: "-1" }, title), lead ? h("p", { class: "lead" }, lead) : null),
    h("div", { class: "actions" }, actions));
}
