// Budgets: the spent amount and the limit.

import { h } from "../view/dom.js";
import { plainName } from "../core/names.js";
import { number, t, tOr } from "../core/words.js";

/** Budgets as bars. */
export const bars = (budgets) => h("ul", { class: "bars" }, budgets.map((one) => h("li", {}, bar(one))));

/** One budget as a bar. */
export function bar({ name, spent, limit, granted = 0 }) {
  const share = limit > 0 ? Math.min(spent / limit, 1) : spent > 0 ? 1 : 0;
  const full = spent >= limit && limit > 0 ? "spent" : share > 0.85 ? "near" : "no";
  const [base, phase] = name.split("@");
  return h("div", { class: "bar", data: { full } },
    h("div", { class: "numbers" },
      h("span", {}, tOr(`budget.${base}`, plainName(base)), phase ? h("span", { class: "soft" }, ` · ${plainName(phase)}`) : null),
      h("span", { class: "soft nowrap" }, t("budget.of", { spent: number(spent), limit: number(limit) }))),
    h("div", { class: "track" }, h("div", { class: "fill", vars: { "--share": `${share * 100}%` } })),
    full === "spent" ? h("span", { class: "bad small" }, t("budget.spent")) : null,
    granted ? h("span", { class: "soft tiny" }, t("budget.granted", { amount: number(granted) })) : null);
}
