// Runs, newest first: search and filters, which the server applies and the address keeps.

import { h, put } from "../view/dom.js";
import { keyed } from "../view/keyed.js";
import { get, part } from "../core/api.js";
import { asked, noted } from "../core/router.js";
import { store } from "../core/store.js";
import { t } from "../core/words.js";
import { figures } from "../parts/figures.js";
import { plainName, runName } from "../core/names.js";
import { head } from "../parts/head.js";
import { quoted } from "../parts/quoted.js";
import { startLink } from "../parts/start_link.js";
import { empty, loading, wrong } from "../parts/states.js";
import { status, when } from "../parts/status.js";

const STATUSES = ["running", "waiting", "halted", "completed", "failed"];
const FIELDS = [["workflow", "text"], ["version", "text"], ["started_by", "text"], ["since", "date"], ["until", "date"]];
const EVERY = 3_000;
const PAGE = 50;
/** How long typing must pause before the server is asked, in milliseconds. */
const PAUSE = 250;

export default function page(root, _, signal) {
  const filter = Object.fromEntries(["q", "status", ...FIELDS.map(([name]) => name)].map((name) => [name, asked()[name] ?? ""]));
  let items = [];
  let next = null;
  let asking = 0;
  let typing = 0;
  const search = h("input", { class: "input grow", type: "search", placeholder: t("runs.search"), "aria-label": t("runs.search"), maxlength: "1000", data: { search: "" }, value: filter.q, on: { input: () => typed({ q: search.value }) } });
  const chips = h("div", { class: "chips", role: "group", "aria-label": t("runs.by_status") }, ["", ...STATUSES].map((one) =>
    h("button", { class: "chip", type: "button", "aria-pressed": String(one === filter.status), data: { status: one }, on: { click: () => choose({ status: one }) } }, one ? t(`status.${one}`) : t("runs.all"))));
  const fields = FIELDS.map(([name, type]) => {
    const input = h("input", { class: "input", type, name, autocomplete: "off", value: filter[name], on: { input: () => typed({ [name]: input.value }) } });
    return h("label", { class: "field small" }, t(`runs.by_${name}`), input);
  });
  const more_filters = h("details", { class: "filters-more", open: FIELDS.some(([name]) => filter[name]) }, h("summary", {}, t("runs.filters")), h("div", { class: "filters" }, fields));
  const told = h("div", { role: "status" }, loading(8));
  const rows = h("ul", { class: "rows", "aria-label": t("runs.title"), hidden: true });
  const list = keyed(rows, (row) => row.run, line);
  const rest = h("button", { class: "button", type: "button", hidden: true, on: { click: more } }, t("act.more"));
  put(root, head(t("runs.title"), t("runs.lead"), h("a", { class: "button", href: "/stats" }, t("stats.title")), startLink()),
    h("div", { class: "filters" }, search, chips), more_filters, h("div", { class: "stack" }, told, rows, h("div", {}, rest)));

  function typed(changed) {
    Object.assign(filter, changed);
    clearTimeout(typing);
    typing = setTimeout(() => choose({}), PAUSE);
  }

  function choose(changed) {
    clearTimeout(typing);
    Object.assign(filter, changed);
    noted(filter);
    for (const chip of chips.children) chip.setAttribute("aria-pressed", String(chip.dataset.status === filter.status));
    [items, next] = [[], null];
    load();
  }

  function clear() {
    for (const name of Object.keys(filter)) filter[name] = "";
    for (const input of [search, ...more_filters.querySelectorAll("input")]) input.value = "";
    choose({});
  }

  function line(row) {
    const node = h("li", {});
    const update = (now) => put(node, h("a", { class: "line run-line", href: `/runs/${part(now.run)}` },
      status(now.status),
      h("span", { class: "what" }, now.title || now.workflow,
        h("span", { class: "soft small" }, h("br"), [now.workflow, plainName(now.phase), now.started_by ? t("runs.started_by", { by: now.started_by }) : null].filter(Boolean).join(" · ")),
        h("span", { class: "small soft" }, why(now))),
      h("span", { class: "small soft when" }, h("span", {}, when(now.updated_at), ` · v${now.version}`), h("span", { class: "run-figures" }, figures(now)))));
    let last = null;
    update(row);
    const known = (now) => `${now.version} ${now.status} ${now.title} ${now.waiting_child?.run} ${now.parked}`;
    return { node, update: (now) => (last !== (last = known(now))) && update(now) };
  }

  function show() {
    list.show(items);
    rows.hidden = items.length === 0;
    rest.hidden = next === null;
    if (items.length) put(told);
    else if (Object.values(filter).some(Boolean)) put(told, empty("runs", t("runs.none_fit"), t("runs.none_fit_why"), h("button", { class: "button", type: "button", on: { click: clear } }, t("runs.clear"))));
    else put(told, empty("runs", t("runs.empty"), t("runs.empty_why"), startLink()));
  }

  async function load() {
    const mine = ++asking;
    try {
      const found = await get("/runs", { ...filter, limit: Math.min(Math.max(items.length, PAGE), 500) }, signal);
      if (mine !== asking) return;
      // Runs from later pages stay, if they come after the runs that were loaded now.
      const last = found.items.at(-1);
      const seen = new Set(found.items.map((row) => row.run));
      const beyond = found.next_cursor && last ? items.filter((row) => !seen.has(row.run) && row.created_at <= last.created_at) : [];
      items = [...found.items, ...beyond];
      if (!beyond.length) next = found.next_cursor ?? null;
      show();
    } catch (error) {
      if (error.name === "AbortError" || mine !== asking || items.length) return;
      rows.hidden = rest.hidden = true;
      put(told, wrong(error, load));
    }
  }

  async function more() {
    rest.disabled = true;
    const mine = ++asking;
    try {
      const found = await get("/runs", { ...filter, limit: PAGE, cursor: next }, signal);
      if (mine !== asking) return;
      next = found.next_cursor ?? null;
      const seen = new Set(items.map((row) => row.run));
      items = [...items, ...found.items.filter((row) => !seen.has(row.run))];
      show();
    } catch (error) {
      if (error.name !== "AbortError") put(told, wrong(error, more));
    } finally {
      rest.disabled = false;
    }
  }

  load();
  const timer = setInterval(() => document.hidden || store.get("connection") === "lost" || load(), EVERY);
  signal.addEventListener("abort", () => (clearInterval(timer), clearTimeout(typing)));
}

/** Why a run has its status: the child that waits for a person, or the reason and who is asked. */
function why(run) {
  if (run.waiting_child && !run.parked) {
    const { run: id, title, asks } = run.waiting_child;
    return [h("br"), asks ? t("runs.waits_child_for", { title: runName({ run: id, title }), who: asks }) : t("runs.waits_child", { title: runName({ run: id, title }) })];
  }
  if (!run.summary && !run.asks) return null;
  return [h("br"), run.summary ? quoted(run.summary) : null, run.summary && run.asks ? " · " : null, run.asks ? t("runs.asks", { who: run.asks }) : null];
}
