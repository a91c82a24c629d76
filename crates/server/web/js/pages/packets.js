// A packet of memory: what of it went into one prompt, what that cost, and what was left out and why.

import { fresh, h, put } from "../view/dom.js";
import { get, part } from "../core/api.js";
import { asked, go } from "../core/router.js";
import { t } from "../core/words.js";
import { bar } from "../parts/bars.js";
import { head } from "../parts/head.js";
import { json } from "../parts/json.js";
import { empty, shown } from "../parts/states.js";
import { folded } from "../parts/timeline.js";

export default function page(root, _, signal) {
  const { build } = asked();
  const body = h("div", {});
  const id = fresh("build");
  const field = h("input", { class: "input grow", id, value: build ?? "", placeholder: t("packet.placeholder"), "aria-label": t("packet.build") });
  const form = h("form", { class: "filters", on: { submit: (event) => (event.preventDefault(), go(`/packets?build=${part(field.value.trim())}`)) } }, field, h("button", { class: "button", type: "submit" }, t("packet.show")));
  put(root, head(t("packet.title"), t("packet.lead")), form, body);
  if (!build) put(body, empty("document", t("packet.none"), t("packet.none_why"), h("a", { class: "button", href: "/runs" }, t("nav.runs"))));
  else shown(body, () => get(`/memory/builds/${part(build)}`, {}, signal), view);
}

function view(built) {
  const packet = built.packet ?? built;
  const explain = packet.explain ?? {};
  const sections = Object.entries(packet).filter(([name, value]) => name !== "explain" && value !== null && typeof value === "object" && (Array.isArray(value) ? value.length : Object.keys(value).length));
  return h("div", { class: "split" },
    h("div", { class: "stack" }, sections.map(([name, value]) => h("section", { class: "card" }, h("h2", {}, name), json(value, 1)))),
    h("aside", { class: "stack" }, budget(explain), left(explain), h("section", { class: "card" }, folded(t("packet.explain"), () => json(explain, 1)))));
}

function budget(explain) {
  const used = explain.budget_usage ?? explain.budgets ?? explain.budget;
  if (!used || typeof used !== "object") return null;
  const rows = Object.entries(used).filter(([, one]) => one && typeof one === "object" && "used" in one);
  return rows.length ? h("section", { class: "card" }, h("h2", { class: "aside-title" }, t("run.budgets")), h("div", { class: "bars" }, rows.map(([name, one]) => bar({ name, spent: one.used, limit: one.limit ?? one.budget ?? 0 })))) : null;
}

function left(explain) {
  const parts = ["dropped", "degraded", "excluded", "omitted", "conflicts"].filter((name) => explain[name]?.length);
  if (!parts.length) return null;
  return h("section", { class: "card" }, h("h2", { class: "aside-title" }, t("packet.left")), parts.map((name) => h("div", {}, h("h3", {}, name), h("ul", { class: "small" }, explain[name].map((one) => h("li", {}, typeof one === "string" ? one : json(one)))))));
}
