// The inbox: the open waits, and the form of the selected one.

import { h, put } from "../view/dom.js";
import { keyed } from "../view/keyed.js";
import { get, part } from "../core/api.js";
import { more, reload } from "../core/inbox.js";
import { runName } from "../core/names.js";
import { go } from "../core/router.js";
import { store } from "../core/store.js";
import { t } from "../core/words.js";
import { head } from "../parts/head.js";
import { quoted } from "../parts/quoted.js";
import { startLink } from "../parts/start_link.js";
import { empty, loading, wrong } from "../parts/states.js";
import { deadline, waitKind, when } from "../parts/status.js";
import { waitCard } from "../parts/wait.js";

/** Number of rows that are added at a time. */
const STEP = 100;

const KINDS = ["question", "document", "approval", "budget", "work", "incident"];

export default function page(root, { run, wait }, signal) {
  const wanted = run ? `${run}/${wait}` : null;
  let kind = "";
  let most = STEP;
  const side = h("div", { class: "desk-side", "aria-live": "off" });
  const rows = h("ul", { class: "rows", "aria-label": t("inbox.list") });
  const list = keyed(rows, (row) => row.address, line);
  const status = h("div", {});
  const rest = h("button", { class: "button", type: "button", hidden: true, on: { click: further } }, t("act.more"));
  const chips = h("div", { class: "chips", role: "group", "aria-label": t("inbox.kinds") }, ["", ...KINDS].map((one) =>
    h("button", { class: "chip", type: "button", "aria-pressed": String(one === kind), data: { kind: one }, on: { click: () => choose(one) } }, one ? t(`kind.${one}`) : t("inbox.all"))));
  const desk = h("div", { class: "desk", data: { open: String(Boolean(wanted)) } }, h("div", { class: "desk-list stack" }, chips, status, rows, rest), side);
  put(root, head(t("inbox.title"), t("inbox.lead")), desk);

  let shown = null;
  let card = null;

  function further() {
    const { items } = store.get("inbox");
    most += STEP;
    if (most <= items.length) return show();
    return more().catch(() => {});
  }

  function choose(one) {
    kind = one;
    most = STEP;
    for (const chip of chips.children) chip.setAttribute("aria-pressed", String(chip.dataset.kind === one));
    put(status, loading(4));
    reload(one ? { kind: one } : {});
  }

  function line(row) {
    const node = h("li", {}, h("a", { class: "line", href: `/inbox/${part(row.run)}/${part(row.id)}`, "aria-current": row.address === wanted ? "true" : null, data: { row: row.address } },
      h("span", { class: "what" }, quoted(row.question)),
      h("span", { class: "meta" }, waitKind(row.kind), row.deadline ? deadline(row.deadline) : h("span", {}, t("wait.since"), " ", when(row.opened_at)), h("span", { class: "run-title" }, runName(row)))));
    return { node };
  }

  function show() {
    const { items, more: there, error } = store.get("inbox");
    rest.hidden = !there && items.length <= most;
    list.show(items.slice(0, most));
    rows.hidden = items.length === 0;
    if (error) put(status, wrong(error, () => reload()));
    else if (items.length === 0) put(status, empty("inbox", t("inbox.empty"), t(kind ? "inbox.empty_kind" : "inbox.empty_why"), startLink(), h("a", { class: "button", href: "/runs" }, t("nav.runs"))));
    else put(status);
    if (!error) select(items);
  }

  store.watch("inbox", show, signal);

  function select(items) {
    if (shown) {
      const row = items.find((one) => one.address === shown);
      if (row) return card?.update(row);
      if (!wanted && card.idle && items.length) return opened(items[0]);
      return undefined;
    }
    const row = wanted ? items.find((one) => one.address === wanted) : items[0];
    if (row) return opened(row);
    return wanted ? lookUp() : undefined;
  }

  function opened(row, replaced) {
    shown = row.address;
    for (const one of rows.querySelectorAll("a")) {
      if (one.dataset.row === shown) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
    }
    card = waitCard(row, row.run, { linked: true, taken, moved, replaced });
    put(side, wanted ? h("p", {}, h("a", { href: "/inbox", class: "small" }, `← ${t("inbox.back")}`)) : null, card.node);
  }

  /** Shows the wait that replaced the selected one, because its subject changed. */
  function moved(next, before) {
    const run = shown.split("/")[0];
    if (shown === `${run}/${before.id}`) opened({ ...next, run, address: `${run}/${next.id}` }, before);
  }

  /** Loads a wait that is not in the loaded part of the inbox, or already closed. */
  async function lookUp() {
    shown = wanted;
    put(side, loading(4));
    try {
      const state = await get(`/runs/${part(run)}`, {}, signal);
      const found = state.waits.find((one) => one.id === wait);
      const newer = state.waits.find((one) => one.supersedes?.includes(wait));
      if (!found && newer) return opened({ ...newer, run, address: `${run}/${newer.id}` }, { id: wait });
      card = waitCard(found ?? { id: wait, kind: "question", phase: state.phase, question: t("wait.gone"), opened_at: state.updated_at }, run, { linked: true, taken, moved });
      put(side, h("p", {}, h("a", { href: "/inbox", class: "small" }, `← ${t("inbox.back")}`)), card.node);
      if (!found) await card.closed();
    } catch (error) {
      if (error.name !== "AbortError") put(side, wrong(error));
    }
  }

  function taken() {
    // Shows the next wait after a moment, so that the person sees the confirmation; unless another wait was
    // selected meanwhile.
    const was = shown;
    setTimeout(() => {
      if (signal.aborted || shown !== was) return;
      if (wanted) go("/inbox", { instead: true });
      else {
        shown = null;
        select(store.get("inbox").items);
      }
    }, 900);
  }

  store.watch("closed", (address) => address === shown && card?.closed(), signal);

  new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && !rest.hidden && further(), { rootMargin: "600px" }).observe(rest);
  signal.addEventListener("abort", () => kind && reload({}));
}
