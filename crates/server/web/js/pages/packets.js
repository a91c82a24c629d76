// A memory packet: what went into one prompt and why, what each section cost, and what was left out and why.

import { fresh, h, put } from "../view/dom.js";
import { get, part } from "../core/api.js";
import { runName } from "../core/names.js";
import { asked, go } from "../core/router.js";
import { number, t, tOr } from "../core/words.js";
import { bar } from "../parts/bars.js";
import { head } from "../parts/head.js";
import { brief, json } from "../parts/json.js";
import { empty, shown } from "../parts/states.js";
import { folded } from "../parts/timeline.js";

/** Number of rows that are shown before the rest is folded. */
const MOST = 50;

/** Length of a text that is folded behind its beginning. */
const LONG = 300;

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
  return { owner, run, title: status.title, ...(await get(`/memory/builds/${part(build)}`, owner, signal)) };
}

function view({ owner, run, title, budget_report: report, explain, rows, request, policy, packet, tokenizer, digest }) {
  const text = texts(packet);
  for (const [item, said] of stateParts(packet, explain.selected)) text.set(item, said);
  const chosen = explain.selected.map((one) => selected(one, text));
  const left = (explain.omitted ?? []).map(({ item, reason, kind }) => ({ item, kind, text: text.get(item), why: [tOr(`omitted.${reason}`, reason)] }));
  return h("div", { class: "split" },
    h("div", { class: "stack stack-wide" },
      h("p", { class: "row" }, h("a", { href: `/runs/${part(run)}` }, runName({ run, title })), h("span", { class: "soft small" }, t("packet.owner", owner))),
      h("section", { class: "stack" }, h("h2", {}, t("packet.chosen")), chosen.length ? list(chosen) : h("p", { class: "soft" }, t("packet.nothing_chosen"))),
      h("section", { class: "stack" }, h("h2", {}, t("packet.left")), left.length ? list(left) : h("p", { class: "note good-note" }, t("packet.nothing_left"))),
      shortened(report.degradations ?? []),
      h("section", { class: "card" }, folded(t("packet.explain"), () => json({ explain, request, policy, rows }, 1)))),
    h("aside", { class: "stack" },
      h("section", { class: "card" }, h("h2", { class: "aside-title" }, t("packet.sections")), sections(report)),
      h("section", { class: "card" }, h("dl", { class: "facts" }, [[t("packet.tokenizer"), tokenizer], [t("contract.digest"), h("code", {}, digest.slice(0, 23))]].map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])))));
}

/** The texts of a packet, by the id of their record. */
function texts(packet) {
  const found = new Map();
  const walk = (value, depth) => {
    if (value === null || typeof value !== "object" || depth > 6) return;
    const id = value.fact_id ?? value.procedure_id ?? value.episode_id ?? value.evidence_id ?? value.id;
    const text = value.fact_key === undefined ? value.text ?? value.quote ?? value.content ?? value.summary ?? value.statement ?? value.title ?? value.name : `${value.fact_key}: ${typeof value.value === "string" ? value.value : JSON.stringify(value.value)}`;
    if (typeof id === "string" && typeof text === "string" && !found.has(id)) found.set(id, text);
    Object.values(value).forEach((inner) => walk(inner, depth + 1));
  };
  walk(packet, 0);
  return found;
}

/** The names of the lists in the state of a run; an item of one is `NAME.NUMBER`. */
const PARTS = ["open_loops", "plan", "decisions", "tool_evidence", "risks", "extra"];

/** The texts of the parts of the state, by item: the goal, and the items of each list in their order. */
function stateParts(packet, chosen) {
  const { working_state: state = {}, last_tool_evidence: results } = packet?.short_term ?? {};
  const found = new Map();
  if (typeof state.goal === "string") found.set("goal", state.goal);
  for (const name of PARTS) {
    const shown = name === "tool_evidence" ? results : state[name];
    const numbers = chosen.map((line) => line.split("|")[0]).filter((item) => item.startsWith(`${name}.`)).map((item) => Number(item.split(".")[1])).sort((a, b) => a - b);
    if (!Array.isArray(shown) || shown.length !== numbers.length) continue;
    shown.forEach((one, at) => {
      const said = typeof one === "string" ? one : one?.summary ?? one?.text ?? one?.question ?? one?.step ?? one?.decision ?? one?.risk ?? one?.title;
      if (typeof said === "string") found.set(`${name}.${numbers[at]}`, said);
    });
  }
  return found;
}

/** What an item is, in words: its part of the state, or nothing where its kind says enough. */
const itemName = (item) => (item === "goal" ? t("memory.goal") : PARTS.includes(item.split(".")[0]) ? t(`memory.${item.split(".")[0]}`) : null);

/** Reads `ID|KIND,RULE,RULE:VALUE`: the kind of the item, and the reasons in words. Scores stay in the full explanation. */
function selected(line, text) {
  const [item, ...rest] = line.split("|");
  const [kind, ...rules] = rest.join("|").split(",");
  const names = rules.map((rule) => rule.split(":")[0].trim()).filter((name) => name && name !== "score").sort((a, b) => (b === "words") - (a === "words"));
  const why = [...new Set(names)].map((name) => tOr(`selected.${name}`, ""));
  return { item, kind, text: text.get(item), why: why.filter(Boolean) };
}

function list(items) {
  const row = ({ item, kind, text, why }) => h("li", { class: "packet-item", title: item },
    h("div", { class: "row" }, kind ? h("span", { class: "tag strong" }, tOr(`memory.${kind}`, kind)) : null, h("span", { class: "small soft" }, itemName(item) ?? (text ? null : t("memory.no_text")))),
    text ? (text.length > LONG ? folded(brief(text, LONG), () => h("p", { class: "packet-text" }, text)) : h("p", { class: "packet-text" }, text)) : null,
    h("p", { class: "small soft" }, why.length ? why.join(" ") : t("selected.rank")));
  return h("div", { class: "stack" },
    h("ul", { class: "card flush packet-list" }, items.slice(0, MOST).map(row)),
    items.length > MOST ? folded(t("json.more", { n: items.length - MOST }), () => h("ul", { class: "card flush packet-list" }, items.slice(MOST).map(row))) : null);
}

/** What was shortened or dropped because a section had no more room. */
function shortened(all) {
  if (!all.length) return null;
  return h("section", { class: "stack" }, h("h2", {}, t("packet.shortened")), h("ul", { class: "stack" }, all.map(({ section, action, reason }) => h("li", { class: "note" },
    h("strong", {}, tOr(`section.${section}`, section)), h("span", {}, tOr(`degraded.${action}`, action)), h("span", { class: "soft" }, reason.replaceAll("`", ""))))));
}

/** The budget: the whole, and each section's share of it. */
function sections({ max_tokens: limit, used_tokens_est: spent, section_usage: usage = {} }) {
  const parts = Object.entries(usage).map(([name, used]) => ({ name, used: typeof used === "number" ? used : used?.used ?? 0 })).sort((a, b) => b.used - a.used);
  const share = (used) => (limit > 0 ? Math.min((used / limit) * 100, 100) : 0);
  return h("div", { class: "bars" }, bar({ name: "tokens", spent, limit }),
    h("ul", { class: "bars section-bars", "aria-label": t("packet.by_section") }, parts.map(({ name, used }) => h("li", { class: "bar" },
      h("div", { class: "numbers" }, h("span", {}, tOr(`section.${name}`, name.replaceAll("_", " "))), h("span", { class: "soft nowrap" }, number(used))),
      h("div", { class: "track", "aria-hidden": "true" }, h("div", { class: "fill", vars: { "--share": `${share(used)}%` } }))))));
}
