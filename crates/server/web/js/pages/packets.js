// A memory packet: what went into one prompt, what it cost, and what was left out and why.

import { fresh, h, put } from "../view/dom.js";
import { get, part } from "../core/api.js";
import { asked, go } from "../core/router.js";
import { number, t } from "../core/words.js";
import { bar } from "../parts/bars.js";
import { head } from "../parts/head.js";
import { brief, json } from "../parts/json.js";
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
  else shown(body, () => load(build, signal), view);
}

/** Loads a build. Its user is the person who started the root run; its agent is the protocol. */
async function load(build, signal) {
  const run = build.split("/")[0];
  const status = await get(`/runs/${part(run)}`, {}, signal);
  let first = status;
  while (first.parent) first = await get(`/runs/${part(first.parent.run)}`, {}, signal);
  const begun = await get(`/runs/${part(first.run)}/versions`, { limit: 1 }, signal);
  const owner = { user: begun.items[0]?.input?.by || "somebody", agent: status.protocol.name };
  return { owner, run, ...(await get(`/memory/builds/${part(build)}`, owner, signal)) };
}

function view({ owner, run, budget_report: report, explain, rows, request, policy, tokenizer, digest }) {
  return h("div", { class: "split" },
    h("div", { class: "stack stack-wide" },
      h("p", { class: "row" }, h("a", { href: `/runs/${part(run)}` }, run), h("span", { class: "soft small" }, t("packet.owner", owner))),
      chosen(explain.selected),
      left([...(report.degradations ?? []).map(({ section, action, reason }) => [section, `${action}: ${reason}`]), ...(report.omissions ?? []).map((one) => [one.section ?? one.item ?? "", one.reason ?? brief(one)]), ...(explain.omitted ?? []).map(({ item, reason }) => [item, reason])]),
      h("section", { class: "card" }, folded(t("packet.explain"), () => json({ explain, request, policy, rows }, 1)))),
    h("aside", { class: "stack" },
      h("section", { class: "card" }, h("h2", { class: "aside-title" }, t("packet.sections")), sections(report)),
      h("section", { class: "card" }, h("dl", { class: "facts" }, [[t("packet.tokenizer"), tokenizer], [t("contract.digest"), h("code", {}, digest.slice(0, 23))]].map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])))));
}

function sections({ max_tokens: limit, used_tokens_est: spent, section_usage: usage = {} }) {
  const parts = Object.entries(usage).map(([name, used]) => ({ name, used: typeof used === "number" ? used : used?.used ?? 0 }));
  return h("div", { class: "bars" }, bar({ name: "tokens", spent, limit }),
    h("dl", { class: "facts" }, parts.map(({ name, used }) => [h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, number(used))])));
}

const table = (rows) => h("div", { class: "card flush scroll" }, h("table", { class: "grid-table" }, h("tbody", {}, rows.map(([name, why]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, name)), h("td", {}, why))))));

const chosen = (selected = []) => h("section", { class: "stack" }, h("h2", {}, t("packet.chosen")), selected.length
  ? table(selected.map((one) => one.split("|")).map(([item, ...rule]) => [item, rule.join("|")]))
  : h("p", { class: "soft" }, "–"));

const left = (rows) => h("section", { class: "stack" }, h("h2", {}, t("packet.left")), rows.length ? table(rows) : h("p", { class: "note good-note" }, t("packet.nothing_left")));
