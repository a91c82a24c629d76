// A script that plays the model: the page says so, and offers the inputs that the script knows.

import { h, put } from "../view/dom.js";
import { icon } from "../view/icons.js";
import { part } from "../core/api.js";
import { hasRole } from "../core/me.js";
import { offered } from "../core/offered.js";
import { t } from "../core/words.js";

let known = null;

/** The protocol of this folder if a script plays its model; otherwise undefined. It is read once. */
function scripted() {
  known ??= offered().catch(() => []).then((all) => all.find((one) => one.origin === "folder" && one.script));
  return known;
}

const example = (text, use) => h("button", { class: "chip example", type: "button", title: text, on: { click: () => use(text) } }, text.trim().split("\n")[0]);

/** The note of a new run: what plays the model, and its inputs. `use(text)` fills one in. */
export function scriptNote(script, use) {
  const told = h("p", { class: "warn small", role: "status" });
  const node = h("section", { class: "note script-note", "aria-label": t("script.title") },
    h("strong", {}, icon("robot"), t("script.title")),
    h("span", {}, t(script.inputs.length ? "script.knows" : "script.knows_none", { n: script.inputs.length })),
    script.inputs.length ? h("div", { class: "chips" }, script.inputs.map((text) => example(text, use))) : null,
    h("span", { class: "soft" }, t("script.other"), " ", h("code", {}, "--model")),
    told);
  return {
    node,
    /** Says whether the script knows this input. */
    check(value) {
      const other = typeof value === "string" && value.trim() !== "" && script.inputs.length > 0 && !script.inputs.some((one) => one.trim() === value.trim());
      put(told, other ? t("script.unknown") : null);
    },
  };
}

/** The answers that the script of a protocol knows, as buttons; null if no script plays its model. */
export async function exampleAnswers(protocol, use) {
  const own = await scripted();
  if (own?.name !== protocol || !own.script.answers.length) return null;
  return h("section", { class: "note script-note", "aria-label": t("script.title") },
    h("strong", {}, icon("robot"), t("script.title")),
    h("span", {}, t("script.answers")),
    h("div", { class: "chips" }, own.script.answers.map((text) => example(text, use))));
}

/** The line at the top of every page while a script plays the model of the protocol in this folder. */
export async function scriptStrip() {
  const own = await scripted();
  if (!own) return null;
  return h("p", { class: "strip", role: "note" }, icon("robot"), h("span", {}, t("script.strip", { protocol: own.name })), hasRole("operator") ? h("a", { href: `/start/${part(own.name)}` }, t("script.start")) : null);
}
