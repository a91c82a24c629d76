// The changes of the document, one per pointer, with the old value if it is known.

import { h } from "../view/dom.js";
import { t, tOr } from "../core/words.js";

const LONGEST = 1_200;

/** The operations of a patch; `before(pointer)` returns the old value if it is known. */
export function diff(ops, before) {
  return h("ul", { class: "diff", "aria-label": t("diff.title") }, ops.map((op) => h("li", {},
    h("div", { class: "place" }, h("span", { class: "verb" }, tOr(`diff.${op.op}`, op.op)), h("span", {}, op.path === "" ? t("diff.whole") : op.path), op.from !== undefined ? h("span", {}, `← ${op.from}`) : null),
    before && (op.op === "replace" || op.op === "remove") ? side("minus", before(op.path)) : null,
    "value" in op ? side("plus", op.value) : null)));
}

function side(sign, value) {
  if (value === undefined) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return h("div", { class: sign }, text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}

/** The value at a JSON Pointer. */
export function at(document, pointer) {
  let found = document;
  for (const step of pointer.split("/").slice(1)) {
    if (found === null || typeof found !== "object") return undefined;
    found = found[step.replace(/~1/g, "/").replace(/~0/g, "~")];
  }
  return found;
}
