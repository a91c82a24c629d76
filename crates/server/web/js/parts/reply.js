// A reply with its violations and repairs, which are marked in the text.

import { h } from "../view/dom.js";
import { t } from "../core/words.js";
import { code, pretty } from "./json.js";

/** The text of a reply, with violations and repairs beside it. */
export function reply(text, { violations = [], repairs = [], defaults = [] } = {}) {
  const beside = h("div", { class: "faults" },
    violations.map(violation),
    repairs.map((one) => h("div", { class: "violation mend" }, h("span", {}, t("reply.mended"), " ", h("code", {}, one.repair ?? one.kind)), h("span", { class: "soft" }, one.class))),
    defaults.length ? h("div", { class: "note" }, t("reply.defaults"), " ", h("code", {}, defaults.join(", "))) : null);
  const marks = [...violations.map((one) => [span(one.span), null]), ...repairs.map((one) => [span(one.span), "mended"])]
    // A mark around the whole text would show nothing.
    .filter(([place]) => place && place.end - place.start < text.trim().length);
  const said = marks.length ? marked(text, marks) : code(pretty(text), t("reply.text"));
  return beside.childElementCount ? h("div", { class: "reply" }, said, beside) : said;
}

/** One violation of a reply. */
export const violation = (one) => h("div", { class: "violation" },
  h("code", {}, one.pointer || t("reply.whole")),
  h("span", {}, t("form.expected", { expected: one.expected, found: one.found })),
  one.hint ? h("span", { class: "soft" }, one.hint) : null,
  h("span", { class: "tiny soft" }, one.code));

const span = (place) => (Array.isArray(place) ? { start: place[0], end: place[1] } : place ?? null);

/** Marks spans of the text; offsets are in UTF-8 bytes. */
function marked(text, marks) {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const parts = [];
  let from = 0;
  for (const [{ start, end }, kind] of marks.sort((a, b) => a[0].start - b[0].start)) {
    if (start < from || end > bytes.length) continue;
    parts.push(decoder.decode(bytes.subarray(from, start)));
    parts.push(h("mark", { class: kind }, decoder.decode(bytes.subarray(start, Math.max(end, start + 1)))));
    from = Math.max(end, start + 1);
  }
  parts.push(decoder.decode(bytes.subarray(from)));
  return h("pre", { class: "code-block", tabindex: "0", "aria-label": t("reply.text") }, parts);
}
