// Statistics of runs: counts, durations, tokens and cost, as charts by day and as a table.

import { h, put } from "../view/dom.js";
import { get } from "../core/api.js";
import { asked, noted } from "../core/router.js";
import { number, t, tOr } from "../core/words.js";
import { chart, cost, date, duration, plain } from "../parts/figures.js";
import { head } from "../parts/head.js";
import { startLink } from "../parts/start_link.js";
import { empty, loading, wrong } from "../parts/states.js";

const DAY = 86_400_000;
const PERIODS = [7, 30, 90, 365];

export default function page(root, _, signal) {
  const filter = { days: "30", workflow: "", ...asked() };
  let asking = 0;
  const workflow = h("select", { class: "pick", "aria-label": t("stats.workflow"), on: { change: () => choose({ workflow: workflow.value }) } });
  const chips = h("div", { class: "chips", role: "group", "aria-label": t("stats.period") }, PERIODS.map((days) =>
    h("button", { class: "chip", type: "button", data: { days }, "aria-pressed": String(String(days) === filter.days), on: { click: () => choose({ days: String(days) }) } }, t("stats.days", { n: days }))));
  const body = h("div", { class: "stack", data: { stats: "" } });
  put(root, head(t("stats.title"), t("stats.lead"), h("a", { class: "button", href: "/runs" }, t("nav.runs"))), h("div", { class: "filters" }, chips, workflow), body);
  const known = new Set(filter.workflow ? [filter.workflow] : []);

  function choose(changed) {
    Object.assign(filter, changed);
    noted(filter);
    for (const chip of chips.children) chip.setAttribute("aria-pressed", String(chip.dataset.days === filter.days));
    load();
  }

  async function load() {
    const mine = ++asking;
    put(body, loading(8));
    const days = PERIODS.includes(Number(filter.days)) ? Number(filter.days) : 30;
    const today = Math.floor(Date.now() / DAY) * DAY;
    const since = today - (days - 1) * DAY;
    try {
      const found = await get("/stats", { since: new Date(since).toISOString(), until: new Date(today + DAY).toISOString(), workflow: filter.workflow }, signal);
      if (mine !== asking) return;
      for (const row of found.items) known.add(row.workflow);
      put(workflow, h("option", { value: "" }, t("stats.all_workflows")), [...known].sort().map((name) => h("option", { value: name }, name)));
      workflow.value = filter.workflow;
      put(body, found.total.runs ? drawn(found, since, days) : empty("runs", t("stats.none"), t("stats.none_why"), startLink()));
    } catch (error) {
      if (error.name !== "AbortError") put(body, wrong(error, load));
    }
  }

  load();
}

function drawn(found, since, days) {
  const { total, items } = found;
  const by = new Map(found.days.map((one) => [one.day, one.totals]));
  const every = Array.from({ length: days }, (_, index) => since + index * DAY);
  const daily = (value) => every.map((at) => [at, by.has(at) ? value(by.get(at)) ?? 0 : 0]);
  const statuses = Object.entries(total.statuses).map(([name, count]) => `${tOr(`status.${name}`, name)}: ${number(count)}`);
  const facts = [
    [t("stats.runs"), number(total.runs)], [t("stats.statuses"), statuses.join(" · ")],
    [t("stats.p50"), duration(total.duration_p50_ms)], [t("stats.p95"), duration(total.duration_p95_ms)],
    [t("stats.tokens_in"), number(total.input_tokens)], [t("stats.tokens_out"), number(total.output_tokens)], [t("stats.cost"), cost(total.cost)],
  ];
  return [
    found.truncated ? h("p", { class: "note", role: "status" }, t("stats.truncated")) : null,
    h("dl", { class: "facts card" }, facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    h("div", { class: "charts" },
      chart(t("stats.runs"), daily((one) => one.runs), plain),
      chart(t("stats.tokens"), daily((one) => one.input_tokens + one.output_tokens), plain),
      chart(t("stats.cost"), daily((one) => one.cost), cost),
      chart(t("stats.p50"), daily((one) => one.duration_p50_ms), duration)),
    h("div", { class: "table-wide", tabindex: "0", role: "region", "aria-label": t("stats.table") }, table(items)),
  ];
}

function table(items) {
  const names = ["day", "workflow", "runs", "p50", "p95", "tokens_in", "tokens_out", "cost"];
  const cells = ({ day: at, workflow, totals }) => [
    workflow, number(totals.runs), duration(totals.duration_p50_ms), duration(totals.duration_p95_ms),
    number(totals.input_tokens), number(totals.output_tokens), cost(totals.cost),
  ].map((cell) => h("td", {}, cell)).toSpliced(0, 0, h("th", { scope: "row" }, date(at)));
  return h("table", { class: "table" },
    h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, t(`stats.${name}`))))),
    h("tbody", {}, items.map((row) => h("tr", {}, cells(row)))));
}
