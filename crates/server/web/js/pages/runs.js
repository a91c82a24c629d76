// Runs, newest first, filtered by status, workflow and words.

import { h, put } from "../view/dom.js";
import { keyed } from "../view/keyed.js";
import { get, part } from "../core/api.js";
import { asked, noted } from "../core/router.js";
import { store } from "../core/store.js";
import { t } from "../core/words.js";
import { head } from "../parts/head.js";
import { quoted } from "../parts/quoted.js";
import { empty, loading, wrong } from "../parts/states.js";
import { status, when } from "../parts/status.js";

const STATUSES = ["running", "waiting", "halted", "completed", "failed"];
const EVERY = 3_000;
const PAGE = 50;

export default function page(root, _, signal) {
  const filter = { status: "", q: "", ...asked() };
  let items = [];
  let next = null;
  let asking = 0;
  const search = h("input", { class: "input grow", type: "search", placeholder: t("runs.search"), "aria-label": t("runs.search"), data: { search: "" }, value: filter.q, on: { input: () => ((filter.q = search.value), noted(filter), show()) } });
  const chips = h("div", { class: "chips", role: "group", "aria-label": t("runs.by_status") }, ["", ...STATUSES].map((one) =>
    h("button", { class: "chip", type: "button", "aria-pressed": String(one === filter.status), data: { status: one }, on: { click: () => choose(one) } }, one ? t(`status.${one}`) : t("runs.all"))));
  const told = h("div", {}, loading(8));
  const rows = h("ul", { class: "rows", "aria-label": t("runs.title"), hidden: true });
  const list = keyed(rows, (row) => row.run, line);
  const rest = h("button", { class: "button", type: "button", hidden: true, on: { click: more } }, t("act.more"));
  put(root, head(t("runs.title"), t("runs.lead"), h("a", { class: "button first", href: "/start" }, t("nav.start"))),
    h("div", { class: "filters" }, search, chips), h("div", { class: "stack" }, told, rows, h("div", {}, rest)));

  function choose(one) {
    filter.status = one;
    noted(filter);
    for (const chip of chips.children) chip.setAttribute("aria-pressed", String(chip.dataset.status === one));
    put(told, loading(8));
    items = [];
    show();
    load();
  }

  function line(row) {
    const node = h("li", {});
    const update = (now) => put(node, h("a", { class: "line run-line", href: `/runs/${part(now.run)}` },
      status(now.status),
      h("span", { class: "what" }, now.run, h("span", { class: "soft small" }, ` · ${now.workflow} · ${now.phase}`), now.summary ? h("span", { class: "small soft" }, h("br"), quoted(now.summary)) : null),
      h("span", { class: "small soft when" }, when(now.updated_at), ` · v${now.version}`)));
    let last = null;
    update(row);
    return { node, update: (now) => (last !== (last = `${now.version} ${now.status}`)) && update(now) };
  }

  function show() {
    const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean);
    const fit = items.filter((row) => words.every((word) => `${row.run} ${row.workflow} ${row.phase} ${row.summary} ${row.status}`.toLowerCase().includes(word)));
    list.show(fit);
    rows.hidden = fit.length === 0;
    rest.hidden = next === null;
    return fit.length;
  }

  function tell(count) {
    if (count) put(told);
    else if (filter.q || filter.status) put(told, empty("runs", t("runs.none_fit"), t(next ? "runs.none_fit_yet" : "runs.none_fit_why"), h("button", { class: "button", type: "button", on: { click: () => ((search.value = filter.q = ""), choose("")) } }, t("runs.clear"))));
    else put(told, empty("runs", t("runs.empty"), t("runs.empty_why"), h("a", { class: "button first", href: "/start" }, t("nav.start"))));
  }

  async function load() {
    const mine = ++asking;
    try {
      const found = await get("/runs", { status: filter.status, limit: Math.min(Math.max(items.length, PAGE), 500) }, signal);
      if (mine !== asking) return;
      // Runs from later pages stay, if they come after the runs that were loaded now.
      const last = found.items.at(-1);
      const seen = new Set(found.items.map((row) => row.run));
      const beyond = found.next_cursor && last ? items.filter((row) => !seen.has(row.run) && row.created_at <= last.created_at) : [];
      items = [...found.items, ...beyond];
      if (!beyond.length) next = found.next_cursor ?? null;
      tell(show());
    } catch (error) {
      if (error.name !== "AbortError" && !items.length) put(told, wrong(error, load));
    }
  }

  async function more() {
    rest.disabled = true;
    try {
      const found = await get("/runs", { status: filter.status, limit: PAGE, cursor: next }, signal);
      next = found.next_cursor ?? null;
      const seen = new Set(items.map((row) => row.run));
      items = [...items, ...found.items.filter((row) => !seen.has(row.run))];
      tell(show());
    } catch (error) {
      if (error.name !== "AbortError") put(told, wrong(error, more));
    } finally {
      rest.disabled = false;
    }
  }

  load();
  const timer = setInterval(() => document.hidden || store.get("connection") === "lost" || load(), EVERY);
  signal.addEventListener("abort", () => clearInterval(timer));
}
