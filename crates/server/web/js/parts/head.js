// The head of a page: title, lead and actions.

import { h } from "../view/dom.js";

/** A page head. The title gets the focus when the page is opened. */
export function head(title, lead, ...actions) {
  document.title = `${title} · Countersign`;
  return h("div", { class: "page-head" },
    h("div", {}, h("h1", { tabindex: "-1" }, title), lead ? h("p", { class: "lead" }, lead) : null),
    h("div", { class: "actions" }, actions));
}
